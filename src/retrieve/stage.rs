//! The stage: from the frozen protocol to the sealed evidence.

use super::embed::{self, Vectors};
use super::progress::Progress;
use super::records::Writer;
use super::{barren, local, mismatch, remote};
use crate::freeze::{Frozen, Protocol};
use crate::http::Context;
use crate::ledger::record::{PassRecord, Record};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{self, EvidenceLock, Opened, RunFolder};
use crate::model::{Event, Evidence, Failure, FailureClass, QuestionId, SnapshotName, StageName};
use crate::spec::{OnMismatch, RetrieveBackend};
use std::collections::BTreeMap;
use std::time::Duration;

/// Notes that are written together.
const NOTES: usize = 1024;

/// Retrieves every question from every snapshot twice, resumes where a run stopped, and seals the evidence where both
/// passes match.
///
/// The locked evidence of a question in a snapshot is that of its [`PassRecord`]. The closed book has such a record for
/// every question as well, naming the empty evidence, and no attempts. Where a deployed system retrieves by itself there is no
/// evidence at all: the ledger is sealed without a record.
///
/// # Errors
/// The ledger is damaged or cannot be written; the corpus is no longer the frozen one; a backend gave no valid evidence;
/// retrieval is not repeatable and the spec says to stop; the audit was cancelled or ran out of time.
pub async fn retrieve(frozen: &Frozen, folder: &RunFolder, context: &Context) -> Result<EvidenceLock, Failure> {
    let protocol = &frozen.protocol;
    let writer = match ledger::open::<EvidenceStage>(folder, &frozen.lock)? {
        Opened::Sealed(lock) => {
            embed::reuse(frozen, context)?;
            tell_reuse(frozen, folder, context);
            return Ok(lock);
        }
        Opened::Open(writer) => writer,
    };
    for note in writer.notes() {
        context.observer.observe(Event::Note(note.clone()));
    }
    let mut progress = Progress::new(protocol);
    for record in ledger::read::<EvidenceStage>(folder.path())? {
        progress.take(&record?.1)?;
    }
    if protocol.spec.retrieve.is_within() {
        return Ok(writer.seal().await?);
    }
    let (done, total) = progress.count();
    context.observer.observe(Event::Started { stage: StageName::Retrieve, done, total });
    let embeds = embed::open(frozen, folder, done > 0, context)?;
    let mut vectors = None;
    match &protocol.spec.retrieve.backend {
        RetrieveBackend::Bm25(_) | RetrieveBackend::File => {
            local::passes(protocol, &mut progress, &writer, context).await?;
        }
        RetrieveBackend::Http(_) | RetrieveBackend::Sql(_) | RetrieveBackend::Command(_) => {
            vectors = remote::passes(protocol, &mut progress, &writer, embeds.as_ref(), context).await?;
        }
        RetrieveBackend::Within => {}
    }
    note_all(&progress, &writer, vectors.as_ref()).await?;
    barren::judge(&progress, folder.path(), context)?;
    judge_mismatches(&progress, protocol, folder, context)?;
    if let Some(embeds) = embeds {
        embeds.seal().await?;
    }
    let lock = writer.seal().await?;
    context.observer.observe(Event::Sealed(StageName::Retrieve));
    Ok(lock)
}

/// Writes what both passes came to, with which vectors, and the empty evidence of the closed book.
async fn note_all(progress: &Progress, writer: &Writer, vectors: Option<&Vectors>) -> Result<(), Failure> {
    let empty = Evidence::default();
    let vector = |question| vectors.and_then(|vectors| vectors.digest(question));
    let notes: Vec<PassRecord> = progress.open_notes(vector).collect();
    for batch in notes.chunks(NOTES) {
        let records: Vec<_> = batch.iter().cloned().map(Record::Note).collect();
        let names_it = batch.iter().any(|note| note.evidence == empty.digest());
        let blobs = names_it.then(|| empty.canonical()).into_iter().collect();
        writer.append_all(&records, blobs).await?;
    }
    Ok(())
}

/// What happens where passes do not match is for the spec to say.
fn judge_mismatches(
    progress: &Progress,
    protocol: &Protocol,
    folder: &RunFolder,
    context: &Context,
) -> Result<(), Failure> {
    let found = progress.mismatches();
    let names = found.iter().map(|(snapshot, ..)| (*snapshot).clone()).collect();
    let reasons = if found.is_empty() { BTreeMap::new() } else { mismatch::reasons(protocol, folder.path(), &names)? };
    let line = |(snapshot, count, first): &(&SnapshotName, usize, &QuestionId)| {
        let why = reasons.get(*snapshot).map_or_else(String::new, |why| format!(": {why}"));
        format!("snapshot `{snapshot}`: two retrievals differ for {count} questions, first for `{first}`{why}")
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    match protocol.spec.retrieve.on_mismatch {
        _ if lines.is_empty() => Ok(()),
        OnMismatch::Include => {
            for line in lines {
                context.observer.observe(Event::Note(line));
            }
            Ok(())
        }
        OnMismatch::Stop => Err(Failure::new(FailureClass::Incomplete, lines.join("\n")).with_hint(format!(
            "make retrieval repeatable (one replica, exact search), then remove the run folder `{}`, which keeps what \
             was retrieved, and run again; or set `retrieve.on_mismatch: include`",
            folder.path()
        ))),
    }
}

/// Where nothing tells what a snapshot physically is, an index that changed under its name would go unnoticed.
fn tell_reuse(frozen: &Frozen, folder: &RunFolder, context: &Context) {
    let spec = &frozen.protocol.spec;
    let (RetrieveBackend::Http(_) | RetrieveBackend::Sql(_) | RetrieveBackend::Command(_)) = &spec.retrieve.backend
    else {
        return;
    };
    let unknown = |name: &&SnapshotName| {
        frozen.protocol.snapshots.iter().any(|found| found.name == **name && found.fingerprint.is_none())
    };
    let names: Vec<String> =
        spec.snapshots.iter().map(|snapshot| &snapshot.name).filter(unknown).map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return;
    }
    context.observer.observe(Event::Note(format!(
        "the evidence of the snapshots {} was retrieved earlier and is reused; remove the run folder `{}` if an index \
         changed under its name",
        names.join(", "),
        folder.path()
    )));
}

/// Retrieval takes no calls out of the budget, but it ends with the budget's time.
///
/// # Errors
/// No time is left.
pub(super) fn out_of_time(context: &Context) -> Result<(), Failure> {
    match context.budget.time_left() {
        Some(Duration::ZERO) => Err(Failure::new(FailureClass::Incomplete, "the budget of minutes is used up")
            .with_hint("raise `budget.minutes` in the spec, or run the same command again to go on")),
        _ => Ok(()),
    }
}
