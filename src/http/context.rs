//! What a stage needs of the outside world.

use super::budget::untold;
use super::chat::Facts;
use super::{Budget, Call, CallError, Client, Reply, Reserved, Secrets, Unit, descriptors, interrupted, is_served};
use crate::model::{Event, Failure, Observer};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The outside world of a run: given to every stage, made once by `cli`.
#[derive(Clone)]
pub struct Context {
    /// The one HTTP client.
    pub client: Client,
    /// Keys by variable name.
    pub secrets: Arc<Secrets>,
    /// Whoever listens to progress.
    pub observer: Arc<dyn Observer>,
    /// Cancelled by Ctrl-C: stages start no further attempt, finish those in flight, and return an incomplete failure.
    pub cancel: CancellationToken,
    /// What is left of the budget.
    pub budget: Arc<Budget>,
    /// Tasks at once, in place of the spec's own numbers.
    pub concurrency: Option<u32>,
}

impl Context {
    /// Makes one call, once, and takes every key that the server sends back out of its reply.
    ///
    /// # Errors
    /// There is no complete reply.
    pub async fn send(&self, call: &Call) -> Result<Reply, CallError> {
        self.send_for_answer(call, |_| None).await
    }

    /// The same where a reply may hold its answer in pieces, which `pieces` puts together. A key that no piece holds alone cannot
    /// be taken out of them: where one stands in all of them together, nobody gets the reply, and no tape keeps it.
    ///
    /// # Errors
    /// There is no complete reply, or a key stands in its answer.
    pub async fn send_for_answer(
        &self,
        call: &Call,
        pieces: impl FnOnce(&Reply) -> Option<String>,
    ) -> Result<Reply, CallError> {
        let check = |mut reply: Reply| {
            reply.body = self.secrets.redact(reply.body);
            let text = if self.secrets.hide_any() { pieces(&reply) } else { None };
            let shows_key = text.is_some_and(|text| self.secrets.appear_in(text.as_bytes()));
            if shows_key { Err(CallError::KeyInAnswer) } else { Ok(reply) }
        };
        self.client.send_checked(call, check).await
    }

    /// Calls that a stage may have in flight, where the spec says this of it: never more than the process may open files for,
    /// which is told.
    #[must_use]
    pub fn at_once(&self, of_spec: u32) -> u32 {
        let wanted = self.concurrency.unwrap_or(of_spec).max(1);
        let Some((limit, most)) = descriptors::limit().map(|limit| (limit, descriptors::calls(limit))) else {
            return wanted;
        };
        if most < wanted {
            self.observer.observe(Event::Note(format!(
                "at most {most} calls are in flight, not {wanted}: this process may have {limit} files open (`ulimit -n`)"
            )));
        }
        wanted.min(most)
    }

    /// The same, for the calls of one unit of work.
    #[must_use]
    pub fn of(&self, unit: Unit) -> Self {
        Self { client: self.client.of(unit), ..self.clone() }
    }

    /// Waits for so long. A recording has no limits that a wait could keep.
    ///
    /// # Errors
    /// The audit is cancelled meanwhile, or its time is up.
    pub async fn pause(&self, time: Duration) -> Result<(), Failure> {
        let time = if self.client.is_replaying() { Duration::ZERO } else { time };
        self.unless_ended(tokio::time::sleep(time)).await
    }

    /// What comes of a wait, of whatever sort.
    ///
    /// # Errors
    /// The audit is cancelled meanwhile, or its time is up.
    pub async fn unless_ended<T>(&self, wait: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            came = wait => Ok(came),
            () = self.cancel.cancelled() => Err(interrupted()),
            failure = self.budget.time_up() => Err(failure),
        }
    }

    /// Counts what a call took, as its server says, and tells what is spent so far.
    pub fn settle(&self, reserved: Reserved<'_>, facts: &Facts) {
        if let Some(took) = facts.amount() {
            self.observer.observe(Event::Spent(reserved.settle(took)));
        }
    }

    /// Whether the budget can be held to where a server replied like this. `reason` says why the reply was not accepted, if so;
    /// `whose` names the server. What was not served says nothing of tokens.
    ///
    /// # Errors
    /// Tokens or money are limited, and the server does not say how many tokens it used.
    pub fn must_count(&self, facts: &Facts, reason: Option<&str>, whose: &str) -> Result<(), Failure> {
        let is_untold = facts.tokens.is_none() && is_served(facts.status, reason);
        if is_untold && self.budget.counts_tokens() { Err(untold(whose, "a call")) } else { Ok(()) }
    }
}

#[cfg(test)]
impl Context {
    /// A world for tests: no keys, no limits, and nobody who listens.
    pub(crate) fn for_tests() -> Self {
        let settings = super::HttpSettings {
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_mins(1),
            max_body_bytes: 1 << 20,
        };
        Self {
            client: Client::new(settings).expect("limits above zero"),
            secrets: Arc::new(Secrets::default()),
            observer: Arc::new(crate::model::Silent),
            cancel: CancellationToken::new(),
            budget: Arc::new(Budget::new(None, None)),
            concurrency: None,
        }
    }
}
