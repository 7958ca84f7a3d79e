//! What can be wrong with what is to be frozen.

use crate::model::{Failure, FailureClass};
use std::fmt;

/// Why nothing could be frozen. Nothing was spent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FreezeError {
    /// The question file.
    #[error("read the questions in `{file}`: {}", listed(problems, *more))]
    Questions {
        /// Its name.
        file: String,
        /// What is wrong, by line.
        problems: Vec<QuestionProblem>,
        /// Whether there are more.
        more: bool,
    },
    /// Gold answers in the question file that are no answers.
    #[error("read gold answers in `{file}`: {}", listed(problems, *more))]
    Gold {
        /// Its name.
        file: String,
        /// Where, and what is wrong; never the answer.
        problems: Vec<QuestionProblem>,
        /// Whether there are more.
        more: bool,
    },
    /// A file that is not UTF-8 text.
    #[error("read `{file}`: {fault}")]
    Text {
        /// Its name.
        file: String,
        /// What is wrong.
        fault: String,
    },
    /// A line of a list of ids that can be no id. It is never quoted: a question file may stand in the place of the list.
    #[error("read the ids in `{file}`: line {line} {fault}, so it is no question's id")]
    NoId {
        /// The list.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, without its text.
        fault: &'static str,
    },
    /// Nothing to ask.
    #[error("find a question in `{file}`: none is there")]
    NoQuestions {
        /// The question file.
        file: String,
    },
    /// No question is among those that alone are asked.
    #[error("find a question in `{file}`: none of the {found} there stands in `{list}`{}", unlisted(first.as_ref()))]
    NoneListed {
        /// The question file.
        file: String,
        /// Questions in it.
        found: usize,
        /// The file of `select.only`.
        list: String,
        /// The first of its ids that no question has; absent where it has no id.
        first: Option<Unlisted>,
    },
    /// Every question that could be asked is excluded.
    #[error("find a question in `{file}`: {} excluded by `{list}`", excluded(*found, *listed))]
    AllExcluded {
        /// The question file.
        file: String,
        /// Questions in it.
        found: usize,
        /// Those that `select.only` names; all where there is no such list.
        listed: usize,
        /// The file of `select.exclude`.
        list: String,
    },
    /// More questions are wanted than there are.
    #[error(
        "select {wanted} questions: {available} can be asked, {excluded} are excluded and {unlisted} not named by `select.only`"
    )]
    TooFew {
        /// What `select.count` says.
        wanted: u32,
        /// What is there.
        available: usize,
        /// Questions excluded.
        excluded: usize,
        /// Others that are not among those that alone are asked.
        unlisted: usize,
    },
    /// The answer prompt.
    #[error("use the prompt `{file}`: {fault}")]
    Prompt {
        /// Its name.
        file: String,
        /// What is wrong.
        fault: String,
    },
    /// A spec that is accepted once and not again, so that no run of it could be finished.
    #[error("freeze the spec: what is frozen of it is not read back as the same spec: {0}")]
    NotReadBack(String),
    /// A fault of this program.
    #[error("write the protocol: {0}")]
    Document(String),
}

/// An id of a list that no question has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// Its line.
    pub line: usize,
    /// The id, as it is shown; absent where the list may hold something else than ids.
    pub id: Option<String>,
    /// What is to be said of its form; empty where there is nothing.
    pub remedy: &'static str,
}

/// One problem of a question file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionProblem {
    /// Where: `line 3`, or `line 3, column 5`.
    pub at: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for QuestionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

fn listed(problems: &[QuestionProblem], more: bool) -> String {
    let mut lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if more {
        lines.push("and more".to_owned());
    }
    if lines.len() == 1 { lines.concat() } else { format!("\n  {}", lines.join("\n  ")) }
}

fn unlisted(first: Option<&Unlisted>) -> String {
    first.map_or_else(
        || ", which has no id".to_owned(),
        |Unlisted { line, id, remedy }| {
            let quoted = id.as_ref().map(|id| format!("`{id}`, ")).unwrap_or_default();
            format!(", which on line {line} has {quoted}an id that no question has{remedy}")
        },
    )
}

fn excluded(found: usize, listed: usize) -> String {
    if listed == found {
        format!("all of the {found} there are")
    } else {
        format!("of the {found} there `select.only` names {listed}, and all of these are")
    }
}

impl FreezeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Questions { .. } => Some(
                "each question is one JSON object a line (`.jsonl`), one entry of a list (`.json`, `.yaml`) or one row \
                 (`.csv`), such as `{\"id\": \"q1\", \"question\": \"Who wrote it?\"}`; `docs/questions.md` has every format"
                    .to_owned(),
            ),
            Self::Gold { .. } => {
                Some("gold answers are a text, a list of texts, or an object with `Value` and `Aliases`".to_owned())
            }
            Self::NoId { .. } => Some(
                "a list of `questions.select` holds ids of questions alone, one a line; of BEIR's judgments `select.only` \
                 takes the first column. Is it the question file that is named there?"
                    .to_owned(),
            ),
            Self::NoQuestions { .. } => Some("without a question there is no verdict; add questions".to_owned()),
            Self::NoneListed { file, list, .. } => Some(format!(
                "write ids of questions in `{file}` into `{list}`, one a line, or leave `questions.select.only` out"
            )),
            Self::AllExcluded { list, .. } => Some(format!("take ids out of `{list}`, or add questions")),
            Self::TooFew { available, .. } => {
                Some(format!("set `questions.select.count` to at most {available}, or leave it out to ask all"))
            }
            Self::Prompt { .. } => {
                Some("a prompt holds `{{question}}` and `{{evidence}}`, and no other placeholder".to_owned())
            }
            Self::Text { .. } => Some("save the file as UTF-8 text".to_owned()),
            Self::NotReadBack(_) => Some(
                "change or remove the keys that this is about; time limits, prices, rates and budgets are no part of what is \
                 frozen"
                    .to_owned(),
            ),
            Self::Document(_) => None,
        }
    }
}

impl From<FreezeError> for Failure {
    fn from(error: FreezeError) -> Self {
        let failure = Self::new(FailureClass::Usage, error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
