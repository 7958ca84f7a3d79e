//! Answers from an OpenAI-compatible chat completions server.

use super::answer::{self, FILTERED};
use super::asked::{Asked, Came, Fault};
use crate::http::chat::{CountsAs, Endpoint, Form, Message, Reading, Reason, Role, read};
use crate::http::{Context, Reply, Secrets};
use crate::model::{Answer, Failure, FailureClass};
use crate::spec::{OpenAiSpec, Structured};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What is said besides the prompt where JSON is asked for.
const IN_JSON: &str = "Reply with one JSON object of the form {\"answer\": \"...\"} and nothing else.";
/// What is said besides the prompt where plain text is asked for.
const IN_PLAIN: &str = "Reply with the answer alone.";

/// The server, the model and the form of the answer.
#[derive(Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
    structured: Structured,
    schema: Value,
}

impl OpenAi {
    /// The backend of this spec.
    ///
    /// # Errors
    /// The variable that should hold the key is not set.
    pub fn new(spec: &OpenAiSpec, secrets: &Secrets) -> Result<Self, Failure> {
        let key =
            spec.key_env.as_deref().map(|name| secrets.get(name).cloned().ok_or_else(|| no_key(name))).transpose()?;
        let endpoint = Endpoint {
            base_url: spec.base_url.clone(),
            key,
            model: spec.model.clone(),
            temperature: spec.temperature.clone(),
            max_tokens: spec.max_tokens,
            extra: spec.extra.clone(),
            timeout: Duration::from_secs(u64::from(spec.timeout_seconds)),
        };
        Ok(Self { endpoint, structured: spec.structured, schema: schema() })
    }

    /// Asks once.
    pub async fn ask(&self, asked: Asked<'_>, context: &Context) -> Came {
        let said = if self.structured == Structured::Plain { IN_PLAIN } else { IN_JSON };
        let messages =
            [Message { role: Role::System, content: said }, Message { role: Role::User, content: asked.prompt }];
        let call = self.endpoint.call(&messages, self.form());
        let started = Instant::now();
        let came_back = context.send(&call).await;
        let reading = read(&call, &came_back, Timestamp::now());
        let body = came_back.ok().map(|Reply { body, .. }| body).filter(|body| !body.is_empty());
        Came { verdict: self.verdict(&reading, asked.limit), facts: reading.facts, body, latency: started.elapsed() }
    }

    fn form(&self) -> Form<'_> {
        match self.structured {
            Structured::JsonSchema => Form::JsonSchema { name: "answer", schema: &self.schema },
            Structured::JsonObject => Form::JsonObject,
            Structured::Plain => Form::Plain,
        }
    }

    fn verdict(&self, reading: &Reading, limit: usize) -> Result<Answer, Fault> {
        let text = reading.text.as_deref().unwrap_or_default();
        let answer = match reading.reason {
            Reason::Answered if self.structured == Structured::Plain => answer::from_either(text, limit),
            Reason::Answered => answer::from_json(text, limit),
            Reason::Refused => answer::from_refusal(text, limit),
            Reason::Filtered => answer::from_refusal(FILTERED, limit),
            other => return Err(fault(other, reading)),
        };
        answer.map_err(Fault::from)
    }
}

fn fault(reason: Reason, reading: &Reading) -> Fault {
    if reason.counts_as() == CountsAs::Fatal {
        let failure = reason.failure("generator", reading.parameter.as_deref());
        return Fault::Fatal { reason: reason.code(), failure };
    }
    Fault::Invalid { reason: reason.code(), retry_after: reading.retry_after }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "answer": { "type": "string" } },
        "required": ["answer"],
        "additionalProperties": false
    })
}

fn no_key(name: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{name}` is not set"))
        .with_hint("it must hold the generator's key; `key_env` in the spec names it")
}
