//! What earlier processes left in the ledger.

use super::answering::Answering;
use super::plan::{Places, foreign};
use crate::http::{Before, CallError, Place, Served};
use crate::ledger::read;
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::model::{Failure, Price, QuestionId, ServedModels};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// What is done already.
#[derive(Debug)]
pub struct Standing {
    /// For each cell, by its number: whether it holds an answer.
    pub accepted: Vec<bool>,
    /// For each cell, by its number: how many attempts were recorded.
    attempts: Vec<u32>,
    /// For each cell, by its number: how many calls came to no answer.
    failed: Vec<u32>,
    /// Questions that are noted as unchanged.
    pub unchanged: BTreeSet<QuestionId>,
    /// What servers said beside accepted answers.
    pub served: Served,
    /// What was spent.
    pub before: Before,
}

impl Standing {
    /// Whether any cell holds an answer.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        self.accepted.contains(&true)
    }

    /// Reads the answers ledger of a generator whose tokens have this price.
    ///
    /// # Errors
    /// It is damaged, names a cell that the protocol does not have, or holds answers that cannot stand beside each other.
    pub fn read<S: Answering>(
        folder: &Utf8Path,
        places: &Places,
        price: Option<Price>,
        rule: ServedModels,
    ) -> Result<Self, Failure> {
        let mut standing = Self {
            accepted: vec![false; places.cells()],
            attempts: vec![0; places.cells()],
            failed: vec![0; places.cells()],
            unchanged: BTreeSet::new(),
            served: S::served(rule, Place::Run),
            before: Before::default(),
        };
        for record in read::<S>(folder)? {
            let record = record?.1;
            standing.before.take(record.spent(price), record.without_usage());
            match record {
                Record::Outcome(Outcome { of, verdict: Verdict::Accepted(_), served_model, response_id, .. }) => {
                    let cell = places.cell(&of).and_then(|cell| standing.accepted.get_mut(cell));
                    *cell.ok_or_else(|| foreign(S::NAME))? = true;
                    let serving = places.serving(&of.snapshot);
                    let (model, id) = (served_model.as_deref(), response_id.as_deref());
                    standing.served.take_about(serving, Some(&of.snapshot), model, id)?;
                }
                Record::Note(note) => {
                    standing.unchanged.insert(note.question);
                }
                Record::Attempt(attempt) => {
                    let cell = places.cell(&attempt.of).and_then(|cell| standing.attempts.get_mut(cell));
                    *cell.ok_or_else(|| foreign("answers"))? += 1;
                }
                Record::Outcome(Outcome { of, verdict: Verdict::Invalid(reason), .. }) => {
                    let cell = places.cell(&of).and_then(|cell| standing.failed.get_mut(cell));
                    *cell.ok_or_else(|| foreign(S::NAME))? += u32::from(!CallError::is_not_sent(&reason));
                }
                Record::Outcome(_) => {}
            }
        }
        Ok(standing)
    }

    /// How many attempts at the cell of this number were recorded.
    #[must_use]
    pub fn attempts(&self, cell: Option<usize>) -> u32 {
        cell.and_then(|cell| self.attempts.get(cell)).copied().unwrap_or(0)
    }

    /// How many calls for the cell of this number came to no answer.
    #[must_use]
    pub fn failed(&self, cell: Option<usize>) -> u32 {
        cell.and_then(|cell| self.failed.get(cell)).copied().unwrap_or(0)
    }
}
