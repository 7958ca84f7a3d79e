//! Answers from a deployed system that retrieves by itself: over HTTP as the spec describes it, or by a program.
//!
//! Of all backends this one alone is told a snapshot's variables: they say which system is asked. What it retrieves is not
//! seen; documents that a reply names are recorded by id, URL and digest; their overlap is told, and no verdict depends on it.

mod cited;
mod nonce;
mod program;
mod reason;
mod reply;
mod stream;

pub use reason::Reason;
#[cfg(test)]
pub use reply::read;

use super::asked::Came;
use crate::http::fill::{self, Filling, Template, TemplateError};
use crate::http::{Call, Context, Secrets, Wish};
use crate::model::{Cell, Digest, Failure, FailureClass, Question};
use crate::spec::{BlackBoxBackend, BlackBoxSpec, HttpAnswerSpec};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Characters of a question's digest that stand for it in requests.
const HASH: usize = 16;

/// One attempt at one cell, as its request is made of it.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The protocol's digest.
    pub protocol: Digest,
    /// The question.
    pub question: &'a Question,
    /// The cell.
    pub cell: &'a Cell,
    /// The snapshot's variables.
    pub variables: &'a BTreeMap<String, String>,
    /// How many attempts at this cell were recorded before.
    pub number: u32,
    /// When the attempt is recorded, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

/// What is sent, without keys.
#[derive(Clone, Debug)]
pub enum Sent {
    /// A call.
    Call(Call),
    /// What a program reads.
    Input(Vec<u8>),
}

impl Sent {
    /// What an attempt sends.
    ///
    /// # Errors
    /// The template names what there is not.
    pub fn of(spec: &BlackBoxSpec, turn: &Turn<'_>) -> Result<Self, Failure> {
        let nonce = nonce::nonce(turn);
        Ok(match &spec.backend {
            BlackBoxBackend::Http(spec) => Self::Call(call(spec, turn, &nonce)?),
            BlackBoxBackend::Command(_) => Self::Input(program::input(turn, &nonce)),
        })
    }

    /// The digest that the ledger names it by.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Call(call) => call.digest(),
            Self::Input(input) => Digest::of(input),
        }
    }
}

fn call(spec: &HttpAnswerSpec, turn: &Turn<'_>, nonce: &str) -> Result<Call, Failure> {
    let hash = Digest::of(turn.question.id.0.as_bytes()).to_string();
    let filling = Filling {
        question: &turn.question.text,
        question_hash: hash.get(..HASH).unwrap_or(&hash),
        nonce: Some(nonce),
        top_k: 0,
        vector: None,
        variables: turn.variables,
    };
    let template = Template {
        method: spec.request.method.as_str(),
        url: &spec.request.url,
        query: &spec.request.query,
        body: spec.request.body.as_ref(),
        headers: &spec.headers,
        timeout: Duration::from_secs(u64::from(spec.timeout_seconds)),
    };
    template.call(&filling).map_err(|problem| in_template(&problem))
}

fn in_template(problem: &TemplateError) -> Failure {
    Failure::new(FailureClass::Usage, format!("failed to fill the audited system's request: {problem}"))
        .with_hint("placeholders are `{{question}}`, `{{nonce}}` and `{{snapshot.NAME}}`, and `{NAME}` in the URL")
}

/// The system and its keys.
#[derive(Debug)]
pub struct BlackBox {
    spec: BlackBoxSpec,
    secrets: Secrets,
}

impl BlackBox {
    /// The system of this spec.
    ///
    /// # Errors
    /// A variable that should hold a key is not set.
    pub fn new(spec: &BlackBoxSpec, secrets: &Secrets) -> Result<Self, Failure> {
        let mut own = Secrets::default();
        if let BlackBoxBackend::Http(http) = &spec.backend {
            for header in http.secret_headers.values() {
                own.insert(&header.env, secrets.get(&header.env).ok_or_else(|| not_set(&header.env))?.clone());
            }
        }
        Ok(Self { spec: spec.clone(), secrets: own })
    }

    /// The spec.
    #[must_use]
    pub const fn spec(&self) -> &BlackBoxSpec {
        &self.spec
    }

    /// Asks once.
    pub async fn ask(&self, sent: &Sent, limit: usize, context: &Context) -> Came {
        match (&self.spec.backend, sent) {
            (BlackBoxBackend::Http(spec), Sent::Call(call)) => self.call(spec, call.clone(), limit, context).await,
            (BlackBoxBackend::Command(spec), Sent::Input(input)) => {
                program::ask(spec, input.clone(), limit, context).await
            }
            // `Sent::of` follows the same spec.
            _ => Came::nothing(Reason::RequestRefused.fault(Wish::NONE, None)),
        }
    }

    async fn call(&self, spec: &HttpAnswerSpec, mut call: Call, limit: usize, context: &Context) -> Came {
        let key = |header: &crate::spec::SecretHeader| self.secrets.get(&header.env);
        let keyed = spec.secret_headers.iter().filter_map(|(name, header)| Some((name, header, key(header)?)));
        call.headers.extend(keyed.map(|(name, header, key)| fill::keyed(name, &header.prefix, key)));
        let started = Instant::now();
        let came_back = context.send_for_answer(&call, |reply| reply::pieces(spec, reply)).await;
        let latency = started.elapsed();
        let read = reply::read(spec, self.spec.price, &came_back, limit, Timestamp::now());
        let body = came_back.ok().map(|reply| reply.body).filter(|body| !body.is_empty());
        Came { body, latency, ..read }
    }
}

fn not_set(variable: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{variable}` is not set"))
        .with_hint("it holds the key that the audited system is sent")
}
