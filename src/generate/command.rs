//! Answers from a program: JSON on standard input, the answer on standard output as `{"answer": "..."}` or plain text.

use super::answer::{self, Reason};
use super::asked::{Asked, Came, Fault};
use crate::http::chat::Facts;
use crate::http::{Context, Secrets, unmarked};
use crate::model::{Answer, Document};
use crate::process::{Output, ProcessError, run};
use crate::spec::CommandSpec;
use secrecy::ExposeSecret;
use serde::Serialize;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The most bytes of standard output that are read.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// The program.
#[derive(Debug)]
pub struct Command {
    spec: CommandSpec,
}

/// What the program reads.
#[derive(Serialize)]
struct Input<'a> {
    question: &'a str,
    evidence: &'a [Document],
    prompt: &'a str,
}

impl Command {
    /// The backend of this spec.
    #[must_use]
    pub fn new(spec: &CommandSpec) -> Self {
        Self { spec: spec.clone() }
    }

    /// Asks once. A call that is under way is finished even where the audit is cancelled: its answer is kept.
    pub async fn ask(&self, asked: Asked<'_>, context: &Context) -> Came {
        let Asked { question, evidence, prompt, limit } = asked;
        let input = Input { question: &question.text, evidence: &evidence.documents, prompt };
        let input = serde_json::to_vec(&input).unwrap_or_default();
        run_once(&self.spec, input, limit, context).await
    }
}

/// Runs a program once. It is let finish even where the audit is cancelled.
pub async fn run_once(spec: &CommandSpec, input: Vec<u8>, limit: usize, context: &Context) -> Came {
    let env = environment(&spec.env, &context.secrets);
    let timeout = Duration::from_secs(u64::from(spec.timeout_seconds));
    let started = Instant::now();
    let output = run(&spec.argv, input, &env, timeout, MAX_OUTPUT_BYTES, &CancellationToken::new()).await;
    let latency = started.elapsed();
    let output = output.map(|output| Output { stdout: context.secrets.redact(output.stdout), ..output });
    let verdict = verdict(&output, limit).map_err(Fault::from);
    let body = output.ok().map(|output| output.stdout).filter(|bytes| !bytes.is_empty());
    Came { verdict, citations: None, facts: Facts::default(), body, latency }
}

/// The named variables that are set.
fn environment(names: &[String], secrets: &Secrets) -> Vec<(String, String)> {
    let value = |name: &String| Some((name.clone(), secrets.get(name)?.expose_secret().to_owned()));
    names.iter().filter_map(value).collect()
}

fn verdict(output: &Result<Output, ProcessError>, limit: usize) -> Result<Answer, Reason> {
    let output = output.as_ref().map_err(|error| Reason::NoOutput(*error))?;
    if !output.succeeded() {
        return Err(Reason::ProgramFailed);
    }
    let text = std::str::from_utf8(unmarked(&output.stdout)).map_err(|_| Reason::NotUtf8)?;
    answer::from_either(text, limit)
}
