//! Who judges a packet over a call: a language model or a program. One file each; both come to a [`Judged`].

use super::command::CommandJudge;
use super::llm::LlmJudge;
use super::packet::Packet;
use super::parts::Part;
use crate::http::chat::Facts;
use crate::http::{Context, Wish};
use crate::ledger::record::AcceptedJudgment;
use crate::model::{Amount, Digest, Failure, RateLimit};
use std::time::Duration;

/// What one attempt came to.
#[derive(Debug)]
pub struct Judged {
    /// What it counts as.
    pub verdict: Heard,
    /// What a server says about itself.
    pub facts: Facts,
    /// The raw bytes that came back, where any did.
    pub body: Option<Vec<u8>>,
    /// From the call's start to its end.
    pub latency: Duration,
}

/// What an attempt counts as.
#[derive(Debug)]
pub enum Heard {
    /// A label for each pair of the part.
    Accepted(AcceptedJudgment),
    /// No judgment: may be asked again.
    Invalid {
        /// A short code of ours.
        reason: &'static str,
        /// What the server says of the next call.
        wish: Wish,
    },
    /// The audit cannot go on.
    Fatal {
        /// A short code of ours.
        reason: &'static str,
        /// What to tell the user.
        failure: Failure,
    },
}

/// A judge that is asked part by part.
#[derive(Debug)]
pub enum Backend {
    /// A language model.
    Llm(Box<LlmJudge>),
    /// A program.
    Command(CommandJudge),
}

impl Backend {
    /// The digest of what is sent for this part.
    #[must_use]
    pub fn request(&self, packet: &Packet, part: &Part) -> Digest {
        match self {
            Self::Llm(judge) => judge.request(packet, part),
            Self::Command(_) => CommandJudge::request(packet, part),
        }
    }

    /// What a call for this part takes at most. What a program spends is not known.
    #[must_use]
    pub fn estimate(&self, packet: &Packet, part: &Part) -> Amount {
        match self {
            Self::Llm(judge) => judge.estimate(packet, part),
            Self::Command(_) => Amount::default(),
        }
    }

    /// How much it may be asked in a minute.
    #[must_use]
    pub fn rate_limit(&self) -> RateLimit {
        match self {
            Self::Llm(judge) => judge.rate_limit(),
            Self::Command(_) => RateLimit::default(),
        }
    }

    /// Asks once.
    pub async fn ask(&self, packet: &Packet, part: &Part, context: &Context) -> Judged {
        match self {
            Self::Llm(judge) => judge.ask(packet, part, context).await,
            Self::Command(judge) => judge.ask(packet, part, context).await,
        }
    }
}
