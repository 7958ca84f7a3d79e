//! How answers came to be, in time: what a change of the model during the audit, or an uneven redrawing of answers, would
//! show. Diagnosis only: nothing of it moves a figure or the verdict.

use crate::freeze::Protocol;
use crate::generate::is_of_content;
use crate::ledger::Sorter;
use crate::ledger::record::{AnswersRecord, Outcome, Record, Verdict};
use crate::model::{Digest, Failure, Observation, SnapshotAnswers, SnapshotName, fisher::Share};
use crate::report::Conduct;
use crate::spec::GenerateBackend;
use std::collections::{BTreeMap, BTreeSet};

/// What the answers ledger says of time and of attempts, as it is read.
#[derive(Debug, Default)]
pub(super) struct Answering {
    seen: BTreeMap<SnapshotName, Seen>,
    fingerprints: BTreeMap<SnapshotName, BTreeSet<Digest>>,
    redrawn: BTreeMap<SnapshotName, u64>,
    accepted: BTreeMap<SnapshotName, u64>,
}

impl Answering {
    /// Takes one record.
    pub(super) fn take(&mut self, record: &AnswersRecord) {
        let Record::Outcome(Outcome { of, verdict, fingerprint, .. }) = record else { return };
        let snapshot = || of.snapshot.clone();
        match verdict {
            Verdict::Accepted(_) => {
                *self.accepted.entry(snapshot()).or_default() += 1;
                if let Some(fingerprint) = fingerprint {
                    self.fingerprints.entry(snapshot()).or_default().insert(Digest::of(fingerprint.as_bytes()));
                }
            }
            Verdict::Invalid(reason) if is_of_content(reason) => *self.redrawn.entry(snapshot()).or_default() += 1,
            Verdict::Invalid(_) | Verdict::Fatal(_) => {}
        }
    }

    /// Takes one question that is analyzed, and when the attempt at its last accepted cell of each snapshot was recorded. That is
    /// before its wait in line, where whoever came first goes first: the halves are those of the calls, but for a line's length
    /// about their border. Numbers of attempts are no times: a ledger may be joined from those of several machines.
    pub(super) fn question(
        &mut self,
        observation: &Observation,
        last: &BTreeMap<SnapshotName, u64>,
    ) -> Result<(), Failure> {
        for SnapshotAnswers { snapshot, answers, .. } in &observation.snapshots {
            let Some(at_ms) = last.get(snapshot) else { continue };
            let one_text = answers.iter().all(|answer| Some(answer) == answers.first());
            self.seen.entry(snapshot.clone()).or_default().put(*at_ms, one_text)?;
        }
        Ok(())
    }

    /// The figures by snapshot, in the audit's order. None for the embedded reader, which draws by the protocol's seed: no time
    /// is in its answers.
    pub(super) fn conduct(&mut self, protocol: &Protocol) -> Result<Vec<Conduct>, Failure> {
        if matches!(protocol.spec.generate.backend, GenerateBackend::Reader(_)) {
            return Ok(Vec::new());
        }
        let mut seen = std::mem::take(&mut self.seen);
        let mut of = |snapshot: &SnapshotName| {
            let (early, late) = seen.remove(snapshot).unwrap_or_default().halves()?;
            let redrawn = self.redrawn.get(snapshot).copied().unwrap_or(0);
            let accepted = self.accepted.get(snapshot).copied().unwrap_or(0);
            Ok(Conduct {
                snapshot: snapshot.to_string(),
                early: (early.counted, early.of),
                late: (late.counted, late.of),
                fingerprints: self.fingerprints.get(snapshot).map_or(0, |seen| seen.len() as u64),
                redrawn: (redrawn, redrawn + accepted),
            })
        };
        protocol.snapshots.iter().map(|snapshot| of(&snapshot.name)).collect()
    }
}

/// The questions of one snapshot by when their last accepted cell was asked for, and whether their repeats are all one text.
#[derive(Debug, Default)]
struct Seen {
    by_time: Sorter,
    questions: u64,
}

impl Seen {
    /// What was asked for in one millisecond stands in the order of the selection, which knows nothing of answers: were it the
    /// answers' own order, those that disagree would all come first.
    fn put(&mut self, at_ms: u64, one_text: bool) -> Result<(), Failure> {
        let key = u128::from(at_ms) << 64 | u128::from(self.questions) << 1 | u128::from(one_text);
        self.questions += 1;
        Ok(self.by_time.put(key, &[])?)
    }

    /// Of the questions answered first and last: those whose repeats are all one text.
    fn halves(self) -> Result<(Share, Share), Failure> {
        let middle = self.questions / 2;
        let (mut early, mut late) = (Share::default(), Share::default());
        let (mut sorted, mut nothing) = (self.by_time.sorted()?, Vec::new());
        while let Some(key) = sorted.take(&mut nothing)? {
            let half = if early.of < middle { &mut early } else { &mut late };
            half.of += 1;
            half.counted += u64::from(key & 1 == 1);
        }
        Ok((early, late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fisher::{CHANCE, fisher};

    fn halves(questions: impl IntoIterator<Item = (u64, bool)>) -> (Share, Share) {
        let mut seen = Seen::default();
        for (at_ms, one_text) in questions {
            seen.put(at_ms, one_text).unwrap();
        }
        seen.halves().unwrap()
    }

    #[test]
    fn what_was_asked_for_at_one_time_falls_into_either_half_whatever_was_answered() {
        for questions in [1, 2, 7, 100] {
            for one in 0..questions {
                let (early, late) = halves((0..questions).map(|place| (1_764_583_200_000, place == one)));
                assert_eq!((early.of, late.of), (questions / 2, questions - questions / 2));
                let is_early = one < questions / 2;
                assert_eq!((early.counted, late.counted), (u64::from(is_early), u64::from(!is_early)), "{one}");
            }
        }
        for disagree_first in [true, false] {
            let (early, late) = halves((0..100_u64).map(|place| (5, (place % 2 == 1) == disagree_first)));
            assert_eq!((early.counted, late.counted), (25, 25));
            assert!(fisher(early, late) > CHANCE);
        }
    }

    #[test]
    fn time_tells_the_halves_before_anything_else() {
        let (early, late) = halves((0..100_u64).rev().map(|at_ms| (at_ms, at_ms >= 50)));
        assert_eq!(((early.counted, early.of), (late.counted, late.of)), ((0, 50), (50, 50)));
        assert!(fisher(early, late) < CHANCE);
    }
}
