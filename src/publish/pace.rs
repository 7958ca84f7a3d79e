//! How long publishing waits for a server before it gives up.

use std::time::Duration;

/// The pace of calls to GitHub.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Attempts of one call at most.
    pub attempts: u32,
    /// The wait after a server's error; doubles.
    pub first: Duration,
    /// The wait at a limit whose end the server does not tell. GitHub asks for at least a minute.
    pub secondary: Duration,
    /// The longest wait that is granted; who asks for more is given up.
    pub longest: Duration,
    /// The time limit of one call.
    pub timeout: Duration,
    /// How long after the comment was written it is looked at once more.
    pub again: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            attempts: 4,
            first: Duration::from_secs(1),
            secondary: Duration::from_mins(1),
            longest: Duration::from_mins(3),
            timeout: Duration::from_secs(30),
            again: Duration::from_secs(1),
        }
    }
}

impl Pace {
    /// The wait after the `number`th failed attempt, from 0, where the server names none.
    #[must_use]
    pub fn after(&self, number: u32) -> Duration {
        self.first.saturating_mul(2_u32.saturating_pow(number))
    }
}
