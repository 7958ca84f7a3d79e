//! The embedded judge over many packets: they are judged in batches that are recorded with two flushes each.

use super::embedded::{self, reading::Reading};
use super::judging::Judging;
use super::packet::{Orders, Packet};
use super::plan::{Plan, Prepared, Task};
use super::record::{JudgmentOutcome, attempt};
use super::reply::pair_label;
use super::stage::Work;
use crate::http::attempts::interrupted;
use crate::http::chat::Facts;
use crate::ledger::BlobReader;
use crate::ledger::record::{AcceptedJudgment, JudgmentsRecord, Record, Verdict};
use crate::model::{Digest, Event, Failure, FailureClass};
use std::time::{Duration, Instant};

/// Questions judged and recorded together.
const BATCH: usize = 256;

/// One question's packet and its judgment.
struct Judged {
    prepared: Prepared,
    judgment: AcceptedJudgment,
    latency: Duration,
}

/// Judges every question that has no judgment yet.
///
/// # Errors
/// Interrupted, or a blob or the ledger fails.
pub(super) async fn run<S: Judging>(plan: &Plan, work: &Work<'_, S>) -> Result<(), Failure> {
    let left: Vec<&Task> = plan.tasks.iter().filter(|task| !complete(task, work)).collect();
    for tasks in left.chunks(BATCH) {
        if work.context.cancel.is_cancelled() {
            return Err(interrupted());
        }
        let (orders, blobs) = (work.orders, work.folder.blobs().reader());
        let owned: Vec<Task> = tasks.iter().map(|task| (*task).clone()).collect();
        let judged = tokio::task::spawn_blocking(move || judge_all(&owned, orders, &blobs))
            .await
            .map_err(|_| Failure::new(FailureClass::Incomplete, "the embedded judge has stopped"))??;
        record(&judged, work).await?;
        for _ in tasks {
            work.context.observer.observe(Event::Advanced(S::STAGE));
        }
    }
    Ok(())
}

fn complete<S: Judging>(task: &Task, work: &Work<'_, S>) -> bool {
    work.done.get(&task.question.id).is_some_and(super::progress::Recorded::complete)
}

fn judge_all(tasks: &[Task], orders: Orders, blobs: &BlobReader) -> Result<Vec<Judged>, Failure> {
    let prepared = tasks.iter().filter_map(|task| task.prepare(orders, blobs).transpose());
    prepared.map(|prepared| prepared.map(judge_one)).collect()
}

fn judge_one(prepared: Prepared) -> Judged {
    let started = Instant::now();
    let judgment = judge_packet(&prepared.packet);
    Judged { prepared, judgment, latency: started.elapsed() }
}

/// Labels every pair of a packet. The embedded judge sees the packet and nothing else.
fn judge_packet(packet: &Packet) -> AcceptedJudgment {
    let question = Reading::of(packet.question());
    let readings: Vec<Reading> = packet.answers().iter().map(|answer| Reading::of(answer.as_str())).collect();
    let label = |(one, other): (usize, usize)| {
        pair_label(one, other, embedded::decide(&question, &readings[one], &readings[other]).label)
    };
    AcceptedJudgment { pairs: packet.pairs().into_iter().map(label).collect() }
}

/// Packets and attempts first, then the outcomes.
async fn record<S: Judging>(judged: &[Judged], work: &Work<'_, S>) -> Result<(), Failure> {
    let mut opening: Vec<JudgmentsRecord> = Vec::with_capacity(2 * judged.len());
    let mut places = Vec::with_capacity(judged.len());
    for Judged { prepared, .. } in judged {
        if super::calls::must_note(&prepared.note, &work.done)? {
            opening.push(Record::Note(prepared.note.clone()));
        }
        places.push(opening.len() as u64);
        opening.push(attempt(&prepared.note.question, request(&prepared.packet)));
    }
    let first = work.writer.append_all(&opening, Vec::new()).await?.start;
    let outcomes: Vec<JudgmentsRecord> =
        judged.iter().zip(places).map(|(judged, place)| outcome(judged, first + place)).collect();
    work.writer.append_all(&outcomes, Vec::new()).await?;
    Ok(())
}

fn outcome(judged: &Judged, attempt: u64) -> JudgmentsRecord {
    let facts = Facts { served_model: Some(embedded::NAME.to_owned()), ..Facts::default() };
    let verdict = Verdict::Accepted(judged.judgment.clone());
    JudgmentOutcome { attempt, verdict, facts, latency: judged.latency, body: None }
        .record(&judged.prepared.note.question)
}

/// The digest of what the embedded judge is shown.
pub(super) fn request(packet: &Packet) -> Digest {
    let answers = packet.answers().iter().map(|answer| answer.as_str().as_bytes());
    Digest::of_parts([embedded::NAME.as_bytes(), packet.question().as_bytes()].into_iter().chain(answers))
}
