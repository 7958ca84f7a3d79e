//! The first units that are asked for: until one of them is done, no more are begun, and no more asked for again, than it takes to
//! tell that whoever is asked is out of order.

use super::Context;
use crate::model::Failure;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Semaphore;

/// Units that are given up one after the other, and none done before, after which whoever is asked counts as out of order.
pub const SILENT: u32 = 10;

/// Holds units back while none is done.
#[derive(Debug)]
pub struct Opening {
    /// Units that may make their first attempt.
    begun: Semaphore,
    /// Units that may make another one.
    again: Semaphore,
    given_up: AtomicU32,
    most: usize,
}

impl Opening {
    /// For so many calls in flight. As many units begin as have a place among them or in the line before them: a server that
    /// answers never waits for the next call.
    #[must_use]
    pub fn new(at_once: u32) -> Self {
        let silent = SILENT as usize;
        let begun = (at_once as usize).saturating_mul(2).clamp(silent, Semaphore::MAX_PERMITS / 2);
        Self { begun: Semaphore::new(begun), again: Semaphore::new(silent), given_up: AtomicU32::new(0), most: begun }
    }

    /// How many units begin before one is done. They should be of as many questions, so that none fills the opening alone.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.most
    }

    /// Waits until a unit may make its attempt of this number, from 0.
    ///
    /// # Errors
    /// The audit is cancelled meanwhile, or its time is up.
    pub async fn admit(&self, number: u32, context: &Context) -> Result<(), Failure> {
        let gate = match number {
            0 => &self.begun,
            1 => &self.again,
            _ => return Ok(()),
        };
        if gate.is_closed() {
            return Ok(());
        }
        // An error says that it was opened meanwhile.
        if let Ok(permit) = context.unless_ended(gate.acquire()).await? {
            permit.forget();
        }
        Ok(())
    }

    /// One is done: nothing is held back from now on.
    pub fn open(&self) {
        for gate in [&self.begun, &self.again] {
            gate.close();
        }
    }

    /// One was given up, and the audit goes on. Who goes on after so many has a reason to: nothing is held back from now on. As so
    /// many may be asked again, those that are never leave the others waiting for good.
    pub fn give_up(&self) {
        if self.given_up.fetch_add(1, Ordering::Relaxed) + 1 >= SILENT {
            self.open();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    /// How many of a hundred units may make their attempt of this number at once.
    fn admitted(opening: &Opening, number: u32) -> usize {
        let context = Context::for_tests();
        (0..100).filter(|_| opening.admit(number, &context).now_or_never().is_some()).count()
    }

    #[test]
    fn the_calls_in_flight_and_the_line_before_them_are_filled_at_once() {
        for (at_once, begun) in [(1, 10), (4, 10), (8, 16), (32, 64), (50, 100), (u32::MAX, 100)] {
            let opening = Opening::new(at_once);
            assert_eq!((admitted(&opening, 0), admitted(&opening, 1)), (begun, 10), "{at_once}");
            assert_eq!(admitted(&opening, 2), 100, "who was let in once may go on");
        }
    }

    #[test]
    fn one_that_is_done_lets_all_others_go() {
        let opening = Opening::new(8);
        let context = Context::for_tests();
        assert_eq!((admitted(&opening, 0), admitted(&opening, 1)), (16, 10));
        let mut waiting = Box::pin(opening.admit(1, &context));
        assert!(waiting.as_mut().now_or_never().is_none());
        opening.open();
        assert_eq!(waiting.now_or_never(), Some(Ok(())));
        assert_eq!((admitted(&opening, 0), admitted(&opening, 1)), (100, 100));
    }

    #[test]
    fn ten_that_are_given_up_let_all_others_go_where_the_audit_does() {
        let opening = Opening::new(8);
        assert_eq!((admitted(&opening, 0), admitted(&opening, 1)), (16, 10));
        for _ in 1..SILENT {
            opening.give_up();
            assert_eq!((admitted(&opening, 0), admitted(&opening, 1)), (0, 0));
        }
        opening.give_up();
        assert_eq!((admitted(&opening, 0), admitted(&opening, 1)), (100, 100));
    }

    #[tokio::test]
    async fn nobody_is_held_back_in_an_audit_that_has_ended() {
        let (opening, context) = (Opening::new(1), Context::for_tests());
        assert_eq!(admitted(&opening, 0), 10);
        context.cancel.cancel();
        assert_eq!(opening.admit(0, &context).await.unwrap_err().message, "interrupted");
    }
}
