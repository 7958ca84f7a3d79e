//! A call in flight, as whoever listens to progress is told of it.

use crate::model::{Event, Observer};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Tells that a call begins, and, when it is dropped, that it is over.
pub struct Told {
    observer: Arc<dyn Observer>,
    since: Instant,
}

impl Told {
    /// The call begins now.
    #[must_use]
    pub fn of_call(observer: &Arc<dyn Observer>) -> Self {
        let told = Self { observer: Arc::clone(observer), since: Instant::now() };
        told.observer.observe(Event::Called(told.since));
        told
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.observer.observe(Event::Over(self.since));
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").field("since", &self.since).finish_non_exhaustive()
    }
}
