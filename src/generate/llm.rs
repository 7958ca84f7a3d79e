//! Answers from a language model behind a server.

use super::answer::{self, FILTERED};
use super::asked::{Came, Fault};
use crate::http::chat::{CountsAs, Endpoint, Message, Reading, Reason, Role};
use crate::http::{Call, Context, Reply, Secrets};
use crate::model::{Amount, Answer, Failure, ModelServer, RateLimit};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Instant;

/// What is said besides the prompt where JSON is asked for.
const IN_JSON: &str = "Reply with one JSON object of the form {\"answer\": \"...\"} and nothing else.";
/// What is said besides the prompt where plain text is asked for.
const IN_PLAIN: &str = "Reply with the answer alone.";

/// The server, the model and the form of the answer.
#[derive(Debug)]
pub struct Llm {
    endpoint: Endpoint,
    schema: Value,
    /// Whose server it is, in messages.
    whose: &'static str,
}

impl Llm {
    /// The backend of this spec.
    ///
    /// # Errors
    /// The variable that should hold the key is not set.
    pub fn new(spec: &ModelServer, whose: &'static str, secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { endpoint: Endpoint::new(spec, secrets, whose)?, schema: schema(), whose })
    }

    /// Makes the call of one prompt, whose answer may have so many bytes.
    pub async fn ask(&self, call: &Call, limit: usize, context: &Context) -> Came {
        let started = Instant::now();
        let came_back = self.endpoint.send(call, context).await;
        let reading = self.endpoint.read(call, &came_back, Timestamp::now());
        let body = came_back.ok().map(|Reply { body, .. }| body).filter(|body| !body.is_empty());
        let verdict = self.verdict(&reading, limit);
        Came { verdict, citations: None, facts: reading.facts, body, latency: started.elapsed() }
    }

    /// The call for one prompt.
    #[must_use]
    pub fn call(&self, prompt: &str) -> Call {
        let said = if self.endpoint.is_plain() { IN_PLAIN } else { IN_JSON };
        let messages = [Message { role: Role::System, content: said }, Message { role: Role::User, content: prompt }];
        self.endpoint.call(&messages, "answer", &self.schema)
    }

    /// What this call takes at most.
    #[must_use]
    pub fn estimate(&self, call: &Call) -> Amount {
        self.endpoint.estimate(call)
    }

    /// How much its server may be asked in a minute.
    #[must_use]
    pub const fn rate_limit(&self) -> RateLimit {
        self.endpoint.server().rate_limit
    }

    /// The names of the controls that this call carries.
    #[must_use]
    pub fn controls(&self, call: &Call) -> Vec<String> {
        self.endpoint.controls(call)
    }

    fn verdict(&self, reading: &Reading, limit: usize) -> Result<Answer, Fault> {
        let text = reading.text.as_deref().unwrap_or_default();
        let answer = match reading.reason {
            Reason::Answered if self.endpoint.is_plain() => answer::from_either(text, limit),
            Reason::Answered => answer::from_json(text, limit),
            Reason::Refused => answer::from_refusal(text, limit),
            Reason::Filtered => answer::from_refusal(FILTERED, limit),
            other => return Err(self.fault(other, reading)),
        };
        answer.map_err(Fault::from)
    }

    fn fault(&self, reason: Reason, reading: &Reading) -> Fault {
        if reason.counts_as() == CountsAs::Fatal {
            let failure = reason.failure(self.whose, reading.parameter.as_deref());
            return Fault::Fatal { reason: reason.code(), failure };
        }
        Fault::Invalid { reason: reason.code(), wish: reading.wish }
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "answer": { "type": "string" } },
        "required": ["answer"],
        "additionalProperties": false
    })
}
