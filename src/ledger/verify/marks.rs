//! What one record means for the rules, in a few words of memory and without any text.

use super::units::{Half, Print, Prints};
use crate::ledger::record::{
    About, AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, AcceptedVectors, EvidenceKey, Outcome, Packet,
    PassRecord, Record, StoredVectors, Unchanged, Verdict,
};
use crate::model::{Cell, Digest};
use std::hash::Hash;

/// A blob that a record names, and the length that it says the blob has.
pub(super) type Reference = (Digest, Option<u64>);

/// What is remembered of one record until the records of its question are looked at together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A call for a unit of work.
    Attempt {
        /// Its number.
        seq: u64,
        /// The unit.
        unit: Print,
    },
    /// What it came to.
    Outcome {
        /// The number of the attempt.
        attempt: u64,
        /// The unit.
        unit: Print,
        /// What was accepted, where something was.
        accepted: Option<Gist>,
    },
    /// A decision without a call.
    Note(Note),
}

/// What an accepted unit holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gist {
    /// A blob.
    Blob(Half),
    /// Pairs that have their label.
    Pairs(Vec<(u32, u32)>),
}

/// What a note says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// The evidence that is locked for a question and a snapshot.
    Passes {
        /// The two passes.
        passes: [Print; 2],
        /// The evidence.
        evidence: Half,
        /// Whether both passes hold it.
        matched: bool,
    },
    /// The question is not asked.
    Unchanged,
    /// How stored vectors compare with those of the embedder.
    Stored,
    /// What the judge is shown: each answer with the cells that gave it. Nothing where its shape is none of a packet.
    Packet(Option<Vec<(Half, Vec<Print>)>>),
}

/// What an accepted unit holds.
pub(super) trait Accepted {
    /// The blobs that it names.
    fn blobs(&self) -> Vec<Reference>;
    /// What is remembered of it.
    fn gist(&self) -> Gist;
}

impl Accepted for AcceptedEvidence {
    fn blobs(&self) -> Vec<Reference> {
        vec![(self.evidence, None)]
    }

    fn gist(&self) -> Gist {
        Gist::Blob(Half::of(&self.evidence))
    }
}

impl Accepted for AcceptedAnswer {
    fn blobs(&self) -> Vec<Reference> {
        vec![(self.answer, Some(self.bytes))]
    }

    fn gist(&self) -> Gist {
        Gist::Blob(Half::of(&self.answer))
    }
}

impl Accepted for AcceptedJudgment {
    fn blobs(&self) -> Vec<Reference> {
        Vec::new()
    }

    fn gist(&self) -> Gist {
        Gist::Pairs(self.pairs.iter().map(|pair| (pair.one, pair.other)).collect())
    }
}

impl Accepted for AcceptedVectors {
    fn blobs(&self) -> Vec<Reference> {
        self.vectors
            .iter()
            .flat_map(|record| record.text.into_iter().chain([record.vector]))
            .map(|blob| (blob, None))
            .collect()
    }

    /// Nothing of it is needed again: the notes of the evidence name each vector.
    fn gist(&self) -> Gist {
        Gist::Pairs(Vec::new())
    }
}

/// What a stage notes.
pub(super) trait Noted: About {
    /// The blobs that it names.
    fn blobs(&self) -> Vec<Reference>;
    /// What is remembered of it.
    fn note(&self, prints: &Prints) -> Note;
}

impl Noted for PassRecord {
    fn blobs(&self) -> Vec<Reference> {
        [self.evidence].into_iter().chain(self.vector).map(|digest| (digest, None)).collect()
    }

    fn note(&self, prints: &Prints) -> Note {
        let Self { question, snapshot, evidence, matched, vector: _ } = self;
        let pass = |pass| prints.of(&EvidenceKey { question: question.clone(), snapshot: snapshot.clone(), pass });
        Note::Passes { passes: [pass(0), pass(1)], evidence: Half::of(evidence), matched: *matched }
    }
}

impl Noted for Unchanged {
    fn blobs(&self) -> Vec<Reference> {
        Vec::new()
    }

    fn note(&self, _: &Prints) -> Note {
        Note::Unchanged
    }
}

impl Noted for StoredVectors {
    fn blobs(&self) -> Vec<Reference> {
        Vec::new()
    }

    fn note(&self, _: &Prints) -> Note {
        Note::Stored
    }
}

impl Noted for Packet {
    fn blobs(&self) -> Vec<Reference> {
        self.answers.iter().map(|digest| (*digest, None)).collect()
    }

    fn note(&self, prints: &Prints) -> Note {
        let Self { question, answers, cells } = self;
        let own = cells.iter().all(|cells| !cells.is_empty() && cells.iter().all(|cell| cell.question == *question));
        if answers.len() < 2 || answers.len() != cells.len() || !own {
            return Note::Packet(None);
        }
        let given = |(digest, cells): (&Digest, &Vec<Cell>)| {
            (Half::of(digest), cells.iter().map(|cell| prints.of(cell)).collect())
        };
        Note::Packet(Some(answers.iter().zip(cells).map(given).collect()))
    }
}

/// The blobs that a record names.
pub(super) fn references<K, A: Accepted, N: Noted>(record: &Record<K, A, N>) -> Vec<Reference> {
    match record {
        Record::Attempt(_) => Vec::new(),
        Record::Outcome(outcome) => {
            let body = outcome.body.map(|digest| (digest, None));
            accepted(outcome).map(Accepted::blobs).into_iter().flatten().chain(body).collect()
        }
        Record::Note(note) => note.blobs(),
    }
}

/// What is remembered of a record.
pub(super) fn mark<K: Hash, A: Accepted, N: Noted>(prints: &Prints, seq: u64, record: &Record<K, A, N>) -> Mark {
    match record {
        Record::Attempt(attempt) => Mark::Attempt { seq, unit: prints.of(&attempt.of) },
        Record::Outcome(outcome) => Mark::Outcome {
            attempt: outcome.attempt,
            unit: prints.of(&outcome.of),
            accepted: accepted(outcome).map(Accepted::gist),
        },
        Record::Note(note) => Mark::Note(note.note(prints)),
    }
}

const fn accepted<K, A>(outcome: &Outcome<K, A>) -> Option<&A> {
    match &outcome.verdict {
        Verdict::Accepted(accepted) => Some(accepted),
        Verdict::Invalid(_) | Verdict::Fatal(_) => None,
    }
}
