//! What stands between a call and the network: a tape that keeps what came back, or that answers in the network's place.

use super::{Call, CallError, Reply};
use crate::model::{Cell, Failure, QuestionId, SnapshotName};
use std::fmt;
use std::sync::Arc;

/// The unit of work that a call is made for; nothing for calls of the audit as a whole. Only a tape reads it: whoever makes
/// the call cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unit(Arc<[String]>);

impl Unit {
    /// One pass of one question over one snapshot.
    #[must_use]
    pub fn evidence(question: &QuestionId, snapshot: &SnapshotName, pass: u32) -> Self {
        Self::of([String::from("evidence"), question.0.clone(), snapshot.0.clone(), pass.to_string()])
    }

    /// One cell of the ledger of this name.
    #[must_use]
    pub fn answer(ledger: &str, cell: &Cell) -> Self {
        Self::of([ledger.to_owned(), cell.question.0.clone(), cell.snapshot.0.clone(), cell.repeat.to_string()])
    }

    /// The packet of one question in the ledger of this name.
    #[must_use]
    pub fn judgment(ledger: &str, question: &QuestionId) -> Self {
        Self::of([ledger.to_owned(), question.0.clone()])
    }

    /// A unit by its parts: the stage first, then what is asked about.
    #[must_use]
    pub fn of(parts: impl IntoIterator<Item = String>) -> Self {
        Self(parts.into_iter().collect())
    }

    /// Its parts.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

/// In words: `answers q-1 old 0`.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.0.is_empty() { "the audit as a whole".to_owned() } else { self.0.join(" ") };
        f.write_str(&text.replace(char::is_control, " "))
    }
}

/// A tape. Called from many tasks at once.
pub trait Tape: fmt::Debug + Send + Sync {
    /// Whether it answers every call, so that none is made.
    fn replays(&self) -> bool;

    /// What a call comes to without being made; `None` where it is to be made.
    fn play(&self, call: &Call, unit: &Unit) -> Option<Result<Reply, CallError>>;

    /// Keeps what a call that was made came to.
    fn keep(&self, call: &Call, unit: &Unit, came: &Result<Reply, CallError>);

    /// Passes over the first replies of a unit: an earlier process has had them.
    fn skip(&self, unit: &Unit, replies: u64);

    /// Whether it keeps what comes back and had fewer replies of a unit at its start than an earlier process of the run.
    fn lacks(&self, unit: &Unit, replies: u64) -> bool;

    /// What went wrong with the tape itself, which is then why the audit ends.
    fn trouble(&self) -> Option<Failure>;
}
