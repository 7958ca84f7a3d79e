//! Similarities of two answers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A similarity of two answers in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Equality after the declared normalisation.
    Exact,
    /// The blind judgment whether two answers mean the same.
    Semantic,
}

/// A blind judgment of one pair of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Both answers mean the same as answers to the question.
    Same,
    /// They do not.
    Different,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Semantic => "semantic",
        })
    }
}
