//! What may be spent on calls to generators and judges.
//!
//! Tokens and money are known only after a call. So before it the call reserves what it will take at most, as far as can
//! be told, and afterwards it gives back the rest. A call that does not fit is not made; one that would fit if those under way
//! took less than they reserved waits for them. What is spent is never counted by halves: a call counts with what its
//! server says it took, once, and what earlier processes spent is counted from the ledgers.

use super::attempts::interrupted;
use super::is_served;
use crate::model::amount::dollars;
use crate::model::{Amount, Failure, FailureClass};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Calls and time of one process; tokens and money of a whole run.
#[derive(Debug)]
pub struct Budget {
    calls_left: AtomicU64,
    deadline: Option<Instant>,
    tokens: Option<u64>,
    nano_usd: Option<u64>,
    spend: Mutex<Spend>,
    settled: Notify,
}

#[derive(Clone, Copy, Debug, Default)]
struct Spend {
    spent: Amount,
    reserved: Amount,
    /// Whose server did not say what calls on record took, and of how many of them.
    untold: Option<(&'static str, u64)>,
}

/// What the calls took that are on record in a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    spent: Amount,
    /// Replies that were served and do not say what they took.
    untold: u64,
}

impl Before {
    /// Takes what an outcome took, and, where no tokens stand beside it, its status and its reason.
    pub fn take(&mut self, took: Amount, without_usage: Option<(Option<u16>, Option<&str>)>) {
        self.spent = self.spent.plus(took);
        self.untold += u64::from(without_usage.is_some_and(|(status, reason)| is_served(status, reason)));
    }
}

/// What one call may take. Dropping it gives all of it back.
#[derive(Debug)]
pub struct Reserved<'a> {
    budget: &'a Budget,
    amount: Amount,
}

impl Budget {
    /// A budget of this many calls until this moment; `None` is no limit.
    #[must_use]
    pub fn new(calls: Option<u64>, deadline: Option<Instant>) -> Self {
        Self {
            calls_left: AtomicU64::new(calls.unwrap_or(u64::MAX)),
            deadline,
            tokens: None,
            nano_usd: None,
            spend: Mutex::default(),
            settled: Notify::new(),
        }
    }

    /// The same with these limits of tokens and of nano-dollars.
    #[must_use]
    pub fn limited(mut self, tokens: Option<u64>, nano_usd: Option<u64>) -> Self {
        (self.tokens, self.nano_usd) = (tokens, nano_usd);
        self
    }

    /// The part of the tokens and of the money that so many questions of an audit may take, and the same calls and time: those
    /// limit one process. Nothing is spent of it yet.
    #[must_use]
    pub fn share(&self, questions: u64, of: u64) -> Self {
        let share = |limit: u64| {
            let part = (u128::from(limit) * u128::from(questions)).div_ceil(u128::from(of.max(1)));
            u64::try_from(part).unwrap_or(limit).min(limit)
        };
        Self {
            calls_left: AtomicU64::new(self.calls_left.load(Ordering::Relaxed)),
            deadline: self.deadline,
            tokens: self.tokens.map(share),
            nano_usd: self.nano_usd.map(share),
            spend: Mutex::default(),
            settled: Notify::new(),
        }
    }

    /// Whether servers must say what a call took.
    #[must_use]
    pub const fn counts_tokens(&self) -> bool {
        self.tokens.is_some() || self.nano_usd.is_some()
    }

    /// How long the audit may still take; `None` is no limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Ends when the time is up, with what is to be said then; never where there is no limit.
    pub async fn time_up(&self) -> Failure {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
        used_up_here("minutes")
    }

    /// Counts what a ledger says was spent before. `whose` server it was.
    pub fn count(&self, before: Before, whose: &'static str) {
        let mut spend = self.spend();
        spend.spent = spend.spent.plus(before.spent);
        if before.untold > 0 {
            spend.untold.get_or_insert((whose, before.untold));
        }
    }

    /// What is spent so far.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.spend().spent
    }

    /// Takes one call out of the budget, and reserves what it takes at most.
    ///
    /// # Errors
    /// Nothing is left, or the time is up, also while it waits: the audit stops cleanly and can be resumed. Or it is
    /// cancelled, or nobody knows what is left, since a server did not say what earlier calls took.
    pub async fn begin(&self, most: Amount, cancel: &CancellationToken) -> Result<Reserved<'_>, Failure> {
        loop {
            let mut settled = pin!(self.settled.notified());
            // From here on no settling is missed.
            settled.as_mut().enable();
            if let Some(reserved) = self.reserve(most)? {
                self.take_call()?;
                return Ok(reserved);
            }
            tokio::select! {
                () = settled => {}
                () = cancel.cancelled() => return Err(interrupted()),
                failure = self.time_up() => return Err(failure),
            }
        }
    }

    /// `None` where it fits only once calls under way have given back what they do not take.
    fn reserve(&self, amount: Amount) -> Result<Option<Reserved<'_>>, Failure> {
        let mut spend = self.spend();
        if let Some((whose, count)) = spend.untold.filter(|_| self.counts_tokens()) {
            let calls = if count == 1 { "a call on record".to_owned() } else { format!("{count} calls on record") };
            return Err(untold(whose, &calls));
        }
        let alone = spend.spent.plus(amount);
        if self.tokens.is_some_and(|limit| alone.tokens > limit) {
            return Err(self.used_up("tokens", spend.spent));
        }
        if self.nano_usd.is_some_and(|limit| alone.nano_usd > limit) {
            return Err(self.used_up("usd", spend.spent));
        }
        let all = alone.plus(spend.reserved);
        let fits = self.tokens.is_none_or(|limit| all.tokens <= limit)
            && self.nano_usd.is_none_or(|limit| all.nano_usd <= limit);
        if fits {
            spend.reserved = spend.reserved.plus(amount);
        }
        drop(spend);
        // Made only where it fits: whatever is made gives its amount back.
        Ok(fits.then(|| Reserved { budget: self, amount }))
    }

    fn take_call(&self) -> Result<(), Failure> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(used_up_here("minutes"));
        }
        let taken = self.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        taken.map(|_| ()).map_err(|_| used_up_here("calls"))
    }

    fn used_up(&self, what: &str, spent: Amount) -> Failure {
        let limits = [
            self.tokens.map(|limit| format!("{} of {limit} tokens", spent.tokens)),
            self.nano_usd.map(|limit| format!("{} of {}", dollars(spent.nano_usd), dollars(limit))),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        let message = format!("the budget of {what} has no room for another call ({} spent)", limits.join(", "));
        Failure::new(FailureClass::Incomplete, message)
            .with_hint(format!("raise `budget.{what}` in the spec and run the same command again to go on"))
    }

    /// A panic elsewhere leaves numbers that are still good.
    fn spend(&self) -> MutexGuard<'_, Spend> {
        self.spend.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved<'_> {
    /// Counts what the call took. Returns what is spent so far.
    #[must_use]
    pub fn settle(self, took: Amount) -> Amount {
        let mut spend = self.budget.spend();
        spend.spent = spend.spent.plus(took);
        spend.spent
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut spend = self.budget.spend();
        spend.reserved = spend.reserved.minus(self.amount);
        drop(spend);
        self.budget.settled.notify_waiters();
    }
}

/// The failure of an audit whose budget of tokens or money cannot be kept: nobody knows what was spent.
pub(super) fn untold(whose: &str, calls: &str) -> Failure {
    let message = format!("the {whose}'s server does not say how many tokens {calls} used");
    Failure::new(FailureClass::Incomplete, message)
        .with_hint("`budget.tokens` and `budget.usd` need it: take them out of the spec, and limit `budget.calls`")
}

fn used_up_here(what: &str) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("the budget of {what} is used up"))
        .with_hint(format!("raise `budget.{what}` in the spec, or run the same command again to go on"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn tokens(tokens: u64) -> Amount {
        Amount { tokens, nano_usd: 0 }
    }

    #[tokio::test]
    async fn calls_that_fit_once_others_took_less_wait_for_them() {
        let (budget, cancel) = (Budget::new(None, None).limited(Some(100), None), CancellationToken::new());
        let first = budget.begin(tokens(60), &cancel).await.unwrap();
        let mut second = pin!(budget.begin(tokens(60), &cancel));
        assert!(second.as_mut().now_or_never().is_none(), "120 tokens would be under way");
        assert_eq!(first.settle(tokens(30)), tokens(30));
        let second = second.await.unwrap();
        assert_eq!(second.settle(tokens(50)), tokens(80));
        let failure = budget.begin(tokens(21), &cancel).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete);
        assert!(failure.to_string().contains("80 of 100 tokens"), "{failure}");
        budget.begin(tokens(20), &cancel).await.unwrap();
    }

    #[tokio::test]
    async fn what_was_spent_before_counts_and_a_call_that_failed_gives_all_back() {
        let cancel = CancellationToken::new();
        let budget = Budget::new(Some(2), None).limited(None, Some(1_000));
        let mut before = Before::default();
        before.take(Amount { tokens: 5, nano_usd: 400 }, None);
        budget.count(before, "generator");
        let most = Amount { tokens: 1, nano_usd: 600 };
        drop(budget.begin(most, &cancel).await.unwrap());
        let _spent = budget.begin(most, &cancel).await.unwrap().settle(Amount::default());
        let failure = budget.begin(most, &cancel).await.unwrap_err();
        assert!(failure.message.contains("calls"), "a failed call is still a call: {failure}");
        assert_eq!(budget.spent(), Amount { tokens: 5, nano_usd: 400 });
    }

    #[test]
    fn shares_keep_the_whole_and_never_exceed_it() {
        let whole = Budget::new(Some(7), None).limited(Some(1_000), Some(u64::MAX));
        for parts in [vec![41], vec![12, 12, 12, 5], vec![1; 41]] {
            let shares: Vec<Budget> = parts.iter().map(|part| whole.share(*part, 41)).collect();
            let tokens: u64 = shares.iter().filter_map(|share| share.tokens).sum();
            assert!((1_000..1_000 + parts.len() as u64).contains(&tokens), "{tokens} in {parts:?}");
            assert!(shares.iter().all(|share| share.calls_left.load(Ordering::Relaxed) == 7));
        }
        assert_eq!(whole.share(41, 41).nano_usd, Some(u64::MAX));
        assert_eq!(Budget::new(None, None).share(1, 2).tokens, None);
    }

    #[tokio::test]
    async fn what_nobody_knows_to_be_left_is_not_spent() {
        let (served, unserved) = ((Some(200), None), (Some(200), Some("error-in-body")));
        for (without_usage, limit, begins) in
            [(served, Some(9), false), (served, None, true), (unserved, Some(9), true), ((None, None), Some(9), true)]
        {
            let (budget, cancel) = (Budget::new(None, None).limited(limit, None), CancellationToken::new());
            let mut before = Before::default();
            before.take(Amount::default(), Some(without_usage));
            budget.count(before, "judge");
            budget.count(Before::default(), "second judge");
            let begun = budget.begin(Amount::default(), &cancel).await;
            assert_eq!(begun.is_ok(), begins, "{without_usage:?} {limit:?}");
            let said = begun.err().map(|failure| failure.message);
            let told = "the judge's server does not say how many tokens a call on record used";
            assert!(said.is_none_or(|said| said == told));
        }
    }

    #[tokio::test]
    async fn the_end_of_the_time_ends_the_wait() {
        let soon = Instant::now() + Duration::from_millis(30);
        let (budget, cancel) = (Budget::new(None, Some(soon)).limited(Some(10), None), CancellationToken::new());
        let _under_way = budget.begin(tokens(10), &cancel).await.unwrap();
        let failure = budget.begin(tokens(10), &cancel).await.unwrap_err();
        assert_eq!((failure.class, failure.message.contains("minutes")), (FailureClass::Incomplete, true), "{failure}");
    }

    #[tokio::test]
    async fn cancelling_ends_the_wait() {
        let (budget, cancel) = (Budget::new(None, None).limited(Some(10), None), CancellationToken::new());
        let _under_way = budget.begin(tokens(10), &cancel).await.unwrap();
        let waiting = budget.begin(tokens(10), &cancel);
        cancel.cancel();
        assert_eq!(waiting.await.unwrap_err().message, "interrupted");
    }
}
