//! `retrieve.http`: requests to an engine, as a spec or a preset describes them.

use super::address;
use crate::spec::mask::quoted;
use crate::spec::node::{Entry, Kind, Node, Span};
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::{Reader, json};
use crate::spec::surface::{Section, Shape};
use crate::spec::types::{
    ExpectSpec, HttpMethod, HttpRetrieveSpec, ListSpec, PhysicalSpec, ProbeSpec, RequestSpec, SampleSpec, SecretHeader,
};
use std::collections::BTreeMap;

/// Parts of the names of headers and query parameters that carry keys, in lower case.
const SECRET_PARTS: &[&str] = &["auth", "key", "token", "secret", "password", "cookie", "credential", "signature"];
/// Placeholders of a search besides the snapshot's variables.
const OF_SEARCH: &[&str] = &["question", "question_hash", "top_k", "vector", "words", "escaped"];

/// A search engine over HTTP.
pub fn http(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<HttpRetrieveSpec> {
    plain_values(section, "headers", "header", problems);
    if let Some(node) = section.node("headers") {
        walk(node, &[], problems);
    }
    let request = request(section, OF_SEARCH, problems);
    let probes = probes(section, problems);
    let sample = section.section("sample").map(|section| sample(section, problems));
    Some(HttpRetrieveSpec {
        origin: section.text("origin"),
        request: request?,
        headers: section.text_map("headers")?,
        secret_headers: secret_headers(section)?,
        list: list(section, problems)?,
        id: section.text("id")?,
        text: section.text("text")?,
        url_pointer: section.text("url_pointer"),
        score: section.text("score"),
        expect: expect(section)?,
        error: section.text("error"),
        probes: probes?,
        sample: match sample {
            Some(sample) => Some(sample?),
            None => None,
        },
        timeout_seconds: section.small("timeout_seconds")?,
    })
}

/// The request of a section that holds `method`, `url`, `query` and `body`.
pub(super) fn request(section: Reader<'_>, known: &[&str], problems: &mut Vec<Problem>) -> Option<RequestSpec> {
    let url = section.text("url");
    if let Some(url) = &url {
        let span = section.span("url");
        if address::check(url, span.clone(), problems) {
            address::path_variables(url, &span, problems);
        }
    }
    plain_values(section, "query", "query parameter", problems);
    for node in ["body", "query"].iter().filter_map(|name| section.node(name)) {
        walk(node, known, problems);
    }
    let method = section.word("method")?;
    if method == "GET" && section.node("body").is_some() {
        let problem = Problem::new(Code::Conflict, section.span("body"), "a GET request has no body");
        problems.push(problem.help("write `method: POST`, or use `query`"));
    }
    Some(RequestSpec {
        method: if method == "GET" { HttpMethod::Get } else { HttpMethod::Post },
        url: url?,
        query: section.text_map("query")?,
        body: match section.node("body") {
            Some(node) => Some(json(node)?),
            None => None,
        },
    })
}

fn list(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<ListSpec> {
    let zip = section.text_map("zip")?;
    if let Some(node) = section.node("items").filter(|_| !zip.is_empty()) {
        let problem = Problem::new(Code::Conflict, node.span.clone(), "`items` stands beside `zip`");
        problems.push(problem.help("keep one of them: `zip` makes the items out of columns"));
    }
    let base64_json = section.node("decode").is_some();
    // Only searches have the key.
    let missing_is_empty = section.word("missing") == Some("empty");
    Some(ListSpec { items: section.text("items")?, zip, base64_json, missing_is_empty })
}

pub(super) fn expect(section: Reader<'_>) -> Option<ExpectSpec> {
    Some(ExpectSpec { ok: section.json_map("ok")?.into_iter().collect(), absent: section.texts("absent")? })
}

fn probes(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<Vec<ProbeSpec>> {
    let readers = probe_readers(section);
    let probes: Vec<Option<ProbeSpec>> = readers.into_iter().map(|reader| probe(reader, problems)).collect();
    probes.into_iter().collect()
}

fn probe_readers(section: Reader<'_>) -> Vec<Reader<'_>> {
    let Some(inner) = section_of_items(section) else { return Vec::new() };
    section.node("probes").map_or(&[][..], Node::items).iter().map(|node| Reader::new(node, inner)).collect()
}

fn section_of_items(section: Reader<'_>) -> Option<&'static Section> {
    match section.shape("probes") {
        Some(Shape::List { items: Shape::Map(inner), .. }) => Some(inner),
        _ => None,
    }
}

fn probe(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<ProbeSpec> {
    let request = request(section, &[], problems);
    let physical = section.section("physical").map(physical);
    Some(ProbeSpec {
        request: request?,
        expect: expect(section)?,
        optional: section.flag("optional")?,
        physical: match physical {
            Some(physical) => Some(physical?),
            None => None,
        },
        documents: section.text("documents"),
        state: section.texts("state")?,
    })
}

fn physical(section: Reader<'_>) -> Option<PhysicalSpec> {
    Some(PhysicalSpec {
        variable: section.text("variable")?,
        value: section.text("value")?,
        among: section.text("among"),
        named: section.text("named")?,
    })
}

fn sample(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<SampleSpec> {
    let request = request(section, &["top_k"], problems);
    Some(SampleSpec {
        request: request?,
        list: list(section, problems)?,
        expect: expect(section)?,
        text: section.text("text")?,
        vector: section.text("vector")?,
    })
}

/// Reports keys in headers and query parameters: what stands in a spec, a URL or a log is no secret any more.
pub(super) fn plain_values(section: Reader<'_>, place: &str, what: &str, problems: &mut Vec<Problem>) {
    let carries = |name: &str| SECRET_PARTS.iter().any(|part| name.to_ascii_lowercase().contains(part));
    let entries = section.node(place).map_or(&[][..], Node::entries).iter();
    for entry in entries.filter(|entry| carries(&entry.key)) {
        let message = format!("the {what} {} carries a key by its name, which must not stand here", quoted(&entry.key));
        let help = "name the key's environment variable: `secret_headers: { Authorization: { prefix: \"Bearer \", env: API_KEY } }`";
        problems.push(Problem::new(Code::Secret, entry.value.span.clone(), message).help(help).hidden());
    }
}

pub(super) fn secret_headers(section: Reader<'_>) -> Option<BTreeMap<String, SecretHeader>> {
    let Some(node) = section.node("secret_headers") else { return Some(BTreeMap::new()) };
    let Some(Shape::Free { values: Shape::Map(inner), .. }) = section.shape("secret_headers") else { return None };
    let read = |entry: &Entry| {
        let header = Reader::new(&entry.value, inner);
        Some((entry.key.clone(), SecretHeader { prefix: header.text("prefix")?, env: header.text("env")? }))
    };
    node.entries().iter().map(read).collect()
}

/// Reports placeholders that nothing fills.
pub(super) fn walk(node: &Node, known: &[&str], problems: &mut Vec<Problem>) {
    match &node.kind {
        Kind::Scalar(scalar) if scalar.text.contains("{{") => placeholder(&scalar.text, &node.span, known, problems),
        Kind::List(items) => items.iter().for_each(|item| walk(item, known, problems)),
        Kind::Map(entries) => entries.iter().for_each(|entry| walk(&entry.value, known, problems)),
        Kind::Scalar(_) | Kind::Refused => {}
    }
}

fn placeholder(text: &str, span: &Span, known: &[&str], problems: &mut Vec<Problem>) {
    let is_known = |name: &str| {
        let variable = name.strip_prefix("snapshot.").is_some_and(|rest| !rest.is_empty());
        known.contains(&name) || variable
    };
    let whole = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if whole.is_some_and(is_known) {
        return;
    }
    let message = format!("{} is not a placeholder that is filled", quoted(text));
    let names = known.iter().copied().chain(["snapshot.NAME"]);
    let listed = names.map(|name| format!("`{{{{{name}}}}}`")).collect::<Vec<_>>().join(", ");
    let help = format!("a text that is exactly {listed} is replaced as a whole");
    problems.push(Problem::new(Code::Placeholder, span.clone(), message).help(help));
}

/// Snapshot variables that the requests name, each with the place where it stands.
pub fn named_variables(section: Reader<'_>) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    if let Some(node) = section.node("headers") {
        collect(node, &mut names);
    }
    let sample = section.section("sample");
    for part in std::iter::once(section).chain(probe_readers(section)).chain(sample) {
        if let Some(url) = part.text("url") {
            let span = part.span("url");
            let in_path = address::path_variables(&url, &span, &mut Vec::new());
            names.extend(in_path.into_iter().map(|name| (name, span.clone())));
        }
        for node in ["body", "query"].iter().filter_map(|name| part.node(name)) {
            collect(node, &mut names);
        }
        if let Some((variable, physical)) = part.section("physical").and_then(|p| Some((p.text("variable")?, p))) {
            names.push((variable, physical.span("variable")));
        }
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
        Kind::Map(entries) => match entries.as_slice() {
            [entry] if entry.key == "$names" => in_names(&entry.value, names),
            _ => entries.iter().for_each(|entry| collect(&entry.value, names)),
        },
        Kind::Refused => {}
    }
}

/// Names in angle brackets.
fn in_names(node: &Node, names: &mut Vec<(String, Span)>) {
    let texts = std::iter::once(node).chain(node.items()).filter_map(|node| Some((node.scalar()?, node)));
    for (scalar, node) in texts {
        for part in scalar.text.split("<snapshot.").skip(1) {
            let name = part.split('>').next().unwrap_or_default();
            names.push((name.to_owned(), node.span.clone()));
        }
    }
}
