//! The ledger of vectors beside that of the evidence: opened before the first search, sealed before the evidence is.

use super::check::judge;
use super::embedder::Embedder;
use super::kept::{Kept, compared};
use super::server;
use crate::freeze::{Frozen, Protocol};
use crate::http::{Context, Pace};
use crate::ledger::{self, LedgerError, Lock, RunFolder, Writer, stage};
use crate::model::{Event, Failure, FailureClass, RateLimit};
use crate::spec::{EmbedBackend, EmbedSpec, SnapshotSpec};
use camino::{Utf8Path, Utf8PathBuf};
use std::sync::atomic::AtomicU64;

/// The ledger of a run whose evidence is not sealed yet.
pub(in crate::retrieve) struct Opened {
    /// Nothing where it is sealed: everything is embedded, and nothing is left to search for.
    writer: Option<Writer<stage::Vectors>>,
    /// What it held when it was opened.
    pub kept: Kept,
    folder: Utf8PathBuf,
}

/// Opens the ledger where the spec says that questions are embedded, and counts what was spent before. `searched` says whether
/// there was a search.
///
/// # Errors
/// It is damaged, or lacks what was searched for.
pub(in crate::retrieve) fn open(
    frozen: &Frozen,
    folder: &RunFolder,
    searched: bool,
    context: &Context,
) -> Result<Option<Opened>, Failure> {
    let Some(spec) = &frozen.protocol.spec.retrieve.embed else { return Ok(None) };
    let writer = match ledger::open::<stage::Vectors>(folder, &frozen.lock)? {
        ledger::Opened::Open(writer) => Some(writer),
        ledger::Opened::Sealed(_) => None,
    };
    for note in writer.iter().flat_map(Writer::notes) {
        context.observer.observe(Event::Note(note.clone()));
    }
    let kept = Kept::read(folder.path(), spec.price())?;
    context.budget.count(kept.before, server::WHOSE);
    let whole = kept.reference.is_some() && kept.questions.len() >= frozen.protocol.questions.len();
    if (searched || writer.is_none()) && !whole {
        return Err(lost());
    }
    Ok(Some(Opened { writer, kept, folder: folder.path().to_owned() }))
}

/// Vectors made anew may be others than those that were searched for, and nobody could tell.
fn lost() -> Failure {
    Failure::new(FailureClass::Evidence, "`vectors.jsonl` lacks vectors that this run has already searched for")
        .with_hint("put the file back; or begin anew in another folder (`--runs`)")
}

impl Opened {
    /// The embedder that goes on with it; nothing where nothing is left to embed.
    pub(in crate::retrieve) fn embedder<'a>(
        &'a self,
        spec: &'a EmbedSpec,
        context: &'a Context,
    ) -> Option<Embedder<'a>> {
        let writer = self.writer.as_ref()?;
        let limit = match &spec.backend {
            EmbedBackend::OpenAi(server) => server.rate_limit,
            EmbedBackend::Command(_) => RateLimit::default(),
        };
        let units = AtomicU64::new(self.kept.units);
        Some(Embedder { spec, writer, context, pace: Pace::new(1, limit), units })
    }

    /// Whether stored vectors of every snapshot were held against the embedder already, and found to be its own.
    ///
    /// # Errors
    /// The ledger is damaged.
    pub(in crate::retrieve) fn is_checked(&self, protocol: &Protocol) -> Result<bool, Failure> {
        let last = compared(&self.folder)?.pop().unwrap_or_default();
        let shown =
            |snapshot: &SnapshotSpec| last.iter().any(|note| note.snapshot == snapshot.name && note.cosine.is_some());
        Ok(protocol.spec.snapshots.iter().all(shown) && judge(&last).is_ok())
    }

    /// The run folder.
    pub(in crate::retrieve) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Seals the ledger, where it is not sealed.
    ///
    /// # Errors
    /// The file system refuses.
    pub(in crate::retrieve) async fn seal(self) -> Result<(), Failure> {
        if let Some(writer) = self.writer {
            let _lock: Lock<stage::Vectors> = writer.seal().await?;
        }
        Ok(())
    }
}

/// Counts what the vectors of sealed evidence took.
///
/// # Errors
/// Their ledger is missing, damaged or not sealed.
pub(in crate::retrieve) fn reuse(frozen: &Frozen, context: &Context) -> Result<(), Failure> {
    if let Some(spec) = &frozen.protocol.spec.retrieve.embed {
        let lock = ledger::sealed::<stage::Vectors>(&frozen.lock).map_err(cut)?;
        context.budget.count(Kept::read(lock.folder(), spec.price())?.before, server::WHOSE);
    }
    Ok(())
}

/// It was sealed before the evidence was, so that a seal which is not there was lost. Nothing continues this ledger and could tell
/// whether more than the seal went with it, so that none is written in its place.
fn cut(error: LedgerError) -> Failure {
    match error {
        LedgerError::Unsealed { path } => Failure::new(
            FailureClass::Evidence,
            format!("`{path}` has lost its end: the evidence that was searched for with its vectors is sealed"),
        )
        .with_hint("restore the run folder from a copy, or delete it and run again"),
        error => error.into(),
    }
}
