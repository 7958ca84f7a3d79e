//! Lists of ids beside the question file: those that are never asked, and those that alone are.

use super::{FreezeError, questions};
use crate::model::Question;
use crate::spec::QuestionsSpec;
use camino::Utf8PathBuf;
use std::collections::BTreeSet;

/// The ids that decide what can be selected.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Never asked.
    pub excluded: BTreeSet<String>,
    /// Alone asked, where there is such a list.
    pub only: Option<BTreeSet<String>>,
}

impl Ids {
    /// Reads both lists.
    ///
    /// # Errors
    /// One of them is no text.
    pub(super) fn read(spec: &QuestionsSpec, exclude: Option<&[u8]>, only: Option<&[u8]>) -> Result<Self, FreezeError> {
        let excluded = text(exclude, spec.exclude.as_ref())?.unwrap_or_default();
        let excluded = excluded.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let only = text(only, spec.only.as_ref())?;
        let only = only.map(|text| text.lines().filter_map(listed).map(str::to_owned).collect());
        Ok(Self { excluded, only })
    }

    /// Whether this question may be asked.
    pub(super) fn allow(&self, question: &Question) -> bool {
        let id = &question.id.0;
        !self.excluded.contains(id) && self.only.as_ref().is_none_or(|only| only.contains(id))
    }

    /// What is said about ids that no question has: one of them is often a sign of a wrong file.
    pub(super) fn unknown(&self, questions: &[Question]) -> Vec<String> {
        let ids: BTreeSet<&str> = questions.iter().map(|question| question.id.0.as_str()).collect();
        let unknown =
            |list: &BTreeSet<String>| list.iter().filter(|id| !ids.contains(id.as_str())).cloned().collect::<Vec<_>>();
        let excluded = note(&unknown(&self.excluded), "the excluded id", "", "excluded ids");
        let only = self.only.as_ref().map(unknown).unwrap_or_default();
        excluded.into_iter().chain(note(&only, "the id", " of `select.only`", "ids of `select.only`")).collect()
    }
}

fn text<'a>(bytes: Option<&'a [u8]>, path: Option<&Utf8PathBuf>) -> Result<Option<&'a str>, FreezeError> {
    let file = || path.map_or("the ids", |path| path.as_str()).to_owned();
    let failed = |(line, fault)| FreezeError::Text { file: file(), fault: format!("line {line}: {fault}") };
    bytes.map(|bytes| questions::text(bytes).map_err(failed)).transpose()
}

/// The id of a line: the whole of it, or the query of a BEIR judgment that finds the document relevant.
fn listed(line: &str) -> Option<&str> {
    let mut cells = line.split('\t').map(str::trim);
    let id = cells.next().filter(|id| !id.is_empty())?;
    let (document, score) = (cells.next(), cells.next());
    let heading = id == "query-id" && document.is_some();
    let irrelevant = score.and_then(|score| score.parse::<f64>().ok()).is_some_and(|score| score <= 0.0);
    (!heading && !irrelevant).then_some(id)
}

fn note(unknown: &[String], one: &str, of: &str, many: &str) -> Option<String> {
    let first = questions::shown(unknown.first()?);
    Some(match unknown.len() {
        1 => format!("{one} `{first}`{of} is not in the question file"),
        count => format!("{count} {many} are not in the question file, `{first}` among them"),
    })
}
