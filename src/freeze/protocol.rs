//! The frozen protocol at run time.

use crate::ledger::ProtocolLock;
use crate::model::{Digest, Question, SnapshotName};
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
}

/// Everything fixed before the first call.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The digest of the whole protocol: the run's name.
    pub digest: Digest,
    /// The digest of the spec's bytes.
    pub spec_digest: Digest,
    /// The spec.
    pub spec: Spec,
    /// The folder the spec lies in: all its paths are relative to it.
    pub base: Utf8PathBuf,
    /// Snapshots in the audit's order, the closed book last where there is one.
    pub snapshots: Vec<ResolvedSnapshot>,
    /// The selected questions, in selection order.
    pub questions: Vec<Question>,
    /// The answer prompt's template.
    pub answer_prompt: String,
    /// The judge prompt's template.
    pub judge_prompt: String,
    /// Seeds that follow from the protocol.
    pub seeds: Seeds,
}

/// Seeds of everything that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The preregistered bootstrap stream: a ChaCha20 key.
    pub bootstrap: [u8; 32],
    /// The labels' order within packets: a ChaCha20 key.
    pub packets: [u8; 32],
    /// The embedded reader's draws: a ChaCha20 key.
    pub reader: [u8; 32],
}

/// A frozen protocol with its lock.
#[derive(Debug)]
pub struct Frozen {
    /// The proof that it is on disk.
    pub lock: ProtocolLock,
    /// What it says.
    pub protocol: Protocol,
}
