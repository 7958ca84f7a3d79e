//! The questions' vectors as a run names them, without any that could be read: what an export can be held to.

use super::calls::{Calls, broken};
use crate::freeze::Protocol;
use crate::ledger::Numbered;
use crate::ledger::record::{EvidenceRecord, Record};
use crate::model::{Digest, Failure, QuestionId, SnapshotName};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// The names of a run's vectors, to be held against its evidence question by question.
#[derive(Debug)]
pub struct Named<'a> {
    /// Nothing where questions are not embedded.
    calls: Option<Calls<'a>>,
    questions: u64,
}

impl<'a> Named<'a> {
    /// Reads the ledger of vectors, where the protocol asks for one.
    ///
    /// # Errors
    /// It is missing or damaged, or tells of several embedders: class
    /// [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
    pub fn read(protocol: &'a Protocol, folder: &Utf8Path) -> Result<Self, Failure> {
        let embed = protocol.spec.retrieve.embed.as_ref();
        let calls = embed.map(|spec| Calls::read(spec, folder)).transpose()?;
        Ok(Self { calls, questions: 0 })
    }

    /// Holds the notes of one question's evidence against the vector that the ledger has of it.
    ///
    /// # Errors
    /// They name none, several or another one: class [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
    pub fn question(&mut self, question: &QuestionId, records: &[Numbered<EvidenceRecord>]) -> Result<(), Failure> {
        self.questions += 1;
        let named = named(records);
        match &self.calls {
            Some(calls) => calls.named(question, &named).map(|_| ()),
            None if named.iter().any(Option::is_some) => Err(made_up(question)),
            None => Ok(()),
        }
    }

    /// What was checked, as a line for people; nothing where questions are not embedded.
    ///
    /// # Errors
    /// The ledger has vectors of other questions.
    pub fn finish(&self) -> Result<Option<String>, Failure> {
        let Some(calls) = &self.calls else { return Ok(None) };
        calls.count(self.questions)?;
        let line =
            "vectors: each question's is the one that its evidence names; all are told to be of one length and model";
        Ok(Some(line.to_owned()))
    }
}

/// The vectors that the notes of a question's evidence name. Those of the closed book name none.
pub(in crate::retrieve) fn named(records: &[Numbered<EvidenceRecord>]) -> BTreeSet<Option<Digest>> {
    let vector = |(_, record): &Numbered<EvidenceRecord>| match record {
        Record::Note(note) if note.snapshot != SnapshotName::closed_book() => Some(note.vector),
        _ => None,
    };
    records.iter().filter_map(vector).collect()
}

/// Nothing was embedded.
pub(super) fn made_up(question: &QuestionId) -> Failure {
    broken(&format!("question `{question}`: it has one that nothing made"))
}
