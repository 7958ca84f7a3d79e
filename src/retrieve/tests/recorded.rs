//! The requests of presets against those that the vendors' own clients send for the same calls, field by field.
//! `tests/sdk/presets/record.ts` recorded them, after the compiler had held each call against the client's own types.

use super::graphql::canonical;
use crate::http::{Call, HeaderText, Secrets};
use crate::model::{Digest, Question, QuestionId, SnapshotName};
use crate::retrieve::engine::{Engine, identify};
use crate::spec::HttpRetrieveSpec;
use crate::spec::cases::{Case, cases};
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const QUESTION: &str = "QUESTION";
const VECTOR: [f64; 2] = [0.25, -1.5];
const TOP_K: u32 = 3;
/// `user:password` where the header is of the basic kind.
const BASIC: &str = "dXNlcjpwYXNzd29yZA==";
/// The headers that are recorded.
const KEPT: [&str; 6] =
    ["authorization", "apikey", "api-key", "x-typesense-api-key", "x-pinecone-api-version", "content-profile"];

/// Fields in which ours differs on purpose, by the beginning of the preset's name.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("azure", "/path", "both ways to write a path are described; ours is the one of the REST reference"),
    ("azure", "/query/api-version", "ours stays with the first stable version that has all of what is asked"),
    ("milvus", "/body/dbName", "the client names the default, ours leaves it out"),
    ("vespa", "/headers/authorization", "the client was made without a key, which Vespa's cloud alone asks for"),
    ("pinecone", "/headers/x-pinecone-api-version", "ours stays with the version that it was written after"),
];

/// Probes for which the clients have no call.
const UNRECORDED: [&str; 2] = ["GET /aliases/docs", "GET /v1/aliases/Docs"];

fn recordings() -> BTreeMap<String, Value> {
    serde_json::from_str(include_str!("../../../tests/sdk/presets/recordings.json")).unwrap()
}

fn secrets(preset: &str) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.insert("ENGINE_KEY", if preset.starts_with("opensearch") { BASIC } else { "KEY" }.to_owned().into());
    secrets
}

/// Every value of a request by its place.
fn flat(value: &Value) -> BTreeMap<String, Value> {
    fn walk(value: &Value, place: &str, found: &mut BTreeMap<String, Value>) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                members.iter().for_each(|(name, value)| walk(value, &format!("{place}/{name}"), found));
            }
            Value::Array(items) if !items.is_empty() => {
                items.iter().enumerate().for_each(|(number, value)| walk(value, &format!("{place}/{number}"), found));
            }
            // No headers and no query are as good as none; an empty body is one.
            Value::Object(_) if !place.starts_with("/body") => {}
            _ => {
                found.insert(place.to_owned(), value.clone());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(value, "", &mut found);
    found
}

/// A request as recordings have it; a GraphQL one with its variables set in.
fn request(method: &str, url: &str, headers: &[(String, String)], body: &[u8]) -> Value {
    let url = reqwest::Url::parse(url).unwrap();
    let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
    let kept = |(name, value): &(String, String)| {
        let name = name.to_ascii_lowercase();
        KEPT.contains(&name.as_str()).then(|| (name, json!(value)))
    };
    let body: Value = if body.is_empty() { Value::Null } else { serde_json::from_slice(body).unwrap() };
    let headers: Map<String, Value> = headers.iter().filter_map(kept).collect();
    with_canonical(json!({"method": method, "path": url.path(), "query": query, "headers": headers, "body": body}))
}

fn with_canonical(mut request: Value) -> Value {
    if request["path"] == "/v1/graphql" {
        request["body"] = canonical(&request["body"]);
    }
    request
}

fn search(case: &Case, spec: &HttpRetrieveSpec) -> Value {
    let question =
        Question { id: QuestionId("q".to_owned()), text: QUESTION.to_owned(), tags: Vec::new(), cluster: None };
    let engine = Engine { spec, top_k: TOP_K, max_chars: 200 };
    let call = engine.call(&question, Some(&VECTOR), &case.variables(), &secrets(&case.name)).unwrap();
    let Call { method, url, headers, body, .. } = &call;
    let text = |value: &HeaderText| match value {
        HeaderText::Plain(text) => text.clone(),
        HeaderText::Secret(text) => text.expose_secret().to_owned(),
    };
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let mut request = request(method, url, &headers, body.as_deref().unwrap_or_default());
    let hash = json!(Digest::of(b"q").to_string()[..16]);
    for place in ["/query/preference", "/body/sessionId"] {
        if let Some(value) = request.pointer_mut(place).filter(|value| **value == hash) {
            *value = json!("HASH");
        }
    }
    request
}

/// Replies to each probe as its fixture says.
struct Fixture(BTreeMap<String, String>);

impl Respond for Fixture {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let asked = format!("{} {}", request.method, request.url.path());
        ResponseTemplate::new(200).set_body_string(self.0.get(&asked).cloned().unwrap_or_default())
    }
}

/// The probes as they go out, by method and path.
async fn probes(case: &Case) -> BTreeMap<String, Value> {
    let text = |probe: &Value| match &probe["reply_text"] {
        Value::String(text) => text.clone(),
        _ => probe["reply"].to_string(),
    };
    let replies =
        case.list("probes").iter().map(|probe| (probe["request"].as_str().unwrap().to_owned(), text(probe))).collect();
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(Fixture(replies)).mount(&server).await;
    let spec = case.spec(&server.uri());
    let mut context = super::harness::context();
    context.secrets = std::sync::Arc::new(secrets(&case.name));
    let engine = Engine { spec: &spec, top_k: TOP_K, max_chars: 200 };
    identify(engine, &SnapshotName::old(), &case.variables(), &context).await.unwrap();
    let sent = |sent: Request| {
        let headers = sent.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let headers: Vec<_> = headers.collect();
        let name = format!("{} {}", sent.method, sent.url.path());
        (name, request(sent.method.as_str(), sent.url.as_str(), &headers, &sent.body))
    };
    server.received_requests().await.unwrap().into_iter().map(sent).collect()
}

/// Places in which two requests differ.
fn differences(ours: &Value, recorded: &Value) -> BTreeSet<String> {
    let (ours, recorded) = (flat(ours), flat(recorded));
    let places: BTreeSet<&String> = ours.keys().chain(recorded.keys()).collect();
    places.into_iter().filter(|place| ours.get(*place) != recorded.get(*place)).cloned().collect()
}

#[tokio::test]
async fn requests_are_those_of_the_vendors_own_clients() {
    let mut used: BTreeSet<&(&str, &str, &str)> = BTreeSet::new();
    let mut unrecorded = BTreeSet::new();
    let mut faults = Vec::new();
    let mut recordings = recordings();
    for case in cases("presets") {
        let Some(recorded) = recordings.remove(&case.name) else { continue };
        let mut ours = probes(&case).await;
        ours.insert("search".to_owned(), search(&case, &case.spec("https://h.example")));
        for (of, recorded) in recorded["requests"].as_object().unwrap() {
            let ours = ours.remove(of).unwrap_or_else(|| panic!("{}: no {of}", case.name));
            for place in differences(&ours, &with_canonical(recorded.clone())) {
                let known = DIFFERENT.iter().find(|(name, at, _)| case.name.starts_with(name) && *at == place);
                if known.is_none() {
                    faults.push(format!("{}, {of}: {place}: {ours} is not {recorded}", case.name));
                }
                used.extend(known);
            }
        }
        unrecorded.extend(ours.into_keys());
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(recordings.is_empty(), "{recordings:?}");
    assert_eq!(used.len(), DIFFERENT.len(), "a difference that there is no more");
    assert_eq!(unrecorded, UNRECORDED.map(str::to_owned).into());
}
