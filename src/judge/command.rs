//! A program as judge: the part as one JSON document on standard input, the labels as one on standard output.

use super::backend::{Heard, Judged};
use super::packet::Packet;
use super::parts::Part;
use super::{prompt, reply};
use crate::http::chat::Facts;
use crate::http::{Context, Wish};
use crate::model::{Digest, Failure, FailureClass};
use crate::process::{self, Output, ProcessError};
use crate::spec::CommandSpec;
use secrecy::ExposeSecret as _;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The most bytes that are read of a program's output.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// The program.
#[derive(Clone, Debug)]
pub struct CommandJudge {
    spec: CommandSpec,
    /// Whose program it is, in messages.
    whose: &'static str,
}

impl CommandJudge {
    /// A judge by the spec.
    ///
    /// # Errors
    /// A variable that it wants passed on is not set.
    pub fn new(spec: &CommandSpec, whose: &'static str, context: &Context) -> Result<Self, Failure> {
        match spec.env.iter().find(|name| context.secrets.get(name).is_none()) {
            Some(name) => Err(not_set(name, whose)),
            None => Ok(Self { spec: spec.clone(), whose }),
        }
    }

    /// The digest of what is written to the program.
    #[must_use]
    pub fn request(packet: &Packet, part: &Part) -> Digest {
        Digest::of(&input(packet, part))
    }

    /// Asks once. A call that is under way is finished even where the audit is cancelled: its labels are kept.
    pub async fn ask(&self, packet: &Packet, part: &Part, context: &Context) -> Judged {
        let timeout = Duration::from_secs(u64::from(self.spec.timeout_seconds));
        let started = Instant::now();
        let input = input(packet, part);
        let env = self.env(context);
        let never = CancellationToken::new();
        let output = process::run(&self.spec.argv, input, &env, timeout, MAX_OUTPUT_BYTES, &never).await;
        let latency = started.elapsed();
        let verdict = verdict(&output, part, self.whose);
        let body = output.ok().map(|output| context.secrets.redact(output.stdout));
        Judged { verdict, facts: Facts::default(), body, latency }
    }

    fn env(&self, context: &Context) -> Vec<(String, String)> {
        let value =
            |name: &String| context.secrets.get(name).map(|secret| (name.clone(), secret.expose_secret().to_owned()));
        self.spec.env.iter().filter_map(value).collect()
    }
}

fn input(packet: &Packet, part: &Part) -> Vec<u8> {
    prompt::document(packet, part).to_string().into_bytes()
}

fn verdict(output: &Result<Output, ProcessError>, part: &Part, whose: &str) -> Heard {
    let invalid = |reason| Heard::Invalid { reason, wish: Wish::NONE };
    let output = match output {
        Ok(output) if output.succeeded() => output,
        Ok(_) => return invalid("program-failed"),
        Err(error @ ProcessError::Start) => return Heard::Fatal { reason: error.code(), failure: cannot_start(whose) },
        Err(error) => return invalid(error.code()),
    };
    let Ok(text) = std::str::from_utf8(&output.stdout) else { return invalid("not-utf8") };
    match reply::read(text, part) {
        Ok(judgment) => Heard::Accepted(judgment),
        Err(unread) => invalid(unread.code()),
    }
}

fn cannot_start(whose: &str) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("the {whose}'s program could not be started"))
        .with_hint(format!("check `command.argv` of the {whose} in the spec: its first entry is a program on the path"))
}

fn not_set(name: &str, whose: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{name}` is not set"))
        .with_hint(format!("`command.env` of the {whose} in the spec passes it on to its program"))
}
