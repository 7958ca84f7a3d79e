//! The result of an audit: all that any report shows. `result.json` is its versioned image.

use crate::analyze::{Analysis, Diagnostics};
use crate::gate::{Decision, Verdict};
use crate::model::{Digest, PassedOver, QuestionId};
use serde::{Deserialize, Serialize};

/// The version of `result.json` that is written.
pub const FORMAT: &str = "1.0";

/// Everything that any report shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditResult {
    /// The version of the format it was read from; [`FORMAT`] where it is new.
    pub format: String,
    /// The audit's name.
    pub name: String,
    /// The run's name: the digest of the protocol.
    pub protocol: Digest,
    /// The digest of what is audited: of everything that the protocol holds but commits and names of snapshots whose content is
    /// known. Runs that have it in common are draws of one audit. Absent in results of older versions.
    pub audited: Option<Digest>,
    /// The digest of the spec's bytes.
    pub spec: Digest,
    /// The verdict and its reasons.
    pub decision: Decision,
    /// Every figure.
    pub analysis: Analysis,
    /// What diagnostics of the judge came to, where the spec asks for any. None moves the verdict.
    pub diagnostics: Option<Diagnostics>,
    /// Whether old and new are corpora, or files of evidence, of one content, by its digest, and the change has edited nothing that the rule relies on:
    /// no repeat of such an audit can show a change. Never true of engines, of which no content is read here: two aliases of one
    /// index may be an alias that nobody moved.
    #[serde(default)]
    pub same_content: bool,
    /// Whether the rule is a change's own, because the base has none: then the verdict neither blocks nor passes.
    #[serde(default)]
    pub exploratory: bool,
    /// The physical snapshots, in the audit's order.
    pub snapshots: Vec<SnapshotSummary>,
    /// What answered and what judged.
    pub machinery: Machinery,
    /// Questions and evidence behind the stable flips, in the analysis' order.
    pub flips: Vec<FlipDetail>,
    /// Attempts, retries, invalid cells.
    pub validity: Validity,
    /// What differs between two runs of one protocol: heads, times, cost. Nothing else in this document does.
    pub record: RunRecord,
}

/// One physical snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotSummary {
    /// Its name in the audit.
    pub name: String,
    /// What it physically is.
    pub physical: String,
    /// The digest of its content.
    pub fingerprint: Option<Digest>,
    /// Documents in it.
    pub documents: Option<u64>,
    /// What of its corpus was not read, where it is one of files and there was anything.
    pub passed_over: Option<PassedOver>,
}

/// What retrieved, answered and judged, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machinery {
    /// The retrieval backend.
    pub retrieve: String,
    /// The generator.
    pub generate: String,
    /// The judge.
    pub judge: String,
    /// The deployed system that retrieved by itself and answered, where it was one: there is no evidence of ours then, and what
    /// stands for it are the documents that the answers cite.
    pub black_box: Option<String>,
    /// What must be said about them: that the embedded reader knows nothing, that the embedded judge is lexical.
    pub caveats: Vec<String>,
    /// The version of this program.
    pub tool_version: String,
}

/// A stable flip with its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlipDetail {
    /// The question.
    pub question: QuestionId,
    /// Its text.
    pub text: String,
    /// The old snapshot's answer.
    pub old_answer: String,
    /// The new snapshot's answer.
    pub new_answer: String,
    /// Accepted answers, where there are any.
    pub gold: Vec<String>,
    /// Documents only the old evidence has, best first.
    pub left: Vec<EvidenceLine>,
    /// Documents only the new evidence has, best first.
    pub came: Vec<EvidenceLine>,
    /// Documents both have (by content).
    pub shared: u64,
    /// What the answers cite, where a deployed system names documents on both sides.
    pub cited: Option<CitedChange>,
}

/// How the documents changed that a deployed system cites for one question: its own word. Documents are the same where their
/// text is, or, without texts, their id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedChange {
    /// Documents that an old answer names and no new one.
    pub lost: Vec<EvidenceLine>,
    /// Documents that a new answer names and no old one.
    pub gained: Vec<EvidenceLine>,
    /// Documents that answers of both sides name.
    pub shared: u64,
}

/// One document of an evidence, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceLine {
    /// Its id.
    pub id: String,
    /// The start of its text; empty where the text is not known.
    pub excerpt: String,
}

/// How the audit went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// Cells that were to be filled.
    pub cells: u64,
    /// Cells that hold an accepted answer, by snapshot.
    pub accepted: Vec<(String, u64)>,
    /// Cells without one, by snapshot.
    pub invalid: Vec<(String, u64)>,
    /// Questions left out because a cell or a packet has no accepted outcome.
    pub excluded_questions: u64,
    /// Packets judged.
    pub packets: u64,
    /// Questions for which both passes of retrieval did not match.
    pub mismatched_evidence: u64,
    /// Models that the servers said they used, by snapshot; those of the embedder come after
    /// them, under [`Validity::EMBEDDER`], and those of the judge last, under [`Validity::JUDGE`].
    pub served_models: Vec<(String, Vec<String>)>,
    /// Accepted replies that name no model although others of the same server do, where there are any: under
    /// [`Validity::GENERATOR`] or the snapshot of a deployed system, [`Validity::EMBEDDER`], [`Validity::JUDGE`] and those of
    /// diagnoses, [`Validity::SECOND_GENERATOR`] and [`Validity::SECOND_JUDGE`].
    #[serde(default)]
    pub unnamed_models: Vec<(String, u64)>,
    /// Servers that changed their model during the audit, which the spec lets them do; none where it wants one.
    #[serde(default)]
    pub changed_models: Vec<ChangedModel>,
}

/// A server that named several models beside accepted replies. A black box counts as one, though each snapshot of it is a system of
/// its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedModel {
    /// Whose it is: [`Validity::GENERATOR`], [`Validity::JUDGE`], [`Validity::SECOND_GENERATOR`] or [`Validity::SECOND_JUDGE`].
    pub server: String,
    /// Its models.
    pub models: Vec<ModelReplies>,
}

/// How often a server named one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReplies {
    /// The model.
    pub model: String,
    /// Accepted replies in all.
    pub replies: u64,
    /// Those of them for each snapshot; of a generator alone, since no judge knows of snapshots.
    pub snapshots: Vec<(String, u64)>,
}

impl AuditResult {
    /// Whether no server was asked: it shows what was answered when the recording was made.
    #[must_use]
    pub fn is_replay(&self) -> bool {
        self.record.replayed == Some(true)
    }

    /// Whether answers and labels were made elsewhere: there is no spec, no judge and no retrieval of ours then.
    #[must_use]
    pub fn is_from_elsewhere(&self) -> bool {
        self.machinery.generate == Machinery::ELSEWHERE
    }

    /// How many questions would decide, where nothing did; what compares nothing is decided by no number of them.
    #[must_use]
    pub fn questions_to_decide(&self) -> Option<u64> {
        let undecided = self.decision.verdict == Verdict::Inconclusive && !self.same_content;
        self.decision.questions_to_decide.filter(|_| undecided)
    }

    /// Whether the gate does not let it pass: it is incompatible, or undecided where the spec lets that fail. What compares
    /// nothing is undecided without being open.
    #[must_use]
    pub fn fails(&self) -> bool {
        match self.decision.verdict {
            Verdict::Compatible => false,
            Verdict::Incompatible => true,
            Verdict::Inconclusive => self.decision.inconclusive == "fail" && !self.same_content,
        }
    }
}

impl Machinery {
    /// What stands for the generator, and for the retrieval, of answers that were made elsewhere.
    pub const ELSEWHERE: &str = "elsewhere";
}

impl Validity {
    /// The name in `unnamed_models` that stands for the generator of all snapshots.
    pub const GENERATOR: &str = "generator";
    /// The name in `served_models` that stands for what made vectors of the questions.
    pub const EMBEDDER: &str = "embedder";
    /// The name in `served_models` that stands for the judge.
    pub const JUDGE: &str = "judge";
    /// The name in `unnamed_models` that stands for the second generator.
    pub const SECOND_GENERATOR: &str = "second generator";
    /// The name in `unnamed_models` that stands for the second judge.
    pub const SECOND_JUDGE: &str = "second judge";
}

/// What differs between two runs of one protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The heads of the ledgers: name and digest.
    pub heads: Vec<(String, Digest)>,
    /// Attempts of generators, judges and embedders that were made, or may have been: those that left the process, and those of the
    /// embedded reader and judge.
    pub attempts: u64,
    /// Those of them that were not accepted, by reason.
    pub retries: Vec<(String, u64)>,
    /// Further attempts that were recorded and that no call followed, because the audit ended first; absent in results of older
    /// versions.
    pub not_sent: Option<u64>,
    /// Tokens read and written.
    pub tokens: (u64, u64),
    /// What they cost in nano-dollars (US), as far as the spec gave prices, and by those of the time of each call.
    pub nano_usd: Option<u64>,
    /// Tokens that are not in `nano_usd`, since their calls had no price; absent where there are none, or no price at all.
    pub unpriced: Option<u64>,
    /// Replies that were served and did not say how many tokens they took: they are neither in `tokens` nor in `nano_usd`. Absent
    /// where there are none.
    pub untold: Option<u64>,
    /// Those of the attempts whose outcome is not on record, since the process ended before it was: their calls may have been paid
    /// for. Absent where there are none.
    pub unended: Option<u64>,
    /// How the answers of each snapshot came to be, in time; absent in results of older versions.
    pub conduct: Option<Vec<Conduct>>,
    /// Whether the replies of servers were read from a recording; absent in results of older versions.
    pub replayed: Option<bool>,
    /// Milliseconds from the record of the first attempt to the last outcome. What the last call waited for its turn is left
    /// out.
    pub duration_ms: u64,
}

/// How the answers of one snapshot came to be. Each pair is so many of so many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// The snapshot.
    pub snapshot: String,
    /// Of the half of its questions that were answered first: those whose repeats are all one text.
    pub early: (u64, u64),
    /// The same of the other half.
    pub late: (u64, u64),
    /// Different fingerprints of the server's backend beside accepted answers.
    pub fingerprints: u64,
    /// Complete replies that held no acceptable answer, so that it was drawn again, of all complete replies.
    pub redrawn: (u64, u64),
}
