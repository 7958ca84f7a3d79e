//! Why a program gave no complete output.

/// Why there is no complete output. Carries no text from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    /// The argv is empty, or its first entry cannot be started.
    #[error("the program could not be started")]
    Start,
    /// Out of time; the program was killed.
    #[error("timed out")]
    Timeout,
    /// More bytes on standard output than the limit; the program was killed.
    #[error("the output is larger than the limit")]
    TooLarge,
    /// The pipes to the program broke.
    #[error("the pipes to the program broke")]
    Pipe,
    /// The audit was cancelled; the program was killed.
    #[error("interrupted")]
    Cancelled,
}

impl ProcessError {
    /// The short code that ledgers and reports use.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Start => "program-not-started",
            Self::Timeout => "timed-out",
            Self::TooLarge => "reply-too-large",
            Self::Pipe => "pipe-broken",
            Self::Cancelled => "interrupted",
        }
    }
}
