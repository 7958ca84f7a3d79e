//! What a backend is asked, and what comes of it.

use super::answer::Reason;
use crate::http::chat::{CountsAs, Facts, Tokens};
use crate::http::{CallError, Wish};
use crate::ledger::record::{DocumentRecord, Usage};
use crate::model::{Answer, Digest, Evidence, Failure, FailureClass, Question};
use std::time::Duration;

/// One cell, as its backend sees it: nothing here tells which snapshot it is for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The question.
    pub question: &'a Question,
    /// The evidence.
    pub evidence: &'a Evidence,
    /// The rendered prompt.
    pub prompt: &'a str,
    /// The longest accepted answer, in UTF-8 bytes.
    pub limit: usize,
}

/// What one attempt came to.
#[derive(Debug)]
pub struct Came {
    /// The answer, or why there is none.
    pub verdict: Result<Answer, Fault>,
    /// The documents that stand beside the answer, where a deployed system names any.
    pub citations: Option<Vec<DocumentRecord>>,
    /// What the server says about itself.
    pub facts: Facts,
    /// The raw body, without keys.
    pub body: Option<Vec<u8>>,
    /// From the call's start to its end.
    pub latency: Duration,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Fault {
    /// Transport-invalid: may be asked again.
    Invalid {
        /// A code of ours.
        reason: &'static str,
        /// What the server says of the next call.
        wish: Wish,
    },
    /// The audit cannot go on.
    Fatal {
        /// A code of ours.
        reason: &'static str,
        /// What to say and to do about it.
        failure: Failure,
    },
}

impl Fault {
    /// The audit ended before the call was made.
    #[must_use]
    pub const fn not_sent() -> Self {
        Self::Invalid { reason: CallError::NotSent.code(), wish: Wish::NONE }
    }

    /// What the server says of the next call.
    #[must_use]
    pub const fn wish(&self) -> Wish {
        match self {
            Self::Invalid { wish, .. } => *wish,
            Self::Fatal { .. } => Wish::NONE,
        }
    }

    /// Its code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid { reason, .. } | Self::Fatal { reason, .. } => reason,
        }
    }
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        match reason.row() {
            (reason, CountsAs::Fatal, when) => Self::Fatal {
                reason,
                failure: Failure::new(FailureClass::Incomplete, format!("the generator gave `{reason}` ({when})"))
                    .with_hint("check the first entry of `argv` in the spec"),
            },
            (reason, ..) => Self::Invalid { reason, wish: Wish::NONE },
        }
    }
}

impl Came {
    /// A call without a reply, of which nothing is known but this.
    #[must_use]
    pub fn nothing(fault: Fault) -> Self {
        let facts = Facts::default();
        Self { verdict: Err(fault), citations: None, facts, body: None, latency: Duration::ZERO }
    }

    /// Tokens as the ledger records them.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let nano_usd = self.facts.nano_usd;
        self.facts.tokens.map(|Tokens { input, output, cached }| Usage { input, output, cached, nano_usd })
    }

    /// The body's digest, where there is a body.
    #[must_use]
    pub fn body_digest(&self) -> Option<Digest> {
        self.body.as_deref().map(Digest::of)
    }
}
