//! Why a line is no question. Texts from the file are shown escaped and cut, never raw.

use crate::model::{Failure, FailureClass};

/// Characters of a text from the file that an error shows.
const SHOWN: usize = 60;

/// A line that is not a question of the documented form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read `{file}`, line {line}: {problem}")]
pub struct OutsideError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not JSON.
    #[error("not valid JSON at column {0}")]
    NotJson(usize),
    /// JSON of another kind.
    #[error("not a JSON object")]
    NotAnObject,
    /// A member that no line has.
    #[error("the member `{}` is unknown", shown(.0))]
    Unknown(String),
    /// A member that every line must have.
    #[error("the member `{0}` is missing")]
    Missing(&'static str),
    /// A member of another form.
    #[error("`{member}` is not {form}")]
    Wrong {
        /// The member.
        member: &'static str,
        /// What it must be.
        form: &'static str,
    },
    /// A name that stands twice in one object.
    #[error("a name stands twice in one object")]
    Repeated,
    /// The id is empty.
    #[error("the id is empty")]
    EmptyId,
    /// The id stands on another line too.
    #[error("the id stands on line {0} too")]
    RepeatedId(usize),
    /// An answer that is empty or blank.
    #[error("answer {} of snapshot `{}` is empty", .repeat + 1, shown(.snapshot))]
    EmptyAnswer {
        /// The snapshot.
        snapshot: String,
        /// The repeat, from 0.
        repeat: usize,
    },
    /// A label of a text that is no answer of this question.
    #[error("label {} is about a text that is no answer of this question", .0 + 1)]
    StrangeLabel(usize),
    /// A label that contradicts another one, or that calls a text different from itself.
    #[error("label {} contradicts another one or calls a text different from itself", .0 + 1)]
    ContradictoryLabel(usize),
    /// A similarity that is no number from 0 to 1.
    #[error("question `{}`: similarity no. {} is {value}, not a number from 0 to 1", shown(.question), .place + 1)]
    NotASimilarity {
        /// The question.
        question: String,
        /// Its place in the list, from 0.
        place: usize,
        /// What it is.
        value: String,
    },
    /// A similarity that contradicts another one, or that is not 1 for a text with itself.
    #[error("similarity {} contradicts another one or is not 1 for a text with itself", .0 + 1)]
    ContradictorySimilarity(usize),
    /// A similarity of a text that is no answer of this question.
    #[error("similarity {} is about a text that is no answer of this question", .0 + 1)]
    StrangeSimilarity(usize),
    /// Both `gold` and `correct`.
    #[error("`gold` and `correct` exclude each other")]
    GoldAndCorrect,
    /// Not one mark an answer.
    #[error("`correct` does not have one mark for every answer of snapshot `{}`", shown(.0))]
    UnevenMarks(String),
    /// The same text is marked right and wrong.
    #[error("the same answer is marked both right and wrong")]
    ContradictoryMarks,
    /// Evidence or marks of a snapshot without answers.
    #[error("`{member}` names snapshot `{}`, which `answers` does not have", shown(.snapshot))]
    StrangeSnapshot {
        /// `correct` or `evidence`.
        member: &'static str,
        /// The snapshot.
        snapshot: String,
    },
    /// Answers to a question that is said to be unchanged.
    #[error("the question is marked unchanged and has answers")]
    AnsweredUnchanged,
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

impl From<OutsideError> for Failure {
    fn from(error: OutsideError) -> Self {
        Self::new(FailureClass::Usage, error.to_string()).with_hint("see docs/answers-format.md for the form of a line")
    }
}
