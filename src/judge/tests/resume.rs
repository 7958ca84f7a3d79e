use super::harness::{Asked, Run};
use super::language_model::model;
use crate::http::Budget;
use crate::model::{Event, FailureClass, PercentagePoints, StageName};
use serde_json::json;
use std::sync::Arc;
use wiremock::matchers::{any, body_string_contains};
use wiremock::{Mock, MockServer, ResponseTemplate};

const ASKED: &[Asked<'static>] = &[
    ("q1", "first question", &[("old", &["a", "b"]), ("new", &["a", "b"])]),
    ("q2", "second question", &[("old", &["c", "d"]), ("new", &["c", "d"])]),
    ("q3", "third question", &[("old", &["e", "f"]), ("new", &["e", "f"])]),
];

fn reply(text: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "choices": [{ "message": { "content": text } }] }))
}

/// Judges everything but the second question, which gets prose.
async fn server() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(body_string_contains("second")).respond_with(reply("hm")).with_priority(1).mount(&server).await;
    Mock::given(any()).respond_with(reply(r#"{"A-B":"same"}"#)).with_priority(2).mount(&server).await;
    server
}

#[tokio::test]
async fn questions_without_a_judgment_leave_the_audit_incomplete_and_only_they_are_asked_again() {
    let server = server().await;
    let mut run = Run::with(ASKED, model(&server)).await;
    run.frozen.protocol.spec.judge.max_attempts = 2;
    let failure = run.judge().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.contains("1 of 3 questions"), "{failure}");
    assert_eq!(server.received_requests().await.unwrap().len(), 4);

    server.reset().await;
    Mock::given(any()).respond_with(reply(r#"{"A-B":"different"}"#)).mount(&server).await;
    run.judge().await.unwrap();
    let asked = server.received_requests().await.unwrap();
    assert_eq!(asked.len(), 1);
    assert!(String::from_utf8_lossy(&asked[0].body).contains("second question"));
    assert_eq!((run.packets().len(), run.labels().len()), (3, 3));
    let started = Event::Started { stage: StageName::Judge, done: 2, total: 3 };
    assert!(run.heard.0.lock().unwrap().contains(&started));
}

#[tokio::test]
async fn within_the_tolerance_the_question_is_left_out_and_the_rest_is_sealed() {
    let server = server().await;
    let mut run = Run::with(ASKED, model(&server)).await;
    run.frozen.protocol.spec.judge.max_attempts = 1;
    run.frozen.protocol.spec.tolerance.invalid_cells = "34pp".parse::<PercentagePoints>().unwrap();
    run.judge().await.unwrap();
    assert_eq!(run.labels().len(), 2);
    let noted = |event: &Event| matches!(event, Event::Note(text) if text.contains("1 of 3"));
    assert!(run.heard.0.lock().unwrap().iter().any(noted));
}

#[tokio::test]
async fn a_spent_budget_stops_before_the_call_and_can_go_on() {
    let server = server().await;
    let mut run = Run::with(&ASKED[..1], model(&server)).await;
    run.context.budget = Arc::new(Budget::new(Some(0), None));
    assert_eq!(run.judge().await.unwrap_err().class, FailureClass::Incomplete);
    assert!(server.received_requests().await.unwrap().is_empty() && run.outcomes().is_empty());
    run.context.budget = Arc::new(Budget::new(Some(1), None));
    run.judge().await.unwrap();
    assert_eq!(run.outcomes(), ["accepted"]);
}

#[tokio::test]
async fn cancelling_finishes_what_is_in_flight_and_begins_nothing() {
    let server = MockServer::start().await;
    let mut run = Run::with(ASKED, model(&server)).await;
    run.context.concurrency = Some(1);
    // Cancelled while the first call is in flight, by the one who answers it.
    let cancel = run.context.cancel.clone();
    let answer = move |_: &wiremock::Request| {
        cancel.cancel();
        reply(r#"{"A-B":"same"}"#)
    };
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let judged = run.judge().await;
    assert_eq!(judged.unwrap_err().message, "interrupted");
    assert_eq!(run.outcomes(), ["accepted"]);
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}
