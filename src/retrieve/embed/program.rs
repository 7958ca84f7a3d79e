//! A program that embeds: texts as JSON on its standard input, vectors as JSON on its standard output.

use super::embedder::{Came, Fault, read};
use crate::http::chat::Facts;
use crate::http::{self, Context, Wish};
use crate::model::{Failure, FailureClass};
use crate::process::{self, Output, ProcessError};
use crate::retrieve::command::environment;
use crate::retrieve::limits::MAX_OUTPUT_BYTES;
use crate::spec::CommandSpec;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What is written to the program.
pub(super) fn input(texts: &[String]) -> Vec<u8> {
    json!({ "texts": texts }).to_string().into_bytes()
}

/// One run for so many texts. One that has begun is let finish, even when the audit is cancelled.
pub(super) async fn make(spec: &CommandSpec, input: Vec<u8>, wanted: usize, context: &Context) -> Came {
    let started = Instant::now();
    let came = |vectors| Came { facts: Facts::default(), body: None, latency: started.elapsed(), vectors };
    let env = match environment(spec, &context.secrets) {
        Ok(env) => env,
        Err(failure) => return came(Err(Fault::Fatal { reason: "variable-not-set", failure })),
    };
    let timeout = Duration::from_secs(u64::from(spec.timeout_seconds));
    let never = CancellationToken::new();
    let output = process::run(&spec.argv, input, &env, timeout, MAX_OUTPUT_BYTES, &never).await;
    came(judged(output, wanted))
}

fn judged(output: Result<Output, ProcessError>, wanted: usize) -> Result<Vec<Vec<f64>>, Fault> {
    let invalid = |reason| Fault::Invalid { reason, wish: Wish::NONE };
    match output {
        Ok(output) if !output.succeeded() => Err(invalid("program-failed")),
        Ok(output) => vectors(&output.stdout, wanted).map_err(invalid),
        Err(error @ (ProcessError::Start | ProcessError::TooLarge)) => {
            let message = format!("failed to run `retrieve.embed.command`: {error}");
            let failure = Failure::new(FailureClass::Incomplete, message);
            Err(Fault::Fatal { reason: error.code(), failure })
        }
        Err(error) => Err(invalid(error.code())),
    }
}

fn vectors(output: &[u8], wanted: usize) -> Result<Vec<Vec<f64>>, &'static str> {
    let output = http::json(output).map_err(|_| "not-json")?;
    let values: Vec<&Value> = output.get("vectors").and_then(Value::as_array).ok_or("no-vector")?.iter().collect();
    read(&values, wanted)
}
