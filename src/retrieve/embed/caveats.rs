//! What must be said of an audit whose indexes could not be held against the embedder.

use super::check::{judge, lapses};
use super::kept::compared;
use super::planned::shows_stored;
use crate::freeze::Protocol;
use crate::model::Failure;
use camino::Utf8Path;
use std::collections::BTreeSet;

/// What weakens the figures of the run in this folder, a sentence each: that nobody knows whether the vectors in the indexes are by
/// the embedder of the questions. Nothing where they were found to be, or where questions are not embedded.
///
/// # Errors
/// The ledger of vectors is missing or damaged.
pub fn embedder_caveats(protocol: &Protocol, folder: &Utf8Path) -> Result<Vec<String>, Failure> {
    let Some(embed) = &protocol.spec.retrieve.embed else { return Ok(Vec::new()) };
    if !shows_stored(protocol) {
        let why = if embed.check { "nothing shows their stored vectors" } else { "the spec says not to (check: off)" };
        return Ok(vec![format!(
            "The indexes' own vectors were not held against the embedder of the questions: {why}. One that was built by \
             another embedder of the same dimension finds next to nothing, and would not be noticed."
        )]);
    }
    let times = compared(folder)?;
    // One that was found to be of another embedder ended its process.
    let passed = times.iter().filter(|notes| judge(notes).is_ok());
    let found: BTreeSet<String> = passed.flat_map(|notes| lapses(notes)).collect();
    Ok(found.into_iter().map(|lapse| sentence(&lapse)).collect())
}

/// As a report says it.
fn sentence(lapse: &str) -> String {
    let plain = lapse.replace('`', "");
    let mut characters = plain.chars();
    characters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), characters.as_str()))
}
