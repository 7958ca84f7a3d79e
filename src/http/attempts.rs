//! The pace of attempts: when a unit of work is tried again, and when it is given up.

use super::{Context, Wish};
use crate::model::{Event, Failure, FailureClass, StageName};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The longest wait that a server's wish is granted within one process. Who asks for more gets the audit stopped, to
/// be taken up later.
pub const LONGEST_WISH: Duration = Duration::from_mins(10);

/// How often one process asks for one unit whose calls are refused for there being too many: with waits of eight seconds it
/// is for a quarter of an hour.
const REFUSALS: u32 = 100;

/// The longest time by which the wait of one is longer than that of another who was told to wait as long.
const SPREAD: Duration = Duration::from_secs(2);

/// How often and how fast a unit of work is tried.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Attempts in all within this process; at least 1. Those that are refused for there being too many calls have a number of
    /// their own.
    pub max_attempts: u32,
    /// How many attempts may be refused so.
    pub refusals: u32,
    /// The first wait; doubles with each attempt, with jitter.
    pub base: Duration,
    /// The longest wait that is not the server's own wish.
    pub cap: Duration,
}

impl RetryPolicy {
    /// The same for a call that shares its pace with no other: it is refused no more often than it fails.
    #[must_use]
    pub const fn for_one_call(max_attempts: u32) -> Self {
        Self { refusals: max_attempts, ..Self::for_servers(max_attempts) }
    }

    /// The pace for calls to servers: half a second, doubling up to 8 seconds, as the providers' own clients do.
    #[must_use]
    pub const fn for_servers(max_attempts: u32) -> Self {
        Self { max_attempts, refusals: REFUSALS, base: Duration::from_millis(500), cap: Duration::from_secs(8) }
    }
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
        /// What the server says of the next call.
        wish: Wish,
    },
    /// The audit cannot go on.
    Fatal(Failure),
    /// Nor can it, because the server refuses every call by now.
    Unserved(Failure),
}

/// A unit that was asked for so often goes by itself where its server refuses every call by now: where such units alone are left,
/// nobody can tell whether the server has too many calls or never takes these. Those that were asked for less often may still ask,
/// one at a time.
pub(super) const GOES_ALONE: u32 = 2;

impl<T> Attempted<T> {
    /// The same for the pace of all calls.
    ///
    /// # Errors
    /// No answer: what the server says of the next call.
    pub const fn came(&self) -> Result<(), Wish> {
        match self {
            Self::Accepted(_) => Ok(()),
            Self::Invalid { wish, .. } => Err(*wish),
            Self::Fatal(_) | Self::Unserved(_) => Err(Wish::NONE),
        }
    }
}

/// What a unit of work came to: done, or given up with the reason of its last attempt.
pub type Tried<T> = Result<T, &'static str>;

/// Tries until accepted, fatal, cancelled, or out of attempts. `attempt` is called with the number of the attempt,
/// from 0; it records the attempt, makes the call and records the outcome. Every wait is told to the context's
/// observer. Nothing is held while it waits: a limit on calls in flight belongs into `attempt`.
///
/// # Errors
/// The first fatal outcome; a cancelled audit; a wait longer than the budget or [`LONGEST_WISH`] allows.
pub async fn until_accepted<T, F>(
    policy: RetryPolicy,
    context: &Context,
    stage: StageName,
    mut attempt: F,
) -> Result<Tried<T>, Failure>
where
    F: AsyncFnMut(u32) -> Attempted<T>,
{
    let (mut waits, mut refusals) = (waits(policy, policy.max_attempts), waits(policy, policy.refusals));
    let mut number = 0;
    let mut latest = "";
    loop {
        if context.cancel.is_cancelled() {
            return Err(interrupted());
        }
        let (reason, wish) = match attempt(number).await {
            Attempted::Accepted(value) => return Ok(Ok(value)),
            Attempted::Unserved(_) if number >= GOES_ALONE => return Ok(Err(latest)),
            Attempted::Fatal(failure) | Attempted::Unserved(failure) => return Err(failure),
            Attempted::Invalid { reason, wish } => (reason, wish),
        };
        latest = reason;
        let Some(own) = (if wish.refused { refusals.next() } else { waits.next() }) else { return Ok(Err(reason)) };
        // A wish of nothing would use up all attempts at once.
        let least = own.min(policy.cap).max(wish.wait.unwrap_or_default());
        allow(context, least)?;
        wait(context, stage, reason, if wish.wait.is_some() { spread(least) } else { least }).await?;
        number += 1;
    }
}

/// The failure of an audit that somebody cancelled.
#[must_use]
pub fn interrupted() -> Failure {
    Failure::new(FailureClass::Incomplete, "interrupted").with_hint("run the same command again to go on")
}

/// One wait less than attempts. The jitter keeps concurrent tasks from coming back all at once; no result depends on it.
fn waits(policy: RetryPolicy, attempts: u32) -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_min_delay(policy.base)
        .with_max_delay(policy.cap)
        .with_max_times(attempts.saturating_sub(1) as usize)
        .with_jitter()
        .with_jitter_seed(drawn())
        .build()
}

/// A number that is like no other. No result depends on it.
fn drawn() -> u64 {
    RandomState::new().hash_one(0_u8)
}

/// A wait that is a little longer, by up to a quarter: those who were told to wait as long do not come back all at once.
pub(super) fn spread(wait: Duration) -> Duration {
    let most = u64::try_from((wait / 4).min(SPREAD).as_millis()).unwrap_or(0);
    wait.saturating_add(Duration::from_millis(drawn() % (most + 1)))
}

async fn wait(context: &Context, stage: StageName, reason: &'static str, wait: Duration) -> Result<(), Failure> {
    context.observer.observe(Event::Retrying { stage, reason, wait });
    context.pause(wait).await
}

/// Whether a server's wish for a wait is granted. A replay waits for nobody, so that no wish is too long for it.
///
/// # Errors
/// The wait is longer than [`LONGEST_WISH`], or than the time that is left.
pub(super) fn allow(context: &Context, wait: Duration) -> Result<(), Failure> {
    if context.client.is_replaying() {
        return Ok(());
    }
    let longest = context.budget.time_left().unwrap_or(LONGEST_WISH).min(LONGEST_WISH);
    if wait <= longest {
        return Ok(());
    }
    let seconds = wait.as_secs_f64().ceil();
    let message = format!("the next attempt would have to wait {seconds} s, longer than the audit may");
    Err(Failure::new(FailureClass::Incomplete, message).with_hint("run the same command again later to go on"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Budget;
    use crate::model::Observer;
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    #[derive(Default)]
    struct Heard(Mutex<Vec<Event>>);

    impl Observer for Heard {
        fn observe(&self, event: Event) {
            self.0.lock().unwrap().push(event);
        }
    }

    fn context(heard: &Arc<Heard>, minutes: Option<Duration>) -> Context {
        let budget = Arc::new(Budget::new(None, minutes.map(|left| Instant::now() + left)));
        Context { observer: heard.clone(), budget, ..Context::for_tests() }
    }

    fn policy(max_attempts: u32) -> RetryPolicy {
        RetryPolicy { max_attempts, refusals: 7, base: Duration::from_millis(10), cap: Duration::from_millis(15) }
    }

    fn invalid(milliseconds: Option<u64>) -> Attempted<u32> {
        let wait = milliseconds.map(Duration::from_millis);
        Attempted::Invalid { reason: "server-timeout", wish: Wish { refused: false, wait } }
    }

    fn waited(heard: &Heard) -> Vec<Duration> {
        let wait = |event: &Event| match event {
            Event::Retrying { wait, .. } => *wait,
            other => panic!("{other:?}"),
        };
        heard.0.lock().unwrap().iter().map(wait).collect()
    }

    #[tokio::test]
    async fn attempts_are_made_until_one_is_accepted() {
        let heard = Arc::new(Heard::default());
        let attempt = async |number| if number == 2 { Attempted::Accepted(number) } else { invalid(None) };
        let accepted = until_accepted(policy(5), &context(&heard, None), StageName::Generate, attempt).await;
        assert_eq!(accepted.unwrap(), Ok(2));
        let waits = waited(&heard);
        assert_eq!(waits.len(), 2);
        assert!((10..=15).contains(&waits[0].as_millis()) && waits[1] == policy(5).cap, "{waits:?}");
    }

    #[tokio::test]
    async fn attempts_are_given_up_without_a_last_wait() {
        let heard = Arc::new(Heard::default());
        let attempt = async |_| invalid(None);
        let accepted = until_accepted(policy(3), &context(&heard, None), StageName::Generate, attempt).await;
        assert_eq!(accepted.unwrap(), Err("server-timeout"));
        assert_eq!(waited(&heard).len(), 2);
    }

    #[tokio::test]
    async fn the_wish_of_the_server_is_honoured() {
        let heard = Arc::new(Heard::default());
        let started = Instant::now();
        let attempt = async |number| if number == 1 { Attempted::Accepted(number) } else { invalid(Some(89)) };
        let accepted = until_accepted(policy(3), &context(&heard, None), StageName::Generate, attempt).await;
        assert_eq!(accepted.unwrap(), Ok(1));
        let waits = waited(&heard);
        assert!(waits.len() == 1 && (89..=89 + 22).contains(&waits[0].as_millis()), "{waits:?}");
        assert!(started.elapsed() >= Duration::from_millis(89));
    }

    #[tokio::test]
    async fn a_wish_for_no_wait_does_not_use_up_the_attempts_at_once() {
        let heard = Arc::new(Heard::default());
        let attempt = async |_| invalid(Some(0));
        let accepted = until_accepted(policy(4), &context(&heard, None), StageName::Generate, attempt).await;
        assert_eq!(accepted.unwrap(), Err("server-timeout"));
        let waits = waited(&heard);
        assert!(waits.len() == 3 && waits.iter().all(|wait| *wait >= policy(4).base), "{waits:?}");
    }

    #[tokio::test]
    async fn attempts_that_are_refused_for_there_being_too_many_are_counted_by_themselves() {
        let heard = Arc::new(Heard::default());
        let refused = || Attempted::Invalid { reason: "rate-limited", wish: Wish { refused: true, wait: None } };
        let mut made = 0;
        let attempt = async |number| {
            made += 1;
            if number % 2 == 0 || number > 5 { refused() } else { invalid(None) }
        };
        let accepted = until_accepted(policy(9), &context(&heard, None), StageName::Generate, attempt).await;
        assert_eq!((accepted.unwrap(), made), (Err("rate-limited"), 3 + 7));
        made = 0;
        let attempt = async |number| {
            made += 1;
            if number < 6 { refused() } else { invalid(None) }
        };
        let accepted = until_accepted(policy(3), &context(&heard, None), StageName::Generate, attempt).await;
        assert_eq!((accepted.unwrap(), made), (Err("server-timeout"), 6 + 3));
    }

    #[tokio::test]
    async fn what_was_refused_before_is_given_up_by_itself_where_nothing_is_served_any_more() {
        let heard = Arc::new(Heard::default());
        for (refusals, given_up) in [(0, false), (1, false), (2, true), (5, true)] {
            let refused = || Attempted::Invalid { reason: "rate-limited", wish: Wish { refused: true, wait: None } };
            let unserved = || Attempted::Unserved(Failure::new(FailureClass::Incomplete, "nothing is served"));
            let attempt = async |number| if number < refusals { refused() } else { unserved() };
            let came: Result<Tried<()>, _> =
                until_accepted(policy(9), &context(&heard, None), StageName::Generate, attempt).await;
            let expected = if given_up { Ok(Err("rate-limited")) } else { Err("nothing is served".to_owned()) };
            assert_eq!(came.map_err(|failure| failure.message), expected, "{refusals}");
        }
    }

    #[test]
    fn those_who_are_told_to_wait_as_long_come_back_one_after_the_other() {
        for (wait, most) in [(Duration::from_secs(1), 1_250), (Duration::from_mins(10), 602_000)] {
            let waits: Vec<u128> = (0..50).map(|_| spread(wait).as_millis()).collect();
            assert!(waits.iter().all(|spread| (wait.as_millis()..=most).contains(spread)), "{waits:?}");
            assert!(waits.iter().any(|spread| *spread != waits[0]), "{waits:?}");
        }
        assert_eq!(spread(Duration::ZERO), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_wish_beyond_the_budget_stops_the_audit() {
        let heard = Arc::new(Heard::default());
        for (wish, minutes) in [(89_000, Some(Duration::from_mins(1))), (86_400_000, None)] {
            let context = context(&heard, minutes);
            let failure = until_accepted(policy(3), &context, StageName::Generate, async |_| invalid(Some(wish))).await;
            assert_eq!(failure.unwrap_err().class, FailureClass::Incomplete);
        }
        assert!(waited(&heard).is_empty());
    }

    #[tokio::test]
    async fn cancelling_ends_a_wait_and_starts_no_attempt() {
        let heard = Arc::new(Heard::default());
        let context = context(&heard, None);
        let mut made = 0;
        let attempt = async |_| {
            made += 1;
            context.cancel.cancel();
            invalid(Some(300_000))
        };
        let failure = until_accepted(policy(5), &context, StageName::Generate, attempt).await.unwrap_err();
        assert_eq!((failure.message.as_str(), made), ("interrupted", 1));
    }

    #[tokio::test]
    async fn a_fatal_outcome_ends_at_once() {
        let heard = Arc::new(Heard::default());
        let attempt = async |_| Attempted::<u32>::Fatal(Failure::new(FailureClass::Incomplete, "no"));
        let failure =
            until_accepted(policy(5), &context(&heard, None), StageName::Generate, attempt).await.unwrap_err();
        assert_eq!(failure.message, "no");
    }
}
