//! The questions' vectors as a finished run holds them: in its blobs, which the notes of the evidence and the ledger of vectors
//! both name.

use super::calls::{Calls, Stored, broken};
use super::line::Line;
use super::named::made_up;
use super::vectors::{REFERENCE, text};
use crate::freeze::Protocol;
use crate::ledger::{self, BlobReader, stage, unfit};
use crate::model::{Digest, Failure, Question, QuestionId};
use crate::spec::EmbedSpec;
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// The vectors of a run, to be held against its evidence question by question.
#[derive(Debug)]
pub(in crate::retrieve) struct Held<'a> {
    protocol: &'a Protocol,
    blobs: BlobReader,
    /// Nothing where questions are not embedded. What stands in the way of reading it is told where the first question is looked at.
    made: Result<Option<Made<'a>>, Failure>,
}

/// The calls that made vectors, and the lines of the reference text by their digests: one of each process, of a joined run those of
/// all shards.
#[derive(Debug)]
struct Made<'a> {
    calls: Calls<'a>,
    references: BTreeMap<Digest, Line>,
}

impl<'a> Held<'a> {
    /// Reads the ledger of vectors, where the protocol asks for one.
    pub(in crate::retrieve) fn new(protocol: &'a Protocol, folder: &Utf8Path) -> Self {
        let blobs = BlobReader::at(folder);
        let made = Made::read(protocol.spec.retrieve.embed.as_ref(), folder, &blobs);
        Self { protocol, blobs, made }
    }

    /// Checks that a question was searched for with one vector of its own text in all snapshots, the one that the ledger has,
    /// and that it is of the reference text's embedder. `named` is what its notes name.
    ///
    /// # Errors
    /// The first difference: class [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
    pub(in crate::retrieve) fn question(
        &self,
        question: &Question,
        named: &BTreeSet<Option<Digest>>,
    ) -> Result<(), Failure> {
        let of = |what: &str| broken(&format!("question `{}`: {what}", question.id));
        let made = self.made.as_ref().map_err(Clone::clone)?;
        let Some((spec, made)) = self.protocol.spec.retrieve.embed.as_ref().zip(made.as_ref()) else {
            return if named.iter().any(Option::is_some) { Err(made_up(&question.id)) } else { Ok(()) };
        };
        let digest = made.calls.named(&question.id, named)?;
        let line = Line::read(&self.blobs, &digest).map_err(|failure| of(&failure.message))?;
        let embedded = Digest::of(text(spec, question).as_bytes());
        if line.question.as_ref() != Some(&question.id.0) || line.text != embedded {
            return Err(of("it is of another text"));
        }
        let reference = line.reference.and_then(|reference| made.references.get(&reference));
        let reference = reference.ok_or_else(|| of("it names no reference text of `vectors.jsonl`"))?;
        reference.unlike(&line).map_or(Ok(()), |how| Err(of(&how)))
    }

    /// What is embedded of a question, where it is: what the calls are to be held against.
    pub(in crate::retrieve) fn embedded(&self, question: &Question) -> Option<String> {
        self.protocol.spec.retrieve.embed.as_ref().map(|spec| text(spec, question))
    }

    /// Holds the calls against what was embedded of a question.
    ///
    /// # Errors
    /// One asked for other texts: class [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
    pub(in crate::retrieve) fn count(&mut self, question: &QuestionId, embedded: String) -> Result<(), Failure> {
        match &mut self.made {
            Ok(Some(made)) => made.calls.text(question, embedded),
            Ok(None) => Ok(()),
            Err(failure) => Err(failure.clone()),
        }
    }

    /// Checks that the ledger holds no more than the vectors and the calls of the questions that were looked at.
    ///
    /// # Errors
    /// It holds others.
    pub(in crate::retrieve) fn finish(&self, questions: u64) -> Result<(), Failure> {
        let Some(made) = self.made.as_ref().map_err(Clone::clone)? else { return Ok(()) };
        made.calls.count(questions)?;
        made.calls.finish()
    }
}

impl<'a> Made<'a> {
    /// The ledger, there where it is asked for and only there, all of it by one embedder.
    fn read(spec: Option<&'a EmbedSpec>, folder: &Utf8Path, blobs: &BlobReader) -> Result<Option<Self>, Failure> {
        let Some(spec) = spec else {
            let is_there = ledger::is_there::<stage::Vectors>(folder)?;
            return if is_there { Err(broken("`vectors.jsonl` is there, and nothing was embedded")) } else { Ok(None) };
        };
        let made = Self { calls: Calls::read(spec, folder)?, references: BTreeMap::new() }.with_references(blobs)?;
        for stored in &made.calls.stored {
            made.stored(stored, blobs)?;
        }
        Ok(Some(made))
    }

    /// Reads the lines of the reference text.
    fn with_references(mut self, blobs: &BlobReader) -> Result<Self, Failure> {
        let lines: Vec<Line> =
            self.calls.references.iter().map(|digest| Line::read(blobs, digest)).collect::<Result<_, _>>()?;
        let (first, told) =
            lines.first().zip(self.calls.first()).ok_or_else(|| broken("`vectors.jsonl` has no reference text"))?;
        if first.vector.len() as u64 != told.dimensions || first.model != told.model {
            return Err(broken("the reference text's is of another length or model than `vectors.jsonl` says"));
        }
        if lines.iter().any(|line| line.question.is_some() || line.text != Digest::of(REFERENCE.as_bytes())) {
            return Err(broken("a reference text is another one"));
        }
        if let Some(how) = lines.iter().find_map(|line| first.unlike_of_one_text(line)) {
            return Err(broken(&format!("they are by more than one embedder: {how}")));
        }
        self.references = self.calls.references.iter().copied().zip(lines).collect();
        Ok(self)
    }

    /// Checks a call for stored documents: its request, and that each vector is of its text and of the reference text's embedder.
    fn stored(&self, stored: &Stored, blobs: &BlobReader) -> Result<(), Failure> {
        let of = |what: &str| unfit::<stage::Vectors>(stored.seq, what);
        let mut texts = Vec::new();
        for record in &stored.vectors {
            let digest = record.text.ok_or_else(|| of("a stored document has no text"))?;
            let text = String::from_utf8(blobs.get(&digest)?).map_err(|_| of("a stored document is no text"))?;
            let line = Line::read(blobs, &record.vector)?;
            if line.question.is_some() || record.question.is_some() || line.text != digest {
                return Err(of("a vector is of another text"));
            }
            if let Some(how) = self.references.values().next().and_then(|reference| reference.unlike(&line)) {
                return Err(of(&how));
            }
            texts.push(text);
        }
        self.calls.hold_stored(stored, &texts)
    }
}
