//! Names of questions, snapshots and cells.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The stable id of a question: any nonempty text, compared byte by byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub String);

/// The name of a snapshot within one audit: `old`, `new`, `placebo`, `closed_book` or the name of a rung between.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotName(pub String);

impl SnapshotName {
    /// The snapshot that is deployed now.
    #[must_use]
    pub fn old() -> Self {
        Self("old".to_owned())
    }

    /// The snapshot that would replace it.
    #[must_use]
    pub fn new_snapshot() -> Self {
        Self("new".to_owned())
    }

    /// The old snapshot rebuilt unchanged.
    #[must_use]
    pub fn placebo() -> Self {
        Self("placebo".to_owned())
    }

    /// Whether it is that of a snapshot between old and new, which a spec names itself.
    #[must_use]
    pub fn is_rung(&self) -> bool {
        ![Self::old(), Self::new_snapshot(), Self::placebo(), Self::closed_book()].contains(self)
    }

    /// The snapshot without any evidence.
    #[must_use]
    pub fn closed_book() -> Self {
        Self("closed_book".to_owned())
    }
}

/// One answer's place: (question, snapshot, repeat). Holds exactly one accepted answer, immutable once accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// The question that is asked.
    pub question: QuestionId,
    /// The snapshot whose evidence it is asked with.
    pub snapshot: SnapshotName,
    /// The number of the repeat, from 0.
    pub repeat: u32,
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SnapshotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.question, self.snapshot, self.repeat)
    }
}
