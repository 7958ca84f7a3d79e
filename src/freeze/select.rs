//! Which questions are asked, and in which order they are counted: by SHA-256 of `"{seed}:{id}"`, ascending.
//!
//! Nothing else decides: no filter by answerability, topic, retrieval or outcome.

use super::FreezeError;
use crate::model::{Digest, Question};
use std::collections::BTreeSet;

/// The selected questions in selection order.
#[derive(Debug)]
pub(super) struct Selection {
    /// The questions.
    pub questions: Vec<Question>,
    /// Excluded ids that no question has, in order.
    pub unknown: Vec<String>,
}

/// Selects `count` questions (all where absent) after removing excluded ids.
///
/// # Errors
/// No question is left, or fewer than `count`.
pub(super) fn select(
    all: Vec<Question>,
    excluded_ids: &BTreeSet<String>,
    seed: u64,
    count: Option<u32>,
    file: &str,
) -> Result<Selection, FreezeError> {
    let found = all.len();
    let ids: BTreeSet<&str> = all.iter().map(|question| question.id.0.as_str()).collect();
    let unknown = excluded_ids.iter().filter(|id| !ids.contains(id.as_str())).cloned().collect();
    let mut keyed: Vec<(Digest, Question)> = all
        .into_iter()
        .filter(|question| !excluded_ids.contains(&question.id.0))
        .map(|question| (Digest::of(format!("{seed}:{}", question.id).as_bytes()), question))
        .collect();
    let excluded = found - keyed.len();
    if keyed.is_empty() {
        return Err(FreezeError::NoQuestions { file: file.to_owned(), found, excluded });
    }
    let wanted = count.map_or(Ok(keyed.len()), usize::try_from).unwrap_or(usize::MAX);
    if wanted > keyed.len() {
        let wanted = count.unwrap_or(u32::MAX);
        return Err(FreezeError::TooFew { wanted, available: keyed.len(), excluded });
    }
    keyed.sort_by(|one, other| (one.0, &one.1.id).cmp(&(other.0, &other.1.id)));
    keyed.truncate(wanted);
    let questions = keyed.into_iter().map(|(_, question)| question).collect();
    Ok(Selection { questions, unknown })
}
