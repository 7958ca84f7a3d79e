//! How an audit went: attempts, retries, invalid cells, tokens, time.

use super::collect::Collected;
use crate::freeze::Protocol;
use crate::ledger::record::{Attempt, Outcome, Record, Usage, Verdict};
use crate::ledger::{self, stage};
use crate::model::{Failure, SnapshotName};
use crate::report::{RunRecord, Validity};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// Validity, which two runs of one protocol share, and the record, which they do not.
pub(super) struct Tally {
    /// What holds for the answers.
    pub validity: Validity,
    /// Heads, attempts, times.
    pub record: RunRecord,
}

/// Counts over attempts and outcomes.
#[derive(Default)]
struct Counts {
    attempts: u64,
    retries: BTreeMap<String, u64>,
    usage: Usage,
    first_ms: Option<u64>,
    last_ms: u64,
    started: BTreeMap<u64, u64>,
}

impl Counts {
    fn take<K, A, N>(&mut self, seq: u64, record: &Record<K, A, N>) {
        match record {
            Record::Attempt(Attempt { at_ms, .. }) => {
                self.attempts += 1;
                self.started.insert(seq, *at_ms);
                self.first_ms = Some(self.first_ms.map_or(*at_ms, |first| first.min(*at_ms)));
            }
            Record::Outcome(outcome) => self.outcome(outcome),
            Record::Note(_) => {}
        }
    }

    fn outcome<K, A>(&mut self, outcome: &Outcome<K, A>) {
        if let Verdict::Invalid(reason) | Verdict::Fatal(reason) = &outcome.verdict {
            *self.retries.entry(reason.clone()).or_default() += 1;
        }
        if let Some(usage) = outcome.usage {
            self.usage.input += usage.input;
            self.usage.output += usage.output;
        }
        if let Some(started) = self.started.remove(&outcome.attempt) {
            self.last_ms = self.last_ms.max(started.saturating_add(outcome.latency_ms));
        }
    }
}

/// Reads the ledgers once more, for what the figures do not need.
pub(super) fn tally(protocol: &Protocol, folder: &Utf8Path, collected: &Collected) -> Result<Tally, Failure> {
    let mut counts = Counts::default();
    let mut served: BTreeMap<SnapshotName, BTreeSet<String>> = BTreeMap::new();
    let mut judges: BTreeSet<String> = BTreeSet::new();
    for record in ledger::read::<stage::Answers>(folder)? {
        let (seq, record) = record?;
        counts.take(seq, &record);
        if let Record::Outcome(Outcome { of, served_model: Some(model), verdict: Verdict::Accepted(_), .. }) = record {
            served.entry(of.snapshot).or_default().insert(model);
        }
    }
    for record in ledger::read::<stage::Judgments>(folder)? {
        let (seq, record) = record?;
        counts.take(seq, &record);
        if let Record::Outcome(Outcome { served_model: Some(model), verdict: Verdict::Accepted(_), .. }) = record {
            judges.insert(model);
        }
    }
    let served = named(served, judges);
    Ok(Tally { validity: validity(protocol, collected, served), record: record(folder, counts)? })
}

/// The models by snapshot, those of the judge last.
fn named(served: BTreeMap<SnapshotName, BTreeSet<String>>, judges: BTreeSet<String>) -> Vec<(String, Vec<String>)> {
    let judges = Some((Validity::JUDGE.to_owned(), judges)).filter(|(_, models)| !models.is_empty());
    let served = served.into_iter().map(|(name, models)| (name.to_string(), models)).chain(judges);
    served.map(|(name, models)| (name, models.into_iter().collect())).collect()
}

fn validity(protocol: &Protocol, collected: &Collected, served: Vec<(String, Vec<String>)>) -> Validity {
    let asked = (protocol.questions.len() - collected.unchanged.len()) as u64;
    let cells = asked * u64::from(protocol.spec.generate.repeats);
    let names = || protocol.snapshots.iter().map(|snapshot| &snapshot.name);
    let accepted = |name: &SnapshotName| collected.accepted.get(name).copied().unwrap_or(0);
    Validity {
        cells: cells * protocol.snapshots.len() as u64,
        accepted: names().map(|name| (name.to_string(), accepted(name))).collect(),
        invalid: names().map(|name| (name.to_string(), cells.saturating_sub(accepted(name)))).collect(),
        excluded_questions: collected.excluded.len() as u64,
        packets: collected.packets,
        mismatched_evidence: collected.mismatched,
        served_models: served,
    }
}

fn record(folder: &Utf8Path, counts: Counts) -> Result<RunRecord, Failure> {
    let (protocol, evidence, answers, judgments) = ledger::open_locks(folder)?;
    let heads = [
        ("protocol", protocol.head()),
        ("evidence", evidence.head()),
        ("answers", answers.head()),
        ("judgments", judgments.head()),
    ];
    Ok(RunRecord {
        heads: heads.into_iter().map(|(name, head)| (name.to_owned(), head)).collect(),
        attempts: counts.attempts,
        retries: counts.retries.into_iter().collect(),
        tokens: (counts.usage.input, counts.usage.output),
        duration_ms: counts.last_ms.saturating_sub(counts.first_ms.unwrap_or(counts.last_ms)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_of_the_judge_come_last_and_only_where_it_named_any() {
        let of = |model: &str| BTreeSet::from([model.to_owned()]);
        let served = BTreeMap::from([(SnapshotName::old(), of("m-1")), (SnapshotName::new_snapshot(), of("m-1"))]);
        let names = |judges| named(served.clone(), judges).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(BTreeSet::new()), ["new", "old"]);
        assert_eq!(names(of("j-1")), ["new", "old", "judge"]);
        assert_eq!(named(served, of("j-1"))[2].1, ["j-1"]);
    }
}
