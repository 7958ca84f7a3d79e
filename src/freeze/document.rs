//! `protocol.lock.json` as it is written. It holds no question, answer or document, only their digests.

use super::protocol::Sources;
use super::{FreezeError, ResolvedSnapshot};
use crate::model::{Digest, Hashing, PassedOver, Question, SnapshotName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the format.
const FORMAT: &str = "churngate.protocol";
/// Its version. A newer one is refused.
const VERSION: u32 = 1;

/// The whole document. Its bytes are the canonical ones: fields in this order, no white space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    format: String,
    version: u32,
    /// The version of the program: embedded readers and judges are part of the measurement.
    pub tool_version: String,
    ledger_format: String,
    rules: Rules,
    /// The digest of the canonical spec below.
    pub spec_digest: Digest,
    /// The canonical spec.
    pub spec: Value,
    /// The questions by their digests.
    pub questions: Questions,
    /// The snapshots as they were found.
    pub snapshots: Vec<Snapshot>,
    /// The prompts by their digests.
    pub prompts: Prompts,
}

/// The rules that the program follows, each with its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    selection: String,
    order: String,
    evidence: String,
    seeds: String,
    /// How samples are drawn; only where the spec asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    samples: Option<String>,
}

/// The questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Questions {
    /// The file's bytes (a blob).
    pub file: Digest,
    /// The excluded ids (a blob).
    pub exclude: Option<Digest>,
    /// The ids that alone are asked (a blob).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Digest>,
    /// How many are asked.
    pub selected: u64,
    /// The selected ids in selection order.
    pub ids: Digest,
    /// Their texts in the same order.
    pub texts: Digest,
    /// Their tags and clusters in the same order.
    pub groups: Digest,
}

/// One snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    name: SnapshotName,
    physical: String,
    fingerprint: Option<Digest>,
    documents: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passed_over: Option<Passed>,
}

/// What of a corpus is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Passed {
    endings: Vec<(String, u64)>,
    others: u64,
    hidden: u64,
    links: u64,
}

/// The prompts (blobs).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompts {
    /// The answer prompt's template.
    pub answer: Digest,
    /// The judge prompt's template.
    pub judge: Digest,
}

impl Document {
    /// The document of these parts under the rules of this program.
    pub fn new(
        tool_version: &str,
        spec: Value,
        questions: Questions,
        snapshots: &[ResolvedSnapshot],
        prompts: Prompts,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            ledger_format: crate::ledger::FormatVersion::CURRENT.to_string(),
            rules: Rules::current(&spec),
            spec_digest: Digest::of(spec.to_string().as_bytes()),
            spec,
            questions,
            snapshots: snapshots.iter().map(Snapshot::of).collect(),
            prompts,
        }
    }

    /// The canonical bytes.
    ///
    /// # Errors
    /// Never in practice: every field serialises.
    pub fn bytes(&self) -> Result<Vec<u8>, FreezeError> {
        let mut bytes = serde_json::to_vec(self).map_err(|error| FreezeError::Document(error.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads a document.
    ///
    /// # Errors
    /// It is no protocol, or one of a later version.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|_| "it is not valid JSON".to_owned())?;
        let version = value.get("version").and_then(Value::as_u64);
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(format!("it is not a `{FORMAT}` document"));
        }
        if version != Some(u64::from(VERSION)) {
            return Err(format!("its version is not {VERSION}, the one this program reads"));
        }
        serde_json::from_value(value).map_err(|_| "its members are not those of a protocol".to_owned())
    }

    /// The snapshots as at run time.
    pub fn resolved(&self) -> Vec<ResolvedSnapshot> {
        self.snapshots.iter().map(Snapshot::resolved).collect()
    }
}

impl Rules {
    /// `spec` is the canonical one.
    fn current(spec: &Value) -> Self {
        let sampled =
            ["/judge/self_consistency", "/judge/second", "/replicate"].iter().any(|key| spec.pointer(key).is_some());
        Self {
            selection: "sha256(seed:id) ascending, version 1".to_owned(),
            order: "williams with reversed repeats, version 1".to_owned(),
            evidence: "one json object a line, white space compacted, version 1".to_owned(),
            seeds: "sha256(domain, protocol digest), version 1".to_owned(),
            samples: sampled.then(|| "sha256(domain, protocol digest, id) ascending, version 1".to_owned()),
        }
    }
}

impl Questions {
    /// The digests of the selected questions.
    pub fn of(sources: &Sources, selected: &[Question]) -> Self {
        let mut hashed = Hashed::default();
        for question in selected {
            hashed.take(question);
        }
        let named = Self {
            file: Digest::of(&sources.questions),
            exclude: sources.exclude.as_deref().map(Digest::of),
            only: sources.only.as_deref().map(Digest::of),
            ..Self::NONE
        };
        hashed.over(&named)
    }

    /// No file and no question.
    const NONE: Self = {
        let none = Digest::from_bytes([0; 32]);
        Self { file: none, exclude: None, only: None, selected: 0, ids: none, texts: none, groups: none }
    };
}

/// Questions in selection order, hashed one at a time.
#[derive(Default)]
pub(super) struct Hashed {
    selected: u64,
    ids: Hashing,
    texts: Hashing,
    groups: Hashing,
}

impl Hashed {
    /// Takes the next question.
    pub fn take(&mut self, question: &Question) {
        self.selected += 1;
        self.ids.part(question.id.0.as_bytes());
        self.texts.part(question.text.as_bytes());
        self.groups.part(question.cluster.as_deref().unwrap_or_default().as_bytes());
        for tag in &question.tags {
            self.groups.part(tag.as_bytes());
        }
        self.groups.part(b"\n");
    }

    /// The digests, with the files of these.
    pub fn over(self, named: &Questions) -> Questions {
        let (ids, texts, groups) = (self.ids.finish(), self.texts.finish(), self.groups.finish());
        Questions { selected: self.selected, ids, texts, groups, ..named.clone() }
    }
}

impl Snapshot {
    fn of(snapshot: &ResolvedSnapshot) -> Self {
        let ResolvedSnapshot { name, physical, fingerprint, documents, passed_over } = snapshot.clone();
        let passed_over =
            passed_over.map(|PassedOver { endings, others, hidden, links }| Passed { endings, others, hidden, links });
        Self { name, physical, fingerprint, documents, passed_over }
    }

    fn resolved(&self) -> ResolvedSnapshot {
        let Self { name, physical, fingerprint, documents, passed_over } = self.clone();
        let passed_over =
            passed_over.map(|Passed { endings, others, hidden, links }| PassedOver { endings, others, hidden, links });
        ResolvedSnapshot { name, physical, fingerprint, documents, passed_over }
    }
}
