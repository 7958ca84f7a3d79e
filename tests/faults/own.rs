//! A generator and a judge of ours, written for the test: every fault is theirs.

use super::shares::{Drawn, Fault, Faults};
use super::{HANG, wait_header};
use crate::harness::raw::{RawServer, Reply, Request};
use anyhow::{Context as _, Result};
use churngate::model::Digest;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Starts a server that says what `text` makes of a request, where it does not fail.
pub fn start(faults: Arc<Faults>, text: fn(&Request, usize) -> Result<String>) -> Result<RawServer> {
    RawServer::start(move |request| {
        let drawn = faults.draw(&request.body);
        let turn = if let Drawn::Answered(turn) = drawn { turn } else { 0 };
        // What the test cannot read is shown as what no audit survives.
        let text = text(request, turn).unwrap_or_else(|error| format!("{error:#}"));
        let sound = completion(request.number, &text);
        match drawn {
            Drawn::Answered(_) => Reply::Full(200, Vec::new(), sound),
            Drawn::Fails(fault) => failing(fault, &sound),
        }
    })
}

fn completion(number: usize, text: &str) -> Vec<u8> {
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } });
    // Long enough to be taken for unique: an id that came twice would void the audit.
    json!({ "id": format!("chatcmpl-{number:032}"), "model": "m-1", "choices": [choice] }).to_string().into_bytes()
}

fn failing(fault: Fault, sound: &[u8]) -> Reply {
    let half = || sound[..sound.len() / 2].to_vec();
    match fault {
        Fault::Busy | Fault::BusyForLong => {
            let body = json!({ "error": { "message": "slow down", "code": "rate_limit_exceeded" } });
            Reply::Full(429, wait_header(fault), body.to_string().into_bytes())
        }
        Fault::Broken => Reply::json(500, &json!({ "error": { "message": "broken" } })),
        Fault::Hang => Reply::Hang(HANG),
        Fault::Cut => cut(sound),
        Fault::HalfJson => Reply::Full(200, Vec::new(), half()),
        Fault::Empty => Reply::Full(200, Vec::new(), Vec::new()),
    }
}

/// A reply that ends in the middle of its body.
pub fn cut(body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    Reply::Cut([head.as_bytes(), &body[..body.len() / 2]].concat())
}

fn prompt(request: &Request) -> Result<&str> {
    request.body.pointer("/messages/1/content").and_then(Value::as_str).context("no prompt")
}

/// One of four answers, by the prompt; to every tenth prompt the second answer is another one.
pub fn answer(request: &Request, turn: usize) -> Result<String> {
    let digest = Digest::of(prompt(request)?.as_bytes());
    let (one, other) = (digest.as_bytes()[0], digest.as_bytes()[1].is_multiple_of(10) && turn % 2 == 1);
    Ok(json!({ "answer": ((one + u8::from(other)) % 4).to_string() }).to_string())
}

/// Even numbers mean the same, and so do odd ones.
pub fn labels(request: &Request, _turn: usize) -> Result<String> {
    let mut parity = Map::new();
    for line in prompt(request)?.lines().filter(|line| line.starts_with("{\"label\"")) {
        let line: Value = serde_json::from_str(line)?;
        let number = line["answer"].as_str().and_then(|text| text.chars().last()).and_then(|last| last.to_digit(10));
        parity.insert(line["label"].as_str().context("no label")?.to_owned(), json!(number.context("no number")? % 2));
    }
    let wanted = request.body.pointer("/response_format/json_schema/schema/required").and_then(Value::as_array);
    let label = |pair: &Value| -> Result<(String, Value)> {
        let name = pair.as_str().context("no pair")?;
        let (one, other) = name.split_once('-').context("no pair")?;
        let same = parity.get(one).context("no answer")? == parity.get(other).context("no answer")?;
        Ok((name.to_owned(), json!(if same { "same" } else { "different" })))
    };
    let labels: Map<String, Value> = wanted.context("no pairs")?.iter().map(label).collect::<Result<_>>()?;
    Ok(Value::Object(labels).to_string())
}
