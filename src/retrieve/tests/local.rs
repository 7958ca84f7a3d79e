//! The embedded backends as a whole.

use super::harness::{Bench, CancelAfter, path, resolve};
use crate::ledger::record::{EvidenceRecord, Record, Verdict};
use crate::model::FailureClass;
use crate::spec::{Bm25Spec, RetrieveBackend};
use std::collections::BTreeSet;

const OLD: &str = "{\"id\":\"a\",\"text\":\"alpha one\"}\n{\"id\":\"b\",\"text\":\"beta\"}\n";
const NEW: &str =
    "{\"id\":\"b\",\"text\":\"beta\"}\n{\"id\":\"a2\",\"text\":\"alpha one\"}\n{\"id\":\"c\",\"text\":\"alpha\"}\n";

fn bench(questions: &[&str]) -> Bench {
    let backend = RetrieveBackend::Bm25(Bm25Spec::default());
    let bench = Bench::new(backend, path("old.jsonl"), path("new.jsonl"), questions);
    bench.write("old.jsonl", OLD);
    bench.write("new.jsonl", NEW);
    bench
}

fn key(question: &str, snapshot: &str) -> (String, String) {
    (question.to_owned(), snapshot.to_owned())
}

#[tokio::test]
async fn every_question_is_retrieved_twice_from_both_snapshots_and_sealed() {
    let mut bench = bench(&["alpha one?", "beta", "🦀"]);
    bench.spec.closed_book = true;
    let lock = bench.run().await.unwrap();
    assert_eq!(bench.counts(), [12, 12, 0, 0, 9]);
    assert_eq!(lock.records(), 33);
    let locked = bench.locked();
    assert_eq!(locked[&key("q0", "old")], ["a"]);
    assert_eq!(locked[&key("q0", "new")], ["a2", "c"]);
    assert_eq!(locked[&key("q1", "new")], ["b"]);
    assert_eq!(locked[&key("q2", "old")], Vec::<String>::new());
    assert_eq!(locked[&key("q0", "closed_book")], Vec::<String>::new());
}

#[tokio::test]
async fn attempts_stand_before_outcomes_and_outcomes_name_them() {
    let bench = bench(&["alpha", "beta"]);
    bench.run().await.unwrap();
    let records = bench.records();
    for record in &records {
        if let Record::Outcome(outcome) = record {
            let attempt = usize::try_from(outcome.attempt).unwrap();
            let numbered = records.iter().filter(|record| matches!(record, Record::Attempt(_)));
            assert!(
                numbered.clone().any(|record| matches!(record, Record::Attempt(attempt) if attempt.of == outcome.of))
            );
            assert!(attempt <= records.len());
        }
    }
}

#[tokio::test]
async fn a_sealed_stage_is_not_run_again() {
    let bench = bench(&["alpha"]);
    let first = bench.run().await.unwrap();
    assert_eq!(bench.run().await.unwrap().head(), first.head());
}

#[tokio::test]
async fn a_cancelled_stage_starts_nothing_and_is_resumed() {
    let mut bench = bench(&["alpha", "beta"]);
    bench.context.cancel.cancel();
    let failure = bench.run().await.unwrap_err();
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Incomplete, "interrupted"));
    bench.context.cancel = tokio_util::sync::CancellationToken::new();
    bench.run().await.unwrap();
    assert_eq!(bench.counts(), [8, 8, 0, 0, 4]);
}

#[tokio::test]
async fn a_stage_that_stopped_midway_goes_on_over_a_rebuilt_index() {
    let texts: Vec<String> = (0..300).map(|number| format!("alpha {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let whole = bench(&texts);
    whole.run().await.unwrap();
    let mut stopped = bench(&texts);
    for units in [1, 300, 400, i64::MAX] {
        CancelAfter::units(units, &mut stopped.context);
        assert_eq!(stopped.run().await.is_ok(), units == i64::MAX);
    }
    let distinct: BTreeSet<_> = stopped.accepted().into_iter().collect();
    assert_eq!((stopped.accepted().len(), distinct.len()), (1200, 1200));
    // What was recorded and then not searched for has an outcome that says so.
    let [attempts, accepted, not_made, ..] = stopped.counts();
    assert_eq!((attempts, accepted), (1200 + not_made, 1200));
    assert!(not_made > 0);
    assert_eq!(stopped.locked(), whole.locked());
}

#[tokio::test]
async fn a_corpus_that_changed_after_the_freeze_is_never_searched() {
    let bench = bench(&["alpha"]);
    let snapshots = resolve(&bench.spec, &bench.base()).unwrap();
    bench.write("new.jsonl", "{\"id\":\"x\",\"text\":\"alpha\"}\n");
    let failure = bench.run_frozen(bench.protocol(snapshots)).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Evidence);
    assert!(failure.message.contains("snapshot `new` is no longer the one that was frozen"), "{failure}");
    assert_eq!(bench.counts(), [2, 2, 0, 0, 0]);
}

#[tokio::test]
async fn the_same_corpus_gives_the_same_evidence_whatever_its_form_and_order() {
    let one = bench(&["alpha one", "beta alpha"]);
    one.run().await.unwrap();
    let other = bench(&["alpha one", "beta alpha"]);
    let lines: Vec<&str> = NEW.lines().rev().collect();
    other.write("new.jsonl", lines.join("\r\n\n"));
    other.run().await.unwrap();
    let digests = |bench: &Bench| {
        let evidence = |record: EvidenceRecord| match record {
            Record::Note(note) => Some((note.question, note.snapshot, note.evidence)),
            _ => None,
        };
        bench.records().into_iter().filter_map(evidence).collect::<Vec<_>>()
    };
    assert_eq!(digests(&one), digests(&other));
}

#[tokio::test]
async fn evidence_from_a_file_is_taken_by_question_id() {
    let line = |id: &str, documents: &str| format!("{{\"question_id\":\"{id}\",\"documents\":[{documents}]}}\n");
    let bench = Bench::new(RetrieveBackend::File, path("old.jsonl"), path("new.jsonl"), &["x", "y"]);
    let document = "{\"id\":\"d\",\"text\":\" some \\n text\",\"url\":\"u\"}";
    bench.write("old.jsonl", line("q1", "") + &line("other", "1") + &line("q0", document));
    bench.write("new.jsonl", line("q0", "") + &line("q1", &format!("{document},{document},{document},{document}")));
    bench.run().await.unwrap();
    let locked = bench.locked();
    assert_eq!(locked[&key("q0", "old")], ["d"]);
    assert_eq!(locked[&key("q1", "old")], Vec::<String>::new());
    assert_eq!(locked[&key("q1", "new")], ["d", "d", "d"]);
    let texts = bench.records().into_iter().find_map(|record| match record {
        Record::Outcome(outcome) => match outcome.verdict {
            Verdict::Accepted(accepted) => accepted.documents.into_iter().next(),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(texts.unwrap().content, crate::model::Digest::of(b"some text"));
}

#[tokio::test]
async fn every_file_of_evidence_that_a_run_refuses_is_refused_when_it_is_checked() {
    let mut bench = Bench::new(RetrieveBackend::File, path("old.jsonl"), path("old.jsonl"), &["x", "y"]);
    bench.questions[1].id.0 = "7".to_owned();
    let fine = "{\"id\":\"q0\",\"documents\":[{\"id\":3,\"text\":\"t\"}]}\n";
    let seven = "{\"qid\":7,\"documents\":[]}\n";
    let of_seven = |documents: &str| format!("{fine}{{\"id\":7,\"documents\":{documents}}}\n").into_bytes();
    let document = |id: usize, url: usize| {
        format!("[{{\"id\":\"{}\",\"text\":\"\",\"url\":\"{}\"}}]", "i".repeat(id), "u".repeat(url))
    };
    let no_id = "line 2: is no JSON object with an `id` that is a text or a whole number";
    let no_documents = "line 2: has no list `documents` of objects, each with an `id`";
    let refused: [(Vec<u8>, &str); 14] = [
        (Vec::new(), "has no line for 2 of the selected questions, first for `q0`"),
        (fine.into(), "has no line for 1 of the selected questions, first for `7`"),
        (format!("{fine}\n{fine}{seven}").into(), "lines 1 and 3: both are of the question `q0`"),
        (format!("{fine}[7]\n").into(), no_id),
        (format!("{fine}{{\"id\":7.5,\"documents\":[]}}\n").into(), no_id),
        (format!("{fine}{{\"id\":7}}\n").into(), no_documents),
        (of_seven("{}"), no_documents),
        (of_seven("[{\"id\":\"a\"}]"), no_documents),
        (of_seven("[{\"id\":true,\"text\":\"\"}]"), no_documents),
        (of_seven("[{\"id\":\"a\",\"text\":1e400}]"), "line 2: a number is larger than any that is read"),
        (of_seven(&document(1025, 1)), "line 2: a document has an id of more than 1024 bytes"),
        (of_seven(&document(1, 8193)), "line 2: a document has a `url` of more than 8192 bytes"),
        ([fine.as_bytes(), b"\xff\n"].concat(), "line 2: is not UTF-8"),
        (format!("{fine}{seven}{{\n").into(), "line 3: the JSON ends too early"),
    ];
    let opened = |bench: &Bench| crate::retrieve::open(&bench.spec, &bench.base()).unwrap();
    for (text, said) in refused {
        bench.write("old.jsonl", &text);
        let unread = opened(&bench).check_evidence(&bench.spec, &bench.questions).unwrap_err();
        assert_eq!(unread.len(), 2);
        let failure = bench.run().await.unwrap_err();
        assert_eq!((failure.class, &failure), (FailureClass::Usage, &unread[0].failure));
        let begin = format!("failed to read the evidence of snapshot `old`: `{}`", bench.base().join("old.jsonl"));
        assert!(failure.message.starts_with(&begin) && failure.message.contains(said), "{failure}\n{said}");
        assert!(failure.hint.is_some(), "{failure}");
        std::fs::remove_dir_all(bench.run_folder()).unwrap();
    }
    bench.write("old.jsonl", format!("{fine}{seven}"));
    opened(&bench).check_evidence(&bench.spec, &bench.questions).unwrap();
    bench.run().await.unwrap();
    assert_eq!(bench.locked()[&key("q0", "old")], ["3"]);
}
