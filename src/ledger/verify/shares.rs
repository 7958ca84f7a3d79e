//! Marks that wait in temporary files, one for each ledger and share of the questions, so that the memory of a verification
//! is that of one share at a time, however long the ledgers are.

use super::code::Placed;
use super::rules::{AnswersRules, EvidenceRules, JudgmentsRules, Rules};
use super::units::Print;
use crate::ledger::{Damage, LedgerError};
use camino::Utf8Path;
use rayon::prelude::*;
use std::io::{self, BufReader, BufWriter, Seek as _};
use tempfile::SpooledTempFile;

/// Shares of the questions.
const SHARES: usize = 64;
/// Bytes of each file that stay in memory.
const IN_MEMORY: usize = 8 << 10;
/// Bytes that are written to it at once.
const BUFFER: usize = 4 << 10;

/// The first record that breaks a rule: its ledger in the order of stages, its line, and what is wrong.
pub(super) type Broken = (usize, u64, Damage);

/// The marks of all three ledgers.
pub(super) struct Shares {
    shares: Vec<[BufWriter<SpooledTempFile>; 3]>,
}

impl Shares {
    pub(super) fn new() -> Self {
        let file = |_| BufWriter::with_capacity(BUFFER, SpooledTempFile::new(IN_MEMORY));
        Self { shares: (0..SHARES).map(|_| [0, 1, 2].map(file)).collect() }
    }

    /// Takes the mark of the next record of a ledger.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub(super) fn take(&mut self, ledger: usize, placed: &Placed) -> Result<(), LedgerError> {
        let share = share_of(placed.question);
        match self.shares.get_mut(share).and_then(|files| files.get_mut(ledger)) {
            Some(file) => placed.write(file).map_err(temporary),
            None => Ok(()),
        }
    }

    /// Holds every mark against the rules. A break in an earlier ledger, then on an earlier line, comes first.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(super) fn first_broken(self) -> Result<Option<Broken>, LedgerError> {
        let broken = self.shares.into_par_iter().map(check).collect::<io::Result<Vec<_>>>().map_err(temporary)?;
        Ok(broken.into_iter().flatten().min_by_key(|(ledger, line, _)| (*ledger, *line)))
    }
}

fn share_of(question: Print) -> usize {
    let [word, _] = question.words();
    usize::try_from(word % SHARES as u64).unwrap_or(0)
}

fn check(files: [BufWriter<SpooledTempFile>; 3]) -> io::Result<Option<Broken>> {
    let [evidence, answers, judgments] = files;
    if let Some(broken) = check_file(0, evidence, &mut EvidenceRules::default())? {
        return Ok(Some(broken));
    }
    let mut answered = AnswersRules::default();
    if let Some(broken) = check_file(1, answers, &mut answered)? {
        return Ok(Some(broken));
    }
    check_file(2, judgments, &mut JudgmentsRules::new(answered))
}

fn check_file(ledger: usize, file: BufWriter<SpooledTempFile>, rules: &mut impl Rules) -> io::Result<Option<Broken>> {
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    let mut reader = BufReader::new(file);
    while let Some(placed) = Placed::read(&mut reader)? {
        let line = placed.line;
        if let Err(damage) = rules.take(placed) {
            return Ok(Some((ledger, line, damage)));
        }
    }
    Ok(None)
}

fn temporary(error: io::Error) -> LedgerError {
    LedgerError::io("write", Utf8Path::new("a temporary file"), error)
}
