//! Where the rule and the questions of a run stand in the files of the checkout.

use super::beside::MAX_QUESTIONS_BYTES;
use super::files::{Files, MAX_SMALL_BYTES};
use crate::freeze;
use crate::model::{Failure, QuestionId};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};

/// Files and lines, from 1; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The spec, and the line where its rule begins.
    pub rule: Option<(Utf8PathBuf, u64)>,
    /// The question file, and the lines of the wanted questions. Left out where the file in the checkout is not the one
    /// that was asked.
    pub questions: Option<(Utf8PathBuf, BTreeMap<QuestionId, u64>)>,
}

/// Finds the lines of these questions of a run whose spec lies here.
///
/// # Errors
/// The run's protocol cannot be read.
pub fn lines(run: &Utf8Path, spec: &Utf8Path, wanted: &BTreeSet<&QuestionId>) -> Result<Lines, Failure> {
    let protocol = freeze::load(run)?;
    let folder = spec.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let tree = Files::Tree(folder);
    let text = tree.read(Utf8Path::new(spec.file_name().unwrap_or_default()), MAX_SMALL_BYTES).ok();
    let rule = text.map(|text| (spec.to_owned(), rule_line(&String::from_utf8_lossy(&text))));
    let file = &protocol.spec.questions.file;
    let found = tree.read(file, MAX_QUESTIONS_BYTES).ok();
    let questions = found.and_then(|bytes| freeze::question_lines(&protocol, &bytes, wanted));
    Ok(Lines { rule, questions: questions.map(|lines| (folder.join(file), lines)) })
}

/// The line of the key `gate`, or the first one.
fn rule_line(spec: &str) -> u64 {
    let at =
        spec.lines().position(|line| line.strip_prefix("gate").is_some_and(|rest| rest.trim_start().starts_with(':')));
    at.map_or(1, |at| at as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_begins_at_its_key() {
        assert_eq!(rule_line("version: 1\n# gate: no\ngate :\n  inconclusive: warn\n"), 3);
        assert_eq!(rule_line("version: 1\nname: gate\n"), 1);
    }
}
