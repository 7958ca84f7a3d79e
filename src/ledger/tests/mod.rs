//! What holds of the room as a whole: the order of stages, their locks, and who may write.

mod blobs;
mod damage;

use super::record::{AcceptedAnswer, AnswersRecord, Attempt, Outcome, Record, Unchanged, Verdict};
use super::stage::{Answers, Evidence, Judgments};
use super::{Damage, Durability, End, LedgerError, Lock, Opened, Recorded, RunFolder, Writer};
use crate::model::{Cell, Digest, FailureClass, QuestionId, SnapshotName};
use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use std::fs;

fn temporary() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().join("run")).unwrap();
    (folder, path)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn cell(repeat: u32) -> Cell {
    Cell { question: QuestionId("q".into()), snapshot: SnapshotName::old(), repeat }
}

fn attempt(repeat: u32) -> AnswersRecord {
    Record::Attempt(Attempt { of: cell(repeat), request: Digest::of(b"prompt"), at_ms: 1 })
}

fn outcome(attempt: u64, repeat: u32, answer: &[u8]) -> AnswersRecord {
    let accepted = AcceptedAnswer { answer: Digest::of(answer), bytes: answer.len() as u64, citations: None };
    Record::Outcome(Outcome {
        attempt,
        of: cell(repeat),
        verdict: Verdict::Accepted(accepted),
        status: Some(200),
        served_model: None,
        fingerprint: None,
        response_id: None,
        usage: None,
        latency_ms: 3,
        body: None,
    })
}

fn writer<S: Recorded>(folder: &RunFolder, before: &Lock<S::Before>) -> Writer<S> {
    match super::open::<S>(folder, before).unwrap() {
        Opened::Open(writer) => writer,
        Opened::Sealed(_) => panic!("sealed"),
    }
}

/// A run whose evidence is sealed and empty.
fn begun(path: &Utf8Path, durability: Durability) -> (RunFolder, super::EvidenceLock) {
    let folder = RunFolder::open_with(path, durability).unwrap();
    let protocol = folder.freeze(br#"{"version":1}"#).unwrap();
    let evidence = match super::open::<Evidence>(&folder, &protocol).unwrap() {
        Opened::Open(writer) => runtime().block_on(writer.seal()).unwrap(),
        Opened::Sealed(lock) => lock,
    };
    (folder, evidence)
}

fn answers(path: &Utf8Path) -> Vec<(u64, AnswersRecord)> {
    super::read::<Answers>(path).unwrap().collect::<Result<_, _>>().unwrap()
}

fn open_error(path: &Utf8Path) -> LedgerError {
    let (folder, evidence) = begun(path, Durability::Off);
    super::open::<Answers>(&folder, &evidence).unwrap_err()
}

#[test]
fn a_run_is_sealed_stage_by_stage_and_opened_again() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Full);
    runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        let seq = writer.append(&attempt(0)).await.unwrap();
        let accepted = outcome(seq, 0, b"Paris");
        assert_eq!(writer.append_with_blobs(&accepted, vec![b"Paris".to_vec()]).await.unwrap(), 1);
        assert_eq!(writer.append_all(&[attempt(1), attempt(2)], Vec::new()).await.unwrap(), 2..4);
        let answers = writer.seal().await.unwrap();
        assert_eq!(answers.records(), 4);
        writer_of_judgments_seals(&folder, &answers).await;
    });
    let (protocol, found, answers_lock, judgments) = super::open_locks(&path).unwrap();
    assert_eq!(protocol.head(), Digest::of(br#"{"version":1}"#));
    assert_eq!((found.head(), answers_lock.records(), judgments.records()), (evidence.head(), 4, 0));
    assert_eq!(answers(&path), [(0, attempt(0)), (1, outcome(0, 0, b"Paris")), (2, attempt(1)), (3, attempt(2))]);
    assert_eq!(folder.blobs().get(&Digest::of(b"Paris")).unwrap(), b"Paris");
    assert!(matches!(super::open::<Answers>(&folder, &evidence).unwrap(), Opened::Sealed(lock) if lock.records() == 4));
}

async fn writer_of_judgments_seals(folder: &RunFolder, answers: &super::AnswersLock) {
    let lock = writer::<Judgments>(folder, answers).seal().await.unwrap();
    assert_eq!(lock.folder(), folder.path());
}

#[test]
fn the_head_is_the_digest_of_the_seal_line_and_the_next_header_names_it() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Off);
    runtime().block_on(writer::<Answers>(&folder, &evidence).seal()).unwrap();
    let lines = |file| fs::read_to_string(path.join(file)).unwrap();
    let seal = lines("evidence.jsonl").lines().last().unwrap().to_owned();
    assert_eq!(Digest::of(seal.as_bytes()), evidence.head());
    assert!(lines("answers.jsonl").starts_with(&format!(
        r#"{{"format":"1.0","stage":"answers","tool":"{}","before":"{}"}}"#,
        env!("CARGO_PKG_VERSION"),
        evidence.head()
    )));
}

#[test]
fn many_tasks_append_at_once_and_every_record_has_its_own_number() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Full);
    let mut seqs = runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        let appends = (0..64).map(async |task: u32| {
            let first = writer.append(&attempt(task)).await.unwrap();
            let text = format!("answer {}", task % 8).into_bytes();
            [first, writer.append_with_blobs(&outcome(first, task, &text), vec![text]).await.unwrap()]
        });
        let seqs = futures_util::future::join_all(appends).await.concat();
        writer.seal().await.unwrap();
        seqs
    });
    seqs.sort_unstable();
    assert_eq!(seqs, (0..128).collect::<Vec<_>>());
    for (seq, record) in answers(&path) {
        if let Record::Outcome(Outcome { attempt, of, .. }) = record {
            assert!(attempt < seq && of.repeat < 64);
        }
    }
    assert_eq!(fs::read_dir(path.join("blobs")).unwrap().count(), 8);
}

#[test]
fn a_record_that_is_too_long_stops_its_caller_alone() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Off);
    runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        let long = Unchanged { question: QuestionId("q".repeat(17 << 20)), prompt: Digest::of(b"") };
        let error = writer.append(&Record::Note(long)).await.unwrap_err();
        assert!(matches!(error, LedgerError::TooLarge { .. }), "{error}");
        assert_eq!(writer.append(&attempt(0)).await.unwrap(), 0);
    });
}

#[test]
fn another_protocol_is_refused_with_both_digests() {
    let (_keep, path) = temporary();
    let folder = RunFolder::open(&path).unwrap();
    let lock = folder.freeze(b"{\"a\":1}").unwrap();
    assert_eq!(folder.freeze(b"{\"a\":1}").unwrap().head(), lock.head());
    let error = folder.freeze(b"{\"a\":2}").unwrap_err();
    assert!(error.to_string().contains(&lock.head().short()), "{error}");
    assert!(error.to_string().contains(&Digest::of(b"{\"a\":2}").short()), "{error}");
    assert_eq!(error.class(), FailureClass::Evidence);
}

#[test]
fn a_second_opener_is_told_who_holds_the_run() {
    let (_keep, path) = temporary();
    let folder = RunFolder::open(&path).unwrap();
    let error = RunFolder::open(&path).unwrap_err();
    assert!(error.to_string().ends_with(&format!("is in use by process {}", std::process::id())), "{error}");
    assert_eq!(error.class(), FailureClass::Usage);
    drop(folder);
    RunFolder::open(&path).unwrap();
}

#[test]
fn the_run_is_held_while_a_writer_lives() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Off);
    let writer = writer::<Answers>(&folder, &evidence);
    assert!(matches!(super::open::<Answers>(&folder, &evidence), Err(LedgerError::Busy { .. })));
    drop(folder);
    assert!(matches!(RunFolder::open(&path), Err(LedgerError::Held { .. })));
    drop(writer);
    RunFolder::open(&path).unwrap();
}

#[test]
fn a_lock_of_another_run_opens_nothing() {
    let (_keep, path) = temporary();
    let (_other_keep, other_path) = temporary();
    let (folder, _) = begun(&path, Durability::Off);
    let (_, foreign) = begun(&other_path, Durability::Off);
    assert!(matches!(super::open::<Answers>(&folder, &foreign), Err(LedgerError::OtherRun { .. })));
}

#[test]
fn nothing_is_found_where_there_is_no_run() {
    let (_keep, path) = temporary();
    // Whoever named the folder of all runs, or any other, is not told to delete it.
    for made in [false, true] {
        if made {
            fs::create_dir_all(path.join("0123abcd")).unwrap();
        }
        let failures =
            [super::open_locks(&path).unwrap_err(), super::verify(&path, super::BlobCheck::Present).unwrap_err()];
        for failure in failures {
            assert!(matches!(failure, LedgerError::NoRun { .. }), "{failure}");
        }
    }
    fs::remove_dir_all(&path).unwrap();
    let (folder, _) = begun(&path, Durability::Off);
    assert!(matches!(super::open_locks(&path).unwrap_err(), LedgerError::Missing { .. }));
    assert!(matches!(folder.blobs().get(&Digest::of(b"x")), Err(LedgerError::Missing { .. })));
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_refused_everywhere() {
    let (keep, path) = temporary();
    let link = |from: &Utf8Path| {
        let target = keep.path().join("elsewhere");
        fs::rename(from, &target).unwrap();
        std::os::unix::fs::symlink(&target, from).unwrap();
    };
    let refused = |result: Result<RunFolder, LedgerError>| matches!(result, Err(LedgerError::NotPlain { .. }));
    let (folder, _) = begun(&path, Durability::Off);
    let digest = folder.blobs().put_sync(b"text").unwrap();
    drop(folder);
    for name in ["evidence.jsonl", "protocol.lock.json", "lock", "blobs"] {
        link(&path.join(name));
        assert!(refused(RunFolder::open(&path)), "{name}");
        fs::remove_file(path.join(name)).unwrap();
        fs::rename(keep.path().join("elsewhere"), path.join(name)).unwrap();
    }
    let folder = RunFolder::open(&path).unwrap();
    link(&path.join("blobs").join(digest.to_string()));
    assert!(matches!(folder.blobs().get(&digest), Err(LedgerError::NotPlain { .. })));
    drop(folder);
    fs::remove_file(keep.path().join("elsewhere")).unwrap();
    link(&path);
    assert!(refused(RunFolder::open(&path)));
}
