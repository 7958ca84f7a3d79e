//! The backends that are called from outside, as one.

use super::asked::{Asked, Came};
use super::blackbox::{BlackBox, Sent, Turn};
use super::command::Command;
use super::llm::Llm;
use crate::http::{Call, Context, Secrets};
use crate::model::{Amount, Digest, Failure, RateLimit};
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
    /// A deployed system that retrieves by itself.
    BlackBox(Box<BlackBox>),
}

/// One attempt, ready to be made.
#[derive(Debug)]
pub enum Prepared<'a> {
    /// By a language model, with this call.
    Llm(&'a Llm, Asked<'a>, Call),
    /// By a program.
    Command(&'a Command, Asked<'a>),
    /// By a deployed system, within so many bytes.
    BlackBox(&'a BlackBox, Sent, usize),
}

impl Prepared<'_> {
    /// The digest of what is sent: of the prompt, where it is ours.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Llm(_, asked, _) | Self::Command(_, asked) => Digest::of(asked.prompt.as_bytes()),
            Self::BlackBox(_, sent, _) => sent.digest(),
        }
    }

    /// What it takes at most. What a program spends is not known, nor what a deployed system reads.
    #[must_use]
    pub fn estimate(&self) -> Amount {
        match self {
            Self::Llm(model, _, call) => model.estimate(call),
            Self::Command(..) | Self::BlackBox(..) => Amount::default(),
        }
    }

    /// Makes it.
    pub async fn make(&self, context: &Context) -> Came {
        match self {
            Self::Llm(model, asked, call) => model.ask(call, asked.limit, context).await,
            Self::Command(program, asked) => program.ask(*asked, context).await,
            Self::BlackBox(system, sent, limit) => system.ask(sent, *limit, context).await,
        }
    }
}

impl Backend {
    /// The backend of this spec. `whose` names it in messages.
    ///
    /// # Errors
    /// A key that it needs is not set.
    pub fn new(spec: &GenerateBackend, whose: &'static str, secrets: &Secrets) -> Result<Self, Failure> {
        Ok(match spec {
            GenerateBackend::Reader(spec) => Self::Reader(*spec),
            GenerateBackend::Model(spec) => Self::Called(Called::Llm(Box::new(Llm::new(spec, whose, secrets)?))),
            GenerateBackend::Command(spec) => Self::Called(Called::Command(Command::new(spec))),
            GenerateBackend::BlackBox(spec) => Self::Called(Called::BlackBox(Box::new(BlackBox::new(spec, secrets)?))),
        })
    }
}

impl Called {
    /// How much it may be asked in a minute.
    #[must_use]
    pub fn rate_limit(&self) -> RateLimit {
        match self {
            Self::Llm(model) => model.rate_limit(),
            Self::Command(_) => RateLimit::default(),
            Self::BlackBox(system) => system.spec().rate_limit,
        }
    }

    /// One attempt at the cell of this turn, which only a deployed system is told of.
    ///
    /// # Errors
    /// The request cannot be made of it.
    pub fn prepare<'a>(&'a self, asked: Asked<'a>, turn: &Turn<'_>) -> Result<Prepared<'a>, Failure> {
        Ok(match self {
            Self::Llm(model) => Prepared::Llm(model, asked, model.call(asked.prompt)),
            Self::Command(program) => Prepared::Command(program, asked),
            Self::BlackBox(system) => Prepared::BlackBox(system, Sent::of(system.spec(), turn)?, asked.limit),
        })
    }
}
