//! The questions' vectors as a finished run holds them: in its blobs, which the notes of the evidence and the ledger of vectors
//! both name.

use super::kept::Kept;
use super::line::Line;
use super::vectors::text;
use crate::freeze::Protocol;
use crate::ledger::{self, BlobReader, stage};
use crate::model::{Digest, Failure, FailureClass, Question};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// The vectors of a run, to be held against its evidence question by question.
#[derive(Debug)]
pub(in crate::retrieve) struct Held<'a> {
    protocol: &'a Protocol,
    blobs: BlobReader,
    /// What stands in the way of reading it is told where the first question is looked at.
    kept: Result<Kept, Failure>,
}

impl<'a> Held<'a> {
    /// Reads the ledger of vectors, where the protocol asks for one.
    pub(in crate::retrieve) fn new(protocol: &'a Protocol, folder: &Utf8Path) -> Self {
        let embeds = protocol.spec.retrieve.embed.is_some();
        Self { protocol, blobs: BlobReader::at(folder), kept: kept(embeds, folder) }
    }

    /// Checks that a question was searched for with one vector of its own text in all snapshots, the one that the ledger has,
    /// and that it is of the reference text's embedder. `named` is what its notes name.
    ///
    /// # Errors
    /// The first difference: class [`FailureClass::Evidence`].
    pub(in crate::retrieve) fn question(
        &self,
        question: &Question,
        named: &BTreeSet<Option<Digest>>,
    ) -> Result<(), Failure> {
        let of = |what: &str| broken(&format!("question `{}`: {what}", question.id));
        let kept = self.kept.as_ref().map_err(Clone::clone)?;
        let Some(spec) = &self.protocol.spec.retrieve.embed else {
            return if named.iter().any(Option::is_some) { Err(of("it has one that nothing made")) } else { Ok(()) };
        };
        let (Some(Some(digest)), 1) = (named.first(), named.len()) else { return Err(of("it has none, or several")) };
        if kept.questions.get(&question.id) != Some(digest) {
            return Err(of("`vectors.jsonl` has another one"));
        }
        let line = Line::read(&self.blobs, digest).map_err(|failure| of(&failure.message))?;
        let embedded = Digest::of(text(spec, question).as_bytes());
        if line.question.as_ref() != Some(&question.id.0) || line.text != embedded {
            return Err(of("it is of another text"));
        }
        let reference = line.reference.and_then(|reference| kept.references.get(&reference));
        let reference = reference.ok_or_else(|| of("it names no reference text of `vectors.jsonl`"))?;
        reference.unlike(&line).map_or(Ok(()), |how| Err(of(&how)))
    }

    /// Checks that the ledger holds no more than the vectors of the questions that were looked at.
    ///
    /// # Errors
    /// It holds others.
    pub(in crate::retrieve) fn finish(&self, questions: u64) -> Result<(), Failure> {
        let kept = self.kept.as_ref().map_err(Clone::clone)?;
        let embeds = self.protocol.spec.retrieve.embed.is_some();
        if embeds && kept.questions.len() as u64 != questions {
            return Err(broken("`vectors.jsonl` has not one vector for each question"));
        }
        Ok(())
    }
}

/// The ledger, there where it is asked for and only there, all of it by one embedder.
fn kept(embeds: bool, folder: &Utf8Path) -> Result<Kept, Failure> {
    match (embeds, ledger::is_there::<stage::Vectors>(folder)?) {
        (false, false) => return Ok(Kept::default()),
        (false, true) => return Err(broken("`vectors.jsonl` is there, and nothing was embedded")),
        (true, _) => {}
    }
    let kept = Kept::read(folder)?;
    let first = kept.first().ok_or_else(|| broken("`vectors.jsonl` has no reference text"))?;
    match kept.references.values().find_map(|line| first.unlike_of_one_text(line)) {
        Some(how) => Err(broken(&format!("they are by more than one embedder: {how}"))),
        None => Ok(kept),
    }
}

fn broken(message: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the vectors are not those of the run: {message}"))
}
