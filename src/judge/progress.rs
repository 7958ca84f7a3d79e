//! What a judgments ledger that was begun earlier says already.

use crate::ledger::record::{JudgmentsRecord, Outcome, Packet, Record, Verdict};
use crate::ledger::{self, stage};
use crate::model::{Failure, QuestionId};
use camino::Utf8Path;
use std::collections::{BTreeSet, HashMap};

/// What is on record of one question.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its packet.
    pub packet: Packet,
    /// Pairs with an accepted label.
    pub pairs: BTreeSet<(usize, usize)>,
}

impl Recorded {
    /// Whether every pair of the packet has a label.
    #[must_use]
    pub fn complete(&self) -> bool {
        let answers = self.packet.answers.len();
        self.pairs.len() == answers * answers.saturating_sub(1) / 2
    }
}

/// What is on record, by question.
pub type Progress = HashMap<QuestionId, Recorded>;

/// Reads the judgments so far.
///
/// # Errors
/// The ledger is damaged.
pub fn read(folder: &Utf8Path) -> Result<Progress, Failure> {
    let mut progress = Progress::new();
    for record in ledger::read::<stage::Judgments>(folder)? {
        take(&mut progress, record?.1);
    }
    Ok(progress)
}

fn take(progress: &mut Progress, record: JudgmentsRecord) {
    match record {
        Record::Note(packet) => {
            progress.insert(packet.question.clone(), Recorded { packet, pairs: BTreeSet::new() });
        }
        Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), .. }) => {
            if let Some(recorded) = progress.get_mut(&of) {
                recorded.pairs.extend(judgment.pairs.iter().map(|pair| (pair.one as usize, pair.other as usize)));
            }
        }
        Record::Attempt(_) | Record::Outcome(_) => {}
    }
}
