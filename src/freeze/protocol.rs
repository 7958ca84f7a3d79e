//! The frozen protocol at run time.

use super::audited;
use super::samples::Samples;
use super::select;
use crate::ledger::ProtocolLock;
use crate::model::{Digest, PassedOver, Question, QuestionId, SnapshotName};
use crate::spec::Spec;
use camino::Utf8PathBuf;

/// A snapshot after its source was looked at, before anything is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSnapshot {
    /// Its name in the audit.
    pub name: SnapshotName,
    /// What it physically is: a path with the tree's digest, a commit, an index's own name.
    pub physical: String,
    /// The digest of its content, where the content can be read beforehand.
    pub fingerprint: Option<Digest>,
    /// Documents in it, where they can be counted.
    pub documents: Option<u64>,
    /// What of its corpus is not read, where it is one of files and there is anything.
    pub passed_over: Option<PassedOver>,
}

/// Everything fixed before the first call.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The digest of the whole protocol: the run's name, and the SHA-256 of `protocol.lock.json`.
    pub digest: Digest,
    /// The digest of the spec's canonical JSON: the same for specs that measure the same.
    pub spec_digest: Digest,
    /// The spec. After [`load`](super::load), the limits of one process (`budget`, `concurrency`, `timeout_seconds`,
    /// `max_attempts`) are the defaults, because they are no part of the protocol.
    pub spec: Spec,
    /// The folder the spec lies in: all its paths are relative to it. Empty after [`load`](super::load), because where
    /// an audit lies is no part of its protocol.
    pub base: Utf8PathBuf,
    /// Snapshots in the audit's order, the closed book last where there is one.
    pub snapshots: Vec<ResolvedSnapshot>,
    /// The selected questions, in selection order; none after [`outline`](super::outline), where a [`Selection`](super::Selection)
    /// gives them one at a time.
    pub questions: Vec<Question>,
    /// The answer prompt's template.
    pub answer_prompt: String,
    /// The judge prompt's template.
    pub judge_prompt: String,
    /// Seeds that follow from the protocol.
    pub seeds: Seeds,
    /// Whether `questions` are a shard's part of them. How many cells and packets may stay without an outcome, and how unevenly, is
    /// then asked of the whole, when the shards are merged: a part has too few of either to tell.
    pub is_part: bool,
    /// The questions of its samples. A shard keeps those of the whole.
    pub samples: Samples,
    /// What it was planned from.
    pub origin: Origin,
}

/// What a protocol was planned from: only `plan` and `load` fill this in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The version of the program that froze it.
    pub(super) tool_version: String,
    /// What a person should know about the inputs.
    pub(super) notes: Vec<String>,
    /// The bytes of `protocol.lock.json`.
    pub(super) lock_bytes: Vec<u8>,
    /// The bytes that the lock names by their digests.
    pub(super) sources: Sources,
}

/// The files that a protocol was planned from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    /// The question file, gold answers and all. Only `gold` may look for those.
    pub questions: Vec<u8>,
    /// The file of excluded ids.
    pub exclude: Option<Vec<u8>>,
    /// The file of ids that alone are asked.
    pub only: Option<Vec<u8>>,
}

/// Seeds of everything that is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// The preregistered bootstrap stream: a ChaCha20 key.
    pub bootstrap: [u8; 32],
    /// The labels' order within packets: a ChaCha20 key.
    pub packets: [u8; 32],
    /// Their order where the same judge is asked again: a ChaCha20 key.
    pub packets_again: [u8; 32],
    /// The embedded reader's draws: a ChaCha20 key.
    pub reader: [u8; 32],
    /// The draws of an embedded reader that is the second generator: a ChaCha20 key.
    pub reader_replica: [u8; 32],
    /// The resampled questions behind intervals of diagnostics: a ChaCha20 key.
    pub diagnostics: [u8; 32],
    /// The sample and the order of pairs that are labelled by hand: a part of what is hashed.
    pub review: [u8; 32],
}

/// A frozen protocol with its lock.
#[derive(Debug)]
pub struct Frozen {
    /// The proof that it is on disk.
    pub lock: ProtocolLock,
    /// What it says.
    pub protocol: Protocol,
}

impl Protocol {
    /// The bytes of `protocol.lock.json`: canonical JSON whose SHA-256 is the protocol's digest.
    #[must_use]
    pub fn lock_bytes(&self) -> &[u8] {
        &self.origin.lock_bytes
    }

    /// The digest of what is audited: of everything in the lock but commits and names of snapshots whose content is known. Two
    /// protocols that have it in common are one audit, and their runs are draws of it.
    #[must_use]
    pub fn audited(&self) -> Digest {
        audited::digest(self.lock_bytes())
    }

    /// The rank of a question: by ascending ranks, selected questions stand in selection order.
    #[must_use]
    pub fn rank(&self, question: &QuestionId) -> u128 {
        select::rank(self.spec.questions.seed, question)
    }

    /// The version of the program that froze it.
    #[must_use]
    pub fn tool_version(&self) -> &str {
        &self.origin.tool_version
    }

    /// What a person should know about the inputs, such as question texts that stand twice; no part of the protocol.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.origin.notes
    }
}
