//! How often a server is called: slots in time, so that no minute holds more than the spec allows.

use crate::model::RateLimit;
use std::time::{Duration, Instant};

/// The moments from which on the next call may be made. Calls are spread evenly: a burst at the start of each minute is what
/// servers refuse first.
#[derive(Debug, Default)]
pub struct Rate {
    limit: RateLimit,
    requests: Option<Instant>,
    tokens: Option<Instant>,
}

impl Rate {
    /// Nothing was called yet.
    #[must_use]
    pub const fn new(limit: RateLimit) -> Self {
        Self { limit, requests: None, tokens: None }
    }

    /// Takes the next slot for a call of so many tokens, and says how long to wait for it.
    pub fn take(&mut self, tokens: u64, now: Instant) -> Duration {
        let requests = slot(&mut self.requests, self.limit.requests_per_minute, 1, now);
        requests.max(slot(&mut self.tokens, self.limit.tokens_per_minute, tokens, now))
    }

    /// Puts right what a call took, where it was not what was thought. Servers can say any number. More than a minute holds, or
    /// than was thought where that is more, no server that keeps to the limit gave to one call, so that none puts off the next
    /// by more than this.
    pub fn correct(&mut self, thought: u64, took: u64) {
        let (Some(next), Some(limit)) = (self.tokens, self.limit.tokens_per_minute) else { return };
        let took = took.min(thought.max(limit));
        let shift = |tokens| share(tokens, limit);
        self.tokens = if took >= thought {
            next.checked_add(shift(took - thought))
        } else {
            next.checked_sub(shift(thought - took))
        };
    }
}

/// The wait until the slot, after which the next one lies so much later as this amount is of a minute's limit.
fn slot(next: &mut Option<Instant>, limit: Option<u64>, amount: u64, now: Instant) -> Duration {
    let Some(limit) = limit else { return Duration::ZERO };
    let at = next.map_or(now, |next| next.max(now));
    *next = at.checked_add(share(amount, limit));
    at - now
}

/// The part of a minute that this amount is of the limit.
#[expect(clippy::cast_precision_loss, reason = "a share of time, where a part in 10^15 is nothing")]
fn share(amount: u64, limit: u64) -> Duration {
    let seconds = 60.0 * amount as f64 / limit.max(1) as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_hours(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_spread_over_the_minute() {
        let limit = RateLimit { requests_per_minute: Some(120), tokens_per_minute: None };
        let (mut rate, now) = (Rate::new(limit), Instant::now());
        let waits: Vec<u128> = (0..4).map(|_| rate.take(1_000_000, now).as_millis()).collect();
        assert_eq!(waits, [0, 500, 1_000, 1_500]);
        assert_eq!(rate.take(1, now + Duration::from_mins(1)), Duration::ZERO, "what was not used is not saved up");
        assert_eq!(rate.take(1, now + Duration::from_mins(1)).as_millis(), 500);
    }

    #[test]
    fn tokens_count_as_they_were_taken() {
        let limit = RateLimit { requests_per_minute: None, tokens_per_minute: Some(6_000) };
        let (mut rate, now) = (Rate::new(limit), Instant::now());
        assert_eq!(rate.take(600, now), Duration::ZERO);
        assert_eq!(rate.take(600, now).as_millis(), 6_000);
        rate.correct(600, 100);
        assert_eq!(rate.take(600, now).as_millis(), 7_000);
        rate.correct(600, 1_600);
        assert_eq!(rate.take(0, now).as_millis(), 23_000);
    }

    #[test]
    fn no_call_puts_off_the_next_by_more_than_a_minute_whatever_its_server_says() {
        let limit = RateLimit { requests_per_minute: None, tokens_per_minute: Some(6_000) };
        let (now, minute) = (Instant::now(), Duration::from_mins(1));
        for said in [6_001, 1_000_000, u64::MAX / 2, u64::MAX] {
            let mut rate = Rate::new(limit);
            assert_eq!(rate.take(600, now), Duration::ZERO);
            rate.correct(600, said);
            assert_eq!(rate.take(600, now), minute, "{said}");
            // What was thought to take more than a minute puts off the next call by as much, and by no more.
            rate.correct(600, 0);
            rate.take(9_000, now);
            rate.correct(9_000, said);
            assert_eq!(rate.take(0, now), minute + Duration::from_millis(10 * said.min(9_000)), "{said}");
        }
        let mut rate = Rate::new(RateLimit { requests_per_minute: None, tokens_per_minute: Some(1) });
        rate.take(0, now);
        rate.correct(0, u64::MAX);
        assert_eq!(rate.take(0, now), minute);
    }

    #[test]
    fn without_a_limit_nothing_waits() {
        let (mut rate, now) = (Rate::default(), Instant::now());
        assert!((0..1_000).all(|_| rate.take(u64::MAX, now).is_zero()));
        rate.correct(0, u64::MAX);
    }
}
