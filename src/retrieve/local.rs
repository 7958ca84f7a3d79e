//! Retrieval without leaving the process: batches of questions are recorded, searched for and recorded again.

use super::bm25::{Bm25Index, IndexError, IndexSettings};
use super::corpus::{Corpus, CorpusError, Documents};
use super::file::{EvidenceError, EvidenceFile};
use super::limits::{BATCH, IN_MEMORY_BYTES};
use super::progress::{PASSES, Progress, Unit};
use super::records::{Writer, accepted, now_ms, outcome};
use super::stage::out_of_time;
use crate::freeze::{Protocol, ResolvedSnapshot};
use crate::http::{CallError, Context, interrupted};
use crate::ledger::record::{Attempt, Record, Verdict};
use crate::model::{Digest, Event, Evidence, Failure, FailureClass, Question, SnapshotName, StageName};
use crate::spec::{Bm25Spec, RetrieveBackend, SnapshotSource};
use camino::Utf8PathBuf;
use rayon::prelude::*;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// A backend within this process.
pub(super) trait Local: Send + Sync {
    /// The evidence of one question.
    ///
    /// # Errors
    /// It cannot be had; the audit stops.
    fn search(&self, question: &Question) -> Result<Evidence, Failure>;

    /// Whether it takes so little that another one may be opened beside it.
    fn is_small(&self) -> bool;
}

/// Both passes over every snapshot. Each pass opens its backend anew, so that the second one finds no trace of the
/// first. Where the one at hand is small, the next one is opened while it is searched.
pub(super) async fn passes(
    protocol: &Protocol,
    progress: &mut Progress,
    writer: &Writer,
    context: &Context,
) -> Result<(), Failure> {
    // What is opened ahead ends with whatever stops this one.
    let cancel = context.cancel.child_token();
    let _ends = cancel.clone().drop_guard();
    let mut left = open_passes(progress).into_iter().peekable();
    let mut ahead = None;
    while let Some((snapshot, units)) = left.next() {
        let opening = ahead.take().unwrap_or_else(|| open(protocol, snapshot, cancel.clone()));
        let backend = opening.await?;
        let next = left.peek().filter(|_| backend.is_small());
        ahead = next.map(|(snapshot, _)| open(protocol, *snapshot, cancel.clone()));
        for batch in units.chunks(BATCH) {
            one_batch(protocol, progress, &backend, batch, writer, context).await?;
        }
    }
    Ok(())
}

/// The passes that are not complete, in order: the snapshot's number, and what there is left to retrieve from it.
fn open_passes(progress: &Progress) -> Vec<(usize, Vec<Unit>)> {
    let passes = (0..progress.retrieved()).flat_map(|snapshot| (0..PASSES).map(move |pass| (snapshot, pass)));
    let open = passes.map(|(snapshot, pass)| (snapshot, progress.open_units(snapshot, pass)));
    open.filter(|(_, units)| !units.is_empty()).collect()
}

async fn one_batch(
    protocol: &Protocol,
    progress: &mut Progress,
    backend: &Arc<dyn Local>,
    batch: &[Unit],
    writer: &Writer,
    context: &Context,
) -> Result<(), Failure> {
    if context.cancel.is_cancelled() {
        return Err(interrupted());
    }
    out_of_time(context)?;
    let questions: Vec<Question> = batch.iter().map(|unit| protocol.questions[unit.question].clone()).collect();
    let at_ms = now_ms();
    let attempt = |(unit, question): (&Unit, &Question)| {
        Record::Attempt(Attempt { of: progress.key(*unit), request: Digest::of(question.text.as_bytes()), at_ms })
    };
    let attempts: Vec<_> = batch.iter().zip(&questions).map(attempt).collect();
    let numbers = writer.append_all(&attempts, Vec::new()).await?;
    let found = search_all(Arc::clone(backend), questions, context).await?;
    let (mut outcomes, mut blobs) = (Vec::new(), Vec::new());
    for ((unit, number), found) in batch.iter().zip(numbers).zip(&found) {
        let (verdict, latency_ms) = match found {
            Some(found) => (Verdict::Accepted(accepted(&found.evidence, found.digest)), found.latency_ms),
            None => (Verdict::Invalid(CallError::NotSent.code().to_owned()), 0),
        };
        outcomes.push(Record::Outcome(outcome(number, progress.key(*unit), verdict, latency_ms)));
        blobs.extend(found.as_ref().map(|found| found.evidence.canonical()));
    }
    writer.append_all_journaled(&outcomes, blobs).await?;
    for (unit, found) in batch.iter().zip(&found) {
        progress.done(*unit, found.as_ref().ok_or_else(interrupted)?.digest);
    }
    Ok(())
}

struct Found {
    evidence: Evidence,
    digest: Digest,
    latency_ms: u64,
}

/// Searches for all questions on all cores, and tells each that is done; the results stand in the questions' order. Once
/// somebody cancels, no further search begins: those that are left come to nothing.
async fn search_all(
    backend: Arc<dyn Local>,
    questions: Vec<Question>,
    context: &Context,
) -> Result<Vec<Option<Found>>, Failure> {
    let (cancel, observer) = (context.cancel.clone(), Arc::clone(&context.observer));
    let search = move |question: &Question| {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let started = Instant::now();
        let evidence = backend.search(question)?;
        let latency_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        observer.observe(Event::Advanced(StageName::Retrieve));
        Ok(Some(Found { digest: evidence.digest(), evidence, latency_ms }))
    };
    blocking(move || questions.par_iter().map(search).collect()).await
}

/// Runs what takes long on a thread of its own, from now on.
fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> impl Future<Output = Result<T, Failure>> {
    let ended = |_| Failure::new(FailureClass::Incomplete, "a retrieval thread ended before its work was done");
    let working = tokio::task::spawn_blocking(work);
    async move { working.await.map_err(ended)? }
}

/// A backend that is being opened.
type BeingOpened = Pin<Box<dyn Future<Output = Result<Arc<dyn Local>, Failure>> + Send>>;

/// Begins to open the backend of a snapshot, and checks that it holds what was frozen.
fn open(protocol: &Protocol, snapshot: usize, cancel: CancellationToken) -> BeingOpened {
    let opening = Opening {
        base: protocol.base.clone(),
        source: protocol.spec.snapshots[snapshot].source.clone(),
        frozen: protocol.snapshots[snapshot].clone(),
        top_k: protocol.spec.retrieve.top_k,
        max_chars: protocol.spec.retrieve.max_chars,
        cancel,
    };
    if let RetrieveBackend::Bm25(spec) = &protocol.spec.retrieve.backend {
        let spec = spec.clone();
        return Box::pin(blocking(move || opening.bm25(&spec)));
    }
    let questions = protocol.questions.clone();
    Box::pin(blocking(move || opening.file(&questions)))
}

struct Opening {
    base: Utf8PathBuf,
    source: SnapshotSource,
    frozen: ResolvedSnapshot,
    top_k: u32,
    max_chars: u32,
    cancel: CancellationToken,
}

impl Opening {
    fn bm25(&self, spec: &Bm25Spec) -> Result<Arc<dyn Local>, Failure> {
        let index = || -> Result<_, IndexError> {
            let corpus = Corpus::open(&self.source, &self.base)?;
            let in_memory = corpus.bytes <= IN_MEMORY_BYTES;
            let settings = IndexSettings { chunk_chars: spec.chunk_chars, max_chars: self.max_chars, in_memory };
            Bm25Index::build(until(corpus.documents()?, &self.cancel), settings)
        };
        let built = index().map_err(|error| error.of_snapshot(&self.frozen.name))?;
        self.check(built.fingerprint)?;
        let (snapshot, top_k) = (self.frozen.name.clone(), self.top_k as usize);
        Ok(Arc::new(Searched { index: built.index, is_small: built.is_small, snapshot, top_k }))
    }

    fn file(&self, questions: &[Question]) -> Result<Arc<dyn Local>, Failure> {
        let limits = (self.top_k as usize, self.max_chars as usize);
        let read = || -> Result<_, EvidenceError> {
            EvidenceFile::open(&Corpus::open(&self.source, &self.base)?, &self.frozen.name, questions, limits)
        };
        let (opened, digest) = read().map_err(|error| error.of_snapshot(&self.frozen.name))?;
        self.check(digest)?;
        Ok(Arc::new(opened))
    }

    /// An index that lacks documents, or has others, must never be searched in place of the frozen one.
    fn check(&self, fingerprint: Digest) -> Result<(), Failure> {
        if self.frozen.fingerprint == Some(fingerprint) {
            return Ok(());
        }
        let message = format!("the corpus of snapshot `{}` is no longer the one that was frozen", self.frozen.name);
        Err(Failure::new(FailureClass::Evidence, message)
            .with_hint("put the corpus back, or run the audit again: it will be another run"))
    }
}

/// The documents, until somebody cancels.
fn until<'a>(
    documents: Documents<'a>,
    cancel: &'a CancellationToken,
) -> impl Iterator<Item = Result<super::corpus::CorpusDocument, CorpusError>> + 'a {
    documents.map(|document| if cancel.is_cancelled() { Err(CorpusError::Interrupted) } else { document })
}

struct Searched {
    index: Bm25Index,
    is_small: bool,
    snapshot: SnapshotName,
    top_k: usize,
}

impl Local for Searched {
    fn search(&self, question: &Question) -> Result<Evidence, Failure> {
        self.index.search(&question.text, self.top_k).map_err(|error| error.of_snapshot(&self.snapshot))
    }

    fn is_small(&self) -> bool {
        self.is_small
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::QuestionId;
    use crate::retrieve::tests::harness::{CancelAfter, context};
    use std::time::Duration;

    /// A backend each of whose searches takes its time.
    struct Slow;

    impl Local for Slow {
        fn search(&self, _: &Question) -> Result<Evidence, Failure> {
            std::thread::sleep(Duration::from_millis(50));
            Ok(Evidence::default())
        }

        fn is_small(&self) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn one_interrupt_ends_a_batch_of_slow_searches_within_a_search() {
        let question = |number: usize| Question {
            id: QuestionId(format!("q{number}")),
            text: "slow".to_owned(),
            tags: Vec::new(),
            cluster: None,
        };
        let mut context = context();
        CancelAfter::units(1, &mut context);
        let found = search_all(Arc::new(Slow), (0..BATCH).map(question).collect(), &context).await.unwrap();
        let done = found.iter().flatten().count();
        assert_eq!(found.len(), BATCH);
        // The others that had begun as well, one a core.
        assert!((1..=2 * rayon::current_num_threads()).contains(&done), "{done}");
    }
}
