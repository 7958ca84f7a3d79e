//! Why a file of evidence cannot be used. Lines and questions are named, no text is ever quoted.

use crate::model::{Failure, FailureClass, SnapshotName};
use crate::retrieve::corpus::CorpusError;

/// What is wrong with a file of evidence.
#[derive(Debug, thiserror::Error)]
pub(in crate::retrieve) enum EvidenceError {
    /// It is not there, is no file, or cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// A line that is no evidence.
    #[error("`{file}`, line {line}: {problem}")]
    BadLine {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A question with two lines.
    #[error("`{file}`, lines {first} and {second}: both are of the question `{question}`")]
    Twice {
        /// The file.
        file: String,
        /// The line that has it first.
        first: u64,
        /// The line that has it again.
        second: u64,
        /// The question.
        question: String,
    },
    /// Questions without a line.
    #[error("`{file}` has no line for {count} of the selected questions, first for `{question}`")]
    Unanswered {
        /// The file.
        file: String,
        /// How many there are.
        count: usize,
        /// The first of them.
        question: String,
    },
}

impl EvidenceError {
    /// The failure of the snapshot of this name.
    pub(in crate::retrieve) fn of_snapshot(&self, snapshot: &SnapshotName) -> Failure {
        let class = match self {
            Self::Corpus(error) => error.class(),
            _ => FailureClass::Usage,
        };
        let failure = Failure::new(class, format!("failed to read the evidence of snapshot `{snapshot}`: {self}"));
        match self.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Corpus(CorpusError::Missing(_) | CorpusError::NoFile(_) | CorpusError::NoPath) => {
                "the snapshot's `path` is one JSONL file of evidence, relative to the spec's folder"
            }
            Self::Corpus(CorpusError::TooLarge { .. }) => "keep the first documents of each question alone",
            Self::Corpus(error) => return error.hint(),
            Self::BadLine { .. } => {
                "each line is one question, such as `{\"id\": \"q1\", \"documents\": [{\"id\": \"a\", \"text\": \"...\"}]}`"
            }
            Self::Twice { .. } => "keep one of them",
            Self::Unanswered { .. } => "a question that retrieves nothing needs a line with an empty list of documents",
        };
        Some(hint.to_owned())
    }
}
