//! How answers came to be, in time: what a change of the model during the audit, or an uneven redrawing of answers, would
//! show. Diagnosis only: nothing of it moves a figure or the verdict.

use crate::freeze::Protocol;
use crate::generate::is_of_content;
use crate::ledger::record::{AnswersRecord, Attempt, Outcome, Record, Verdict};
use crate::model::{Digest, Observation, QuestionId, SnapshotName, fisher::Share};
use crate::report::Conduct;
use crate::spec::GenerateBackend;
use std::collections::{BTreeMap, BTreeSet};

/// What the answers ledger says of time and of attempts, as it is read.
#[derive(Debug, Default)]
pub(super) struct Answering {
    /// When attempts began, by their number, until their outcome is read.
    begun: BTreeMap<u64, u64>,
    /// When the last accepted cell of a question in a snapshot was asked for. Numbers of attempts are no times: a ledger may be
    /// joined from those of several machines.
    last: BTreeMap<SnapshotName, BTreeMap<QuestionId, u64>>,
    fingerprints: BTreeMap<SnapshotName, BTreeSet<Digest>>,
    redrawn: BTreeMap<SnapshotName, u64>,
    accepted: BTreeMap<SnapshotName, u64>,
}

impl Answering {
    /// Takes one record.
    pub(super) fn take(&mut self, seq: u64, record: &AnswersRecord) {
        if let Record::Attempt(Attempt { at_ms, .. }) = record {
            self.begun.insert(seq, *at_ms);
        }
        let Record::Outcome(Outcome { attempt, of, verdict, fingerprint, .. }) = record else { return };
        let at = self.begun.remove(attempt).unwrap_or_default();
        let snapshot = || of.snapshot.clone();
        match verdict {
            Verdict::Accepted(_) => {
                let last = self.last.entry(snapshot()).or_default().entry(of.question.clone()).or_default();
                *last = (*last).max(at);
                *self.accepted.entry(snapshot()).or_default() += 1;
                if let Some(fingerprint) = fingerprint {
                    self.fingerprints.entry(snapshot()).or_default().insert(Digest::of(fingerprint.as_bytes()));
                }
            }
            Verdict::Invalid(reason) if is_of_content(reason) => *self.redrawn.entry(snapshot()).or_default() += 1,
            Verdict::Invalid(_) | Verdict::Fatal(_) => {}
        }
    }

    /// The figures by snapshot, in the audit's order. None for the embedded reader, which draws by the protocol's seed: no time
    /// is in its answers.
    pub(super) fn conduct(&self, protocol: &Protocol, observations: &[Observation]) -> Vec<Conduct> {
        if matches!(protocol.spec.generate.backend, GenerateBackend::Reader(_)) {
            return Vec::new();
        }
        let of = |snapshot: &SnapshotName| {
            let (early, late) = self.halves(observations, snapshot);
            let redrawn = self.redrawn.get(snapshot).copied().unwrap_or(0);
            let accepted = self.accepted.get(snapshot).copied().unwrap_or(0);
            Conduct {
                snapshot: snapshot.to_string(),
                early: (early.counted, early.of),
                late: (late.counted, late.of),
                fingerprints: self.fingerprints.get(snapshot).map_or(0, |seen| seen.len() as u64),
                redrawn: (redrawn, redrawn + accepted),
            }
        };
        protocol.snapshots.iter().map(|snapshot| of(&snapshot.name)).collect()
    }

    /// Of the questions answered first and last in this snapshot: those whose repeats are all one text.
    fn halves(&self, observations: &[Observation], snapshot: &SnapshotName) -> (Share, Share) {
        let Some(last) = self.last.get(snapshot) else { return Default::default() };
        let mut seen: Vec<(u64, bool)> = observations
            .iter()
            .filter_map(|observation| {
                let answers = &observation.snapshots.iter().find(|one| one.snapshot == *snapshot)?.answers;
                let one_text = answers.windows(2).all(|two| two[0] == two[1]);
                Some((*last.get(&observation.id)?, one_text))
            })
            .collect();
        seen.sort_unstable();
        let (early, late) = seen.split_at(seen.len() / 2);
        let share = |half: &[(u64, bool)]| Share {
            counted: half.iter().filter(|(_, agree)| *agree).count() as u64,
            of: half.len() as u64,
        };
        (share(early), share(late))
    }
}
