//! A program that retrieves: the question as JSON on its standard input, documents as JSON on its standard output.

use super::engine::{Pointers, documents_of};
use super::limits::MAX_OUTPUT_BYTES;
use super::remote::{Judged, Made};
use crate::http::{self, Context, Secrets, Wish};
use crate::model::{Evidence, Failure, FailureClass, Question};
use crate::process::{self, ProcessError};
use crate::spec::CommandSpec;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// One program, as the spec describes it.
pub(super) struct Program<'a> {
    pub spec: &'a CommandSpec,
    pub top_k: u32,
    pub max_chars: u32,
}

impl Program<'_> {
    /// What the program reads: `{"question", "top_k", "snapshot": {variables}}`, and `vector` where there is one.
    pub(super) fn input(
        &self,
        question: &Question,
        vector: Option<&[f64]>,
        variables: &BTreeMap<String, String>,
    ) -> Vec<u8> {
        let mut input = json!({"question": question.text, "top_k": self.top_k, "snapshot": variables});
        if let Some(vector) = vector {
            input["vector"] = json!(vector);
        }
        input.to_string().into_bytes()
    }

    /// Runs the program once and says what it came to. One that has begun is let finish, even when the audit is
    /// cancelled.
    pub(super) async fn make(&self, input: Vec<u8>, context: &Context) -> Made {
        let started = Instant::now();
        let env = match environment(self.spec, &context.secrets) {
            Ok(env) => env,
            Err(failure) => return failed(Judged::Fatal { reason: "variable-not-set", failure }, started),
        };
        let timeout = Duration::from_secs(u64::from(self.spec.timeout_seconds));
        let never = CancellationToken::new();
        match process::run(&self.spec.argv, input, &env, timeout, MAX_OUTPUT_BYTES, &never).await {
            Ok(output) => {
                let succeeded = output.succeeded();
                let body = context.secrets.redact(output.stdout);
                let read = if succeeded { self.read(&body) } else { Err("program-failed") };
                let judged = match read {
                    Ok(evidence) => Judged::Accepted(evidence),
                    Err(reason) => Judged::Invalid { reason, wish: Wish::NONE, said: None },
                };
                Made { status: None, body: Some(body), latency: started.elapsed(), judged }
            }
            Err(error) => failed(without_output(error), started),
        }
    }

    /// `[{"id", "text", "url"}]`, bare or as the member `documents`.
    fn read(&self, output: &[u8]) -> Result<Evidence, &'static str> {
        let output = http::json(output).map_err(|_| "not-json")?;
        let documents = if output.is_array() { Some(&output) } else { output.get("documents") };
        let items = documents.and_then(Value::as_array).ok_or("no-items")?;
        let pointers = Pointers { id: "/id", text: "/text", url: Some("/url") };
        documents_of(items, &pointers, self.top_k, self.max_chars)
    }
}

/// The variables the spec passes on, with their values.
pub(super) fn environment(spec: &CommandSpec, secrets: &Secrets) -> Result<Vec<(String, String)>, Failure> {
    let value = |name: &String| {
        let not_set = || Failure::new(FailureClass::Usage, format!("the environment variable `{name}` is not set"));
        let value = secrets.get(name).ok_or_else(not_set)?;
        Ok((name.clone(), value.expose_secret().to_owned()))
    };
    spec.env.iter().map(value).collect()
}

fn without_output(error: ProcessError) -> Judged {
    let reason = error.code();
    match error {
        ProcessError::Start | ProcessError::TooLarge => {
            let message = format!("failed to run `retrieve.command`: {error}");
            Judged::Fatal { reason, failure: Failure::new(FailureClass::Incomplete, message) }
        }
        ProcessError::Timeout | ProcessError::Pipe | ProcessError::Cancelled => {
            Judged::Invalid { reason, wish: Wish::NONE, said: None }
        }
    }
}

fn failed(judged: Judged, started: Instant) -> Made {
    Made { status: None, body: None, latency: started.elapsed(), judged }
}
