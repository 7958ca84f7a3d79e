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
    /// Nothing to ask.
    #[error("find a question in `{file}`: {found} are there and {excluded} of them are excluded")]
    NoQuestions {
        /// The question file.
        file: String,
        /// Questions in it.
        found: usize,
        /// Questions excluded.
        excluded: usize,
    },
    /// More questions are wanted than there are.
    #[error("select {wanted} questions: only {available} are there after {excluded} were excluded")]
    TooFew {
        /// What `select.count` says.
        wanted: u32,
        /// What is there.
        available: usize,
        /// Questions excluded.
        excluded: usize,
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
            Self::NoQuestions { .. } => Some("without a question there is no verdict; add questions".to_owned()),
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
