//! What must hold of the records of each stage, beyond their chain.

use super::code::Placed;
use super::marks::{Gist, Mark, Note};
use super::units::{Half, Print, Units};
use crate::ledger::Damage;
use crate::model::Evidence;
use std::collections::{HashMap, HashSet};

/// The rules of all ledgers, for one question.
#[derive(Default)]
pub(super) struct Rules {
    evidence: EvidenceRules,
    answers: AnswersRules,
    judgments: JudgmentsRules,
    again: JudgmentsRules,
    second: JudgmentsRules,
    replica: AnswersRules,
    of_replica: JudgmentsRules,
    vectors: VectorsRules,
}

impl Rules {
    /// Takes the question's next record, those of an earlier ledger first.
    ///
    /// # Errors
    /// It breaks a rule.
    pub(super) fn take(&mut self, placed: Placed) -> Result<(), Damage> {
        match placed.ledger {
            0 => self.evidence.take(placed),
            1 => self.answers.take(placed),
            2 => self.judgments.take(placed, &self.answers),
            3 => self.again.take(placed, &self.answers),
            4 => self.second.take(placed, &self.answers),
            5 => self.replica.take(placed),
            6 => self.of_replica.take(placed, &self.replica),
            _ => self.vectors.take(placed),
        }
    }
}

/// Vectors: each batch of texts is accepted once.
#[derive(Default)]
struct VectorsRules {
    units: Units<()>,
}

impl VectorsRules {
    fn take(&mut self, placed: Placed) -> Result<(), Damage> {
        match placed.mark {
            Mark::Attempt { seq, unit } => self.units.attempt(seq, unit),
            Mark::Outcome { attempt, unit, accepted } => self.units.outcome(attempt, unit, accepted.map(|_| ())),
            Mark::Note(_) => Ok(()),
        }
    }
}

/// Evidence: two passes that agree where a note says so.
#[derive(Default)]
struct EvidenceRules {
    units: Units<Half>,
    noted: HashSet<Print>,
}

impl EvidenceRules {
    fn take(&mut self, placed: Placed) -> Result<(), Damage> {
        match placed.mark {
            Mark::Attempt { seq, unit } => self.units.attempt(seq, unit),
            Mark::Outcome { attempt, unit, accepted } => {
                self.units.outcome(attempt, unit, accepted.as_ref().and_then(blob))
            }
            Mark::Note(Note::Passes { passes, evidence, matched }) => self.note(passes, evidence, matched),
            Mark::Note(Note::Unchanged | Note::Stored | Note::Packet(_)) => Ok(()),
        }
    }

    fn note(&mut self, passes: [Print; 2], evidence: Half, matched: bool) -> Result<(), Damage> {
        let [first, _] = passes;
        if !self.noted.insert(first) {
            return Err(Damage::NotedTwice);
        }
        let borne_out = match passes.map(|pass| self.units.accepted(pass).copied()) {
            [Some(one), Some(other)] => evidence == one && matched == (one == other),
            // The closed book is never retrieved from: its evidence is empty by definition.
            [None, None] => matched && evidence == Half::of(&Evidence::default().digest()),
            _ => false,
        };
        if borne_out { Ok(()) } else { Err(Damage::Passes) }
    }
}

/// Answers: one accepted answer a cell, none for a question that is noted as unchanged.
#[derive(Default)]
struct AnswersRules {
    units: Units<Half>,
    unchanged: HashSet<Print>,
}

impl AnswersRules {
    fn take(&mut self, placed: Placed) -> Result<(), Damage> {
        match placed.mark {
            Mark::Attempt { .. } if self.unchanged.contains(&placed.question) => Err(Damage::AttemptForUnchanged),
            Mark::Attempt { seq, unit } => self.units.attempt(seq, unit),
            Mark::Outcome { attempt, unit, accepted } => {
                self.units.outcome(attempt, unit, accepted.as_ref().and_then(blob))
            }
            Mark::Note(_) if self.unchanged.insert(placed.question) => Ok(()),
            Mark::Note(_) => Err(Damage::NotedTwice),
        }
    }
}

/// Judgments: a packet of accepted answers before its attempts, and at most one label for each of its pairs.
#[derive(Default)]
struct JudgmentsRules {
    units: Units<()>,
    packets: HashMap<Print, u32>,
    /// Labelled pairs of packets that were asked in parts and are not complete yet.
    partial: HashMap<Print, HashSet<(u32, u32)>>,
}

impl JudgmentsRules {
    /// Takes a record of judgments of these answers.
    fn take(&mut self, placed: Placed, given: &AnswersRules) -> Result<(), Damage> {
        match placed.mark {
            Mark::Attempt { seq, unit } => {
                self.size(placed.question)?;
                self.units.attempt(seq, unit)
            }
            Mark::Outcome { attempt, unit, accepted } => {
                let complete = match accepted {
                    Some(Gist::Pairs(pairs)) => Some(self.label(&pairs, placed.question)?),
                    Some(Gist::Blob(_)) | None => None,
                };
                self.units.outcome(attempt, unit, complete.filter(|complete| *complete).map(|_| ()))
            }
            Mark::Note(Note::Packet(Some(answers))) => self.packet(placed.question, &answers, given),
            Mark::Note(_) => Err(Damage::Packet),
        }
    }

    fn packet(
        &mut self,
        question: Print,
        answers: &[(Half, Vec<Print>)],
        accepted: &AnswersRules,
    ) -> Result<(), Damage> {
        let distinct: HashSet<Half> = answers.iter().map(|(half, _)| *half).collect();
        let given =
            |(half, cells): &(Half, Vec<Print>)| cells.iter().all(|cell| accepted.units.accepted(*cell) == Some(half));
        if distinct.len() != answers.len() || !answers.iter().all(given) {
            return Err(Damage::Packet);
        }
        let size = u32::try_from(answers.len()).map_err(|_| Damage::Packet)?;
        match self.packets.insert(question, size) {
            None => Ok(()),
            Some(_) => Err(Damage::NotedTwice),
        }
    }

    /// Takes the labels of a packet or of a part of it; whether every pair has its label then. A packet that is judged
    /// at once leaves nothing behind.
    fn label(&mut self, labels: &[(u32, u32)], question: Print) -> Result<bool, Damage> {
        let size = self.size(question)?;
        let pairs = u64::from(size) * (u64::from(size) - 1) / 2;
        let mut labelled = self.partial.remove(&question).unwrap_or_default();
        let fits = |one: u32, other: u32| one < other && other < size;
        let new = labels.iter().all(|(one, other)| fits(*one, *other) && labelled.insert((*one, *other)));
        if labels.is_empty() || !new {
            return Err(Damage::Pairs { pairs });
        }
        let complete = labelled.len() as u64 == pairs;
        if !complete {
            self.partial.insert(question, labelled);
        }
        Ok(complete)
    }

    fn size(&self, question: Print) -> Result<u32, Damage> {
        self.packets.get(&question).copied().ok_or(Damage::NoPacket)
    }
}

const fn blob(gist: &Gist) -> Option<Half> {
    match gist {
        Gist::Blob(half) => Some(*half),
        Gist::Pairs(_) => None,
    }
}
