//! The stage with the embedded reader.

use super::fixture::Audit;
use crate::ledger::record::Record;
use crate::model::{Event, FailureClass, StageName};
use std::collections::BTreeSet;

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
