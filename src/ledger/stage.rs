//! The order of the stages, as types: a ledger can be opened only with the lock of the stage before it.

use super::record::{About, AnswersRecord, EvidenceRecord, JudgmentsRecord, VectorsRecord};
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
/// A sample of packets, judged once more by the same judge. There where the protocol asks for it, as all below.
#[derive(Debug)]
pub enum Again {}
/// A sample of packets, judged by a second judge.
#[derive(Debug)]
pub enum Second {}
/// Answers of a second generator to a sample of questions.
#[derive(Debug)]
pub enum ReplicaAnswers {}
/// Judgments of the second generator's answers.
#[derive(Debug)]
pub enum ReplicaJudgments {}

/// Questions as vectors. There where the protocol says that they are embedded.
#[derive(Debug)]
pub enum Vectors {}

/// Answers with evidence that no snapshot gave, asked for to explain a flip. They lie in a folder of their own beside the evidence
/// that they were asked with, and no run counts them among its ledgers.
#[derive(Debug)]
pub enum Counterfactuals {}

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

impl Stage for Again {
    const NAME: &'static str = "judgments-again";
    const FILE: &'static str = "judgments-again.jsonl";
    type Before = Answers;
    type Record = JudgmentsRecord;
}

impl Stage for Second {
    const NAME: &'static str = "judgments-second";
    const FILE: &'static str = "judgments-second.jsonl";
    type Before = Answers;
    type Record = JudgmentsRecord;
}

impl Stage for ReplicaAnswers {
    const NAME: &'static str = "answers-replica";
    const FILE: &'static str = "answers-replica.jsonl";
    type Before = Evidence;
    type Record = AnswersRecord;
}

impl Stage for ReplicaJudgments {
    const NAME: &'static str = "judgments-replica";
    const FILE: &'static str = "judgments-replica.jsonl";
    type Before = ReplicaAnswers;
    type Record = JudgmentsRecord;
}

impl Stage for Vectors {
    const NAME: &'static str = "vectors";
    const FILE: &'static str = "vectors.jsonl";
    type Before = Protocol;
    type Record = VectorsRecord;
}

impl Stage for Counterfactuals {
    const NAME: &'static str = "counterfactuals";
    const FILE: &'static str = "counterfactuals.jsonl";
    type Before = Evidence;
    type Record = AnswersRecord;
}

impl closed::Closed for Protocol {}
impl closed::Closed for Evidence {}
impl closed::Closed for Answers {}
impl closed::Closed for Judgments {}
impl closed::Closed for Again {}
impl closed::Closed for Second {}
impl closed::Closed for ReplicaAnswers {}
impl closed::Closed for ReplicaJudgments {}
impl closed::Closed for Vectors {}
impl closed::Closed for Counterfactuals {}
impl Recorded for Evidence {}
impl Recorded for Answers {}
impl Recorded for Judgments {}
impl Recorded for Again {}
impl Recorded for Second {}
impl Recorded for ReplicaAnswers {}
impl Recorded for ReplicaJudgments {}
impl Recorded for Vectors {}
impl Recorded for Counterfactuals {}

/// The ledgers that a run can have, each after the one that it continues. Every run has the first three.
pub(in crate::ledger) const FILES: [&str; 8] = [
    Evidence::FILE,
    Answers::FILE,
    Judgments::FILE,
    Again::FILE,
    Second::FILE,
    ReplicaAnswers::FILE,
    ReplicaJudgments::FILE,
    Vectors::FILE,
];
/// For each of them, the ledger that it continues.
const CONTINUED: [&str; 8] = [
    Protocol::FILE,
    Evidence::FILE,
    Answers::FILE,
    Answers::FILE,
    Answers::FILE,
    Evidence::FILE,
    ReplicaAnswers::FILE,
    Protocol::FILE,
];

/// Their names, in the same order.
const NAMES: [&str; 8] = [
    Evidence::NAME,
    Answers::NAME,
    Judgments::NAME,
    Again::NAME,
    Second::NAME,
    ReplicaAnswers::NAME,
    ReplicaJudgments::NAME,
    Vectors::NAME,
];

/// A ledger that continues another one.
#[derive(Clone, Copy, Debug)]
pub(in crate::ledger) struct Later {
    /// Its file.
    pub file: &'static str,
    /// Its stage's name.
    pub name: &'static str,
    /// Whether it continues the other one itself, not by way of a third.
    pub is_next: bool,
}

/// The ledgers that continue this one, or one that continues it.
pub(in crate::ledger) fn later(file: &str) -> Vec<Later> {
    let mut found: Vec<Later> = Vec::new();
    for ((later, name), continued) in FILES.into_iter().zip(NAMES).zip(CONTINUED) {
        let is_next = continued == file;
        if is_next || found.iter().any(|found| found.file == continued) {
            found.push(Later { file: later, name, is_next });
        }
    }
    found
}

/// The files of the ledgers that continue that of `S`, or one that continues it: they say nothing any more where it is gone.
#[must_use]
pub fn continued_by<S: Stage + ?Sized>() -> Vec<&'static str> {
    later(S::FILE).into_iter().map(|later| later.file).collect()
}

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

/// The locks of the ledgers that are there only where the protocol asks for them. Gold is opened where they are those that it
/// asks for.
#[derive(Debug, Default)]
pub struct SideLocks {
    /// The questions as vectors.
    pub vectors: Option<Lock<Vectors>>,
    /// The same judge, asked again.
    pub again: Option<Lock<Again>>,
    /// The second judge.
    pub second: Option<Lock<Second>>,
    /// The second generator's answers, and their judgments.
    pub replica: Option<(Lock<ReplicaAnswers>, Lock<ReplicaJudgments>)>,
}

impl SideLocks {
    /// The names of the ledgers that are there, with their heads.
    #[must_use]
    pub fn heads(&self) -> Vec<(&'static str, Digest)> {
        let vectors = self.vectors.as_ref().map(|lock| (Vectors::NAME, lock.head()));
        let again = self.again.as_ref().map(|lock| (Again::NAME, lock.head()));
        let second = self.second.as_ref().map(|lock| (Second::NAME, lock.head()));
        let replica = self.replica.as_ref().map(|(answers, judgments)| {
            [(ReplicaAnswers::NAME, answers.head()), (ReplicaJudgments::NAME, judgments.head())]
        });
        vectors.into_iter().chain(again).chain(second).chain(replica.into_iter().flatten()).collect()
    }
}

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
