//! `generate`

use super::address;
use super::retrieve::command;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::types::{GenerateBackend, GenerateSpec, OpenAiSpec, ReaderSpec, Structured, UnchangedEvidence};

/// Members of the request body that this program writes itself.
const OWN: &[&str] = &["model", "messages", "stream", "n", "response_format", "temperature", "max_tokens"];

/// How evidence becomes an answer.
pub fn generate(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<GenerateSpec> {
    let backend = backend(section, problems);
    Some(GenerateSpec {
        backend: backend?,
        repeats: section.small("repeats")?,
        max_answer_bytes: section.small("max_answer_bytes")?,
        prompt: section.text("prompt").map(Into::into),
        concurrency: section.small("concurrency")?,
        unchanged_evidence: match section.word("unchanged_evidence")? {
            "sample" => UnchangedEvidence::Sample,
            _ => UnchangedEvidence::Zero,
        },
        max_attempts: section.small("max_attempts")?,
    })
}

fn backend(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<GenerateBackend> {
    if let Some(server) = section.section("openai") {
        return openai(server, problems).map(GenerateBackend::OpenAi);
    }
    if let Some(program) = section.section("command") {
        return command(program).map(GenerateBackend::Command);
    }
    let reader = section.section("reader")?;
    let (temperature_milli, _) = reader.decimal("temperature")?;
    Some(GenerateBackend::Reader(ReaderSpec { temperature_milli, seed: reader.integer("seed")? }))
}

/// An OpenAI-compatible server.
pub fn openai(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<OpenAiSpec> {
    let base_url = section.text("base_url");
    if let Some(url) = &base_url {
        base_address(url, section, problems);
    }
    let extra = section.json_map("extra");
    for entry in section.node("extra").map_or(&[][..], crate::spec::node::Node::entries) {
        if OWN.contains(&entry.key.as_str()) {
            let message = format!("`{}` is written by this program itself", entry.key);
            let problem = Problem::new(Code::Conflict, entry.key_span.clone(), message);
            problems.push(problem.help("use the key of that name beside `extra` where there is one, else remove it"));
        }
    }
    Some(OpenAiSpec {
        model: section.text("model")?,
        base_url: base_url?.trim_end_matches('/').to_owned(),
        key_env: section.text("key_env"),
        temperature: match section.decimal("temperature") {
            Some((_, written)) => Some(serde_json::from_str(&written).ok()?),
            None => None,
        },
        max_tokens: section.small("max_tokens"),
        structured: match section.word("structured")? {
            "json_object" => Structured::JsonObject,
            "plain" => Structured::Plain,
            _ => Structured::JsonSchema,
        },
        timeout_seconds: section.small("timeout_seconds")?,
        extra: extra?,
    })
}

fn base_address(url: &str, section: Reader<'_>, problems: &mut Vec<Problem>) {
    let span = section.span("base_url");
    if address::check(url, span.clone(), problems) && url.contains(['{', '}']) {
        let problem = Problem::new(Code::Placeholder, span, "a base URL has no placeholders");
        problems.push(problem.help("write the whole URL"));
    }
}
