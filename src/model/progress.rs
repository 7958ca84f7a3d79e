//! What the stages tell while they work. Whoever prints it listens; the stages never print.

use super::Amount;
use std::time::{Duration, Instant};

/// A stage of the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StageName {
    /// Questions to evidence.
    Retrieve,
    /// Evidence to answers.
    Generate,
    /// Answers to judgments.
    Judge,
    /// A sample of packets to the same judge once more.
    JudgeAgain,
    /// A sample of packets to a second judge.
    JudgeSecond,
    /// A sample of questions to a second generator.
    Replicate,
    /// The second generator's answers to judgments.
    JudgeReplica,
    /// Evidence that no snapshot gave to answers, to explain a flip.
    Explain,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A stage begins; `done` of `total` units of work are in the ledger already.
    Started {
        /// Which stage.
        stage: StageName,
        /// Units already done.
        done: u64,
        /// Units in all.
        total: u64,
    },
    /// One unit of work is done.
    Advanced(StageName),
    /// An attempt came to nothing and will be made again after this time.
    Retrying {
        /// Which stage.
        stage: StageName,
        /// Why, as a short code of ours (never text from a server).
        reason: &'static str,
        /// How long is waited.
        wait: Duration,
    },
    /// A call is held back before it is made.
    Waiting {
        /// Which stage.
        stage: StageName,
        /// What for, in words of ours.
        what: &'static str,
        /// For how long.
        wait: Duration,
    },
    /// A call is in flight from this moment on.
    Called(Instant),
    /// The call that began at this moment is over.
    Over(Instant),
    /// What the whole run has spent so far, as far as servers say.
    Spent(Amount),
    /// A stage is sealed.
    Sealed(StageName),
    /// Something that a person should know.
    Note(String),
}

/// Whoever listens to events. Called from many tasks at once.
pub trait Observer: Send + Sync {
    /// Takes one event; must not block.
    fn observe(&self, event: Event);
}

/// Listens and does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&self, _event: Event) {}
}
