//! Cells that are called for: bounded in number, each attempt recorded before its call and after it.

use super::answering::Answering;
use super::asked::{Asked, Came, Fault};
use super::backend::Called;
use super::given_up::{Before, GivenUp};
use super::plan::Plan;
use super::resume::Standing;
use crate::http::{Attempted, Context, Opening, Pace, RetryPolicy, Tally, Unit, interrupted, until_accepted};
use crate::ledger::Writer;
use crate::ledger::record::{AcceptedAnswer, AnswersRecord, Attempt, Outcome, Record, Verdict};
use crate::model::{Cell, Digest, Event, Evidence, Failure, FailureClass};
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;

/// Cells under way for each call in flight: those that wait for their next attempt hold no call back.
const WAITING: usize = 4;
/// Cells whose evidence is read together, before their turn comes.
const READ_TOGETHER: usize = 64;

/// What all cells share.
pub struct Calls<'a, S: Answering> {
    plan: &'a Plan<'a>,
    writer: &'a Writer<S>,
    backend: &'a Called,
    /// As the audit's, but its token is cancelled at the first failure as well.
    context: Context,
    pace: Pace,
    opening: Opening,
    under_way: usize,
    given_up: GivenUp,
    standing: &'a Standing,
    tally: &'a Tally,
}

impl<'a, S: Answering> Calls<'a, S> {
    /// Calls to `backend`; `standing` knows what earlier processes did, and `before` what that says of the generator. What comes to
    /// nothing is counted in `tally`.
    #[must_use]
    pub fn new(
        plan: &'a Plan<'a>,
        writer: &'a Writer<S>,
        backend: &'a Called,
        context: &Context,
        (standing, before): (&'a Standing, Before),
        tally: &'a Tally,
    ) -> Self {
        let concurrency = context.at_once(plan.protocol.spec.generate.concurrency);
        let context = Context { cancel: context.cancel.child_token(), ..context.clone() };
        Self {
            plan,
            writer,
            backend,
            context,
            pace: Pace::new(concurrency, backend.rate_limit()),
            opening: Opening::new(concurrency),
            under_way: concurrency as usize * WAITING,
            given_up: GivenUp::after(before),
            standing,
            tally,
        }
    }

    /// Fills these cells, as far as it goes. After a failure no attempt is begun, and those in flight are finished.
    ///
    /// # Errors
    /// The first failure.
    pub async fn fill(&self, cells: Vec<Cell>) -> Result<(), Failure> {
        let cells = self.given_up.queued(cells, self.opening.most());
        let mut filled = stream::iter(cells.into_iter().take_while(|_| !self.context.cancel.is_cancelled()))
            .chunks(READ_TOGETHER)
            .map(|cells| self.plan.with_evidence(cells))
            .buffered(2)
            .flat_map(stream::iter)
            .map(|(cell, evidence)| self.cell(cell, evidence))
            .buffer_unordered(self.under_way);
        let mut first = None;
        while let Some(done) = filled.next().await {
            if let Err(failure) = done {
                self.context.cancel.cancel();
                first.get_or_insert(failure);
            }
        }
        match first {
            Some(failure) => Err(failure),
            None if self.context.cancel.is_cancelled() => Err(interrupted()),
            None => Ok(()),
        }
    }

    async fn cell(&self, cell: Cell, evidence: Result<Evidence, Failure>) -> Result<(), Failure> {
        let material = self.plan.material_of(&cell, evidence?)?;
        let spec = &self.plan.protocol.spec.generate;
        let limit = spec.max_answer_bytes as usize;
        let asked =
            Asked { question: material.question, evidence: &material.evidence, prompt: &material.prompt, limit };
        let policy = RetryPolicy::for_servers(spec.max_attempts);
        let before = self.standing.attempts(self.plan.places.cell(&cell));
        let attempt = async |number| {
            if let Err(ended) = self.opening.admit(number, &self.context).await {
                return Attempted::Fatal(ended);
            }
            self.attempt(&cell, asked, (before, number)).await.unwrap_or_else(|failure| self.pace.unmade(failure))
        };
        match until_accepted(policy, &self.context, S::STAGE, attempt).await? {
            Ok(()) => self.context.observer.observe(Event::Advanced(S::STAGE)),
            Err(reason) => self.give_up(&cell, reason)?,
        }
        Ok(())
    }

    async fn attempt(
        &self,
        cell: &Cell,
        asked: Asked<'_>,
        (before, now): (u32, u32),
    ) -> Result<Attempted<()>, Failure> {
        let in_line = self.pace.line_up(&self.context).await?.for_attempt(now);
        let number = before.saturating_add(now);
        let at_ms = now_ms();
        let prepared = self.backend.prepare(asked, &self.plan.turn(cell, number, at_ms)?)?;
        let most = prepared.estimate();
        let attempt = Attempt { of: cell.clone(), request: prepared.digest(), at_ms };
        let seq = self.writer.append(&Record::Attempt(attempt)).await?;
        let (in_flight, reserved) = match in_line.go(&self.context, S::STAGE, most).await {
            Ok(begun) => begun,
            Err(ended) => return self.not_sent(seq, cell, ended).await,
        };
        let came = prepared.make(&self.context.of(Unit::answer(S::NAME, cell))).await;
        self.pace.took(most, &came.facts);
        // Before its place is free: the next call is held to what this one took, not to what it was thought to take.
        self.context.settle(reserved, &came.facts);
        in_flight.came_to(came.verdict.as_ref().map(drop).map_err(Fault::wish));
        let stands = self.stands(cell, &came);
        // The call is over: the next one need not wait until this one's outcome is durable, unless there must be none.
        let stops = stands.is_err() || matches!(came.verdict, Err(Fault::Fatal { .. }));
        let _held = Some(in_flight).filter(|_| stops);
        // Whose turn it is now sends its call before this one's outcome is worked out.
        tokio::task::yield_now().await;
        let (record, blobs) = outcome(seq, cell, &came);
        self.writer.append_journaled(&record, blobs).await?;
        stands?;
        Ok(match came.verdict {
            Ok(_) => {
                self.given_up.answered();
                self.opening.open();
                Attempted::Accepted(())
            }
            Err(Fault::Invalid { reason, wish }) => {
                self.tally.add(reason);
                Attempted::Invalid { reason, wish }
            }
            Err(Fault::Fatal { failure, .. }) => Attempted::Fatal(failure),
        })
    }

    /// Records that no call followed an attempt, because the audit has ended.
    async fn not_sent(&self, seq: u64, cell: &Cell, ended: Failure) -> Result<Attempted<()>, Failure> {
        let (record, blobs) = outcome(seq, cell, &Came::nothing(Fault::not_sent()));
        self.writer.append_with_blobs(&record, blobs).await?;
        Err(ended)
    }

    /// Whether the audit can stand on an answer: one model throughout, no reply twice, and a budget that can be held.
    fn stands(&self, cell: &Cell, came: &Came) -> Result<(), Failure> {
        if came.verdict.is_ok() {
            let (model, id) = (came.facts.served_model.as_deref(), came.facts.response_id.as_deref());
            let system = self.plan.places.serving(&cell.snapshot);
            self.standing.served.take_about(system, Some(&cell.snapshot), model, id)?;
        }
        self.context.must_count(&came.facts, came.verdict.as_ref().err().map(Fault::code), S::WHOSE)
    }

    /// Stops an audit whose generator has not given one answer, before it waits for all other cells as well.
    fn give_up(&self, cell: &Cell, reason: &'static str) -> Result<(), Failure> {
        self.tally.give_up(reason);
        let Some(given_up) = self.given_up.give_up(&cell.question, reason) else {
            self.opening.give_up();
            return Ok(());
        };
        let message = format!("the {} gave no answer at all to the first {given_up} cells", S::WHOSE);
        Err(Failure::new(FailureClass::Incomplete, self.tally.after(&message)).with_hint(self.tally.remedy()))
    }
}

/// Milliseconds since the Unix epoch.
fn now_ms() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0)
}

/// The record that goes before a call with this prompt.
pub fn attempt(cell: &Cell, prompt: &str) -> AnswersRecord {
    Record::Attempt(Attempt { of: cell.clone(), request: Digest::of(prompt.as_bytes()), at_ms: now_ms() })
}

/// The record that follows the call, and the blobs that it names.
pub fn outcome(attempt: u64, cell: &Cell, came: &Came) -> (AnswersRecord, Vec<Vec<u8>>) {
    let answer = came.verdict.as_ref().ok().map(|answer| answer.as_str().as_bytes().to_vec());
    let record = Outcome {
        attempt,
        of: cell.clone(),
        verdict: verdict(came),
        status: came.facts.status,
        served_model: came.facts.served_model.clone(),
        fingerprint: came.facts.fingerprint.clone(),
        response_id: came.facts.response_id.clone(),
        usage: came.usage(),
        latency_ms: u64::try_from(came.latency.as_millis()).unwrap_or(u64::MAX),
        body: came.body_digest(),
    };
    (Record::Outcome(record), answer.into_iter().chain(came.body.clone()).collect())
}

fn verdict(came: &Came) -> Verdict<AcceptedAnswer> {
    match &came.verdict {
        Ok(answer) => {
            let (bytes, citations) = (answer.as_str().as_bytes(), came.citations.clone());
            Verdict::Accepted(AcceptedAnswer { answer: Digest::of(bytes), bytes: bytes.len() as u64, citations })
        }
        Err(Fault::Invalid { reason, .. }) => Verdict::Invalid((*reason).to_owned()),
        Err(Fault::Fatal { reason, .. }) => Verdict::Fatal((*reason).to_owned()),
    }
}
