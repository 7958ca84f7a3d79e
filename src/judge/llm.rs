//! A language model as judge, behind an OpenAI-compatible server.

use super::backend::{Heard, Judged};
use super::packet::Packet;
use super::parts::Part;
use super::{prompt, reply};
use crate::http::chat::{self, CountsAs, Endpoint, Form, Message, Reason, Role};
use crate::http::{Call, Context};
use crate::model::{Digest, Failure, FailureClass};
use crate::spec::{OpenAiSpec, Structured};
use jiff::Timestamp;
use std::time::{Duration, Instant};

/// The model and the prompt.
#[derive(Debug)]
pub struct LlmJudge {
    endpoint: Endpoint,
    structured: Structured,
    template: String,
}

impl LlmJudge {
    /// A judge by the spec, with the protocol's judge prompt.
    ///
    /// # Errors
    /// The variable that holds the key is not set.
    pub fn new(spec: &OpenAiSpec, template: &str, context: &Context) -> Result<Self, Failure> {
        let key = spec
            .key_env
            .as_ref()
            .map(|name| context.secrets.get(name).cloned().ok_or_else(|| no_key(name)))
            .transpose()?;
        let endpoint = Endpoint {
            base_url: spec.base_url.clone(),
            key,
            model: spec.model.clone(),
            temperature: spec.temperature.clone(),
            max_tokens: spec.max_tokens,
            extra: spec.extra.clone(),
            timeout: Duration::from_secs(u64::from(spec.timeout_seconds)),
        };
        Ok(Self { endpoint, structured: spec.structured, template: template.to_owned() })
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
        let came_back = context.send(&call).await;
        let latency = started.elapsed();
        let reading = chat::read(&call, &came_back, Timestamp::now());
        let verdict = match (reading.reason.counts_as(), reading.reason) {
            (CountsAs::Accepted, Reason::Answered) => labels(reading.text.as_deref().unwrap_or_default(), part),
            // A judge that will not judge has not judged.
            (CountsAs::Accepted, _) => Heard::Invalid { reason: "judge-refused", retry_after: None },
            (CountsAs::Invalid, reason) => Heard::Invalid { reason: reason.code(), retry_after: reading.retry_after },
            (CountsAs::Fatal, reason) => {
                Heard::Fatal { reason: reason.code(), failure: reason.failure("judge", reading.parameter.as_deref()) }
            }
        };
        Judged { verdict, facts: reading.facts, body: came_back.ok().map(|reply| reply.body), latency }
    }

    /// The one call for a part: the form of the reply is said by the system, everything else by the user.
    #[must_use]
    pub fn call(&self, packet: &Packet, part: &Part) -> Call {
        let (form, text) = (prompt::form(part), prompt::render(&self.template, packet, part));
        let messages = [Message { role: Role::System, content: &form }, Message { role: Role::User, content: &text }];
        let schema = prompt::schema(part);
        self.endpoint.call(
            &messages,
            match self.structured {
                Structured::JsonSchema => Form::JsonSchema { name: "labels", schema: &schema },
                Structured::JsonObject => Form::JsonObject,
                Structured::Plain => Form::Plain,
            },
        )
    }
}

fn labels(text: &str, part: &Part) -> Heard {
    match reply::read(text, part) {
        Ok(judgment) => Heard::Accepted(judgment),
        Err(unread) => Heard::Invalid { reason: unread.code(), retry_after: None },
    }
}

fn no_key(name: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{name}` is not set"))
        .with_hint("it holds the key of the judge, as `judge.openai.key_env` says")
}
