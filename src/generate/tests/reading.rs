//! The stage with the embedded reader.

use super::fixture::Audit;
use crate::ledger::record::Record;
use crate::model::{Digest, Document, Event, Evidence, FailureClass, SnapshotName, StageName};
use std::collections::{BTreeMap, BTreeSet};

#[tokio::test(flavor = "multi_thread")]
async fn every_cell_of_a_changed_question_is_filled_once() {
    let audit = Audit::begun(40, "{ reader: {} }").await;
    let lock = audit.generate(None).await.unwrap();
    // A quarter of the 40 questions finds the same in both snapshots.
    assert_eq!(audit.answers().len(), 30 * 2 * 2);
    assert_eq!(lock.records(), 2 * 120 + 10);
    let heard = audit.ears.heard.lock().unwrap().clone();
    assert_eq!(heard.first(), Some(&Event::Started { stage: StageName::Generate, done: 0, total: 120 }));
    assert_eq!(heard.iter().filter(|event| matches!(event, Event::Advanced(_))).count(), 120);
    assert_eq!(heard.last(), Some(&Event::Sealed(StageName::Generate)));
    assert_eq!(audit.generate(None).await.unwrap().head(), lock.head());
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_stand_before_their_outcomes() {
    let audit = Audit::begun(8, "{ reader: {} }").await;
    audit.generate(None).await.unwrap();
    let mut begun = BTreeSet::new();
    for (seq, record) in audit.records() {
        match record {
            Record::Attempt(attempt) => assert!(begun.insert((seq, attempt.of))),
            Record::Outcome(outcome) => assert!(begun.remove(&(outcome.attempt, outcome.of))),
            Record::Note(_) => {}
        }
    }
    assert!(begun.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_questions_are_noted_once_or_asked_as_the_spec_says() {
    let audit = Audit::begun(8, "{ reader: {}, unchanged_evidence: sample }").await;
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers().len(), 8 * 2 * 2);
    assert!(audit.records().iter().all(|(_, record)| !matches!(record, Record::Note(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_ends_with_the_answers_of_one_that_was_not() {
    let whole = Audit::begun(200, "{ reader: {} }").await;
    whole.generate(None).await.unwrap();
    let audit = Audit::begun(200, "{ reader: {} }").await;
    let failure = audit.generate(Some(1)).await.unwrap_err();
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Incomplete, "interrupted"));
    assert_eq!(audit.answers().len(), 256);
    audit.generate(None).await.unwrap();
    assert!(matches!(audit.ears.heard.lock().unwrap()[0], Event::Started { done: 256, total: 600, .. }));
    assert_eq!(audit.answers(), whole.answers());
}

fn other(question: usize) -> Evidence {
    let text = format!("Thing{question} is a thing. Chrome supports it since version 99.");
    Evidence { documents: vec![Document { id: "other".into(), url: None, text }] }
}

/// The digest of the prompt that each cell of a question was asked with.
fn prompts(audit: &Audit, question: &str) -> BTreeMap<(String, u32), Digest> {
    let attempts = audit.records().into_iter().filter_map(|(_, record)| match record {
        Record::Attempt(attempt) if attempt.of.question.0 == question => Some(attempt),
        _ => None,
    });
    attempts.map(|attempt| ((attempt.of.snapshot.0, attempt.of.repeat), attempt.request)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_take_evidence_that_varies_in_turn() {
    let varies = |question, snapshot: &SnapshotName| {
        (question == 0 && *snapshot == SnapshotName::old()).then(|| other(question))
    };
    let audit = Audit::begun_with(8, "{ reader: {}, repeats: 3 }", &[], varies).await;
    audit.generate(None).await.unwrap();
    // Questions 0 and 4 find the same in old and new; the first of them does so the first time only.
    assert_eq!(audit.answers().len(), 7 * 2 * 3);
    let prompts = prompts(&audit, "q0");
    let of = |snapshot: &str, repeat| prompts[&(snapshot.to_owned(), repeat)];
    assert_ne!(of("old", 0), of("old", 1));
    assert_eq!(of("old", 0), of("old", 2));
    assert!((0..3).all(|repeat| of("new", repeat) == of("old", 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_varies_alike_in_every_snapshot_is_asked() {
    let audit = Audit::begun_with(1, "{ reader: {} }", &[], |question, _| Some(other(question))).await;
    audit.generate(None).await.unwrap();
    let prompts = prompts(&audit, "q0");
    assert_eq!(prompts.len(), 4);
    assert_eq!(prompts.values().collect::<BTreeSet<_>>().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rung_that_differs_alone_makes_a_question_asked_from_every_snapshot() {
    let audit = Audit::begun_with(8, "{ reader: {} }", &["mid"], |_, _| None).await;
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers().len(), 6 * 3 * 2);
    let audit = Audit::begun_with(8, "{ reader: {} }", &["odd"], |_, _| None).await;
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers().len(), 8 * 3 * 2);
    let prompts = prompts(&audit, "q0");
    assert_eq!(prompts[&("old".to_owned(), 0)], prompts[&("new".to_owned(), 0)]);
}
