//! The questions' vectors as a finished run holds them: in its blobs, by which the notes name them, and in `vectors.jsonl`.

use super::store::{self, Line};
use super::vectors::{of_one_embedder, text};
use crate::freeze::Protocol;
use crate::ledger::BlobReader;
use crate::model::{Digest, Failure, FailureClass, Question};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// The vectors of a run, to be held against its ledger question by question.
#[derive(Debug)]
pub(in crate::retrieve) struct Held<'a> {
    protocol: &'a Protocol,
    blobs: BlobReader,
    /// What stands in the way of reading it is told where the first question is looked at.
    file: Result<Option<Kept>, String>,
}

/// `vectors.jsonl`: the reference text's line, and the digest of the line of each question.
#[derive(Debug)]
struct Kept {
    reference: Line,
    lines: BTreeMap<String, Digest>,
    count: u64,
}

impl<'a> Held<'a> {
    /// Reads `vectors.jsonl`, where it lies in the folder: a merged run has vectors in its blobs alone.
    pub(in crate::retrieve) fn new(protocol: &'a Protocol, folder: &Utf8Path) -> Self {
        let embeds = protocol.spec.retrieve.embed.is_some();
        let file = if embeds { kept(folder) } else { Ok(None) };
        let file = file.map_err(|failure| failure.message);
        Self { protocol, blobs: BlobReader::at(folder), file }
    }

    /// Checks that a question was searched for with one vector of its own text in all snapshots, the one that the file has,
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
        let Some(spec) = &self.protocol.spec.retrieve.embed else {
            return if named.iter().any(Option::is_some) { Err(of("it has one that nothing made")) } else { Ok(()) };
        };
        let (Some(Some(digest)), 1) = (named.first(), named.len()) else { return Err(of("it has none, or several")) };
        let line: Line = serde_json::from_slice(&self.blobs.get(digest)?).map_err(|_| of("it is none"))?;
        let embedded = Digest::of(text(spec, question).as_bytes());
        if line.question.as_ref() != Some(&question.id.0) || line.text != embedded {
            return Err(of("it is of another text"));
        }
        let Some(file) = self.file.as_ref().map_err(|what| broken(what))? else { return Ok(()) };
        if file.lines.get(&question.id.0) != Some(digest) || line.reference != Some(file.reference.digest()) {
            return Err(of("`vectors.jsonl` has another one"));
        }
        of_one_embedder(&file.reference, &line).map_err(|failure| broken(&failure.message))
    }

    /// Checks that the file holds no more than the lines of the questions that were looked at.
    ///
    /// # Errors
    /// It holds others.
    pub(in crate::retrieve) fn finish(&self, questions: u64) -> Result<(), Failure> {
        match &self.file {
            Ok(Some(file)) if file.count != questions => {
                Err(broken("`vectors.jsonl` has not one line for each question"))
            }
            _ => Ok(()),
        }
    }
}

fn kept(folder: &Utf8Path) -> Result<Option<Kept>, Failure> {
    let Some(mut lines) = store::kept(folder)?.map(Vec::into_iter) else { return Ok(None) };
    let reference = lines.next().filter(|line| line.question.is_none());
    let reference = reference.ok_or_else(|| {
        Failure::new(FailureClass::Evidence, "`vectors.jsonl` does not begin with the reference text")
    })?;
    let named = |line: Line| Some((line.question.clone()?, line.digest()));
    let all: Vec<_> = lines.map(named).collect::<Option<_>>().unwrap_or_default();
    Ok(Some(Kept { reference, count: all.len() as u64, lines: all.into_iter().collect() }))
}

fn broken(message: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the vectors are not those of the run: {message}"))
}
