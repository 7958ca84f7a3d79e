//! Every preset of a deployed system against replies after its vendor's own description: a success, one that names no
//! documents, successes that failed, and errors. The replies in `tests/fixtures/answers/` are written by hand.

use crate::generate::asked::{Came, Fault};
use crate::generate::blackbox::{Sent, Turn, read};
use crate::http::{Call, Reply};
use crate::model::{Cell, Digest, Question, QuestionId, SnapshotName};
use crate::spec::cases::{Case, cases};
use crate::spec::{self, BlackBoxBackend, BlackBoxSpec, GenerateBackend, HttpAnswerSpec};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const QUESTION: &str = "what \"is\" {{nonce}} <snapshot.flow> {flow}?\n\u{0}\\ $k }";

impl Case {
    /// The preset as it stands in a spec.
    fn system(&self) -> BlackBoxSpec {
        let base = self.fixture["base"].as_str().unwrap_or_default();
        let mut answer = json!({"preset": self.name, "base_url": format!("https://h.example{base}")});
        let members = answer.as_object_mut().unwrap();
        let key = self.fixture["key"].is_object();
        members.extend(key.then(|| ("key_env".to_owned(), "SYSTEM_KEY".into())));
        let with = self.own.get("with").cloned();
        members.extend(with.map(|with| ("with".to_owned(), with)));
        let text = json!({
            "version": 1, "name": "n", "questions": {"file": "q.jsonl"},
            "snapshots": {"old": self.get("variables"), "new": self.get("variables")},
            "answer": answer, "judge": {"embedded": {}},
        });
        let spec = spec::parse(&text.to_string(), "spec").unwrap_or_else(|errors| panic!("{}: {errors}", self.name));
        assert_eq!(spec::from_canonical(&spec.canonical()).as_ref(), Some(&spec), "{}", self.name);
        assert_eq!(spec.secret_names(), if key { vec!["SYSTEM_KEY"] } else { Vec::new() }, "{}", self.name);
        match spec.generate.backend {
            GenerateBackend::BlackBox(system) => *system,
            other => panic!("{other:?}"),
        }
    }

    fn http(&self) -> HttpAnswerSpec {
        match self.system().backend {
            BlackBoxBackend::Http(http) => *http,
            other @ BlackBoxBackend::Command(_) => panic!("{other:?}"),
        }
    }

    fn read(&self, reply: &Value) -> Came {
        read(&self.http(), None, &Ok(self::reply(reply)), 8_192, Timestamp::UNIX_EPOCH)
    }
}

/// The call for the same question, of this attempt.
fn call(case: &Case, number: u32, at_ms: u64) -> Call {
    let question =
        Question { id: QuestionId("q/1".to_owned()), text: QUESTION.to_owned(), tags: Vec::new(), cluster: None };
    let cell = Cell { question: question.id.clone(), snapshot: SnapshotName::old(), repeat: 1 };
    let (protocol, variables) = (Digest::of(b"p"), case.variables());
    let turn = Turn { protocol, question: &question, cell: &cell, variables: &variables, number, at_ms };
    match Sent::of(&case.system(), &turn).unwrap() {
        Sent::Call(made) => made,
        Sent::Input(_) => panic!("{}", case.name),
    }
}

fn body(call: &Call) -> Value {
    serde_json::from_slice(call.body.as_deref().unwrap()).unwrap()
}

/// The fixture's own placeholders with what the test asks.
fn filled(value: &Value, nonce: &str) -> Value {
    match value {
        Value::String(text) => match text.as_str() {
            "QUESTION" => QUESTION.into(),
            "NONCE" => nonce.into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, nonce)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), filled(value, nonce))).collect())
        }
        _ => value.clone(),
    }
}

fn reply(case: &Value) -> Reply {
    let body = case.get("text").and_then(Value::as_str).map_or_else(|| case["body"].to_string(), str::to_owned);
    let status = case.get("status").and_then(Value::as_u64).map_or(200, |status| u16::try_from(status).unwrap());
    Reply { status, headers: Vec::new(), body: body.into_bytes(), latency: Duration::ZERO }
}

/// A reply of the fixture: an object, or the text of a stream.
fn whole(value: &Value) -> Value {
    json!({ if value.is_string() { "text" } else { "body" }: value })
}

/// The texts of a value that are in the form of an id of ours.
fn nonces(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let dashes: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
            let ours = text.len() == 36 && dashes == [8, 13, 18, 23] && text[14..].starts_with('4');
            ours.then(|| text.clone()).into_iter().collect()
        }
        Value::Array(items) => items.iter().flat_map(nonces).collect(),
        Value::Object(members) => members.values().flat_map(nonces).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_built_in_preset_has_a_fixture() {
    let with: BTreeSet<String> = cases("answers").into_iter().map(|case| case.name).collect();
    let built_in: BTreeSet<String> = spec::answer_preset_names().map(str::to_owned).collect();
    assert_eq!(with, built_in);
}

#[test]
fn requests_are_those_of_the_descriptions_and_hold_no_key() {
    for case in cases("answers") {
        let (first, request, name) = (call(&case, 0, 7), &case.own["request"], &case.name);
        assert_eq!(json!(first.method), request["method"], "{name}");
        let url = reqwest::Url::parse(&first.url).unwrap();
        assert_eq!((url.host_str(), json!(url.path())), (Some("h.example"), request["path"].clone()), "{name}");
        let own: Vec<String> = nonces(&body(&first))
            .into_iter()
            .filter(|id| !case.variables().values().any(|value| value == id))
            .collect();
        let nonce = own.first().map_or("", String::as_str);
        assert_eq!(body(&first), filled(&request["body"], nonce), "{name}");
        let headers: BTreeMap<String, String> =
            case.http().secret_headers.into_iter().map(|(name, header)| (name, header.prefix)).collect();
        let expected: BTreeMap<String, String> =
            serde_json::from_value::<Option<_>>(case.fixture["key"].clone()).unwrap().unwrap_or_default();
        assert_eq!(headers, expected, "{name}");
    }
}

#[test]
fn every_attempt_has_an_id_of_its_own_that_can_be_computed_again() {
    for case in cases("answers").into_iter().filter(|case| case.own["request"].to_string().contains("NONCE")) {
        let seen: BTreeSet<String> = [(0, 7), (1, 7), (0, 8)]
            .into_iter()
            .flat_map(|(number, at)| nonces(&body(&call(&case, number, at))))
            .collect();
        let named = case.variables().values().filter(|value| seen.contains(*value)).count();
        assert_eq!(seen.len() - named, 3, "{}", case.name);
        assert_eq!(call(&case, 1, 7).digest(), call(&case, 1, 7).digest());
    }
}

#[test]
fn successes_are_answers_with_what_the_system_says_of_itself() {
    for case in cases("answers") {
        let (name, came) = (&case.name, case.read(&whole(case.get("success"))));
        let answer = came.verdict.unwrap_or_else(|fault| panic!("{name}: {}", fault.code()));
        assert_eq!(json!(answer.as_str()), *case.get("answer"), "{name}");
        let facts = case.get("facts");
        assert_eq!(json!(came.facts.served_model), facts["served_model"], "{name}");
        assert_eq!(json!(came.facts.response_id), facts["response_id"], "{name}");
        let tokens = came.facts.tokens.map(|tokens| [tokens.input, tokens.output]);
        assert_eq!(json!(tokens), facts["tokens"], "{name}");
        let cited: Vec<(String, Option<String>, Digest)> =
            came.citations.unwrap().into_iter().map(|one| (one.id, one.url, one.content)).collect();
        let expected: Vec<(String, Option<String>, String)> =
            serde_json::from_value(case.get("citations").clone()).unwrap();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(id, url, text)| {
                let content = Digest::of(text.as_bytes());
                (if id == "DIGEST" { content.to_string() } else { id }, url, content)
            })
            .collect();
        assert_eq!(cited, expected, "{name}");
        let uncited = case.read(&whole(case.get("uncited")));
        assert_eq!(json!(uncited.verdict.unwrap().as_str()), *case.get("answer"), "{name}");
        assert_eq!(uncited.citations, None, "{name}");
    }
}

#[test]
fn successes_that_failed_and_errors_are_never_answers() {
    for case in cases("answers") {
        let name = &case.name;
        assert!(!case.list("failed").is_empty() && !case.list("errors").is_empty(), "{name}");
        for bad in case.list("failed").iter().chain(case.list("errors")) {
            let fault = case.read(bad).verdict.err().unwrap_or_else(|| panic!("{name}: accepted {bad}"));
            assert_eq!(json!(fault.code()), bad["reason"], "{name}: {bad}");
            let said = match &fault {
                Fault::Fatal { failure, .. } => failure.message.split_once("says `").map(|(_, said)| said),
                Fault::Invalid { .. } => None,
            };
            let said = said.map(|said| said.trim_end_matches('`'));
            assert_eq!(json!(said), *bad.get("says").unwrap_or(&Value::Null), "{name}: {bad}");
        }
        let of_a_stream = if case.http().stream.is_some() { "stream-cut" } else { "event-stream" };
        for (broken, reason) in [("", "empty-body"), ("<html>", "not-json"), ("data: x", of_a_stream)] {
            let fault = case.read(&json!({ "text": broken })).verdict.unwrap_err();
            assert_eq!(fault.code(), reason, "{name}");
        }
        assert_eq!(case.read(&json!({ "status": 206, "body": {} })).verdict.unwrap_err().code(), "partial-reply");
    }
}

#[test]
fn an_answer_may_be_as_long_as_the_spec_says_and_no_longer() {
    let cases = cases("answers");
    let case = cases.iter().find(|case| case.name == "vectara").unwrap();
    let given = |length: usize| {
        let body = json!({ "summary": "x".repeat(length), "search_results": [] });
        case.read(&json!({ "body": body })).verdict.map_err(|fault| fault.code())
    };
    assert!(given(8_192).is_ok());
    assert_eq!(given(8_193), Err("answer-too-long"));
}

#[test]
fn the_stream_of_the_page_on_black_boxes_is_read_as_the_page_says() {
    let page = include_str!("../../../docs/black-box.md");
    let (_, section) = page.split_once("## Systems that answer as a stream").unwrap();
    let answer = section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let text = format!(
        "version: 1\nname: n\nquestions: {{ file: q.jsonl }}\nsnapshots: {{ old: {{ model: a }}, new: {{ model: b }} }}\n\
         {answer}judge: {{ embedded: {{}} }}\n"
    );
    let spec = spec::parse(&text, "spec").unwrap_or_else(|errors| panic!("{errors}"));
    let GenerateBackend::BlackBox(system) = spec.generate.backend else { panic!("no system") };
    let BlackBoxBackend::Http(http) = system.backend else { panic!("not over HTTP") };
    let chunk = |delta: Value, finish: Value| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        format!("data: {}\n\n", json!({ "id": "chatcmpl-1", "choices": choices }))
    };
    let said = chunk(json!({ "role": "assistant", "content": "" }), Value::Null)
        + &chunk(json!({ "content": "Version " }), Value::Null)
        + &chunk(json!({ "content": "92." }), Value::Null);
    let [stop, length, abort] = ["stop", "length", "abort"].map(|word| chunk(json!({}), json!(word)));
    let error = format!("data: {}\n\n", json!({ "error": { "message": "overloaded" } }));
    let done = "data: [DONE]\n\n";
    let came = |text: &str| {
        let reply = Reply { status: 200, headers: Vec::new(), body: text.into(), latency: Duration::ZERO };
        read(&http, None, &Ok(reply), 512, Timestamp::UNIX_EPOCH)
    };
    let good = came(&format!("{said}{stop}{done}"));
    assert_eq!(good.verdict.unwrap().as_str(), "Version 92.");
    assert_eq!(good.facts.response_id.as_deref(), Some("chatcmpl-1"));
    let thought = ["<think>", "hm"].map(|text| chunk(json!({ "content": text }), Value::Null)).concat();
    let ended = chunk(json!({ "content": "</think>" }), Value::Null);
    assert_eq!(came(&format!("{thought}{ended}{said}{stop}{done}")).verdict.unwrap().as_str(), "Version 92.");
    for (text, reason) in [
        (format!("{thought}{said}{stop}{done}"), "reasoning-only"),
        (format!("{thought}{ended}{stop}{done}"), "reasoning-only"),
        (format!("{said}{stop}"), "stream-cut"),
        (format!("{said}{length}{done}"), "cut-by-length"),
        (format!("{said}{abort}{done}"), "cut-by-length"),
        (format!("{said}{error}{done}"), "not-ok"),
        (format!("{stop}{done}"), "answer-empty"),
        (said.repeat(60) + done, "answer-too-long"),
    ] {
        assert_eq!(came(&text).verdict.unwrap_err().code(), reason, "{text}");
    }
}
