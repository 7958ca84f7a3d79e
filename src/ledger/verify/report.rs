//! What a verification looked at, and what it found.

use crate::ledger::LedgerError;
use crate::ledger::record::{Record, Verdict};
use crate::model::Digest;

/// Whether the bodies are there to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobCheck {
    /// The run is whole: every blob that a record names must be there.
    Present,
    /// The run was exported without texts: the ledgers alone are checked.
    Absent,
}

/// How far a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// To its evidence: it has no other ledger.
    Evidence,
    /// To its judgments.
    Judgments,
}

/// What was checked, up to the first difference.
#[derive(Debug, Default)]
pub struct Verification {
    /// The head of the protocol, once it was read.
    pub protocol: Option<Digest>,
    /// The evidence ledger.
    pub evidence: StageReport,
    /// The answers ledger.
    pub answers: StageReport,
    /// The judgments ledger.
    pub judgments: StageReport,
    /// The ledgers that not every run has, by name: those that are there.
    pub side: Vec<(&'static str, StageReport)>,
    /// How many blobs were read and compared with their names.
    pub blobs: u64,
    /// Their bytes.
    pub blob_bytes: u64,
    /// The first difference. A run without one is what its writer left.
    pub difference: Option<LedgerError>,
}

/// What was checked of one ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageReport {
    /// The digest of its seal line, once it was reached.
    pub head: Option<Digest>,
    /// Records of any kind.
    pub records: u64,
    /// Attempts.
    pub attempts: u64,
    /// Accepted outcomes.
    pub accepted: u64,
    /// Transport-invalid outcomes.
    pub invalid: u64,
    /// Outcomes that stopped the audit for the time being.
    pub fatal: u64,
    /// Notes.
    pub notes: u64,
}

impl StageReport {
    /// Attempts whose outcome is not recorded: a crash or an interruption came in between.
    #[must_use]
    pub const fn without_outcome(&self) -> u64 {
        self.attempts.saturating_sub(self.accepted + self.invalid + self.fatal)
    }

    pub(super) const fn count<K, A, N>(&mut self, record: &Record<K, A, N>) {
        self.records += 1;
        let counter = match record {
            Record::Attempt(_) => &mut self.attempts,
            Record::Note(_) => &mut self.notes,
            Record::Outcome(outcome) => match outcome.verdict {
                Verdict::Accepted(_) => &mut self.accepted,
                Verdict::Invalid(_) => &mut self.invalid,
                Verdict::Fatal(_) => &mut self.fatal,
            },
        };
        *counter += 1;
    }
}
