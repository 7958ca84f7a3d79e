//! `retrieve.embed`

use super::model::{base_address, rate_limit};
use super::retrieve::command;
use crate::model::Price;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::statement::{self, Piece};
use crate::spec::types::{EmbedBackend, EmbedServer, EmbedSpec, HttpRetrieveSpec, RetrieveBackend};

/// How a question becomes a vector.
pub fn embed(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<EmbedSpec> {
    let backend = match section.section("openai") {
        Some(server) => EmbedBackend::OpenAi(self::server(server, problems)?),
        None => EmbedBackend::Command(command(section.section("command")?)?),
    };
    Some(EmbedSpec { backend, prefix: section.text("prefix")?, check: section.word("check")? == "stop" })
}

fn server(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<EmbedServer> {
    let base_url = section.text("base_url");
    if let Some(url) = &base_url {
        base_address(url, section, problems);
    }
    Some(EmbedServer {
        model: section.text("model")?,
        base_url: base_url?.trim_end_matches('/').to_owned(),
        key_env: section.text("key_env"),
        dimensions: section.small("dimensions"),
        timeout_seconds: section.small("timeout_seconds")?,
        price: section.section("price").and_then(price),
        rate_limit: rate_limit(section),
    })
}

/// An embedder writes nothing that could cost.
fn price(section: Reader<'_>) -> Option<Price> {
    Some(Price { input: section.decimal("input")?.0, output: 0 })
}

/// Whether a vector is made where one is wanted, and nowhere else. A program takes one or does without.
pub fn fit(section: Reader<'_>, backend: &RetrieveBackend, problems: &mut Vec<Problem>) {
    let wanted = match backend {
        RetrieveBackend::Http(http) => takes_vector(http),
        RetrieveBackend::Sql(sql) => statement::pieces(&sql.query).is_ok_and(|pieces| pieces.contains(&SQL_VECTOR)),
        RetrieveBackend::Command(_) => section.node("embed").is_some(),
        RetrieveBackend::Bm25(_) | RetrieveBackend::File | RetrieveBackend::Within => false,
    };
    match (section.node("embed"), wanted) {
        (None, true) => {
            let message = "the request takes the question as a vector, and nothing makes one";
            let problem = Problem::new(Code::MissingKey, section.start(), message);
            problems
                .push(problem.help("add `embed: { openai: { model: ... } }` or `embed: { command: { argv: [...] } }`"));
        }
        (Some(node), false) => {
            let span = node.span.start..node.span.start;
            let problem = Problem::new(Code::Conflict, span, "`embed` makes a vector that no request takes");
            problems.push(problem.help("remove it, or choose a request whose body holds `\"{{vector}}\"`"));
        }
        _ => {}
    }
}

fn takes_vector(http: &HttpRetrieveSpec) -> bool {
    let request = &http.request;
    request.body.as_ref().is_some_and(holds_vector) || request.query.values().any(|value| value == VECTOR)
}

const SQL_VECTOR: Piece = Piece::Value(statement::Value::Vector);

const VECTOR: &str = "{{vector}}";

fn holds_vector(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::String(text) => text == VECTOR,
        Value::Array(items) => items.iter().any(holds_vector),
        Value::Object(members) => members.values().any(holds_vector),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
