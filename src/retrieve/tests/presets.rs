//! Every preset against replies after its engine's own description: a success, an empty one, successes that failed, and
//! errors. The replies in `tests/fixtures/presets/` are written by hand.

use crate::http::{Call, HeaderText, Reply};
use crate::model::{Evidence, Question, QuestionId, SnapshotName};
use crate::retrieve::engine::{Engine, Identity, identify, judged, ranked};
use crate::retrieve::remote::Judged;
use crate::spec::cases::{Case, cases};
use crate::spec::{self, HttpRetrieveSpec, RetrieveBackend};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const QUESTION: &str = "what \"is\" {{top_k}} <snapshot.index> {index}?\n\u{0}\\ $k }";
/// The same with the signs of a simple query syntax escaped.
const ESCAPED: &str = "what \\\"is\\\" {{top_k}} <snapshot.index> {index}?\n\u{0}\\\\ $k }";
const VECTOR: [f64; 3] = [0.25, -1.0, 1e-7];
const TOP_K: u32 = 3;

impl Case {
    /// The preset as it stands in a spec against this server.
    pub(super) fn spec(&self, base_url: &str) -> HttpRetrieveSpec {
        let text = |with_vector: bool| {
            let embed = if with_vector { json!({"command": {"argv": ["embed"]}}) } else { Value::Null };
            let mut retrieve =
                json!({"preset": self.name, "base_url": base_url, "key_env": "ENGINE_KEY", "embed": embed});
            let members = retrieve.as_object_mut().unwrap();
            members.retain(|_, value| !value.is_null());
            if self.get("with").is_object() {
                members.insert("with".to_owned(), self.get("with").clone());
            }
            json!({
                "version": 1, "name": "n", "questions": {"file": "q.jsonl"},
                "snapshots": {"old": self.get("variables"), "new": self.get("variables")},
                "retrieve": retrieve, "generate": {"reader": {}}, "judge": {"embedded": {}},
            })
            .to_string()
        };
        let takes_vector = self.own["request"].to_string().contains("\"VECTOR\"");
        let spec = spec::parse(&text(takes_vector), "spec").unwrap_or_else(|errors| panic!("{}: {errors}", self.name));
        assert!(spec::parse(&text(!takes_vector), "spec").is_err(), "{}: a vector where none is taken", self.name);
        assert_eq!(spec::from_canonical(&spec.canonical()).as_ref().map(|again| &again.retrieve), Some(&spec.retrieve));
        assert_eq!(spec.secret_names(), ["ENGINE_KEY"]);
        match spec.retrieve.backend {
            RetrieveBackend::Http(http) => *http,
            other => panic!("{other:?}"),
        }
    }
}

fn engine(spec: &HttpRetrieveSpec) -> Engine<'_> {
    Engine { spec, top_k: TOP_K, max_chars: 200 }
}

fn question() -> Question {
    Question { id: QuestionId("q/1".to_owned()), text: QUESTION.to_owned(), tags: Vec::new(), cluster: None }
}

fn secrets() -> crate::http::Secrets {
    let mut secrets = crate::http::Secrets::default();
    secrets.insert("ENGINE_KEY", "sesame-open".to_owned().into());
    secrets
}

/// The fixture's own placeholders with what the test asks.
fn filled(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.as_str() {
            "QUESTION" => QUESTION.into(),
            "ESCAPED" => ESCAPED.into(),
            "WORDS" => crate::http::fill::any_of(QUESTION).into(),
            "VECTOR" => json!(VECTOR),
            "TOP_K" => TOP_K.into(),
            "HASH" => crate::model::Digest::of(b"q/1").to_string()[..16].into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(filled).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), filled(value))).collect())
        }
        _ => value.clone(),
    }
}

fn reply(case: &Value) -> Reply {
    let body = case.get("text").and_then(Value::as_str).map_or_else(|| case["body"].to_string(), str::to_owned);
    let status = case.get("status").and_then(Value::as_u64).map_or(200, |status| u16::try_from(status).unwrap());
    Reply { status, headers: Vec::new(), body: body.into_bytes(), latency: Duration::ZERO }
}

fn good(body: &Value) -> Reply {
    reply(&json!({ "body": body }))
}

#[test]
fn every_built_in_preset_has_a_fixture() {
    let with: BTreeSet<String> = cases("presets").into_iter().map(|case| case.name).collect();
    let built_in: BTreeSet<String> = spec::preset_names().map(str::to_owned).collect();
    assert_eq!(with, built_in);
}

fn header<'a>(call: &'a Call, name: &str) -> Option<&'a HeaderText> {
    call.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

#[test]
fn requests_are_those_of_the_engines_descriptions() {
    for case in cases("presets") {
        let spec = case.spec("https://h.example");
        let call = engine(&spec).call(&question(), Some(&VECTOR), &case.variables(), &secrets()).unwrap();
        let (request, name) = (&case.own["request"], &case.name);
        assert_eq!(json!(call.method), request["method"], "{name}");
        let url = reqwest::Url::parse(&call.url).unwrap();
        assert_eq!((url.host_str(), json!(url.path())), (Some("h.example"), request["path"].clone()), "{name}");
        let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let expected = filled(request.get("query").unwrap_or(&json!({})));
        let expected: BTreeMap<String, String> = serde_json::from_value(expected).unwrap();
        assert_eq!(query, expected, "{name}");
        let body: Value = call.body.as_deref().map_or(Value::Null, |body| serde_json::from_slice(body).unwrap());
        assert_eq!(body, filled(request.get("body").unwrap_or(&Value::Null)), "{name}");
        for (header_name, value) in request["headers"].as_object().into_iter().flatten() {
            let found = header(&call, header_name);
            assert!(matches!(found, Some(HeaderText::Plain(text)) if text.as_str() == value), "{name}: {header_name}");
        }
        for (header_name, prefix) in case.fixture["key"].as_object().unwrap() {
            use secrecy::ExposeSecret;
            let Some(HeaderText::Secret(key)) = header(&call, header_name) else { panic!("{name}: {header_name}") };
            assert_eq!(key.expose_secret(), format!("{}sesame-open", prefix.as_str().unwrap()), "{name}");
        }
        assert!(!call.url.contains("sesame"), "{name}");
    }
}

#[test]
fn successes_are_evidence_with_their_scores_and_templates_in_documents_stay_text() {
    for case in cases("presets") {
        let (spec, name) = (case.spec("http://h"), &case.name);
        let read = |body: &Value| match engine(&spec).judge(&good(body)) {
            Judged::Accepted(evidence) => evidence,
            Judged::Invalid { reason, .. } | Judged::Fatal { reason, .. } => panic!("{name}: {reason}"),
        };
        let triple = |(id, url, text): (String, Option<String>, String)| crate::model::Document { id, url, text };
        let expected: Vec<(String, Option<String>, String)> =
            serde_json::from_value(case.get("documents").clone()).unwrap();
        let documents = expected.into_iter().map(triple).collect();
        assert_eq!(read(case.get("success")), Evidence { documents }, "{name}");
        assert_eq!(read(case.get("empty")), Evidence::default(), "{name}");
        let scores = ranked(&spec, case.get("success").to_string().as_bytes(), TOP_K);
        let scores: Vec<Option<f64>> = scores.into_iter().map(|(_, score)| score).collect();
        assert_eq!(json!(scores), *case.get("scores"), "{name}");
    }
}

#[test]
fn successes_that_failed_and_errors_are_never_evidence() {
    for case in cases("presets") {
        let (spec, name) = (case.spec("http://h"), &case.name);
        assert!(!case.list("failed").is_empty() && !case.list("errors").is_empty(), "{name}");
        for bad in case.list("failed").iter().chain(case.list("errors")) {
            let (reason, said) = match engine(&spec).judge(&reply(bad)) {
                Judged::Accepted(_) => panic!("{name}: accepted {bad}"),
                Judged::Invalid { reason, said, .. } => (reason, said),
                Judged::Fatal { reason, failure } => {
                    let said =
                        failure.message.split_once("says `").map(|(_, said)| said.trim_end_matches('`').to_owned());
                    (reason, said)
                }
            };
            assert_eq!(json!(reason), bad["reason"], "{name}: {bad}");
            assert_eq!(json!(said), *bad.get("says").unwrap_or(&Value::Null), "{name}: {bad}");
        }
        for broken in ["", "<html>", "null", "[]x"] {
            let broken = Reply { body: broken.as_bytes().to_vec(), ..good(&Value::Null) };
            assert!(matches!(engine(&spec).judge(&broken), Judged::Invalid { .. }), "{name}");
        }
    }
}

#[tokio::test]
async fn probes_find_physical_names_counts_and_state() {
    for case in cases("presets") {
        let server = MockServer::start().await;
        for probe in case.list("probes") {
            let (verb, at) = probe["request"].as_str().unwrap().split_once(' ').unwrap();
            let text = probe
                .get("reply_text")
                .and_then(Value::as_str)
                .map_or_else(|| probe["reply"].to_string(), str::to_owned);
            let template = ResponseTemplate::new(200).set_body_string(text);
            Mock::given(method(verb)).and(path(at)).respond_with(template).expect(1).mount(&server).await;
        }
        let (spec, name) = (case.spec(&server.uri()), &case.name);
        let mut context = super::harness::context();
        context.secrets = std::sync::Arc::new(secrets());
        let found = identify(engine(&spec), &SnapshotName::old(), &case.variables(), &context).await.unwrap();
        let expected = match case.get("identity") {
            Value::Null => Identity::of(&case.variables()),
            told => Identity {
                variables: serde_json::from_value(told["variables"].clone()).unwrap(),
                documents: told["documents"].as_u64(),
                state: serde_json::from_value(told["state"].clone()).unwrap(),
                asked: true,
            },
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn an_index_that_is_not_ready_is_told_from_one_that_is() {
    for case in cases("presets") {
        let spec = case.spec("http://h");
        assert_eq!(spec.probes.len(), case.list("probes").len(), "{}", case.name);
        for (probe, fixture) in spec.probes.iter().zip(case.list("probes")) {
            for bad in fixture.get("bad").and_then(Value::as_array).into_iter().flatten() {
                let told = judged(engine(&spec), probe, &good(bad));
                assert!(matches!(told, Err(Judged::Invalid { reason: "not-ready", .. })), "{}: {bad}", case.name);
            }
            let unknown = Reply { status: 404, ..good(&json!({})) };
            match judged(engine(&spec), probe, &unknown) {
                Ok(None) => assert!(probe.optional, "{}", case.name),
                Err(Judged::Fatal { reason, .. }) => {
                    assert!(!probe.optional && reason == "index-unknown", "{}", case.name);
                }
                _ => panic!("{}", case.name),
            }
        }
    }
}
