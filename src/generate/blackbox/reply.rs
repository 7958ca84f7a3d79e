//! A reply to an answer.

use super::cited::cited;
use super::{Reason, stream};
use crate::generate::answer;
use crate::generate::asked::{Came, Fault};
use crate::http::chat::{Facts, Reason as Common, Tokens, behind_thoughts, said_name};
use crate::http::fill::{self, Expect, words};
use crate::http::{CallError, Reply, Wish, begins_events, json, spare, unmarked};
use crate::model::Price;
use crate::spec::{HttpAnswerSpec, UsageSpec};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// What a call came to, but for its body and its latency.
pub fn read(
    spec: &HttpAnswerSpec,
    price: Option<Price>,
    came_back: &Result<Reply, CallError>,
    limit: usize,
    now: Timestamp,
) -> Came {
    let reply = match came_back {
        Ok(reply) => reply,
        Err(error) => return Came::nothing(Reason::Common(Common::NoReply(*error)).fault(Wish::NONE, None)),
    };
    // What is no success is no stream.
    let streamed = spec.stream.as_ref().filter(|_| Reason::of_status(reply.status).is_none());
    let (body, no_body) = match streamed.map(|spec| stream::document(spec, &reply.body)) {
        None => (json(&reply.body).ok(), None),
        Some(Ok(document)) => (Some(document), None),
        Some(Err(reason)) => (None, Some(reason)),
    };
    let facts = facts(spec, price, reply, body.as_ref(), now);
    let fault = |reason: Reason| {
        let said = spec.error.as_deref().and_then(|pointer| words(&reply.body, pointer));
        reason.fault(Wish::of(reply, now), said.as_deref())
    };
    let verdict = match no_body.or_else(|| refused(spec, reply.status, body.as_ref())) {
        Some(reason) => Err(fault(reason)),
        None => match text(spec, &reply.body, body.as_ref()) {
            Ok(text) => match behind_thoughts(&text) {
                Some(text) => answer::from_text(text, limit).map_err(Fault::from),
                None => Err(fault(Reason::Common(Common::ReasoningOnly))),
            },
            Err(reason) => Err(fault(reason)),
        },
    };
    let citations = spec.citations.as_ref().zip(body.as_ref()).and_then(|(spec, body)| cited(spec, body));
    Came { verdict, citations, facts, body: None, latency: Duration::ZERO }
}

/// Everything that a reply holds in pieces and that is, or may become, an answer: the pieces of a stream, whatever became of them,
/// and the parts of a list, each as one text in a line of its own.
pub fn pieces(spec: &HttpAnswerSpec, reply: &Reply) -> Option<String> {
    let parts =
        |body: &Value| fill::one(body, &spec.answer).filter(|found| found.is_array()).as_deref().and_then(joined);
    if Reason::of_status(reply.status).is_some() {
        return None;
    }
    let Some(stream) = &spec.stream else { return parts(&json(&reply.body).ok()?) };
    let listed = stream::document(stream, &reply.body).ok().as_ref().and_then(parts);
    Some([stream::pieces(stream, &reply.body), listed.unwrap_or_default()].join("\n"))
}

/// Why the status alone says that there is no answer. An error can say that it may pass.
fn refused(spec: &HttpAnswerSpec, status: u16, body: Option<&Value>) -> Option<Reason> {
    let reason = Reason::of_status(status)?;
    let may_pass = status >= 400 && body.is_some_and(|body| fill::says(&spec.retry, body));
    Some(if may_pass { Reason::Common(Common::ServerError) } else { reason })
}

/// The text of the answer in a success, unless it says that it is none.
fn text(spec: &HttpAnswerSpec, bytes: &[u8], body: Option<&Value>) -> Result<String, Reason> {
    let Some(body) = body else { return Err(unreadable(bytes)) };
    if !(Expect { ok: &spec.expect.ok, absent: &spec.expect.absent }).holds(body) {
        return Err(Reason::NotOk);
    }
    if fill::says(&spec.cut, body) {
        return Err(Reason::CutOff);
    }
    let found = fill::one(body, &spec.answer);
    found.as_deref().and_then(joined).ok_or_else(|| match body.get("error") {
        None | Some(Value::Null) => Reason::NoAnswer,
        Some(_) => Reason::Common(Common::ErrorInBody),
    })
}

fn unreadable(bytes: &[u8]) -> Reason {
    let Ok(text) = std::str::from_utf8(unmarked(bytes)) else { return Reason::Common(Common::NotUtf8) };
    Reason::Common(match text.trim_start() {
        "" => Common::EmptyBody,
        text if begins_events(text) => Common::EventStream,
        _ => Common::NotJson,
    })
}

/// A text, or the texts of a list of parts as one. Parts of other kinds have none.
fn joined(value: &Value) -> Option<String> {
    let part = |part: &Value| part.as_str().or_else(|| part["text"].as_str()).map(str::to_owned);
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(part).collect()),
        _ => None,
    }
}

fn facts(spec: &HttpAnswerSpec, price: Option<Price>, reply: &Reply, body: Option<&Value>, now: Timestamp) -> Facts {
    let name = |pointer: &Option<String>| said_name(fill::one(body?, pointer.as_deref()?)?.as_ref());
    let tokens = spec.usage.as_ref().zip(body).and_then(|(usage, body)| tokens(usage, body));
    let taken = tokens.map_or(0, |tokens| tokens.input.saturating_add(tokens.output));
    Facts {
        status: Some(reply.status),
        served_model: name(&spec.served_model),
        response_id: name(&spec.response_id),
        tokens,
        nano_usd: price.zip(tokens).map(|(price, tokens)| price.of(tokens.input, tokens.output)),
        hold: spare::hold(reply, taken, now),
        ..Facts::default()
    }
}

fn tokens(spec: &UsageSpec, body: &Value) -> Option<Tokens> {
    let count = |pointer: &str| fill::number(fill::one(body, pointer)?.as_ref())?.as_u64();
    Some(Tokens { input: count(&spec.input)?, output: count(&spec.output)?, cached: 0 })
}
