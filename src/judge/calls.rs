//! Judging by calls: packets in parallel, the parts of one packet one after the other, each attempt on record before it
//! is made.

use super::backend::{Backend, Heard, Judged};
use super::parts::{Part, split};
use super::plan::{Plan, Prepared, Task};
use super::progress::Progress;
use super::record::{JudgmentOutcome, attempt};
use super::stage::Work;
use crate::http::attempts::interrupted;
use crate::http::{Attempted, RetryPolicy, until_accepted};
use crate::ledger::record::{self, Record, Verdict};
use crate::model::{Digest, Event, Failure, FailureClass, StageName};
use crate::spec::JudgeSpec;
use futures_util::{StreamExt as _, stream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The first failure, after which nothing more is begun.
#[derive(Default)]
struct Stopped(Mutex<Option<Failure>>);

impl Stopped {
    fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set(&self, failure: Failure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }
}

/// Judges every question that has no complete judgment; returns how many stay without one.
///
/// # Errors
/// Interrupted, out of budget, a fatal reply, or a blob or the ledger fails. Attempts in flight are finished before.
pub(super) async fn run(plan: &Plan, work: &Work<'_>, backend: &Backend, spec: &JudgeSpec) -> Result<u64, Failure> {
    let (stopped, missing) = (Stopped::default(), AtomicU64::new(0));
    let at_once = work.context.concurrency.unwrap_or(spec.concurrency).max(1) as usize;
    let policy = RetryPolicy::for_servers(spec.max_attempts);
    stream::iter(&plan.tasks)
        .for_each_concurrent(at_once, |task| async {
            if stopped.is_set() {
                return;
            }
            match judge_one(task, work, backend, policy).await {
                Ok(complete) => {
                    missing.fetch_add(u64::from(!complete), Ordering::Relaxed);
                }
                Err(failure) => stopped.set(failure),
            }
        })
        .await;
    match stopped.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(missing.into_inner()),
    }
}

/// Judges the parts of one packet that have no labels yet; whether all have them then.
async fn judge_one(task: &Task, work: &Work<'_>, backend: &Backend, policy: RetryPolicy) -> Result<bool, Failure> {
    if work.context.cancel.is_cancelled() {
        return Err(interrupted());
    }
    let recorded = work.done.get(&task.question.id);
    if recorded.is_some_and(super::progress::Recorded::complete) {
        return Ok(true);
    }
    if let Some(prepared) = prepare(task, work).await? {
        if must_note(&prepared.note, &work.done)? {
            work.writer.append(&Record::Note(prepared.note.clone())).await?;
        }
        let labelled =
            |part: &Part| recorded.is_some_and(|recorded| part.pairs.iter().all(|pair| recorded.pairs.contains(pair)));
        for part in split(&prepared.packet).iter().filter(|part| !labelled(part)) {
            let asked = async |_| ask(&prepared, part, work, backend).await;
            if until_accepted(policy, work.context, StageName::Judge, asked).await?.is_none() {
                return Ok(false);
            }
        }
    }
    work.context.observer.observe(Event::Advanced(StageName::Judge));
    Ok(true)
}

/// Reads the answers' blobs away from the tasks that wait for servers.
async fn prepare(task: &Task, work: &Work<'_>) -> Result<Option<Prepared>, Failure> {
    let (task, seed, blobs) = (task.clone(), work.seed, work.folder.blobs().reader());
    let prepared = tokio::task::spawn_blocking(move || task.prepare(&seed, &blobs)).await;
    prepared.map_err(|_| Failure::new(FailureClass::Incomplete, "reading answers has stopped"))?
}

/// Whether a packet is still to be recorded.
///
/// # Errors
/// Another one is on record for its question.
pub(super) fn must_note(packet: &record::Packet, done: &Progress) -> Result<bool, Failure> {
    match done.get(&packet.question) {
        None => Ok(true),
        Some(recorded) if recorded.packet == *packet => Ok(false),
        Some(_) => Err(Failure::new(
            FailureClass::Evidence,
            format!("the packet on record for question `{}` does not follow from the answers", packet.question),
        )),
    }
}

/// One attempt, recorded before and after.
async fn ask(prepared: &Prepared, part: &Part, work: &Work<'_>, backend: &Backend) -> Attempted<()> {
    match try_ask(prepared, part, work, backend).await {
        Ok(attempted) => attempted,
        Err(failure) => Attempted::Fatal(failure),
    }
}

async fn try_ask(
    prepared: &Prepared,
    part: &Part,
    work: &Work<'_>,
    backend: &Backend,
) -> Result<Attempted<()>, Failure> {
    work.context.budget.take_call()?;
    let question = &prepared.note.question;
    let seq = work.writer.append(&attempt(question, backend.request(&prepared.packet, part))).await?;
    let Judged { verdict, facts, body, latency } = backend.ask(&prepared.packet, part, work.context).await;
    let (verdict, attempted) = weigh(verdict);
    if let Attempted::Invalid { reason, .. } = &attempted {
        work.tally.add(reason);
    }
    let outcome = JudgmentOutcome { attempt: seq, verdict, facts, latency, body: body.as_deref().map(Digest::of) }
        .record(question);
    work.writer.append_with_blobs(&outcome, body.into_iter().collect()).await?;
    Ok(attempted)
}

/// What stands in the ledger, and what it means for the pace of attempts.
fn weigh(heard: Heard) -> (Verdict<record::AcceptedJudgment>, Attempted<()>) {
    match heard {
        Heard::Accepted(judgment) => (Verdict::Accepted(judgment), Attempted::Accepted(())),
        Heard::Invalid { reason, retry_after } => {
            (Verdict::Invalid(reason.to_owned()), Attempted::Invalid { reason, retry_after })
        }
        Heard::Fatal { reason, failure } => (Verdict::Fatal(reason.to_owned()), Attempted::Fatal(failure)),
    }
}
