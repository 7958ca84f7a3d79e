//! The backends that are called from outside, as one.

use super::asked::{Asked, Came};
use super::command::Command;
use super::llm::Llm;
use crate::http::{Context, Secrets};
use crate::model::Failure;
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
    /// Asks once.
    pub async fn ask(&self, asked: Asked<'_>, context: &Context) -> Came {
        match self {
            Self::Llm(model) => model.ask(asked, context).await,
            Self::Command(program) => program.ask(asked, context).await,
        }
    }
}
