//! What kind of failure an error is: the exit code follows from it, and from nothing else.

/// The classes of failure, each with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// A usage or spec error; nothing was spent. Exit code 2.
    Usage,
    /// The audit could not be completed: outage, budget, too many invalid cells, served model changed. Exit code 4.
    Incomplete,
    /// A lock or a ledger does not match. Exit code 5.
    Evidence,
    /// The audit is done but could not be published. Exit code 6.
    Publication,
}

/// An error that a user can mend, ready to print: what failed, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its class, which fixes the exit code.
    pub class: FailureClass,
    /// What failed, as a lower-case fragment; several problems stand on several lines.
    pub message: String,
    /// What the user can do, where there is something.
    pub hint: Option<String>,
}

impl FailureClass {
    /// The process exit code.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Incomplete => 4,
            Self::Evidence => 5,
            Self::Publication => 6,
        }
    }
}

impl Failure {
    /// A failure without a hint.
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    /// The same failure with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
