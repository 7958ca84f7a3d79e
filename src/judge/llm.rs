//! A language model as judge, behind a server.

use super::backend::{Heard, Judged};
use super::packet::Packet;
use super::parts::Part;
use super::{prompt, reply};
use crate::http::chat::{CountsAs, Endpoint, Message, Reason, Role};
use crate::http::{Call, Context, Wish};
use crate::model::{Amount, Digest, Failure, ModelServer, RateLimit};
use jiff::Timestamp;
use std::time::Instant;

/// The model and the prompt.
#[derive(Debug)]
pub struct LlmJudge {
    endpoint: Endpoint,
    template: String,
    /// Whose server it is, in messages.
    whose: &'static str,
}

impl LlmJudge {
    /// A judge by the spec, with the protocol's judge prompt.
    ///
    /// # Errors
    /// The variable that holds the key is not set.
    pub fn new(spec: &ModelServer, template: &str, whose: &'static str, context: &Context) -> Result<Self, Failure> {
        let endpoint = Endpoint::new(spec, &context.secrets, whose)?;
        Ok(Self { endpoint, template: template.to_owned(), whose })
    }

    /// The same without a key, where nothing is sent.
    #[must_use]
    pub fn unkeyed(spec: &ModelServer, template: &str) -> Self {
        Self { endpoint: Endpoint::unkeyed(spec), template: template.to_owned(), whose: "judge" }
    }

    /// The digest of the request's body. No key stands in it.
    #[must_use]
    pub fn request(&self, packet: &Packet, part: &Part) -> Digest {
        Digest::of(self.call(packet, part).body.as_deref().unwrap_or_default())
    }

    /// Asks once.
    pub async fn ask(&self, packet: &Packet, part: &Part, context: &Context) -> Judged {
        let call = self.call(packet, part);
        let started = Instant::now();
        let came_back = self.endpoint.send(&call, context).await;
        let latency = started.elapsed();
        let reading = self.endpoint.read(&call, &came_back, Timestamp::now());
        let verdict = match (reading.reason.counts_as(), reading.reason) {
            (CountsAs::Accepted, Reason::Answered) => labels(reading.text.as_deref().unwrap_or_default(), part),
            // A judge that will not judge has not judged.
            (CountsAs::Accepted, _) => Heard::Invalid { reason: reply::REFUSED, wish: Wish::NONE },
            (CountsAs::Invalid, reason) => Heard::Invalid { reason: reason.code(), wish: reading.wish },
            (CountsAs::Fatal, reason) => Heard::Fatal {
                reason: reason.code(),
                failure: reason.failure(self.whose, reading.parameter.as_deref()),
            },
        };
        Judged { verdict, facts: reading.facts, body: came_back.ok().map(|reply| reply.body), latency }
    }

    /// What the call for this part takes at most.
    #[must_use]
    pub fn estimate(&self, packet: &Packet, part: &Part) -> Amount {
        self.endpoint.estimate(&self.call(packet, part))
    }

    /// How much its server may be asked in a minute.
    #[must_use]
    pub const fn rate_limit(&self) -> RateLimit {
        self.endpoint.server().rate_limit
    }

    /// The names of the controls that the call for this part carries.
    #[must_use]
    pub fn controls(&self, packet: &Packet, part: &Part) -> Vec<String> {
        self.endpoint.controls(&self.call(packet, part))
    }

    /// The one call for a part: the form of the reply is said by the system, everything else by the user.
    #[must_use]
    pub fn call(&self, packet: &Packet, part: &Part) -> Call {
        let (form, text) = (prompt::form(part), prompt::render(&self.template, packet, part));
        let messages = [Message { role: Role::System, content: &form }, Message { role: Role::User, content: &text }];
        self.endpoint.call(&messages, "labels", &prompt::schema(part))
    }
}

fn labels(text: &str, part: &Part) -> Heard {
    match reply::read(text, part) {
        Ok(judgment) => Heard::Accepted(judgment),
        Err(unread) => Heard::Invalid { reason: unread.code(), wish: Wish::NONE },
    }
}
