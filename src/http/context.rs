//! What a stage needs of the outside world.

use super::{Call, CallError, Client, Reply, Secrets};
use crate::model::{Failure, FailureClass, Observer};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::{Duration, Instant};
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
        let mut reply = self.client.send(call).await?;
        reply.body = self.secrets.redact(reply.body);
        Ok(reply)
    }
}

/// What may be spent on calls to generators and judges in this run.
#[derive(Debug)]
pub struct Budget {
    calls_left: AtomicU64,
    deadline: Option<Instant>,
}

impl Budget {
    /// A budget of this many calls until this moment; `None` is no limit.
    #[must_use]
    pub fn new(calls: Option<u64>, deadline: Option<Instant>) -> Self {
        Self { calls_left: AtomicU64::new(calls.unwrap_or(u64::MAX)), deadline }
    }

    /// How long the audit may still take; `None` is no limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Takes one call out of the budget.
    ///
    /// # Errors
    /// Nothing is left, or the time is up: the audit stops cleanly and can be resumed.
    pub fn take_call(&self) -> Result<(), Failure> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(spent("minutes"));
        }
        let taken = self.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        taken.map(|_| ()).map_err(|_| spent("calls"))
    }
}

fn spent(what: &str) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("the budget of {what} is used up"))
        .with_hint(format!("raise `budget.{what}` in the spec, or run the same command again to go on"))
}
