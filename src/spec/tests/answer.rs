//! Specs of deployed systems, which retrieve by themselves.

use super::{codes, errors};
use crate::spec::{
    BlackBoxBackend, FileKey, GenerateBackend, HttpAnswerSpec, RetrieveSpec, Spec, UnchangedEvidence, differences,
    from_canonical, named_files, parse,
};

/// A whole spec with this section.
fn with(answer: &str) -> String {
    format!(
        "version: 1\nname: docs\nquestions: {{ file: q.jsonl }}\nsnapshots: {{ old: {{ assistant: docs_v41 }}, new: {{ assistant: docs_v42 }} }}\n\
         answer: {{ {answer} }}\njudge: {{ embedded: {{}} }}\n"
    )
}

const HTTP: &str = "http: { url: 'http://h/ask', body: { q: '{{question}}', s: '{{nonce}}', a: '{{snapshot.assistant}}' }, answer: /text }";

fn spec(answer: &str) -> Spec {
    parse(&with(answer), "s").unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn http(spec: &Spec) -> &HttpAnswerSpec {
    match &spec.generate.backend {
        GenerateBackend::BlackBox(system) => match &system.backend {
            BlackBoxBackend::Http(http) => http,
            BlackBoxBackend::Command(_) => panic!("a command"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_deployed_system_stands_in_the_place_of_retrieval_and_generation() {
    let spec = spec(HTTP);
    assert_eq!(spec.retrieve, RetrieveSpec::within());
    assert_eq!((spec.generate.repeats, spec.generate.max_answer_bytes), (2, 8_192));
    assert_eq!(spec.generate.unchanged_evidence, UnchangedEvidence::Sample);
    let canonical = spec.canonical();
    assert!(canonical.get("retrieve").is_none() && canonical.get("generate").is_none(), "{canonical}");
    assert_eq!(from_canonical(&canonical), Some(spec));
}

#[test]
fn everything_that_a_system_can_be_told_survives_freezing() {
    let all = "http: { url: 'https://h/{assistant}', headers: { X-A: b }, secret_headers: { Authorization: { prefix: 'Bearer ', env: K } }, \
               query: { q: '{{question}}' }, method: GET, answer: /t, ok: { /c: 0 }, absent: [/error], cut: { /f: length }, retry: { /c: [busy, later] }, \
               error: /m, citations: { items: /s, id: /i, url: /u, text: /x }, served_model: /model, response_id: /id, \
               usage: { input: /a, output: /b }, timeout_seconds: 7 }, repeats: 3, max_answer_bytes: 99";
    let spec = spec(all);
    assert_eq!((http(&spec).timeout_seconds, spec.secret_names()), (7, vec!["K"]));
    let again = from_canonical(&spec.canonical()).unwrap();
    assert_eq!(http(&again), &HttpAnswerSpec { timeout_seconds: 120, ..http(&spec).clone() });
    assert_eq!((again.generate.repeats, again.generate.max_answer_bytes), (3, 99));
}

#[test]
fn a_program_may_ask_the_system() {
    let spec = spec("command: { argv: [ask.py], env: [K] }");
    assert_eq!(spec.passed_names(), ["K"]);
    assert_eq!(from_canonical(&spec.canonical()), Some(spec));
}

#[test]
fn it_stands_alone() {
    assert_eq!(codes(&format!("{}retrieve: {{ bm25: {{}} }}\n", with(HTTP))), ["conflict"]);
    assert_eq!(codes(&format!("{}generate: {{ reader: {{}} }}\n", with(HTTP))), ["conflict"]);
    let neither = with(HTTP).replace("answer:", "notes:");
    assert_eq!(codes(&neither), ["missing-key", "missing-key", "unknown-key"]);
    assert_eq!(codes(&with(&format!("{HTTP}, command: {{ argv: [a] }}"))), ["conflict"]);
    assert_eq!(codes(&with("repeats: 2")), ["missing-key"]);
}

#[test]
fn snapshots_are_variables_that_the_request_uses() {
    let closed = with(HTTP).replace("docs_v42 }", "docs_v42 }, closed_book: true");
    assert_eq!(codes(&closed), ["conflict"]);
    let folders =
        with(HTTP).replace("{ assistant: docs_v41 }", "{ path: a }").replace("{ assistant: docs_v42 }", "{ path: b }");
    assert!(codes(&folders).contains(&"conflict"), "{:?}", codes(&folders));
    assert_eq!(codes(&with(&HTTP.replace(", a: '{{snapshot.assistant}}'", ""))), ["placeholder"]);
    assert!(codes(&with(&HTTP.replace("snapshot.assistant", "snapshot.other"))).contains(&"placeholder"));
    assert_eq!(codes(&with(&HTTP.replace("{{nonce}}", "{{top_k}}"))), ["placeholder"]);
}

#[test]
fn keys_never_stand_in_it_and_money_needs_a_price() {
    let key = HTTP.replace("answer: /text", "answer: /text, headers: { X-Api-Key: sk-abcdefgh }");
    let said = errors(&with(&key)).to_string();
    assert!(!said.contains("abcdefgh"), "{said}");
    let budget = "budget: { usd: 1 }\n";
    assert_eq!(codes(&format!("{}{budget}", with(HTTP))), ["missing-key"]);
    let priced = with(&format!("{HTTP}, price: {{ input: 1, output: 2 }}"));
    assert!(parse(&format!("{priced}{budget}"), "s").is_ok());
}

#[test]
fn presets_stand_where_they_belong() {
    let good = spec("preset: langgraph, base_url: 'https://h', key_env: K, timeout_seconds: 300");
    assert_eq!(http(&good).timeout_seconds, 300);
    assert!(http(&good).citations.is_none() && http(&good).origin.is_some());
    let said = errors(&with("preset: qdrant, base_url: 'https://h'")).to_string();
    assert!(said.contains("belongs to `retrieve`"), "{said}");
    let said = errors(&with("preset: langgraf, base_url: 'https://h'")).to_string();
    assert!(said.contains("did you mean `langgraph`"), "{said}");
    assert_eq!(codes(&with(&format!("{HTTP}, base_url: 'https://h'"))), ["conflict"]);
    assert_eq!(codes(&with(&format!("{HTTP}, timeout_seconds: 9"))), ["conflict"]);
    assert_eq!(named_files(&with("preset: presets/ours.yaml"))[0], (FileKey::Preset, "presets/ours.yaml".into()));
}

#[test]
fn a_change_of_it_is_told_under_its_name() {
    let other = spec(&format!("{HTTP}, max_answer_bytes: 9000"));
    let told: Vec<String> = differences(&spec(HTTP), &other).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["answer.max_answer_bytes: 8192 → 9000"]);
    let paced = spec(&format!("{HTTP}, concurrency: 2"));
    let told: Vec<String> = differences(&spec(HTTP), &paced).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["answer"]);
}
