//! How many calls to one server may be in flight: fewer once it says that they are too many, more again while it takes
//! them. One pace a backend, so that the wishes of one server hold up no other.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

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
}

/// One call in flight; ends when it is dropped.
#[derive(Debug)]
pub struct InFlight<'a> {
    pace: &'a Pace,
    permit: Option<SemaphorePermit<'a>>,
}

impl Pace {
    /// At most so many calls in flight, and at least one.
    #[must_use]
    pub fn new(most: u32) -> Self {
        let most = (most as usize).clamp(1, Semaphore::MAX_PERMITS);
        let state = State { allowed: most, owed: 0, answered: 0, quiet_until: None };
        Self { permits: Semaphore::new(most), most, state: Mutex::new(state) }
    }

    /// Waits until a call may be made; `None` where the audit is cancelled meanwhile.
    pub async fn enter(&self, cancel: &CancellationToken) -> Option<InFlight<'_>> {
        loop {
            let permit = tokio::select! {
                permit = self.permits.acquire() => permit.ok()?,
                () = cancel.cancelled() => return None,
            };
            let Some(quiet) = self.quiet() else {
                return Some(InFlight { pace: self, permit: Some(permit) }).filter(|_| !cancel.is_cancelled());
            };
            drop(permit);
            tokio::select! {
                () = tokio::time::sleep(quiet) => {}
                () = cancel.cancelled() => return None,
            }
        }
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
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn the_pace_falls_by_half_and_rises_by_one() {
        let (pace, cancel) = (Pace::new(8), CancellationToken::new());
        let calls: Vec<_> = futures_util::future::join_all((0..8).map(|_| pace.enter(&cancel))).await;
        assert!(pace.enter(&cancel).now_or_never().is_none(), "nine calls are in flight");
        pace.refused(None);
        pace.refused(None);
        assert_eq!(pace.allowed(), 2);
        drop(calls);
        let two = [pace.enter(&cancel).now_or_never(), pace.enter(&cancel).now_or_never()];
        assert!(two.iter().all(Option::is_some) && pace.enter(&cancel).now_or_never().is_none());
        pace.answered();
        pace.answered();
        assert_eq!(pace.allowed(), 3);
        assert!(pace.enter(&cancel).now_or_never().is_some());
        for _ in 0..100 {
            pace.answered();
        }
        assert_eq!(pace.allowed(), 8);
    }

    #[tokio::test]
    async fn a_wish_holds_up_every_call_and_counts_once() {
        let (pace, cancel) = (Pace::new(8), CancellationToken::new());
        // Long enough for five refusals on the slowest machine.
        let (started, wish) = (Instant::now(), Duration::from_millis(700));
        for _ in 0..5 {
            pace.refused(Some(wish));
        }
        assert_eq!(pace.allowed(), 4);
        assert!(pace.enter(&cancel).await.is_some());
        assert!(started.elapsed() >= wish);
        pace.refused(Some(Duration::from_mins(10)));
        cancel.cancel();
        assert!(pace.enter(&cancel).await.is_none());
    }

    #[tokio::test]
    async fn at_least_one_call_may_be_made() {
        let (pace, cancel) = (Pace::new(0), CancellationToken::new());
        for _ in 0..5 {
            pace.refused(None);
        }
        assert!(pace.enter(&cancel).await.is_some());
    }
}
