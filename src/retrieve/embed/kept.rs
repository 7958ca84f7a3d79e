//! What the ledger of vectors holds already.

use super::line::Line;
use crate::http::Before;
use crate::ledger::record::{AcceptedVectors, Outcome, Record, StoredVectors, Texts, Verdict};
use crate::ledger::{self, BlobReader, stage};
use crate::model::{Digest, Failure, FailureClass, Price, QuestionId};
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
    pub before: Before,
}

impl Kept {
    /// Reads the ledger, sealed or not, of an embedder whose tokens have this price.
    ///
    /// # Errors
    /// It is missing or damaged, or a line of the reference text is; or it embeds a question twice.
    pub(in crate::retrieve) fn read(folder: &Utf8Path, price: Option<Price>) -> Result<Self, Failure> {
        let (mut kept, blobs) = (Self::default(), BlobReader::at(folder));
        for record in ledger::read::<stage::Vectors>(folder)? {
            let (_, record) = record?;
            kept.before.take(record.spent(price), record.without_usage());
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
                    let before = self.questions.insert(question, record.vector);
                    before.map_or(Ok(()), |_| Err(twice()))?;
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

fn twice() -> Failure {
    Failure::new(FailureClass::Evidence, "`vectors.jsonl` embeds a question twice")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::record::VectorRecord;

    #[test]
    fn a_question_that_is_embedded_twice_is_damage() {
        let blobs = BlobReader::at(Utf8Path::new("nowhere"));
        let accepted = |ids: &[&str]| {
            let vector = |id: &&str| VectorRecord {
                question: Some(QuestionId((*id).to_owned())),
                text: None,
                vector: Digest::of(id.as_bytes()),
            };
            AcceptedVectors { dimensions: 3, vectors: ids.iter().map(vector).collect() }
        };
        let mut kept = Kept::default();
        kept.accepted(Texts::Questions, accepted(&["q1", "q2"]), &blobs).unwrap();
        let failure = kept.accepted(Texts::Questions, accepted(&["q3", "q2"]), &blobs).unwrap_err();
        assert_eq!(failure.class, FailureClass::Evidence);
        assert!(failure.message.contains("embeds a question twice"), "{failure}");
    }
}
