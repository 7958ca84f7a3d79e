//! What must hold of the records of each stage, beyond their chain.

use super::units::{Half, Print, Prints, Units};
use crate::ledger::record::{
    AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, EvidenceKey, Outcome, Packet, PairLabel, PassRecord, Record,
    Unchanged, Verdict,
};
use crate::ledger::stage::{Answers, Evidence, Judgments};
use crate::ledger::{Damage, Recorded};
use crate::model::{Cell, Digest, QuestionId};
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};

/// A blob that a record names, and the length that it says the blob has.
pub(super) type Reference = (Digest, Option<u64>);

/// The rules of one stage.
pub(super) trait Check {
    /// The unit of work.
    type Key: DeserializeOwned;
    /// What an accepted unit holds.
    type Accepted: DeserializeOwned;
    /// What is noted besides.
    type Note: DeserializeOwned;
    /// The stage.
    type Stage: Recorded<Record = Record<Self::Key, Self::Accepted, Self::Note>>;

    /// The question that a record is about.
    fn question(record: &Record<Self::Key, Self::Accepted, Self::Note>) -> &QuestionId;

    /// The blobs that a record names.
    fn references(record: &Record<Self::Key, Self::Accepted, Self::Note>) -> Vec<Reference>;

    /// Takes the next record.
    ///
    /// # Errors
    /// It breaks a rule.
    fn record(&mut self, seq: u64, record: &Record<Self::Key, Self::Accepted, Self::Note>) -> Result<(), Damage>;
}

const fn accepted<K, A>(outcome: &Outcome<K, A>) -> Option<&A> {
    match &outcome.verdict {
        Verdict::Accepted(accepted) => Some(accepted),
        Verdict::Invalid(_) | Verdict::Fatal(_) => None,
    }
}

fn with_body<K, A>(outcome: &Outcome<K, A>, more: impl FnOnce(&A) -> Reference) -> Vec<Reference> {
    let body = outcome.body.map(|digest| (digest, None));
    accepted(outcome).map(more).into_iter().chain(body).collect()
}

/// Evidence: two passes that agree where a note says so.
#[derive(Default)]
pub(super) struct EvidenceCheck {
    prints: Prints,
    units: Units<Half>,
    noted: HashSet<Print>,
}

impl Check for EvidenceCheck {
    type Key = EvidenceKey;
    type Accepted = AcceptedEvidence;
    type Note = PassRecord;
    type Stage = Evidence;

    fn question(record: &Record<EvidenceKey, AcceptedEvidence, PassRecord>) -> &QuestionId {
        match record {
            Record::Attempt(attempt) => &attempt.of.question,
            Record::Outcome(outcome) => &outcome.of.question,
            Record::Note(note) => &note.question,
        }
    }

    fn references(record: &Record<EvidenceKey, AcceptedEvidence, PassRecord>) -> Vec<Reference> {
        match record {
            Record::Attempt(_) => Vec::new(),
            Record::Outcome(outcome) => with_body(outcome, |accepted| (accepted.evidence, None)),
            Record::Note(note) => vec![(note.evidence, None)],
        }
    }

    fn record(&mut self, seq: u64, record: &Record<EvidenceKey, AcceptedEvidence, PassRecord>) -> Result<(), Damage> {
        match record {
            Record::Attempt(attempt) => self.units.attempt(seq, self.prints.of(&attempt.of)),
            Record::Outcome(outcome) => {
                let half = accepted(outcome).map(|accepted| Half::of(&accepted.evidence));
                self.units.outcome(outcome.attempt, self.prints.of(&outcome.of), half)
            }
            Record::Note(note) => self.note(note),
        }
    }
}

impl EvidenceCheck {
    fn note(&mut self, note: &PassRecord) -> Result<(), Damage> {
        if !self.noted.insert(self.prints.of(&(&note.question, &note.snapshot))) {
            return Err(Damage::NotedTwice);
        }
        let pass = |pass| EvidenceKey { question: note.question.clone(), snapshot: note.snapshot.clone(), pass };
        let locked = Half::of(&note.evidence);
        let found: Vec<_> =
            (0..2).filter_map(|number| self.units.accepted(self.prints.of(&pass(number))).copied()).collect();
        let borne_out = if note.matched {
            !found.is_empty() && found.iter().all(|half| *half == locked)
        } else {
            found.contains(&locked)
        };
        if borne_out { Ok(()) } else { Err(Damage::Passes) }
    }
}

/// Answers: one accepted answer a cell, none for a question that is noted as unchanged.
#[derive(Default)]
pub(super) struct AnswersCheck {
    prints: Prints,
    units: Units<Half>,
    unchanged: HashSet<Print>,
}

impl Check for AnswersCheck {
    type Key = Cell;
    type Accepted = AcceptedAnswer;
    type Note = Unchanged;
    type Stage = Answers;

    fn question(record: &Record<Cell, AcceptedAnswer, Unchanged>) -> &QuestionId {
        match record {
            Record::Attempt(attempt) => &attempt.of.question,
            Record::Outcome(outcome) => &outcome.of.question,
            Record::Note(note) => &note.question,
        }
    }

    fn references(record: &Record<Cell, AcceptedAnswer, Unchanged>) -> Vec<Reference> {
        match record {
            Record::Outcome(outcome) => with_body(outcome, |accepted| (accepted.answer, Some(accepted.bytes))),
            Record::Attempt(_) | Record::Note(_) => Vec::new(),
        }
    }

    fn record(&mut self, seq: u64, record: &Record<Cell, AcceptedAnswer, Unchanged>) -> Result<(), Damage> {
        match record {
            Record::Attempt(attempt) => {
                if self.unchanged.contains(&self.prints.of(&attempt.of.question)) {
                    return Err(Damage::AttemptForUnchanged);
                }
                self.units.attempt(seq, self.prints.of(&attempt.of))
            }
            Record::Outcome(outcome) => {
                let half = accepted(outcome).map(|accepted| Half::of(&accepted.answer));
                self.units.outcome(outcome.attempt, self.prints.of(&outcome.of), half)
            }
            Record::Note(note) if self.unchanged.insert(self.prints.of(&note.question)) => Ok(()),
            Record::Note(_) => Err(Damage::NotedTwice),
        }
    }
}

/// Judgments: a packet of accepted answers before its attempts, and at most one label for each of its pairs.
pub(super) struct JudgmentsCheck {
    answers: AnswersCheck,
    prints: Prints,
    units: Units<()>,
    packets: HashMap<Print, u32>,
    /// Labelled pairs of packets that were asked in parts and are not complete yet.
    partial: HashMap<Print, HashSet<(u32, u32)>>,
}

impl JudgmentsCheck {
    /// Judges against these answers.
    pub(super) fn new(answers: AnswersCheck) -> Self {
        let prints = answers.prints.clone();
        Self { answers, prints, units: Units::default(), packets: HashMap::new(), partial: HashMap::new() }
    }

    fn packet(&mut self, packet: &Packet) -> Result<(), Damage> {
        let Packet { question, answers, cells } = packet;
        let distinct: HashSet<_> = answers.iter().collect();
        if answers.len() < 2 || distinct.len() != answers.len() || cells.len() != answers.len() {
            return Err(Damage::Packet);
        }
        let holds = |digest: &Digest, cells: &[Cell]| {
            let same = |cell: &Cell| {
                cell.question == *question
                    && self.answers.units.accepted(self.prints.of(cell)) == Some(&Half::of(digest))
            };
            !cells.is_empty() && cells.iter().all(same)
        };
        if !answers.iter().zip(cells).all(|(digest, cells)| holds(digest, cells)) {
            return Err(Damage::Packet);
        }
        let size = u32::try_from(answers.len()).map_err(|_| Damage::Packet)?;
        match self.packets.insert(self.prints.of(question), size) {
            None => Ok(()),
            Some(_) => Err(Damage::NotedTwice),
        }
    }

    /// Takes the labels of a packet or of a part of it; whether every pair has its label then. A packet that is judged
    /// at once leaves nothing behind.
    fn label(&mut self, judgment: &AcceptedJudgment, unit: Print) -> Result<bool, Damage> {
        let size = self.size(unit)?;
        let pairs = u64::from(size) * (u64::from(size) - 1) / 2;
        let mut labelled = self.partial.remove(&unit).unwrap_or_default();
        let fits = |pair: &PairLabel| pair.one < pair.other && pair.other < size;
        let new = judgment.pairs.iter().all(|pair| fits(pair) && labelled.insert((pair.one, pair.other)));
        if judgment.pairs.is_empty() || !new {
            return Err(Damage::Pairs { pairs });
        }
        let complete = labelled.len() as u64 == pairs;
        if !complete {
            self.partial.insert(unit, labelled);
        }
        Ok(complete)
    }

    fn size(&self, unit: Print) -> Result<u32, Damage> {
        self.packets.get(&unit).copied().ok_or(Damage::NoPacket)
    }
}

impl Check for JudgmentsCheck {
    type Key = QuestionId;
    type Accepted = AcceptedJudgment;
    type Note = Packet;
    type Stage = Judgments;

    fn question(record: &Record<QuestionId, AcceptedJudgment, Packet>) -> &QuestionId {
        match record {
            Record::Attempt(attempt) => &attempt.of,
            Record::Outcome(outcome) => &outcome.of,
            Record::Note(note) => &note.question,
        }
    }

    fn references(record: &Record<QuestionId, AcceptedJudgment, Packet>) -> Vec<Reference> {
        match record {
            Record::Attempt(_) => Vec::new(),
            Record::Outcome(outcome) => outcome.body.map(|digest| (digest, None)).into_iter().collect(),
            Record::Note(packet) => packet.answers.iter().map(|digest| (*digest, None)).collect(),
        }
    }

    fn record(&mut self, seq: u64, record: &Record<QuestionId, AcceptedJudgment, Packet>) -> Result<(), Damage> {
        match record {
            Record::Attempt(attempt) => {
                let unit = self.prints.of(&attempt.of);
                self.size(unit)?;
                self.units.attempt(seq, unit)
            }
            Record::Outcome(outcome) => {
                let unit = self.prints.of(&outcome.of);
                let complete = accepted(outcome).map(|judgment| self.label(judgment, unit)).transpose()?;
                self.units.outcome(outcome.attempt, unit, complete.filter(|complete| *complete).map(|_| ()))
            }
            Record::Note(packet) => self.packet(packet),
        }
    }
}
