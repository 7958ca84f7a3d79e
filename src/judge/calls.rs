//! Judging by calls: packets in parallel, the parts of one packet one after the other, each attempt on record before it
//! is made.

use super::backend::{Backend, Heard, Judged};
use super::given_up::{GivenUp, Purpose};
use super::judging::Judging;
use super::parts::{Part, split};
use super::plan::{Plan, Prepared, Task};
use super::progress::{Progress, Recorded};
use super::record::{JudgmentOutcome, attempt};
use super::stage::{Packets, Work};
use crate::freeze::Protocol;
use crate::http::chat::Facts;
use crate::http::{Attempted, Context, Opening, Pace, RetryPolicy, Unit, interrupted, until_accepted};
use crate::ledger::record::{self, Record, Verdict};
use crate::model::{Digest, Event, Failure, FailureClass, QuestionId};
use futures_util::{StreamExt as _, stream};

/// Packets under way for each call in flight: those that wait for their next attempt hold no call back.
const WAITING: usize = 4;

/// What all packets share.
struct Calls<'a, S: Judging> {
    work: &'a Work<'a, S>,
    backend: &'a Backend,
    policy: RetryPolicy,
    pace: Pace,
    opening: Opening,
    /// As the audit's, but its token is cancelled at the first failure as well.
    context: Context,
    given_up: GivenUp,
}

/// What became of one question.
enum Became {
    /// Its answers are all one text.
    NoPacket,
    /// Every pair had its label before.
    OnRecord,
    /// Every pair has its label now.
    Judged,
    /// Its attempts are used up.
    Missing,
}

impl Became {
    fn count(&self, packets: &mut Packets) {
        let (all, asked, missing) = match self {
            Self::NoPacket => (0, 0, 0),
            Self::OnRecord => (1, 0, 0),
            Self::Judged => (1, 1, 0),
            Self::Missing => (1, 1, 1),
        };
        packets.all += all;
        packets.asked += asked;
        packets.missing += missing;
    }
}

/// Judges every question that has no complete judgment; returns how many packets there are and how many stay without
/// one.
///
/// # Errors
/// Interrupted, out of budget, a fatal reply, a judge that judges nothing at all, or a blob or the ledger fails. No
/// attempt is begun after the first of these; those in flight are finished before.
pub(super) async fn run<S: Judging>(
    plan: &Plan,
    work: &Work<'_, S>,
    backend: &Backend,
    protocol: &Protocol,
) -> Result<Packets, Failure> {
    let spec = &protocol.spec.judge;
    let at_once = work.context.at_once(spec.concurrency);
    let calls = Calls {
        work,
        backend,
        policy: RetryPolicy::for_servers(spec.max_attempts),
        pace: Pace::new(at_once, backend.rate_limit()),
        opening: Opening::new(at_once),
        context: Context { cancel: work.context.cancel.child_token(), ..work.context.clone() },
        given_up: GivenUp::none(purpose::<S>(protocol, plan), work.done.values().any(Recorded::is_judged)),
    };
    let has_failed = |task: &&Task| work.done.get(&task.question.id).is_some_and(Recorded::has_failed);
    let (failed, fresh): (Vec<&Task>, Vec<&Task>) = plan.tasks.iter().partition(has_failed);
    let tasks = fresh.into_iter().chain(failed).take_while(|_| !calls.context.cancel.is_cancelled());
    let mut judged = stream::iter(tasks).map(|task| calls.judge(task)).buffer_unordered(at_once as usize * WAITING);
    let (mut packets, mut first) = (Packets::default(), None);
    while let Some(became) = judged.next().await {
        match became {
            Ok(became) => became.count(&mut packets),
            Err(failure) => {
                calls.context.cancel.cancel();
                first.get_or_insert(failure);
            }
        }
    }
    match first {
        Some(failure) => Err(failure),
        None if calls.context.cancel.is_cancelled() => Err(interrupted()),
        None => Ok(packets),
    }
}

impl<S: Judging> Calls<'_, S> {
    /// Judges the parts of one packet that have no labels yet.
    async fn judge(&self, task: &Task) -> Result<Became, Failure> {
        if self.context.cancel.is_cancelled() {
            return Err(interrupted());
        }
        let recorded = self.work.done.get(&task.question.id);
        if recorded.is_some_and(Recorded::complete) {
            return Ok(Became::OnRecord);
        }
        let Some(prepared) = prepare(task, self.work).await? else {
            self.work.context.observer.observe(Event::Advanced(S::STAGE));
            return Ok(Became::NoPacket);
        };
        if must_note(&prepared.note, &self.work.done)? {
            self.work.writer.append(&Record::Note(prepared.note.clone())).await?;
        }
        let labelled =
            |part: &Part| recorded.is_some_and(|recorded| part.pairs.iter().all(|pair| recorded.pairs.contains(pair)));
        for part in split(&prepared.packet).iter().filter(|part| !labelled(part)) {
            let asked = async |number| {
                if let Err(ended) = self.opening.admit(number, &self.context).await {
                    return Attempted::Fatal(ended);
                }
                self.ask(&prepared, part, number).await.unwrap_or_else(|failure| self.pace.unmade(failure))
            };
            if let Err(reason) = until_accepted(self.policy, &self.context, S::STAGE, asked).await? {
                let failed_before = recorded.is_some_and(Recorded::has_failed);
                return self.give_up(reason, failed_before).map(|()| Became::Missing);
            }
            self.given_up.judged();
            self.opening.open();
        }
        self.work.context.observer.observe(Event::Advanced(S::STAGE));
        Ok(Became::Judged)
    }

    /// One attempt, recorded before and after.
    async fn ask(&self, prepared: &Prepared, part: &Part, number: u32) -> Result<Attempted<()>, Failure> {
        let (work, question) = (self.work, &prepared.note.question);
        let most = self.backend.estimate(&prepared.packet, part);
        let in_line = self.pace.line_up(&self.context).await?.for_attempt(number);
        let seq = work.writer.append(&attempt(question, self.backend.request(&prepared.packet, part))).await?;
        let (in_flight, reserved) = match in_line.go(&self.context, S::STAGE, most).await {
            Ok(begun) => begun,
            Err(ended) => return self.not_sent(seq, question, ended).await,
        };
        let asked = self.context.of(Unit::judgment(S::NAME, question));
        let Judged { verdict, facts, body, latency } = self.backend.ask(&prepared.packet, part, &asked).await;
        let (verdict, attempted) = weigh(verdict);
        self.pace.took(most, &facts);
        // Before its place is free: the next call is held to what this one took, not to what it was thought to take.
        self.context.settle(reserved, &facts);
        in_flight.came_to(attempted.came());
        let stands = self.stands(&attempted, &facts);
        // The call is over: the next one need not wait until this one's outcome is durable, unless there must be none.
        let stops = stands.is_err() || matches!(attempted, Attempted::Fatal(_));
        let _held = Some(in_flight).filter(|_| stops);
        // Whose turn it is now sends its call before this one's outcome is worked out.
        tokio::task::yield_now().await;
        if let Attempted::Invalid { reason, .. } = &attempted {
            work.tally.add(reason);
        }
        let outcome = JudgmentOutcome { attempt: seq, verdict, facts, latency, body: body.as_deref().map(Digest::of) }
            .record(question);
        work.writer.append_journaled(&outcome, body.into_iter().collect()).await?;
        stands?;
        Ok(attempted)
    }

    /// Records that no call followed an attempt, because the audit has ended.
    async fn not_sent(&self, seq: u64, question: &QuestionId, ended: Failure) -> Result<Attempted<()>, Failure> {
        let outcome = JudgmentOutcome::not_sent(seq).record(question);
        self.work.writer.append(&outcome).await?;
        Err(ended)
    }

    /// Whether the audit can stand on a judgment: one model throughout, no reply twice, and a budget that can be held.
    fn stands(&self, attempted: &Attempted<()>, facts: &Facts) -> Result<(), Failure> {
        let reason = match attempted {
            Attempted::Accepted(()) => self.work.served.accept(facts).map(|()| None)?,
            Attempted::Invalid { reason, .. } => Some(*reason),
            // The audit ends for it.
            Attempted::Fatal(_) | Attempted::Unserved(_) => return Ok(()),
        };
        self.context.must_count(facts, reason, S::WHOSE)
    }

    /// Stops an audit whose judge is out of order, before it waits for all other packets as well.
    fn give_up(&self, reason: &'static str, failed_before: bool) -> Result<(), Failure> {
        self.work.tally.give_up(reason);
        let Some(missing) = self.given_up.give_up(reason, failed_before) else {
            self.opening.give_up();
            return Ok(());
        };
        let message = format!("the {} gave no judgment at all of the first {missing} packets", S::WHOSE);
        Err(Failure::new(FailureClass::Incomplete, self.work.tally.after(&message)).with_hint(self.work.tally.remedy()))
    }
}

fn purpose<S: Judging>(protocol: &Protocol, plan: &Plan) -> Purpose {
    let tolerated = protocol.spec.tolerance.invalid_cells;
    match (S::DECIDES, protocol.is_part) {
        (false, _) => Purpose::Diagnosis,
        (true, true) => Purpose::Part,
        (true, false) => Purpose::Verdict { questions: plan.tasks.len() as u64, tolerated },
    }
}

/// Reads the answers' blobs away from the tasks that wait for servers.
async fn prepare<S: Judging>(task: &Task, work: &Work<'_, S>) -> Result<Option<Prepared>, Failure> {
    let (task, orders, blobs) = (task.clone(), work.orders, work.folder.blobs().reader());
    let prepared = tokio::task::spawn_blocking(move || task.prepare(orders, &blobs)).await;
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

/// What stands in the ledger, and what it means for the pace of attempts.
fn weigh(heard: Heard) -> (Verdict<record::AcceptedJudgment>, Attempted<()>) {
    match heard {
        Heard::Accepted(judgment) => (Verdict::Accepted(judgment), Attempted::Accepted(())),
        Heard::Invalid { reason, wish } => (Verdict::Invalid(reason.to_owned()), Attempted::Invalid { reason, wish }),
        Heard::Fatal { reason, failure } => (Verdict::Fatal(reason.to_owned()), Attempted::Fatal(failure)),
    }
}
