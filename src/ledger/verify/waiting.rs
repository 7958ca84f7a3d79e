//! Marks that wait in a temporary file until those of one question are looked at together, so that the memory of a
//! verification is that of one question, however long the ledgers are.

use super::code::Placed;
use super::rules::Rules;
use crate::ledger::sort::{Sorter, temporary};
use crate::ledger::{Damage, LedgerError};
use std::io;

/// The first record that breaks a rule: its ledger in the order of stages, its line, and what is wrong.
pub(super) type Broken = (usize, u64, Damage);

/// The marks of all ledgers.
#[derive(Default)]
pub(super) struct Waiting {
    sorter: Sorter,
    buffer: Vec<u8>,
}

impl Waiting {
    /// Takes the mark of the next record; ledgers come in the order of stages.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub(super) fn take(&mut self, placed: &Placed) -> Result<(), LedgerError> {
        self.buffer.clear();
        placed.write(&mut self.buffer);
        self.sorter.put(placed.question.key(), &[&self.buffer])
    }

    /// Holds every mark against the rules. A break in an earlier ledger, then on an earlier line, comes first.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub(super) fn first_broken(self) -> Result<Option<Broken>, LedgerError> {
        let (mut sorted, mut item) = (self.sorter.sorted()?, self.buffer);
        let mut first: Option<Broken> = None;
        let (mut question, mut rules, mut broken) = (None, Rules::default(), false);
        while let Some(key) = sorted.take(&mut item)? {
            if question.replace(key) != Some(key) {
                (rules, broken) = (Rules::default(), false);
            }
            // What follows a break of its own question says nothing.
            if broken {
                continue;
            }
            let placed = Placed::read(&item).ok_or_else(|| temporary(io::ErrorKind::InvalidData.into()))?;
            let (ledger, line) = (placed.ledger, placed.line);
            if let Err(damage) = rules.take(placed) {
                broken = true;
                let found = (ledger, line, damage);
                first = first.filter(|first| (first.0, first.1) < (ledger, line)).or(Some(found));
            }
        }
        Ok(first)
    }
}
