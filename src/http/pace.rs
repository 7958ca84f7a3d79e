//! How many calls to one server may be in flight, and how often it is called: fewer once it says that they are too many, more
//! again while it takes them, and never more than the spec allows. One pace a backend, so that the wishes of one server hold
//! up no other.

use super::rate::Rate;
use super::{Context, chat::Facts};
use crate::model::{Amount, Event, RateLimit, StageName};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The calls that one server may have in flight. Halved when it refuses a call for its rate, and raised by one after as
/// many answers in a row as may be in flight: additive increase, multiplicative decrease.
#[derive(Debug)]
pub struct Pace {
    permits: Semaphore,
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    allowed: usize,
    /// Permits to be withdrawn as soon as they come back.
    owed: usize,
    answered: usize,
    quiet_until: Option<Instant>,
    rate: Rate,
}

/// One call in flight; ends when it is dropped.
#[derive(Debug)]
pub struct InFlight<'a> {
    pace: &'a Pace,
    permit: Option<SemaphorePermit<'a>>,
}

impl Pace {
    /// At most so many calls in flight, and at least one; no more of them in a minute than `limit` says.
    #[must_use]
    pub fn new(most: u32, limit: RateLimit) -> Self {
        let most = (most as usize).clamp(1, Semaphore::MAX_PERMITS);
        let state = State { allowed: most, owed: 0, answered: 0, quiet_until: None, rate: Rate::new(limit) };
        Self { permits: Semaphore::new(most), most, state: Mutex::new(state) }
    }

    /// Waits until a call may be made that takes so many tokens; `None` where the audit is cancelled meanwhile. Long waits are
    /// told to the context's observer.
    pub async fn enter(&self, context: &Context, stage: StageName, tokens: u64) -> Option<InFlight<'_>> {
        let mut has_slot = false;
        loop {
            let permit = tokio::select! {
                permit = self.permits.acquire() => permit.ok()?,
                () = context.cancel.cancelled() => return None,
            };
            // Whoever waits for the server takes no slot meanwhile: else all of them would go on at once, beyond the rate.
            if !has_slot && self.quiet().is_none() {
                has_slot = true;
                let slot = self.state().rate.take(tokens, Instant::now());
                wait(context, stage, "rate_limit", slot).await?;
            }
            let Some(quiet) = self.quiet() else {
                if !has_slot {
                    continue;
                }
                return Some(InFlight { pace: self, permit: Some(permit) }).filter(|_| !context.cancel.is_cancelled());
            };
            drop(permit);
            wait(context, stage, "the server's limits", quiet).await?;
        }
    }

    /// What a call came to: how many tokens it was thought to take, and what the server said beside its reply.
    pub fn took(&self, thought: Amount, facts: &Facts) {
        let mut state = self.state();
        if let Some(took) = facts.amount() {
            state.rate.correct(thought.tokens, took.tokens);
        }
        let until = facts.hold.and_then(|hold| Instant::now().checked_add(hold));
        state.quiet_until = state.quiet_until.max(until);
    }

    /// The server took a call and answered.
    pub fn answered(&self) {
        let mut state = self.state();
        state.answered += 1;
        if state.answered < state.allowed || state.allowed == self.most {
            return;
        }
        state.answered = 0;
        state.allowed += 1;
        match state.owed.checked_sub(1) {
            Some(owed) => state.owed = owed,
            None => self.permits.add_permits(1),
        }
    }

    /// The server refused a call for its rate, and perhaps said how long to wait before the next one.
    pub fn refused(&self, wait: Option<Duration>) {
        let mut state = self.state();
        state.answered = 0;
        let until = wait.and_then(|wait| Instant::now().checked_add(wait));
        // Several calls in flight are refused for one cause: only the first of them lowers the pace.
        if state.quiet_until.is_some_and(|until| until > Instant::now()) {
            state.quiet_until = state.quiet_until.max(until);
            return;
        }
        state.quiet_until = until;
        let allowed = (state.allowed / 2).max(1);
        let withdrawn = state.allowed - allowed;
        state.allowed = allowed;
        state.owed += withdrawn - self.permits.forget_permits(withdrawn);
    }

    /// How many calls may be in flight now.
    #[must_use]
    pub fn allowed(&self) -> usize {
        self.state().allowed
    }

    fn quiet(&self) -> Option<Duration> {
        let left = self.state().quiet_until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// A panic elsewhere leaves numbers that are still good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits are told from this length on.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// `None` where the audit is cancelled meanwhile.
async fn wait(context: &Context, stage: StageName, what: &'static str, time: Duration) -> Option<()> {
    if time.is_zero() {
        return Some(());
    }
    if time >= WORTH_TELLING {
        context.observer.observe(Event::Waiting { stage, what, wait: time });
    }
    tokio::select! {
        () = tokio::time::sleep(time) => Some(()),
        () = context.cancel.cancelled() => None,
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else { return };
        let mut state = self.pace.state();
        if let Some(owed) = state.owed.checked_sub(1) {
            state.owed = owed;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Budget, Client, HttpSettings, Secrets};
    use crate::model::Silent;
    use futures_util::FutureExt as _;
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    fn context() -> Context {
        let settings = HttpSettings { connect_timeout: Duration::from_secs(1), max_body_bytes: 1 };
        Context {
            client: Client::new(settings).unwrap(),
            secrets: Arc::new(Secrets::default()),
            observer: Arc::new(Silent),
            cancel: CancellationToken::new(),
            budget: Arc::new(Budget::new(None, None)),
            concurrency: None,
        }
    }

    fn pace(most: u32) -> (Pace, Context) {
        (Pace::new(most, RateLimit::default()), context())
    }

    /// Enters with a call of ten tokens.
    async fn enter<'a>(pace: &'a Pace, context: &Context) -> Option<InFlight<'a>> {
        pace.enter(context, StageName::Judge, 10).await
    }

    #[tokio::test]
    async fn a_limit_of_the_spec_spreads_calls_and_headers_hold_them() {
        let limit = RateLimit { requests_per_minute: Some(600), tokens_per_minute: None };
        let (pace, context) = (Pace::new(8, limit), context());
        let started = Instant::now();
        for _ in 0..3 {
            assert!(enter(&pace, &context).await.is_some());
        }
        assert!(started.elapsed() >= Duration::from_millis(200));
        let hold = Some(Duration::from_millis(300));
        pace.took(Amount::default(), &Facts { hold, ..Facts::default() });
        assert_eq!(pace.allowed(), 8, "a header is no refusal");
        let since = Instant::now();
        assert!(enter(&pace, &context).await.is_some());
        assert!(since.elapsed() >= Duration::from_millis(290));
    }

    #[tokio::test]
    async fn the_pace_falls_by_half_and_rises_by_one() {
        let (pace, context) = pace(8);
        let calls: Vec<_> = futures_util::future::join_all((0..8).map(|_| enter(&pace, &context))).await;
        assert!(enter(&pace, &context).now_or_never().is_none(), "nine calls are in flight");
        pace.refused(None);
        pace.refused(None);
        assert_eq!(pace.allowed(), 2);
        drop(calls);
        let two = [enter(&pace, &context).now_or_never(), enter(&pace, &context).now_or_never()];
        assert!(two.iter().all(Option::is_some) && enter(&pace, &context).now_or_never().is_none());
        pace.answered();
        pace.answered();
        assert_eq!(pace.allowed(), 3);
        assert!(enter(&pace, &context).now_or_never().is_some());
        for _ in 0..100 {
            pace.answered();
        }
        assert_eq!(pace.allowed(), 8);
    }

    #[tokio::test]
    async fn a_wish_holds_up_every_call_and_counts_once() {
        let (pace, context) = pace(8);
        // Long enough for five refusals on the slowest machine.
        let (started, wish) = (Instant::now(), Duration::from_millis(700));
        for _ in 0..5 {
            pace.refused(Some(wish));
        }
        assert_eq!(pace.allowed(), 4);
        assert!(enter(&pace, &context).await.is_some());
        assert!(started.elapsed() >= wish);
        pace.refused(Some(Duration::from_mins(10)));
        context.cancel.cancel();
        assert!(enter(&pace, &context).await.is_none());
    }

    #[tokio::test]
    async fn who_waits_for_the_server_takes_no_slot_meanwhile() {
        let (limit, context) = (RateLimit { requests_per_minute: Some(300), tokens_per_minute: None }, context());
        let pace = Pace::new(8, limit);
        pace.refused(Some(Duration::from_millis(700)));
        let mut waiting = futures_util::future::join_all((0..4).map(|_| enter(&pace, &context)));
        assert!((&mut waiting).now_or_never().is_none(), "all of them wait");
        let after = Instant::now() + Duration::from_millis(700);
        assert!(waiting.await.iter().all(Option::is_some));
        // Four calls at 300 a minute: the last one comes three slots of 200 ms after the first.
        assert!(after.elapsed() >= Duration::from_millis(590), "{:?}", after.elapsed());
    }

    #[tokio::test]
    async fn at_least_one_call_may_be_made() {
        let (pace, context) = pace(0);
        for _ in 0..5 {
            pace.refused(None);
        }
        assert!(enter(&pace, &context).await.is_some());
    }
}
