//! `answer`: a deployed system in the place of `retrieve` and `generate`.

use super::retrieve::{Retrieve, command};
use super::{http, model, preset};
use crate::spec::black_box::{BlackBoxBackend, BlackBoxSpec, CitationsSpec, HttpAnswerSpec, StreamSpec, UsageSpec};
use crate::spec::node::Span;
use crate::spec::preset::Presets;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::types::{GenerateBackend, GenerateSpec, RetrieveSpec, UnchangedEvidence};

/// Placeholders of a call besides the snapshot's variables.
const OF_CALL: &[&str] = &["question", "question_hash", "nonce"];

/// A system that retrieves, which is not seen, and answers.
pub fn answer(
    section: Reader<'_>,
    presets: &mut Presets<'_>,
    problems: &mut Vec<Problem>,
) -> Option<(Retrieve, GenerateSpec)> {
    if section.node("preset").is_none() {
        preset::alone(&preset::SYSTEM, section, problems);
        without_preset(section, problems);
    }
    let (backend, named) = backend(section, presets, problems)?;
    let fills_variables = matches!(backend, BlackBoxBackend::Http(_));
    let price = section.section("price").and_then(model::price);
    let system = BlackBoxSpec { backend, price, rate_limit: model::rate_limit(section) };
    let generate = GenerateSpec {
        backend: GenerateBackend::BlackBox(Box::new(system)),
        repeats: section.small("repeats")?,
        max_answer_bytes: section.small("max_answer_bytes")?,
        prompt: None,
        concurrency: section.small("concurrency")?,
        // What the system retrieves is not seen, so that no question is known to be unchanged.
        unchanged_evidence: UnchangedEvidence::Sample,
        max_attempts: section.small("max_attempts")?,
    };
    Some((Retrieve { spec: RetrieveSpec::within(), named, fills_variables }, generate))
}

fn without_preset(section: Reader<'_>, problems: &mut Vec<Problem>) {
    if section.node("timeout_seconds").is_some() {
        let message = "`timeout_seconds` stands beside a preset alone";
        let problem = Problem::new(Code::Conflict, section.span("timeout_seconds"), message);
        problems.push(problem.help("write it within `http` or `command`"));
    }
}

fn backend(
    section: Reader<'_>,
    presets: &mut Presets<'_>,
    problems: &mut Vec<Problem>,
) -> Option<(BlackBoxBackend, Vec<(String, Span)>)> {
    if section.node("preset").is_some() {
        let (mut spec, named) = preset::preset(&preset::SYSTEM, section, presets, problems)?;
        spec.timeout_seconds = section.small("timeout_seconds").unwrap_or(spec.timeout_seconds);
        return Some((BlackBoxBackend::Http(Box::new(spec)), named));
    }
    if let Some(section) = section.section("http") {
        let spec = http(section, problems)?;
        return Some((BlackBoxBackend::Http(Box::new(spec)), http::named_variables(section)));
    }
    Some((BlackBoxBackend::Command(command(section.section("command")?)?), Vec::new()))
}

/// A system over HTTP, as a spec or a preset describes it.
pub fn http(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<HttpAnswerSpec> {
    http::plain_values(section, "headers", "header", problems);
    if let Some(node) = section.node("headers") {
        http::walk(node, &[], problems);
    }
    let request = http::request(section, OF_CALL, problems);
    let citations = section.section("citations").and_then(|section| citations(section, problems));
    Some(HttpAnswerSpec {
        origin: section.text("origin"),
        request: request?,
        headers: section.text_map("headers")?,
        secret_headers: http::secret_headers(section)?,
        stream: section.section("stream").and_then(stream),
        answer: section.text("answer")?,
        expect: http::expect(section)?,
        cut: section.json_map("cut")?.into_iter().collect(),
        retry: section.json_map("retry")?.into_iter().collect(),
        error: section.text("error"),
        citations,
        served_model: section.text("served_model"),
        response_id: section.text("response_id"),
        usage: section.section("usage").and_then(usage),
        timeout_seconds: section.small("timeout_seconds")?,
    })
}

fn citations(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<CitationsSpec> {
    let spec = CitationsSpec {
        items: section.text("items")?,
        id: section.text("id"),
        url: section.text("url"),
        text: section.text("text"),
    };
    if spec.id.is_none() && spec.url.is_none() && spec.text.is_none() {
        let message = "`citations` says of no part of a document where it is";
        let problem = Problem::new(Code::MissingKey, section.start(), message);
        problems.push(problem.help("add `id`, `url` or `text`"));
    }
    Some(spec)
}

fn stream(section: Reader<'_>) -> Option<StreamSpec> {
    Some(StreamSpec {
        kind: section.text("kind"),
        text: section.text_map("text")?,
        replace: section.text_map("replace")?,
        end: section.texts("end")?,
        failed: section.texts("failed")?,
    })
}

fn usage(section: Reader<'_>) -> Option<UsageSpec> {
    Some(UsageSpec { input: section.text("input")?, output: section.text("output")? })
}
