//! The records of a ledger question by question. They wait in a temporary file, so that memory holds those of one question,
//! however long the ledger is.

use super::record::About;
use super::scan::{Scan, Step};
use super::sort::{Sorted, Sorter};
use super::{Damage, LedgerError, Recorded};
use crate::model::QuestionId;
use camino::{Utf8Path, Utf8PathBuf};
use std::marker::PhantomData;

/// A record with its number.
pub type Numbered<R> = (u64, R);

/// The records of one ledger by question, in the order of the questions' ranks.
pub struct ByQuestion<S> {
    sorted: Sorted,
    path: Utf8PathBuf,
    /// The smallest number of a record that nobody asked for.
    stranger: Option<u64>,
    buffer: Vec<u8>,
    stage: PhantomData<S>,
}

/// Reads the ledger of stage `S` in this run folder once, sealed or not, shows each record in its order to `each`, and puts
/// those of one question together. `rank` is the order in which they will be asked for.
///
/// # Errors
/// The ledger is missing or damaged, or a temporary file cannot be written.
pub fn by_question<S: Recorded>(
    folder_path: &Utf8Path,
    rank: impl Fn(&QuestionId) -> u128,
    mut each: impl FnMut(u64, &S::Record),
) -> Result<ByQuestion<S>, LedgerError> {
    let path = folder_path.join(S::FILE);
    let mut scan = Scan::open(&path, S::NAME)?;
    let mut sorter = Sorter::default();
    // Records of one question often follow one another.
    let mut last: Option<(QuestionId, u128)> = None;
    while let Step::Record { seq, fields } = scan.step()? {
        let record: S::Record = match serde_json::from_slice(fields) {
            Ok(record) => record,
            Err(error) => return Err(scan.damaged(Damage::Record { column: error.column() })),
        };
        each(seq, &record);
        let rank = match &last {
            Some((question, rank)) if question == record.question() => *rank,
            _ => rank(record.question()),
        };
        sorter.put(rank, &[&seq.to_le_bytes(), fields])?;
        last = Some((record.question().clone(), rank));
    }
    Ok(ByQuestion { sorted: sorter.sorted()?, path, stranger: None, buffer: Vec::new(), stage: PhantomData })
}

impl<S: Recorded> ByQuestion<S> {
    /// The records of one question in the order of the ledger. Questions are asked for by ascending rank, each once.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn of(&mut self, question: &QuestionId, rank: u128) -> Result<Vec<Numbered<S::Record>>, LedgerError> {
        let mut records = Vec::new();
        while self.sorted.key().is_some_and(|key| key <= rank) {
            let (seq, record) = self.next()?;
            if record.question() == question {
                records.push((seq, record));
            } else {
                self.meet(seq);
            }
        }
        Ok(records)
    }

    /// The number of the first record whose question was not asked for; asked at the end.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn stranger(&mut self) -> Result<Option<u64>, LedgerError> {
        while self.sorted.key().is_some() {
            let (seq, _) = self.next()?;
            self.meet(seq);
        }
        Ok(self.stranger)
    }

    /// Begins again at the first question.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn rewind(&mut self) -> Result<(), LedgerError> {
        self.stranger = None;
        self.sorted.rewind()
    }

    fn meet(&mut self, seq: u64) {
        self.stranger = Some(self.stranger.map_or(seq, |first| first.min(seq)));
    }

    fn next(&mut self) -> Result<Numbered<S::Record>, LedgerError> {
        self.sorted.take(&mut self.buffer)?;
        let (seq, fields) = self.buffer.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let seq = u64::from_le_bytes(*seq);
        // It was read once before, so that this fails only where the temporary file is not what was written.
        let record = serde_json::from_slice(fields).map_err(|error| LedgerError::Damaged {
            path: self.path.clone(),
            line: seq.saturating_add(2),
            damage: Damage::Record { column: error.column() },
        })?;
        Ok((seq, record))
    }
}
