//! What the evidence ledger holds already, and what is still to do.

use crate::freeze::Protocol;
use crate::ledger::record::{EvidenceKey, EvidenceRecord, PassRecord, Record, Verdict};
use crate::model::{Digest, Evidence, Failure, FailureClass, Question, QuestionId, SnapshotName};
use std::collections::{BTreeMap, HashMap};

/// How often each question is retrieved from each snapshot.
pub(super) const PASSES: u32 = 2;

/// The state of one question in one snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    passes: [Option<Digest>; PASSES as usize],
    matched: Option<bool>,
}

/// One pass of one question over one snapshot, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unit {
    pub question: usize,
    pub snapshot: usize,
    pub pass: u32,
}

/// The state of the whole stage. Snapshots come in the audit's order, the closed book after the last of the spec's.
pub(super) struct Progress {
    ids: Vec<QuestionId>,
    names: Vec<SnapshotName>,
    retrieved: usize,
    by_id: HashMap<QuestionId, usize>,
    by_name: BTreeMap<SnapshotName, usize>,
    slots: Vec<Slot>,
}

impl Progress {
    /// Nothing done yet.
    pub(super) fn new(protocol: &Protocol) -> Self {
        Self::of(protocol, &protocol.questions)
    }

    /// The same for some of the questions.
    pub(super) fn of(protocol: &Protocol, questions: &[Question]) -> Self {
        let ids: Vec<_> = questions.iter().map(|question| question.id.clone()).collect();
        let retrieved = protocol.spec.snapshots.len();
        let mut names: Vec<_> = protocol.spec.snapshots.iter().map(|snapshot| snapshot.name.clone()).collect();
        if protocol.spec.closed_book {
            names.push(SnapshotName::closed_book());
        }
        let by_id = ids.iter().cloned().enumerate().map(|(number, id)| (id, number)).collect();
        let by_name = names.iter().cloned().enumerate().map(|(number, name)| (name, number)).collect();
        let slots = vec![Slot::default(); ids.len() * names.len()];
        Self { ids, names, retrieved, by_id, by_name, slots }
    }

    /// Takes in a record that the ledger holds.
    ///
    /// # Errors
    /// It names a question, a snapshot or a pass that the protocol does not have.
    pub(super) fn take(&mut self, record: &EvidenceRecord) -> Result<(), Failure> {
        match record {
            Record::Attempt(_) => Ok(()),
            Record::Outcome(outcome) => match &outcome.verdict {
                Verdict::Accepted(accepted) => self.accept(&outcome.of, accepted.evidence),
                Verdict::Invalid(_) | Verdict::Fatal(_) => Ok(()),
            },
            Record::Note(PassRecord { question, snapshot, matched, .. }) => {
                self.slot(question, snapshot)?.matched = Some(*matched);
                Ok(())
            }
        }
    }

    fn accept(&mut self, key: &EvidenceKey, evidence: Digest) -> Result<(), Failure> {
        let slot = self.slot(&key.question, &key.snapshot)?;
        match slot.passes.get_mut(key.pass as usize) {
            Some(pass) => pass.get_or_insert(evidence),
            None => return Err(foreign()),
        };
        Ok(())
    }

    fn slot(&mut self, question: &QuestionId, snapshot: &SnapshotName) -> Result<&mut Slot, Failure> {
        let (question, snapshot) = (self.by_id.get(question), self.by_name.get(snapshot));
        let place = question.zip(snapshot).map(|(question, snapshot)| snapshot * self.ids.len() + question);
        place.and_then(|place| self.slots.get_mut(place)).ok_or_else(foreign)
    }

    fn at(&self, question: usize, snapshot: usize) -> Slot {
        self.slots.get(snapshot * self.ids.len() + question).copied().unwrap_or_default()
    }

    /// Whether each question has a note for each snapshot, after both passes over each that is retrieved from.
    pub(super) fn is_whole(&self) -> bool {
        let retrieved = self.retrieved * self.ids.len();
        self.slots.iter().enumerate().all(|(place, slot)| {
            slot.matched.is_some() && (place >= retrieved || slot.passes.iter().all(Option::is_some))
        })
    }

    /// Marks a unit as done.
    pub(super) fn done(&mut self, unit: Unit, evidence: Digest) {
        if let Some(slot) = self.slots.get_mut(unit.snapshot * self.ids.len() + unit.question) {
            slot.passes[unit.pass as usize] = Some(evidence);
        }
    }

    /// Units that are not done, of one pass over one snapshot, in selection order.
    pub(super) fn open_units(&self, snapshot: usize, pass: u32) -> Vec<Unit> {
        let open = |question: &usize| self.at(*question, snapshot).passes[pass as usize].is_none();
        (0..self.ids.len()).filter(open).map(|question| Unit { question, snapshot, pass }).collect()
    }

    /// How many snapshots are retrieved from: all but the closed book.
    pub(super) const fn retrieved(&self) -> usize {
        self.retrieved
    }

    /// Units that are done, and units in all.
    pub(super) fn count(&self) -> (u64, u64) {
        let slots = &self.slots[..self.retrieved * self.ids.len()];
        let done: usize = slots.iter().map(|slot| slot.passes.iter().flatten().count()).sum();
        (done as u64, slots.len() as u64 * u64::from(PASSES))
    }

    /// The key of a unit in the ledger.
    pub(super) fn key(&self, unit: Unit) -> EvidenceKey {
        let (question, snapshot) = (self.ids[unit.question].clone(), self.names[unit.snapshot].clone());
        EvidenceKey { question, snapshot, pass: unit.pass }
    }

    /// The notes that are still to be written for questions both of whose passes are done. The closed book has no
    /// passes: its evidence is empty by definition. `vector` tells which vector a question was searched for with.
    pub(super) fn open_notes<'a>(
        &'a self,
        vector: impl Fn(usize) -> Option<Digest> + 'a,
    ) -> impl Iterator<Item = PassRecord> + 'a {
        let empty = Evidence::default().digest();
        let places =
            (0..self.names.len()).flat_map(|snapshot| (0..self.ids.len()).map(move |question| (question, snapshot)));
        places.filter_map(move |(question, snapshot)| {
            let slot = self.at(question, snapshot);
            let passes = if snapshot < self.retrieved { slot.passes } else { [Some(empty); PASSES as usize] };
            let ([Some(first), Some(second)], None) = (passes, slot.matched) else { return None };
            let key = self.key(Unit { question, snapshot, pass: 0 });
            Some(PassRecord {
                question: key.question,
                snapshot: key.snapshot,
                evidence: first,
                matched: first == second,
                vector: if snapshot < self.retrieved { vector(question) } else { None },
            })
        })
    }

    /// The snapshots from which no question got any document in either pass.
    pub(super) fn barren(&self) -> Vec<&SnapshotName> {
        let nothing = [Some(Evidence::default().digest()); PASSES as usize];
        let is_barren = |snapshot: &usize| {
            !self.ids.is_empty() && (0..self.ids.len()).all(|question| self.at(question, *snapshot).passes == nothing)
        };
        (0..self.retrieved).filter(is_barren).map(|snapshot| &self.names[snapshot]).collect()
    }

    /// How many questions there are.
    pub(super) const fn questions(&self) -> usize {
        self.ids.len()
    }

    /// For each snapshot with passes that do not match: its name, how many questions, and the first of them.
    pub(super) fn mismatches(&self) -> Vec<(&SnapshotName, usize, &QuestionId)> {
        let mut found = Vec::new();
        for snapshot in 0..self.retrieved {
            let differs = |question: &usize| {
                let slot = self.at(*question, snapshot);
                slot.matched == Some(false) || matches!(slot.passes, [Some(first), Some(second)] if first != second)
            };
            let questions: Vec<usize> = (0..self.ids.len()).filter(differs).collect();
            if let Some(first) = questions.first() {
                found.push((&self.names[snapshot], questions.len(), &self.ids[*first]));
            }
        }
        found
    }
}

fn foreign() -> Failure {
    Failure::new(
        FailureClass::Evidence,
        "the evidence ledger names a question, a snapshot or a pass that the protocol does not have",
    )
}
