//! The order of the stages, as types: a ledger can be opened only with the lock of the stage before it.

use super::record::{About, AnswersRecord, EvidenceRecord, JudgmentsRecord};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Serialize, de::DeserializeOwned};
use std::marker::PhantomData;

/// Closes the list of stages: nobody outside adds one.
mod closed {
    /// Kept by the stages of this crate alone.
    pub trait Closed {}
}

/// A stage of the audit that is recorded on disk.
pub trait Stage: closed::Closed + Send + Sync + 'static {
    /// Its name, as written in the header.
    const NAME: &'static str;
    /// Its file within the run folder.
    const FILE: &'static str;
    /// The stage before it.
    type Before: Stage;
    /// What one line records.
    type Record: Serialize + DeserializeOwned + Send + Sync;
}

/// A stage whose records lie in a ledger of their own: all but the protocol.
pub trait Recorded: Stage<Record: About> {}

/// The frozen protocol. Its "ledger" is one JSON document.
#[derive(Debug)]
pub enum Protocol {}
/// Evidence of every question from every snapshot.
#[derive(Debug)]
pub enum Evidence {}
/// Accepted answers of every cell.
#[derive(Debug)]
pub enum Answers {}
/// Blind judgments of every packet.
#[derive(Debug)]
pub enum Judgments {}

impl Stage for Protocol {
    const NAME: &'static str = "protocol";
    const FILE: &'static str = "protocol.lock.json";
    type Before = Self;
    type Record = serde_json::Value;
}

impl Stage for Evidence {
    const NAME: &'static str = "evidence";
    const FILE: &'static str = "evidence.jsonl";
    type Before = Protocol;
    type Record = EvidenceRecord;
}

impl Stage for Answers {
    const NAME: &'static str = "answers";
    const FILE: &'static str = "answers.jsonl";
    type Before = Evidence;
    type Record = AnswersRecord;
}

impl Stage for Judgments {
    const NAME: &'static str = "judgments";
    const FILE: &'static str = "judgments.jsonl";
    type Before = Answers;
    type Record = JudgmentsRecord;
}

impl closed::Closed for Protocol {}
impl closed::Closed for Evidence {}
impl closed::Closed for Answers {}
impl closed::Closed for Judgments {}
impl Recorded for Evidence {}
impl Recorded for Answers {}
impl Recorded for Judgments {}

/// The ledgers of a run in their order.
pub(in crate::ledger) const FILES: [&str; 3] = [Evidence::FILE, Answers::FILE, Judgments::FILE];

/// The proof that stage `S` of the run in `folder` is sealed. Only this module makes one.
#[derive(Debug)]
pub struct Lock<S: Stage> {
    folder: Utf8PathBuf,
    head: Digest,
    records: u64,
    stage: PhantomData<S>,
}

/// The protocol is frozen.
pub type ProtocolLock = Lock<Protocol>;
/// Evidence is sealed.
pub type EvidenceLock = Lock<Evidence>;
/// Answers are sealed.
pub type AnswersLock = Lock<Answers>;
/// Judgments are sealed: gold may be read.
pub type JudgmentsLock = Lock<Judgments>;

impl<S: Stage> Lock<S> {
    /// Made where a seal was written or found intact, nowhere else.
    pub(in crate::ledger) const fn prove(folder: Utf8PathBuf, head: Digest, records: u64) -> Self {
        Self { folder, head, records, stage: PhantomData }
    }

    /// The run folder.
    #[must_use]
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// The SHA-256 of the seal line: the name of the whole ledger.
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.head
    }

    /// How many records stand between header and seal.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }
}
