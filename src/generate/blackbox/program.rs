//! A deployed system that is asked by a program: JSON on standard input, the answer on standard output as
//! `{"answer": "...", "citations": [...]}` or plain text.

use super::Turn;
use super::cited::{Said, records};
use crate::generate::asked::Came;
use crate::generate::command;
use crate::http::Context;
use crate::http::chat::structured;
use crate::ledger::record::DocumentRecord;
use crate::spec::CommandSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the program reads.
#[derive(Serialize)]
struct Input<'a> {
    question: &'a str,
    snapshot: &'a BTreeMap<String, String>,
    nonce: &'a str,
}

/// What it may write beside the answer.
#[derive(Deserialize)]
struct Output {
    citations: Option<Vec<Citation>>,
}

#[derive(Deserialize)]
struct Citation {
    id: Option<String>,
    url: Option<String>,
    text: Option<String>,
}

/// The bytes that the program reads.
pub fn input(turn: &Turn<'_>, nonce: &str) -> Vec<u8> {
    let input = Input { question: &turn.question.text, snapshot: turn.variables, nonce };
    serde_json::to_vec(&input).unwrap_or_default()
}

/// Asks once.
pub async fn ask(spec: &CommandSpec, input: Vec<u8>, limit: usize, context: &Context) -> Came {
    let came = command::run_once(spec, input, limit, context).await;
    let citations = came.body.as_deref().and_then(cited);
    Came { citations, ..came }
}

fn cited(output: &[u8]) -> Option<Vec<DocumentRecord>> {
    let Output { citations } = structured(std::str::from_utf8(output).ok()?)?;
    Some(records(citations?.into_iter().map(|Citation { id, url, text }| Said { id, url, text })))
}
