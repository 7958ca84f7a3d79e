//! Accepted answers.

use serde::{Deserialize, Serialize};

/// The answer that says that the system does not know.
pub const UNKNOWN: &str = "UNKNOWN";

/// One accepted answer: nonempty, without white space at its ends, at most the audit's byte limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answer(String);

/// Why a text is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Nothing but white space.
    #[error("the answer is empty")]
    Empty,
    /// More bytes than the audit accepts.
    #[error("the answer has {bytes} bytes; at most {limit} are accepted")]
    TooLong {
        /// Its length in UTF-8 bytes.
        bytes: usize,
        /// The audit's limit.
        limit: usize,
    },
}

impl Answer {
    /// Trims white space at both ends and checks the length in UTF-8 bytes.
    ///
    /// # Errors
    /// An empty text, or one longer than `limit` bytes.
    pub fn parse(text: &str, limit: usize) -> Result<Self, AnswerError> {
        let trimmed = text.trim();
        match trimmed.len() {
            0 => Err(AnswerError::Empty),
            bytes if bytes > limit => Err(AnswerError::TooLong { bytes, limit }),
            _ => Ok(Self(trimmed.to_owned())),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the answer is exactly `UNKNOWN`.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0 == UNKNOWN
    }
}
