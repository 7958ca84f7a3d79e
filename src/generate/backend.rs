//! The backends that are called from outside, as one.

use super::asked::{Asked, Came};
use super::command::Command;
use super::llm::Llm;
use crate::http::{Context, Secrets};
use crate::model::{Amount, Failure, RateLimit};
use crate::spec::{GenerateBackend, ReaderSpec};

/// A generator.
#[derive(Debug)]
pub enum Backend {
    /// The embedded reader: no call leaves the process.
    Reader(ReaderSpec),
    /// Something that is called.
    Called(Called),
}

/// A generator that is called.
#[derive(Debug)]
pub enum Called {
    /// A language model behind a server.
    Llm(Box<Llm>),
    /// A program.
    Command(Command),
}

impl Backend {
    /// The backend of this spec.
    ///
    /// # Errors
    /// A key that it needs is not set.
    pub fn new(spec: &GenerateBackend, secrets: &Secrets) -> Result<Self, Failure> {
        Ok(match spec {
            GenerateBackend::Reader(spec) => Self::Reader(*spec),
            GenerateBackend::Model(spec) => Self::Called(Called::Llm(Box::new(Llm::new(spec, secrets)?))),
            GenerateBackend::Command(spec) => Self::Called(Called::Command(Command::new(spec))),
        })
    }
}

impl Called {
    /// What a call with this prompt takes at most. What a program spends is not known.
    #[must_use]
    pub fn estimate(&self, prompt: &str) -> Amount {
        match self {
            Self::Llm(model) => model.estimate(prompt),
            Self::Command(_) => Amount::default(),
        }
    }

    /// How much it may be asked in a minute.
    #[must_use]
    pub fn rate_limit(&self) -> RateLimit {
        match self {
            Self::Llm(model) => model.rate_limit(),
            Self::Command(_) => RateLimit::default(),
        }
    }

    /// Whether it can say what a call took.
    #[must_use]
    pub const fn counts_tokens(&self) -> bool {
        matches!(self, Self::Llm(_))
    }

    /// Asks once.
    pub async fn ask(&self, asked: Asked<'_>, context: &Context) -> Came {
        match self {
            Self::Llm(model) => model.ask(asked, context).await,
            Self::Command(program) => program.ask(asked, context).await,
        }
    }
}
