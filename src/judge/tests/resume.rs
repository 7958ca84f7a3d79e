use super::harness::{Asked, Run};
use super::language_model::model;
use crate::http::Budget;
use crate::model::{Event, FailureClass, PercentagePoints, StageName};
use serde_json::json;
use std::sync::Arc;
use wiremock::matchers::{any, body_string_contains};
use wiremock::{Mock, MockServer, ResponseTemplate};

const SAME: &[(&str, &[&str])] = &[("old", &["same", "same"]), ("new", &["same", "same"])];
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
    assert!(failure.message.contains("1 of 3 packets"), "{failure}");
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
    assert!(server.received_requests().await.unwrap().is_empty());
    assert_eq!((run.outcomes().len(), run.not_sent()), (0, 1));
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
    assert!(run.not_sent() <= 1, "{}", run.not_sent());
}

/// Four questions of which each has different answers, among so many that agree.
fn few_of(many: usize, ids: &[String]) -> Vec<Asked<'_>> {
    let cells = |place| if place < 4 { ASKED[0].2 } else { SAME };
    ids.iter().take(many).enumerate().map(|(place, id)| (id.as_str(), "a question", cells(place))).collect()
}

#[tokio::test]
async fn a_judge_that_is_down_never_passes_however_few_packets_there_are() {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).mount(&server).await;
    let ids: Vec<String> = (0..400).map(|number| format!("q{number}")).collect();
    for tolerance in ["1pp", "100pp"] {
        let mut run = Run::with(&few_of(400, &ids), model(&server)).await;
        run.frozen.protocol.spec.judge.max_attempts = 1;
        run.frozen.protocol.spec.tolerance.invalid_cells = tolerance.parse::<PercentagePoints>().unwrap();
        for attempts in [4, 8] {
            let failure = run.judge().await.unwrap_err();
            assert_eq!(failure.class, FailureClass::Incomplete);
            assert_eq!(
                failure.message, "4 of 4 packets of different answers have no judgment (server-error 4)",
                "{tolerance}"
            );
            assert_eq!(run.outcomes().len(), attempts);
        }
    }
}

#[tokio::test]
async fn missing_judgments_are_weighed_against_packets_and_not_against_questions() {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(reply("hm")).up_to_n_times(1).with_priority(1).mount(&server).await;
    Mock::given(any()).respond_with(reply(r#"{"A-B":"same"}"#)).with_priority(2).mount(&server).await;
    let ids: Vec<String> = (0..100).map(|number| format!("q{number}")).collect();
    let mut run = Run::with(&few_of(100, &ids), model(&server)).await;
    run.frozen.protocol.spec.judge.max_attempts = 1;
    run.frozen.protocol.spec.tolerance.invalid_cells = "24pp".parse::<PercentagePoints>().unwrap();
    let failure = run.judge().await.unwrap_err();
    assert!(
        failure.message.starts_with("1 of 4 packets of different answers have no judgment, more than"),
        "{failure}"
    );
}

/// As many questions as wanted, all with different answers.
fn all_differ(ids: &[String]) -> Vec<Asked<'_>> {
    ids.iter().map(|id| (id.as_str(), "a question", ASKED[0].2)).collect()
}

#[tokio::test]
async fn a_dead_judge_stops_the_audit_before_every_packet_has_waited_for_it() {
    let server = MockServer::start().await;
    // The next call does not wait until what came of one is durable: these take longer than that.
    let dead = ResponseTemplate::new(500).set_delay(std::time::Duration::from_millis(100));
    Mock::given(any()).respond_with(dead).mount(&server).await;
    let ids: Vec<String> = (0..200).map(|number| format!("q{number}")).collect();
    let mut run = Run::with(&all_differ(&ids), model(&server)).await;
    run.frozen.protocol.spec.judge.max_attempts = 1;
    run.frozen.protocol.spec.tolerance.invalid_cells = "100pp".parse::<PercentagePoints>().unwrap();
    let failure = run.judge().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.starts_with("the judge gave no judgment at all of the first 10 packets ("), "{failure}");
    assert!(run.outcomes().len() < 20, "{}", run.outcomes().len());
}

#[tokio::test]
async fn after_a_fatal_reply_no_packet_that_waits_for_its_next_attempt_is_asked_again() {
    let server = MockServer::start().await;
    let refused = ResponseTemplate::new(401).set_delay(std::time::Duration::from_millis(200));
    Mock::given(body_string_contains("first")).respond_with(refused).with_priority(1).mount(&server).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).with_priority(2).mount(&server).await;
    let mut run = Run::with(ASKED, model(&server)).await;
    run.frozen.protocol.spec.judge.max_attempts = 3;
    let failure = run.judge().await.unwrap_err();
    assert!(failure.message.contains("key-refused"), "{failure}");
    let mut outcomes = run.outcomes();
    outcomes.sort();
    assert_eq!(outcomes, ["key-refused", "server-error", "server-error"]);
}
