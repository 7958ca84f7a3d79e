//! Records of ledger format 1.
//!
//! No record holds text from outside: answers, documents and bodies are named by their digests and lie in `blobs/`.
//! Reasons are short codes of ours.

use crate::model::{Amount, Cell, Digest, Label, Price, QuestionId, SnapshotName};
use serde::{Deserialize, Serialize};

/// One line of a ledger without its chain fields. `K` names the unit of work, `A` what an accepted unit holds, and
/// `N` what the stage records besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record<K, A, N> {
    /// An external call that is about to be made. Durable before the call leaves.
    Attempt(Attempt<K>),
    /// What an attempt came to.
    Outcome(Outcome<K, A>),
    /// Something the stage decides without a call.
    Note(N),
}

impl<K, A, N> Record<K, A, N> {
    /// The same record in a ledger where as many others stand before the first of its own.
    #[must_use]
    pub fn renumbered(self, before: u64) -> Self {
        match self {
            Self::Outcome(outcome) => Self::Outcome(Outcome { attempt: outcome.attempt + before, ..outcome }),
            other => other,
        }
    }

    /// What a call took that came to this, by the price that the spec gives now; by that of its time where it gives none.
    /// Nothing for every other record.
    #[must_use]
    pub fn spent(&self, price: Option<Price>) -> Amount {
        match self {
            Self::Outcome(Outcome { usage: Some(usage), .. }) => usage.amount(price),
            Self::Attempt(_) | Self::Outcome(_) | Self::Note(_) => Amount::default(),
        }
    }

    /// The status of an outcome beside which no tokens stand, and its reason where it was not accepted. Nothing for every other
    /// record.
    #[must_use]
    pub fn without_usage(&self) -> Option<(Option<u16>, Option<&str>)> {
        match self {
            Self::Outcome(Outcome { usage: None, status, verdict, .. }) => Some((*status, verdict.reason())),
            Self::Attempt(_) | Self::Outcome(_) | Self::Note(_) => None,
        }
    }
}

impl VectorsRecord {
    /// The same where units of work stand before as well: two ledgers that are joined may number theirs alike.
    #[must_use]
    pub fn renumbered_with_unit(self, before: u64) -> Self {
        let moved = |of: EmbedKey| EmbedKey { number: of.number + before, ..of };
        match self.renumbered(before) {
            Self::Attempt(attempt) => Self::Attempt(Attempt { of: moved(attempt.of), ..attempt }),
            Self::Outcome(outcome) => Self::Outcome(Outcome { of: moved(outcome.of), ..outcome }),
            Self::Note(note) => Self::Note(note),
        }
    }
}

/// The record that precedes an external call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt<K> {
    /// The unit of work it is for.
    pub of: K,
    /// The digest of what is sent (for an answer: of the rendered prompt).
    pub request: Digest,
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
}

/// The record that follows an external call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome<K, A> {
    /// The `seq` of the attempt.
    pub attempt: u64,
    /// The unit of work it is for.
    pub of: K,
    /// What it counts as.
    pub verdict: Verdict<A>,
    /// HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The model the server says it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_model: Option<String>,
    /// The server's fingerprint of its backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The server's id of its response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// Tokens, where the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Milliseconds from the call's start to its end.
    pub latency_ms: u64,
    /// The digest of the raw body (a blob), where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Digest>,
}

/// What an attempt counts as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict<A> {
    /// The unit of work is done, for good.
    Accepted(A),
    /// Transport-invalid: may be asked again. The reason is a code of ours.
    Invalid(String),
    /// The audit cannot go on: bad key, no quota, unknown model. The reason is a code of ours.
    Fatal(String),
}

impl<A> Verdict<A> {
    /// The code of an attempt that was not accepted.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Accepted(_) => None,
            Self::Invalid(reason) | Self::Fatal(reason) => Some(reason),
        }
    }
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from a prompt cache.
    #[serde(default)]
    pub cached: u64,
    /// What they cost in nano-dollars (US), by the price that the spec gave at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nano_usd: Option<u64>,
}

impl Usage {
    /// What it took, by this price. A call that was made before there was one is no gift.
    #[must_use]
    pub fn amount(self, price: Option<Price>) -> Amount {
        let nano_usd = price.map(|price| price.of(self.input, self.output)).or(self.nano_usd);
        Amount { tokens: self.input.saturating_add(self.output), nano_usd: nano_usd.unwrap_or(0) }
    }
}

/// The unit of work of retrieval: one pass of one question over one snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EvidenceKey {
    /// The question.
    pub question: QuestionId,
    /// The snapshot.
    pub snapshot: SnapshotName,
    /// 0 or 1.
    pub pass: u32,
}

/// What one retrieval pass returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedEvidence {
    /// The digest of the canonical evidence (a blob).
    pub evidence: Digest,
    /// Its documents, best first.
    pub documents: Vec<DocumentRecord>,
}

/// One document by its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRecord {
    /// The id the backend gives it.
    pub id: String,
    /// Where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The digest of its text.
    pub content: Digest,
}

/// That both passes of one question over one snapshot agree (or not).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassRecord {
    /// The question.
    pub question: QuestionId,
    /// The snapshot.
    pub snapshot: SnapshotName,
    /// The digest of the evidence that is locked.
    pub evidence: Digest,
    /// Whether both passes match in ordered ids and bytes.
    pub matched: bool,
    /// The digest of the vector that the question was searched for with (a blob), where it was embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<Digest>,
}

/// What an accepted cell holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedAnswer {
    /// The digest of the answer's text (a blob).
    pub answer: Digest,
    /// Its length in UTF-8 bytes.
    pub bytes: u64,
    /// The documents that a deployed system names beside it, in its order; absent where it names none of them. Nothing but
    /// their overlap is computed from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<Vec<DocumentRecord>>,
}

/// That a question is not asked, because the rendered prompts of all its snapshots are byte-identical.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchanged {
    /// The question.
    pub question: QuestionId,
    /// The digest of the rendered prompt.
    pub prompt: Digest,
}

/// A packet as it is shown to the judge, and which cells its anonymous answers came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// The question.
    pub question: QuestionId,
    /// The digests of the distinct answer texts, in the order of their labels A, B, C...
    pub answers: Vec<Digest>,
    /// For each label, the cells that gave this answer.
    pub cells: Vec<Vec<Cell>>,
}

/// The judgment of one packet, or of a part of it where it is too long for one call: one label for each unordered pair
/// that was asked for. The parts of a packet share no pair, and its judgment is complete once every pair has its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedJudgment {
    /// Each pair that was asked for once, with the smaller index first.
    pub pairs: Vec<PairLabel>,
}

/// The label of one pair of a packet's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairLabel {
    /// Index into the packet's answers.
    pub one: u32,
    /// A larger index.
    pub other: u32,
    /// What was judged.
    pub label: Label,
}

/// The unit of work of embedding: the texts of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EmbedKey {
    /// What they are.
    pub texts: Texts,
    /// Tells the units of one ledger apart.
    pub number: u64,
}

/// What is embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Texts {
    /// A text that says nothing of anybody, by which an embedder is known again.
    Reference,
    /// Questions.
    Questions,
    /// A few documents of a snapshot that is known to hold their vectors.
    Stored,
}

/// What one call for vectors returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedVectors {
    /// How many numbers each of them has.
    pub dimensions: u64,
    /// The vectors in the order of the texts.
    pub vectors: Vec<VectorRecord>,
}

/// One vector by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorRecord {
    /// The question that was embedded; absent where the text is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
    /// The digest of the stored document that was embedded (a blob); absent where the text is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
    /// The digest of the vector (a blob).
    pub vector: Digest,
}

/// How the stored vectors of a snapshot compare with those that the embedder makes of the same texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVectors {
    /// The snapshot.
    pub snapshot: SnapshotName,
    /// How many of them there are: none where the engine shows none.
    pub vectors: u64,
    /// The mean cosine in ten-thousandths; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<i32>,
}

/// A line of `vectors.jsonl`.
pub type VectorsRecord = Record<EmbedKey, AcceptedVectors, StoredVectors>;
/// A line of `evidence.jsonl`.
pub type EvidenceRecord = Record<EvidenceKey, AcceptedEvidence, PassRecord>;
/// A line of `answers.jsonl`.
pub type AnswersRecord = Record<Cell, AcceptedAnswer, Unchanged>;
/// A line of `judgments.jsonl`.
pub type JudgmentsRecord = Record<QuestionId, AcceptedJudgment, Packet>;
