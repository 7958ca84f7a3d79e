//! A deployed system that retrieves and answers by itself, as validated.

use super::types::{CommandSpec, ExpectSpec, RequestSpec, SecretHeader};
use crate::model::{Price, RateLimit};
use serde_json::Value;
use std::collections::BTreeMap;

/// A black box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackBoxSpec {
    /// By what it is asked.
    pub backend: BlackBoxBackend,
    /// What its tokens cost, where it counts them.
    pub price: Option<Price>,
    /// How much it may be asked in a minute.
    pub rate_limit: RateLimit,
}

/// By what a black box is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlackBoxBackend {
    /// Over HTTP.
    Http(Box<HttpAnswerSpec>),
    /// By a program: JSON on standard input, JSON or plain text on standard output.
    Command(CommandSpec),
}

/// A request template and the pointers into its reply. Pointers are those of
/// [`HttpRetrieveSpec`](super::types::HttpRetrieveSpec).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswerSpec {
    /// What it was made from, where it was a preset: its name and the digest of its bytes.
    pub origin: Option<String>,
    /// What is asked.
    pub request: RequestSpec,
    /// Headers with plain values or `{{snapshot.NAME}}`.
    pub headers: BTreeMap<String, String>,
    /// Headers that carry a key, by name.
    pub secret_headers: BTreeMap<String, SecretHeader>,
    /// How a reply that is a stream of events becomes one document, where it is one.
    pub stream: Option<StreamSpec>,
    /// Pointer to the answer's text.
    pub answer: String,
    /// What must hold, or the reply is transport-invalid.
    pub expect: ExpectSpec,
    /// Pointers and the values by which a reply says that its answer is cut off.
    pub cut: BTreeMap<String, Value>,
    /// Pointers and the values by which an error says that it may pass.
    pub retry: BTreeMap<String, Value>,
    /// Pointer to what the system says of an error.
    pub error: Option<String>,
    /// Where a reply names documents.
    pub citations: Option<CitationsSpec>,
    /// Pointer to the served model.
    pub served_model: Option<String>,
    /// Pointer to the reply's id.
    pub response_id: Option<String>,
    /// Where tokens are counted.
    pub usage: Option<UsageSpec>,
    /// Time limit of one call, in seconds.
    pub timeout_seconds: u32,
}

/// How a stream of server-sent events is read. A kind of event is what `kind` points to in its data, else its name; data that are no
/// JSON are their own kind, and of that name's as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Pointer within an event's data to its kind.
    pub kind: Option<String>,
    /// Kinds whose data hold a piece of the answer, and where.
    pub text: BTreeMap<String, String>,
    /// Kinds whose data hold a text in the place of all pieces before, and where.
    pub replace: BTreeMap<String, String>,
    /// Kinds that end the answer.
    pub end: Vec<String>,
    /// Kinds that say that there is no answer.
    pub failed: Vec<String>,
}

/// Where a reply names the documents that its answer rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationsSpec {
    /// Pointer to the array of them.
    pub items: String,
    /// Pointer within one of them to its id.
    pub id: Option<String>,
    /// Pointer within one of them to its URL.
    pub url: Option<String>,
    /// Pointer within one of them to its text.
    pub text: Option<String>,
}

/// Where a reply counts tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSpec {
    /// Pointer to the tokens read.
    pub input: String,
    /// Pointer to the tokens written.
    pub output: String,
}
