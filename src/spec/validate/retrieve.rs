//! `retrieve`

use super::address;
use crate::spec::mask::quoted;
use crate::spec::node::{Kind, Node, Span};
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::{Reader, json};
use crate::spec::surface::Shape;
use crate::spec::types::{
    Bm25Spec, CommandSpec, HttpMethod, HttpRetrieveSpec, OnMismatch, RetrieveBackend, RetrieveSpec, SecretHeader,
};
use std::collections::BTreeMap;

/// Parts of the names of headers and query parameters that carry keys, in lower case.
const SECRET_PARTS: &[&str] = &["auth", "key", "token", "secret", "password", "cookie", "credential", "signature"];

/// How a question becomes evidence.
pub fn retrieve(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<RetrieveSpec> {
    let backend = backend(section, problems);
    Some(RetrieveSpec {
        backend: backend?,
        top_k: section.small("top_k")?,
        max_chars: section.small("max_chars")?,
        on_mismatch: match section.word("on_mismatch")? {
            "include" => OnMismatch::Include,
            _ => OnMismatch::Stop,
        },
        concurrency: section.small("concurrency")?,
    })
}

fn backend(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<RetrieveBackend> {
    if let Some(bm25) = section.section("bm25") {
        return Some(RetrieveBackend::Bm25(Bm25Spec { chunk_chars: bm25.small("chunk_chars") }));
    }
    if let Some(http) = section.section("http") {
        return self::http(http, problems).map(|http| RetrieveBackend::Http(Box::new(http)));
    }
    if let Some(command) = section.section("command") {
        return self::command(command).map(RetrieveBackend::Command);
    }
    section.section("file").map(|_| RetrieveBackend::File)
}

/// A program.
pub fn command(section: Reader<'_>) -> Option<CommandSpec> {
    Some(CommandSpec {
        argv: section.texts("argv").filter(|argv| !argv.is_empty())?,
        timeout_seconds: section.small("timeout_seconds")?,
        env: section.texts("env")?,
    })
}

fn http(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<HttpRetrieveSpec> {
    let url = section.text("url");
    if let Some(url) = &url {
        let span = section.span("url");
        if address::check(url, span.clone(), problems) {
            address::path_variables(url, &span, problems);
        }
    }
    plain_values(section, problems);
    placeholders(section, problems);
    let method = section.word("method")?;
    if method == "GET" && section.node("body").is_some() {
        let problem = Problem::new(Code::Conflict, section.span("body"), "a GET request has no body");
        problems.push(problem.help("write `method: POST`, or use `query`"));
    }
    Some(HttpRetrieveSpec {
        method: if method == "GET" { HttpMethod::Get } else { HttpMethod::Post },
        url: url?,
        headers: section.text_map("headers")?,
        secret_headers: secret_headers(section)?,
        body: match section.node("body") {
            Some(node) => Some(json(node)?),
            None => None,
        },
        query: section.text_map("query")?,
        items: section.text("items")?,
        id: section.text("id")?,
        text: section.text("text")?,
        url_pointer: section.text("url_pointer"),
        ok: section.json_map("ok")?.into_iter().collect(),
        timeout_seconds: section.small("timeout_seconds")?,
    })
}

/// Reports keys in `headers` and `query`: what stands in a spec, a URL or a log is no secret any more.
fn plain_values(section: Reader<'_>, problems: &mut Vec<Problem>) {
    let carries = |name: &str| SECRET_PARTS.iter().any(|part| name.to_ascii_lowercase().contains(part));
    for (place, what) in [("headers", "header"), ("query", "query parameter")] {
        let entries = section.node(place).map_or(&[][..], Node::entries).iter();
        for entry in entries.filter(|entry| carries(&entry.key)) {
            let message =
                format!("the {what} {} carries a key by its name, which must not stand here", quoted(&entry.key));
            let help = "name the key's environment variable: `secret_headers: { Authorization: { prefix: \"Bearer \", env: API_KEY } }`";
            problems.push(Problem::new(Code::Secret, entry.value.span.clone(), message).help(help).hidden());
        }
    }
}

fn secret_headers(section: Reader<'_>) -> Option<BTreeMap<String, SecretHeader>> {
    let Some(node) = section.node("secret_headers") else { return Some(BTreeMap::new()) };
    let Some(Shape::Free { values: Shape::Map(inner), .. }) = section.shape("secret_headers") else { return None };
    let read = |entry: &crate::spec::node::Entry| {
        let header = Reader::new(&entry.value, inner);
        Some((entry.key.clone(), SecretHeader { prefix: header.text("prefix")?, env: header.text("env")? }))
    };
    node.entries().iter().map(read).collect()
}

/// Reports placeholders of body and query that nothing fills.
fn placeholders(section: Reader<'_>, problems: &mut Vec<Problem>) {
    for name in ["body", "query"] {
        if let Some(node) = section.node(name) {
            walk(node, problems);
        }
    }
}

fn walk(node: &Node, problems: &mut Vec<Problem>) {
    match &node.kind {
        Kind::Scalar(scalar) if scalar.text.contains("{{") => placeholder(&scalar.text, &node.span, problems),
        Kind::List(items) => items.iter().for_each(|item| walk(item, problems)),
        Kind::Map(entries) => entries.iter().for_each(|entry| walk(&entry.value, problems)),
        Kind::Scalar(_) | Kind::Refused => {}
    }
}

fn placeholder(text: &str, span: &Span, problems: &mut Vec<Problem>) {
    let known = |name: &str| {
        let variable = name.strip_prefix("snapshot.").is_some_and(|rest| !rest.is_empty());
        matches!(name, "question" | "top_k") || variable
    };
    let whole = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if whole.is_some_and(known) {
        return;
    }
    let message = format!("{} is not a placeholder that is filled", quoted(text));
    let help = "a text that is exactly `{{question}}`, `{{top_k}}` or `{{snapshot.NAME}}` is replaced as a whole";
    problems.push(Problem::new(Code::Placeholder, span.clone(), message).help(help));
}

/// Snapshot variables that the request names, each with the place where it stands.
pub fn named_variables(section: Reader<'_>) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    if let Some(url) = section.text("url") {
        let span = section.span("url");
        let in_path = address::path_variables(&url, &span, &mut Vec::new());
        names.extend(in_path.into_iter().map(|name| (name, span.clone())));
    }
    for node in ["body", "query"].iter().filter_map(|name| section.node(name)) {
        collect(node, &mut names);
    }
    names
}

fn collect(node: &Node, names: &mut Vec<(String, Span)>) {
    match &node.kind {
        Kind::Scalar(scalar) => {
            let name = scalar.text.strip_prefix("{{snapshot.").and_then(|rest| rest.strip_suffix("}}"));
            names.extend(name.map(|name| (name.to_owned(), node.span.clone())));
        }
        Kind::List(items) => items.iter().for_each(|item| collect(item, names)),
        Kind::Map(entries) => entries.iter().for_each(|entry| collect(&entry.value, names)),
        Kind::Refused => {}
    }
}
