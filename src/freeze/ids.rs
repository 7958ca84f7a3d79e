//! Lists of ids beside the question file: those that are never asked, and those that alone are.

use super::error::Unlisted;
use super::{FreezeError, id_lines, questions};
use crate::model::Question;
use crate::spec::QuestionsSpec;
use camino::Utf8PathBuf;
use std::collections::{BTreeMap, BTreeSet};

/// The ids that decide what can be selected.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Never asked.
    excluded: List,
    /// Alone asked, where there is such a list.
    only: Option<List>,
}

/// The ids of one file, each with the line that has it first.
#[derive(Debug, Default)]
struct List {
    file: String,
    lines: BTreeMap<String, usize>,
}

impl Ids {
    /// Reads both lists.
    ///
    /// # Errors
    /// One of them is no text.
    pub(super) fn read(spec: &QuestionsSpec, exclude: Option<&[u8]>, only: Option<&[u8]>) -> Result<Self, FreezeError> {
        let excluded = text(exclude, spec.exclude.as_ref())?.map(|text| List::of(text, spec.exclude.as_ref(), whole));
        let only = text(only, spec.only.as_ref())?.map(|text| List::of(text, spec.only.as_ref(), listed));
        Ok(Self { excluded: excluded.unwrap_or_default(), only })
    }

    /// Whether this question may be asked.
    pub(super) fn allow(&self, question: &Question) -> bool {
        self.lists(question) && !self.excludes(question)
    }

    /// Whether this question is never asked.
    pub(super) fn excludes(&self, question: &Question) -> bool {
        self.excluded.has(question)
    }

    /// Whether this question is among those that alone are asked.
    pub(super) fn lists(&self, question: &Question) -> bool {
        self.only.as_ref().is_none_or(|only| only.has(question))
    }

    /// Why none of these questions may be asked.
    pub(super) fn none_left(&self, questions: &[Question], file: &str) -> FreezeError {
        let (file, found) = (file.to_owned(), questions.len());
        let listed = questions.iter().filter(|question| self.lists(question)).count();
        match &self.only {
            _ if found == 0 => FreezeError::NoQuestions { file },
            Some(only) if listed == 0 => {
                let first = only.first_unknown(&ids(questions));
                FreezeError::NoneListed { file, found, list: only.file.clone(), first }
            }
            _ => FreezeError::AllExcluded { file, found, listed, list: self.excluded.file.clone() },
        }
    }

    /// What is said about ids that no question has: one of them is often a sign of a wrong file.
    ///
    /// # Errors
    /// A line of a list can be no question's id.
    pub(super) fn unknown(&self, questions: &[Question]) -> Result<Vec<String>, FreezeError> {
        let ids = ids(questions);
        for list in [Some(&self.excluded), self.only.as_ref()].into_iter().flatten() {
            id_lines::refuse(&list.file, list.unknown(&ids))?;
        }
        let excluded = self.excluded.note(&ids, "the excluded id", "", "excluded ids");
        let only = |only: &List| only.note(&ids, "the id", " of `select.only`", "ids of `select.only`");
        Ok(excluded.into_iter().chain(self.only.as_ref().and_then(only)).collect())
    }
}

impl List {
    fn of(text: &str, path: Option<&Utf8PathBuf>, id: impl Fn(&str) -> Option<&str>) -> Self {
        let mut lines = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(id) = id(line) {
                lines.entry(id.to_owned()).or_insert(number + 1);
            }
        }
        Self { file: name(path), lines }
    }

    fn has(&self, question: &Question) -> bool {
        self.lines.contains_key(&question.id.0)
    }

    /// Its ids that are not among these, with their lines.
    fn unknown<'a>(&'a self, ids: &BTreeSet<&str>) -> impl Iterator<Item = (&'a str, usize)> {
        self.lines.iter().filter(move |(id, _)| !ids.contains(id.as_str())).map(|(id, line)| (id.as_str(), *line))
    }

    /// The first line whose id no question has.
    fn first_unknown(&self, ids: &BTreeSet<&str>) -> Option<Unlisted> {
        let quoted = id_lines::may_be_quoted(self.unknown(ids).map(|(id, _)| id));
        let (id, line) = self.unknown(ids).min_by_key(|(_, line)| *line)?;
        Some(Unlisted { line, id: quoted.then(|| questions::shown(id)), remedy: in_columns([id]) })
    }

    /// What is said of its ids that no question has.
    fn note(&self, ids: &BTreeSet<&str>, one: &str, of: &str, many: &str) -> Option<String> {
        let unknown: Vec<(&str, usize)> = self.unknown(ids).collect();
        let (first, line) = *unknown.first()?;
        let texts = || unknown.iter().map(|(id, _)| *id);
        let remedy = in_columns(texts());
        let first = if id_lines::may_be_quoted(texts()) {
            format!("`{}`", questions::shown(first))
        } else {
            format!("on line {line} of `{}`", self.file)
        };
        Some(match unknown.len() {
            1 => format!("{one} {first}{of} is not in the question file{remedy}"),
            count => format!("{count} {many} are not in the question file, {} among them{remedy}", which(&first)),
        })
    }
}

fn ids(questions: &[Question]) -> BTreeSet<&str> {
    questions.iter().map(|question| question.id.0.as_str()).collect()
}

fn name(path: Option<&Utf8PathBuf>) -> String {
    path.map_or("the ids", |path| path.as_str()).to_owned()
}

fn text<'a>(bytes: Option<&'a [u8]>, path: Option<&Utf8PathBuf>) -> Result<Option<&'a str>, FreezeError> {
    let failed = |(line, fault)| FreezeError::Text { file: name(path), fault: format!("line {line}: {fault}") };
    bytes.map(|bytes| questions::text(bytes).map_err(failed)).transpose()
}

/// The id of a line: the whole of it.
fn whole(line: &str) -> Option<&str> {
    Some(questions::trimmed(line)).filter(|id| !id.is_empty())
}

/// The same, or the query of a BEIR judgment that finds the document relevant.
fn listed(line: &str) -> Option<&str> {
    let mut cells = line.split('\t').map(questions::trimmed);
    let id = cells.next().filter(|id| !id.is_empty())?;
    let (document, score) = (cells.next(), cells.next());
    let heading = id == "query-id" && document.is_some();
    let irrelevant = score.and_then(|score| score.parse::<f64>().ok()).is_some_and(|score| score <= 0.0);
    (!heading && !irrelevant).then_some(id)
}

/// The same in a list: an id that is quoted stands for itself.
fn which(first: &str) -> String {
    if first.starts_with('`') { first.to_owned() } else { format!("the one {first}") }
}

/// What is said where an id looks like one of TREC's judgments, which could be ids as well.
fn in_columns<'a>(ids: impl IntoIterator<Item = &'a str>) -> &'static str {
    let judges = ids.into_iter().any(id_lines::is_trec);
    if judges { "; lines of judgments in columns are not read here: write the ids alone, one a line" } else { "" }
}
