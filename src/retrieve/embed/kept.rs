//! What the ledger of vectors holds already.

use super::line::Line;
use crate::ledger::record::{AcceptedVectors, Outcome, Record, StoredVectors, Texts, Verdict};
use crate::ledger::{self, BlobReader, stage};
use crate::model::{Amount, Digest, Failure, QuestionId};
use camino::Utf8Path;
use std::collections::{BTreeMap, HashMap};

/// What was embedded: names alone, so that memory does not grow with the length of vectors.
#[derive(Debug, Default)]
pub(in crate::retrieve) struct Kept {
    /// The lines of the reference text by their digests: one of each process, of a joined run those of all shards.
    pub references: BTreeMap<Digest, Line>,
    /// The first of them.
    pub reference: Option<Digest>,
    /// The name of each question's vector.
    pub questions: HashMap<QuestionId, Digest>,
    /// The number of the next unit of work.
    pub units: u64,
    /// What was spent.
    pub spent: Amount,
}

impl Kept {
    /// Reads the ledger, sealed or not.
    ///
    /// # Errors
    /// It is missing or damaged, or a line of the reference text is.
    pub(in crate::retrieve) fn read(folder: &Utf8Path) -> Result<Self, Failure> {
        let (mut kept, blobs) = (Self::default(), BlobReader::at(folder));
        for record in ledger::read::<stage::Vectors>(folder)? {
            let (_, record) = record?;
            kept.spent = kept.spent.plus(record.spent());
            match record {
                Record::Attempt(attempt) => kept.units = kept.units.max(attempt.of.number.saturating_add(1)),
                Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), .. }) => {
                    kept.accepted(of.texts, accepted, &blobs)?;
                }
                Record::Outcome(_) | Record::Note(_) => {}
            }
        }
        Ok(kept)
    }

    fn accepted(&mut self, texts: Texts, accepted: AcceptedVectors, blobs: &BlobReader) -> Result<(), Failure> {
        for record in accepted.vectors {
            match (texts, record.question) {
                (Texts::Reference, _) => {
                    self.reference.get_or_insert(record.vector);
                    self.references.insert(record.vector, Line::read(blobs, &record.vector)?);
                }
                (Texts::Questions, Some(question)) => {
                    self.questions.insert(question, record.vector);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The line that questions name.
    pub(in crate::retrieve) fn first(&self) -> Option<&Line> {
        self.references.get(&self.reference?)
    }
}

/// How stored vectors compared, each time that all snapshots were looked at: the notes of one time are written together.
///
/// # Errors
/// The ledger is missing or damaged.
pub(in crate::retrieve) fn compared(folder: &Utf8Path) -> Result<Vec<Vec<StoredVectors>>, Failure> {
    let (mut times, mut after_note): (Vec<Vec<StoredVectors>>, bool) = (Vec::new(), false);
    for record in ledger::read::<stage::Vectors>(folder)? {
        let Record::Note(note) = record?.1 else {
            after_note = false;
            continue;
        };
        match times.last_mut() {
            Some(last) if after_note => last.push(note),
            _ => times.push(vec![note]),
        }
        after_note = true;
    }
    Ok(times)
}
