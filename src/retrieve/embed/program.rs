//! A program that embeds: texts as JSON on its standard input, vectors as JSON on its standard output.

use super::embedder::{Embedded, read};
use crate::http::{Attempted, Context};
use crate::model::{Failure, FailureClass};
use crate::process::{self, ProcessError};
use crate::retrieve::command::environment;
use crate::retrieve::limits::MAX_OUTPUT_BYTES;
use crate::spec::CommandSpec;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One run for these texts. One that has begun is let finish, even when the audit is cancelled.
pub(super) async fn attempt(spec: &CommandSpec, texts: &[String], context: &Context) -> Attempted<Embedded> {
    let env = match environment(spec, &context.secrets) {
        Ok(env) => env,
        Err(failure) => return Attempted::Fatal(failure),
    };
    let input = json!({ "texts": texts }).to_string().into_bytes();
    let timeout = Duration::from_secs(u64::from(spec.timeout_seconds));
    let never = CancellationToken::new();
    let output = process::run(&spec.argv, input, &env, timeout, MAX_OUTPUT_BYTES, &never).await;
    let invalid = |reason| Attempted::Invalid { reason, retry_after: None };
    match output {
        Ok(output) if !output.succeeded() => invalid("program-failed"),
        Ok(output) => vectors(&output.stdout, texts.len()).map_or_else(invalid, Attempted::Accepted),
        Err(error @ (ProcessError::Start | ProcessError::TooLarge)) => {
            let message = format!("failed to run `retrieve.embed.command`: {error}");
            Attempted::Fatal(Failure::new(FailureClass::Incomplete, message))
        }
        Err(error) => invalid(error.code()),
    }
}

fn vectors(output: &[u8], wanted: usize) -> Result<Embedded, &'static str> {
    let output: Value = serde_json::from_slice(output).map_err(|_| "not-json")?;
    let values: Vec<&Value> = output.get("vectors").and_then(Value::as_array).ok_or("no-vector")?.iter().collect();
    Ok(Embedded { vectors: read(&values, wanted)?, model: None })
}
