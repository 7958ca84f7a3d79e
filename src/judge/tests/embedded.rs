use super::harness::{Asked, Run};
use crate::ledger::record::{Outcome, Record};
use crate::model::{FailureClass, Label};
use crate::spec::JudgeBackend;

const ASKED: &[Asked<'static>] = &[
    ("q1", "since which version", &[("old", &["12", "version 12"]), ("new", &["13", "12"])]),
    ("q2", "who wrote it", &[("old", &["Twain", "Twain"]), ("new", &["Twain", "Twain"])]),
    ("q3", "where is it", &[("old", &["Paris", "UNKNOWN"]), ("new", &["Paris", ""])]),
    ("q4", "when was it", &[]),
];

fn key(one: &str, other: &str) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

#[tokio::test]
async fn only_questions_with_distinct_answers_in_all_cells_make_a_packet() {
    let run = Run::with(ASKED, JudgeBackend::Embedded).await;
    run.judge().await.unwrap();
    let packets = run.packets();
    assert_eq!(packets.iter().map(|packet| packet.question.0.as_str()).collect::<Vec<_>>(), ["q1"]);
    assert_eq!(packets[0].cells.iter().map(Vec::len).sum::<usize>(), 4);
    let labels = run.labels();
    assert_eq!(labels[&key("12", "version 12")], Label::Same);
    assert_eq!(labels[&key("12", "13")], Label::Different);
    assert_eq!(labels[&key("13", "version 12")], Label::Different);
    assert_eq!(labels.len(), 3);
}

#[tokio::test]
async fn packets_precede_attempts_and_attempts_precede_outcomes() {
    let run = Run::with(ASKED, JudgeBackend::Embedded).await;
    run.judge().await.unwrap();
    let records = run.records();
    let kinds: Vec<&str> = records
        .iter()
        .map(|record| match record {
            Record::Note(_) => "packet",
            Record::Attempt(_) => "attempt",
            Record::Outcome(Outcome { served_model, .. }) => served_model.as_deref().unwrap_or("unnamed"),
        })
        .collect();
    assert_eq!(kinds, ["packet", "attempt", "embedded-judge-2"]);
}

#[tokio::test]
async fn a_sealed_ledger_is_found_again_and_nothing_is_added() {
    let run = Run::with(ASKED, JudgeBackend::Embedded).await;
    let (first, again) = (run.judge().await.unwrap(), run.judge().await.unwrap());
    assert_eq!((first.head(), first.records()), (again.head(), again.records()));
}

#[tokio::test]
async fn a_cancelled_audit_is_incomplete_and_can_go_on() {
    let mut run = Run::with(ASKED, JudgeBackend::Embedded).await;
    run.context.cancel.cancel();
    let failure = run.judge().await.unwrap_err();
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Incomplete, "interrupted"));
    run.context.cancel = tokio_util::sync::CancellationToken::new();
    run.judge().await.unwrap();
    assert_eq!(run.labels().len(), 3);
}
