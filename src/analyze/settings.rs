//! What the analysis is told besides the observations: all of it comes from the protocol lock.

use super::AnalyzeError;
use crate::model::{Confidence, Normalisation, SnapshotName};
use std::collections::BTreeSet;

/// What is compared and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The snapshot that is deployed now.
    pub old: SnapshotName,
    /// The snapshot that would replace it.
    pub new: SnapshotName,
    /// The rungs between them, in order.
    pub between: Vec<SnapshotName>,
    /// Whether every asked question was also answered from the old snapshot rebuilt unchanged, as snapshot `placebo`.
    pub placebo: bool,
    /// Whether every asked question was also answered without evidence, as snapshot `closed_book`.
    pub closed_book: bool,
    /// The normalisation of the exact kernel and of correctness.
    pub normalisation: Normalisation,
    /// The confidence level of every bound.
    pub confidence: Confidence,
    /// Draws of the preregistered stream.
    pub draws: u32,
    /// Its ChaCha20 key, from the protocol lock.
    pub bootstrap_key: [u8; 32],
}

/// Old against new, nothing between, at 95% confidence, with the stream of a key that no protocol has: for examples.
impl Default for Settings {
    fn default() -> Self {
        Self {
            old: SnapshotName::old(),
            new: SnapshotName::new_snapshot(),
            between: Vec::new(),
            placebo: false,
            closed_book: false,
            normalisation: Normalisation::None,
            confidence: Confidence::default(),
            draws: 1_000,
            bootstrap_key: [0; 32],
        }
    }
}

impl Settings {
    /// The snapshots from old to new with the rungs between.
    #[must_use]
    pub fn steps(&self) -> Vec<&SnapshotName> {
        std::iter::once(&self.old).chain(&self.between).chain(std::iter::once(&self.new)).collect()
    }

    pub(super) fn check(&self) -> Result<(), AnalyzeError> {
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.steps().into_iter().find(|name| !seen.insert(*name)) {
            return Err(AnalyzeError::DuplicateSnapshot(twice.clone()));
        }
        if self.draws == 0 { Err(AnalyzeError::NoDraws) } else { Ok(()) }
    }
}
