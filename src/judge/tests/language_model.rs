use super::harness::{Asked, Run};
use crate::http::Budget;
use crate::ledger::record::{Outcome, Record, Usage};
use crate::ledger::{self, BlobCheck};
use crate::model::{Event, FailureClass, Label, ModelServer, Wire};
use crate::spec::JudgeBackend;
use serde_json::{Value, json};
use std::sync::Arc;
use wiremock::matchers::{body_string_contains, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const ASKED: &[Asked<'static>] =
    &[("q1", "which river", &[("old", &["the Rhine", "the Rhine"]), ("new", &["the Rhone", "the Rhine"])])];
const THREE: &[Asked<'static>] =
    &[("q1", "which river", &[("old", &["the Rhine", "the Rhone"]), ("new", &["the Nile", "the Rhine"])])];
const GOOD: &str = r#"{"A-B":"different"}"#;

pub fn model(server: &MockServer) -> JudgeBackend {
    JudgeBackend::Model(ModelServer::new(Wire::Completions, "judge-1", format!("{}/v1", server.uri())))
}

fn completion(text: &str) -> ResponseTemplate {
    let message = json!({ "role": "assistant", "content": text });
    ResponseTemplate::new(200).set_body_json(json!({
        "id": "r-1", "model": "judge-1-0613", "system_fingerprint": "fp", "choices": [{ "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 3 },
    }))
}

async fn server_with(replies: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    for (place, reply) in replies.into_iter().enumerate() {
        let mock = Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(reply);
        mock.up_to_n_times(1).with_priority(u8::try_from(place + 1).unwrap()).mount(&server).await;
    }
    server
}

#[tokio::test]
async fn malformed_replies_are_asked_again_and_never_count_as_different() {
    let table: Vec<(ResponseTemplate, &str)> = vec![
        (completion("They are different."), "judgment-not-labels"),
        (completion(&format!("Verdict: {GOOD}")), "judgment-not-labels"),
        (completion(&format!("{GOOD} because the names differ")), "judgment-not-labels"),
        (completion(r#"{"A-B":"different","A-B":"same"}"#), "judgment-not-labels"),
        (completion(r#"{"A-B":"different","#), "judgment-not-labels"),
        (completion(r#"{"B-A":"different"}"#), "judgment-pair-missing"),
        (completion(r#"{"A-C":"different"}"#), "judgment-pair-missing"),
        (completion("{}"), "judgment-pair-missing"),
        (completion(r#"{"A-B":"different","A-C":"same"}"#), "judgment-pair-unasked"),
        (completion(""), "empty-content"),
        (completion(&format!("<think>{GOOD}</think>")), "reasoning-only"),
        (completion(&format!("<think>{GOOD}")), "reasoning-only"),
        (
            ResponseTemplate::new(200).set_body_json(
                json!({ "choices": [{ "message": { "content": "", "reasoning_content": GOOD }, "finish_reason": "stop" }] }),
            ),
            "reasoning-only",
        ),
        (
            ResponseTemplate::new(200)
                .set_body_json(json!({ "choices": [{ "message": { "refusal": "no" }, "finish_reason": "stop" }] })),
            "judge-refused",
        ),
        (
            ResponseTemplate::new(200)
                .set_body_json(json!({ "choices": [{ "message": { "content": GOOD }, "finish_reason": "length" }] })),
            "cut-by-length",
        ),
        (
            ResponseTemplate::new(200)
                .set_body_json(json!({ "choices": [{ "message": { "content": GOOD }, "finish_reason": "abort" }] })),
            "not-finished",
        ),
        (
            ResponseTemplate::new(400).set_body_json(json!({ "error": { "message": "Content Exists Risk" } })),
            "judge-refused",
        ),
        (ResponseTemplate::new(200).set_body_json(json!({ "choices": [] })), "no-choices"),
        (ResponseTemplate::new(200).set_body_json(json!({ "error": { "message": "overloaded" } })), "error-in-body"),
        (ResponseTemplate::new(200).set_body_string("<html>"), "not-json"),
        (ResponseTemplate::new(500), "server-error"),
        (ResponseTemplate::new(429).insert_header("retry-after", "0"), "rate-limited"),
    ];
    for (reply, reason) in table {
        let server = server_with(vec![reply, completion(GOOD)]).await;
        let run = Run::with(ASKED, model(&server)).await;
        run.judge().await.unwrap();
        assert_eq!(run.outcomes(), [reason, "accepted"]);
        let retried = |event: &Event| matches!(event, Event::Retrying { reason: heard, .. } if *heard == reason);
        assert!(run.heard.0.lock().unwrap().iter().any(retried), "{reason}");
    }
}

#[tokio::test]
async fn unambiguous_dress_is_accepted() {
    for text in [
        GOOD.to_owned(),
        format!("<think>\nA and B\n</think>\n{GOOD}"),
        format!("```json\n{GOOD}\n```"),
        format!("{{ // see above\n{}", &GOOD[1..]),
    ] {
        let server = server_with(vec![completion(&text)]).await;
        let run = Run::with(ASKED, model(&server)).await;
        run.judge().await.unwrap();
        assert_eq!(run.labels().into_values().collect::<Vec<_>>(), [Label::Different]);
    }
}

#[tokio::test]
async fn what_the_server_says_about_itself_is_recorded_with_its_body() {
    let server = server_with(vec![completion(GOOD)]).await;
    let run = Run::with(ASKED, model(&server)).await;
    run.judge().await.unwrap();
    let Some(Record::Outcome(Outcome { served_model, fingerprint, usage, status, body, .. })) = run.records().pop()
    else {
        panic!("the last record is an outcome");
    };
    assert_eq!(
        (served_model.as_deref(), fingerprint.as_deref(), status),
        (Some("judge-1-0613"), Some("fp"), Some(200))
    );
    assert_eq!(usage, Some(Usage { input: 9, output: 3, cached: 0, nano_usd: None }));
    let body: Value = serde_json::from_slice(&run.folder.blobs().get(&body.unwrap()).unwrap()).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], GOOD);
}

#[tokio::test]
async fn fatal_replies_stop_the_audit_after_one_attempt() {
    for (status, reason) in [(401, "key-refused"), (403, "forbidden"), (404, "model-unknown"), (402, "quota-used-up")] {
        let server = server_with(vec![ResponseTemplate::new(status)]).await;
        let run = Run::with(ASKED, model(&server)).await;
        assert_eq!(run.judge().await.unwrap_err().class, FailureClass::Incomplete);
        assert_eq!(run.outcomes(), [reason]);
    }
}

#[tokio::test]
async fn a_judge_whose_model_moves_stops_the_audit_for_good() {
    let moved = ResponseTemplate::new(200)
        .set_body_json(json!({ "model": "judge-1-0914", "choices": [{ "message": { "content": GOOD } }] }));
    let server = server_with(vec![completion(GOOD), moved, completion(GOOD)]).await;
    let cells = ASKED[0].2;
    let asked: Vec<Asked<'_>> = ["q1", "q2", "q3"].into_iter().map(|id| (id, "which river", cells)).collect();
    let mut run = Run::with(&asked, model(&server)).await;
    run.context.concurrency = Some(1);
    for _ in 0..2 {
        let failure = run.judge().await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete);
        assert_eq!(
            failure.message,
            "the judge's server changed the model that it serves during the audit: `judge-1-0613`, `judge-1-0914`"
        );
        assert_eq!(run.outcomes(), ["accepted"; 2]);
    }
}

#[tokio::test]
async fn a_missing_key_is_a_usage_error_before_any_call() {
    let server = MockServer::start().await;
    let JudgeBackend::Model(spec) = model(&server) else { unreachable!() };
    let backend = JudgeBackend::Model(ModelServer { key_env: Some("JUDGE_KEY".into()), ..spec });
    let run = Run::with(ASKED, backend).await;
    let failure = run.judge().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Usage);
    assert!(failure.message.contains("JUDGE_KEY") && run.outcomes().is_empty());
}

#[tokio::test]
async fn a_key_that_the_server_echoes_reaches_neither_ledger_nor_blobs() {
    let key = "sesame-open-4711";
    let reply = json!({ "choices": [{ "message": { "content": GOOD } }], "echo": key });
    let server = server_with(vec![ResponseTemplate::new(200).set_body_json(reply)]).await;
    let JudgeBackend::Model(spec) = model(&server) else { unreachable!() };
    let backend = JudgeBackend::Model(ModelServer { key_env: Some("JUDGE_KEY".into()), ..spec });
    let mut run = Run::with(ASKED, backend).await;
    let mut secrets = crate::http::Secrets::default();
    secrets.insert("JUDGE_KEY", key.to_owned().into());
    run.context.secrets = Arc::new(secrets);
    run.judge().await.unwrap();
    let sent = &server.received_requests().await.unwrap()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {key}"));
    for entry in walk(run.folder.path()) {
        let bytes = fs_err::read(&entry).unwrap();
        assert!(!run.context.secrets.appear_in(&bytes), "{entry}");
    }
}

fn walk(folder: &camino::Utf8Path) -> Vec<camino::Utf8PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

/// Calls every pair the same that it is asked for.
async fn agreeable_server() -> MockServer {
    let server = MockServer::start().await;
    let reply = |request: &wiremock::Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let names = body["response_format"]["json_schema"]["schema"]["required"].as_array().unwrap().clone();
        let labels: serde_json::Map<String, Value> =
            names.iter().map(|name| (name.as_str().unwrap().to_owned(), json!("same"))).collect();
        completion(&Value::Object(labels).to_string())
    };
    Mock::given(body_string_contains("which")).respond_with(reply).mount(&server).await;
    server
}

#[tokio::test]
async fn a_long_packet_is_asked_in_parts_of_which_none_is_asked_again() {
    let server = agreeable_server().await;
    let texts: Vec<String> = (0..14).map(|number| format!("river {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let cells: &[(&str, &[&str])] = &[("old", &texts[..7]), ("new", &texts[7..])];
    let mut run = Run::with(&[("q1", "which river", cells)], model(&server)).await;
    run.frozen.protocol.spec.generate.repeats = 7;
    run.context.budget = Arc::new(Budget::new(Some(1), None));
    assert_eq!(run.judge().await.unwrap_err().class, FailureClass::Incomplete);
    run.context.budget = Arc::new(Budget::new(None, None));
    run.judge().await.unwrap();
    assert_eq!(run.outcomes(), ["accepted"; 3]);
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
    assert_eq!(run.labels().len(), 14 * 13 / 2);
}

#[tokio::test]
async fn a_pair_that_two_parts_label_is_damage() {
    let model_run = Run::with(THREE, JudgeBackend::Embedded).await;
    model_run.judge().await.unwrap();
    let packet = model_run.packets().remove(0);
    for (parts, sound) in [
        (vec![vec![(0, 1)], vec![(0, 2), (1, 2)]], true),
        (vec![vec![(0, 1), (0, 2)]], true),
        (vec![vec![(0, 1)], vec![(0, 1), (0, 2), (1, 2)]], false),
        (vec![vec![(0, 1), (0, 2), (1, 3)]], false),
        (vec![vec![(1, 0)]], false),
        (vec![vec![]], false),
    ] {
        let run = Run::with(THREE, JudgeBackend::Embedded).await;
        run.record(&packet, &parts).await;
        let verification = ledger::verify(run.folder.path(), BlobCheck::Present).unwrap();
        assert_eq!(verification.difference.is_none(), sound, "{parts:?}: {:?}", verification.difference);
    }
}
