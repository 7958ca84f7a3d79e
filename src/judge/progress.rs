//! What a judgments ledger that was begun earlier says already.

use super::judging::Judging;
use crate::http::{Before, CallError, Place, Served};
use crate::ledger;
use crate::ledger::record::{JudgmentsRecord, Outcome, Packet, Record, Verdict};
use crate::model::{Failure, Price, QuestionId, ServedModels};
use camino::Utf8Path;
use std::collections::{BTreeSet, HashMap};

/// What is on record of one question.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its packet.
    pub packet: Packet,
    /// Pairs with an accepted label.
    pub pairs: BTreeSet<(usize, usize)>,
    /// Calls that came to no labels since the last ones that did.
    pub failed: u32,
}

impl Recorded {
    /// Whether every pair of the packet has a label.
    #[must_use]
    pub fn complete(&self) -> bool {
        let answers = self.packet.answers.len();
        self.pairs.len() == answers * answers.saturating_sub(1) / 2
    }

    /// Whether an earlier process used up so many attempts without its labels.
    #[must_use]
    pub fn was_given_up(&self, max_attempts: u32) -> bool {
        !self.complete() && self.failed >= max_attempts
    }

    /// Whether it was asked for before, and has not all of its labels.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.complete() && self.failed > 0
    }

    /// Whether a judge has labelled any pair of it.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        !self.pairs.is_empty()
    }
}

/// What is on record, by question.
pub type Progress = HashMap<QuestionId, Recorded>;

/// Reads the judgments so far, what the judge said beside them and before, and what was spent on them at this price.
///
/// # Errors
/// The ledger is damaged, or holds judgments that cannot stand beside each other.
pub fn read<S: Judging>(
    folder: &Utf8Path,
    price: Option<Price>,
    rule: ServedModels,
) -> Result<(Progress, Served, Before), Failure> {
    let (mut progress, served, mut before) = (Progress::new(), S::served(rule, Place::Run), Before::default());
    S::said_before(folder, &mut |model, id| served.take(model, id))?;
    for record in ledger::read::<S>(folder)? {
        let (_, record) = record?;
        before.take(record.spent(price), record.without_usage());
        if let Record::Outcome(Outcome { verdict: Verdict::Accepted(_), served_model, response_id, .. }) = &record {
            served.take(served_model.as_deref(), response_id.as_deref())?;
        }
        take(&mut progress, record);
    }
    Ok((progress, served, before))
}

fn take(progress: &mut Progress, record: JudgmentsRecord) {
    match record {
        Record::Note(packet) => {
            progress.insert(packet.question.clone(), Recorded { packet, pairs: BTreeSet::new(), failed: 0 });
        }
        Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), .. }) => {
            if let Some(recorded) = progress.get_mut(&of) {
                recorded.pairs.extend(judgment.pairs.iter().map(|pair| (pair.one as usize, pair.other as usize)));
                recorded.failed = 0;
            }
        }
        Record::Outcome(Outcome { of, verdict: Verdict::Invalid(reason), .. }) => {
            if let Some(recorded) = progress.get_mut(&of) {
                recorded.failed += u32::from(!CallError::is_not_sent(&reason));
            }
        }
        Record::Attempt(_) | Record::Outcome(_) => {}
    }
}

/// What a sealed ledger says was spent on a judge whose tokens have this price.
///
/// # Errors
/// The ledger is damaged.
pub fn before<S: Judging>(folder: &Utf8Path, price: Option<Price>) -> Result<Before, Failure> {
    let mut before = Before::default();
    for record in ledger::read::<S>(folder)? {
        let record = record?.1;
        before.take(record.spent(price), record.without_usage());
    }
    Ok(before)
}
