//! What holds of the room as a whole: order, resume, damage, durability.

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

#[test]
fn blobs_are_idempotent_verified_and_mended() {
    let (_keep, path) = temporary();
    fs::create_dir_all(path.join("blobs")).unwrap();
    fs::write(path.join("blobs/.tmp-7"), b"half").unwrap();
    let folder = RunFolder::open(&path).unwrap();
    assert!(!path.join("blobs/.tmp-7").exists());
    let blobs = folder.blobs();
    let digest = runtime().block_on(async {
        let puts = (0..32).map(|_| blobs.put(b"the same".to_vec()));
        let digests = futures_util::future::join_all(puts).await;
        let digests: Vec<_> = digests.into_iter().collect::<Result<_, _>>().unwrap();
        assert!(digests.windows(2).all(|pair| pair[0] == pair[1]));
        digests[0]
    });
    assert_eq!(fs::read_dir(path.join("blobs")).unwrap().count(), 1);
    let file = path.join("blobs").join(digest.to_string());
    fs::write(&file, b"the sane").unwrap();
    assert!(matches!(blobs.get(&digest), Err(LedgerError::BlobDamaged { .. })));
    blobs.put_sync(b"the same").unwrap();
    assert_eq!(blobs.get(&digest).unwrap(), b"the same");
}

/// A run folder as a power loss leaves it while blobs are stored: names that stand for nothing, and the journal.
fn after_power_loss(texts: &[Vec<u8>], path: &Utf8Path, keep_journal: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let (_keep, before) = temporary();
    let (folder, evidence) = begun(&before, Durability::Full);
    runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        for text in texts {
            writer.append_with_blobs(&attempt(0), vec![text.clone()]).await.unwrap();
        }
    });
    fs::create_dir_all(path.join("blobs")).unwrap();
    for file in ["protocol.lock.json", "evidence.jsonl", "answers.jsonl"] {
        fs::copy(before.join(file), path.join(file)).unwrap();
    }
    let journal = fs::read(before.join("blobs.journal")).unwrap();
    fs::write(path.join("blobs.journal"), keep_journal(journal)).unwrap();
    for text in texts.iter().step_by(2) {
        fs::write(path.join("blobs").join(Digest::of(text).to_string()), b"").unwrap();
    }
}

#[test]
fn blobs_that_a_power_loss_left_empty_are_put_back_from_the_journal() {
    let (_keep, path) = temporary();
    let texts: Vec<_> = (0..5).map(|number| format!("text {number}").into_bytes()).collect();
    after_power_loss(&texts, &path, |journal| journal);
    let (folder, evidence) = begun(&path, Durability::Full);
    for text in &texts {
        assert_eq!(&folder.blobs().get(&Digest::of(text)).unwrap(), text);
    }
    assert!(!path.join("blobs.journal").exists());
    runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        writer.append_with_blobs(&attempt(1), vec![b"more".to_vec()]).await.unwrap();
        assert!(path.join("blobs.journal").exists());
        writer.seal().await.unwrap();
    });
    assert!(!path.join("blobs.journal").exists());
}

#[test]
fn large_blobs_do_without_the_journal() {
    let (_keep, path) = temporary();
    let folder = RunFolder::open(&path).unwrap();
    let large = vec![b'x'; (1 << 20) + 1];
    let digest = folder.blobs().put_sync(&large).unwrap();
    assert!(!path.join("blobs.journal").exists());
    assert_eq!(folder.blobs().get(&digest).unwrap(), large);
}

#[test]
fn damage_is_named_with_its_line() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Off);
    runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        for repeat in 0..4 {
            writer.append(&attempt(repeat)).await.unwrap();
        }
    });
    drop(folder);
    let file = path.join("answers.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let damaged = |lines: &[&str]| {
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        match open_error(&path) {
            LedgerError::Damaged { line, damage, .. } => (line, damage),
            other => panic!("{other}"),
        }
    };
    let edited = lines[2].replace("\"at_ms\":1", "\"at_ms\":2");
    assert_eq!(damaged(&[lines[0], lines[1], &edited, lines[3], lines[4]]), (4, Damage::Chain));
    assert_eq!(damaged(&[lines[0], lines[1], lines[3], lines[4]]), (3, Damage::Chain));
    assert_eq!(damaged(&[lines[0], lines[1], "", lines[2], lines[3]]), (3, Damage::Layout));
    assert_eq!(damaged(&[lines[0], lines[1], "\0\0\0", lines[2]]), (3, Damage::Layout));
    assert_eq!(damaged(&[lines[0], lines[1], "{\"seq\":1", lines[2]]), (3, Damage::Layout));
    assert_eq!(damaged(&[lines[1], lines[2]]), (1, Damage::Header));
    let last = lines[4].replace("attempt", "attemqt");
    assert!(matches!(damaged(&[lines[0], lines[1], lines[2], lines[3], &last]), (5, Damage::Record { .. })));
    let newer = lines[0].replace("1.0", "2.0");
    fs::write(&file, newer + "\n").unwrap();
    assert!(open_error(&path).to_string().contains("has format 2.0; this program reads formats up to 1.0"));
}

#[test]
fn blanks_and_zeros_after_the_last_line_are_cut_with_a_note() {
    for tail in [&b"\0\0\0\0"[..], b"\n", b" \n\n", b"\0\n\0", b"{\"seq\":1,\"prev\":\"0\0\0\0"] {
        let (_keep, path) = temporary();
        let (folder, evidence) = begun(&path, Durability::Off);
        runtime().block_on(async { writer::<Answers>(&folder, &evidence).append(&attempt(0)).await.unwrap() });
        let file = path.join("answers.jsonl");
        let whole = fs::read(&file).unwrap();
        fs::write(&file, [&whole, tail].concat()).unwrap();
        let mut reader = super::read::<Answers>(&path).unwrap();
        assert_eq!(reader.by_ref().count(), 1);
        assert_eq!(reader.end(), Some(End::Torn { bytes: tail.len() as u64 }));
        let writer = writer::<Answers>(&folder, &evidence);
        let note = format!(
            "`answers.jsonl`: cut {} bytes after line 2, which a crash left behind; no recorded line is lost",
            tail.len()
        );
        assert_eq!(writer.notes(), [note]);
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
}

#[test]
fn what_follows_a_seal_is_damage() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Off);
    runtime().block_on(writer::<Answers>(&folder, &evidence).seal()).unwrap();
    drop(folder);
    let file = path.join("answers.jsonl");
    let whole = fs::read(&file).unwrap();
    for tail in ["\n", "x", "\0"] {
        fs::write(&file, [&whole, tail.as_bytes()].concat()).unwrap();
        assert!(
            matches!(open_error(&path), LedgerError::Damaged { line: 3, damage: Damage::AfterSeal, .. }),
            "{tail:?}"
        );
    }
}

/// A run whose answers and judgments are sealed, the answers with two records; given back are the lines of the answers.
fn judged(path: &Utf8Path) -> Vec<String> {
    let (folder, evidence) = begun(path, Durability::Off);
    runtime().block_on(async {
        let writer = writer::<Answers>(&folder, &evidence);
        writer.append_all(&[attempt(0), attempt(1)], Vec::new()).await.unwrap();
        let answers = writer.seal().await.unwrap();
        writer_of_judgments_seals(&folder, &answers).await;
    });
    let text = fs::read_to_string(path.join("answers.jsonl")).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

#[test]
fn an_end_that_was_lost_is_not_gone_on_with_while_a_later_ledger_stands() {
    let (_keep, path) = temporary();
    let lines = judged(&path);
    let file = path.join("answers.jsonl");
    let torn = lines[..3].concat() + "{\"se";
    let without_seal = [lines[..3].concat(), torn];
    for kept in 0..3 {
        fs::write(&file, lines[..kept].concat()).unwrap();
        let error = open_error(&path);
        assert_eq!(error.class(), FailureClass::Evidence);
        let what = if kept == 0 { "is lost" } else { "has lost its end" };
        assert_eq!(error.to_string(), format!("`{file}` {what}: `judgments.jsonl` continues it"));
        assert_eq!(fs::read_to_string(&file).unwrap(), lines[..kept].concat(), "nothing was written");
    }
    for text in without_seal {
        fs::write(&file, text).unwrap();
        let (folder, evidence) = begun(&path, Durability::Full);
        assert!(
            matches!(super::open::<Answers>(&folder, &evidence).unwrap(), Opened::Sealed(lock) if lock.records() == 2)
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), lines.concat(), "the seal is what it was");
    }
    super::open_locks(&path).unwrap();
}

#[test]
fn a_ledger_two_stages_on_vouches_for_no_end_and_one_without_a_header_for_nothing() {
    let (_keep, path) = temporary();
    let lines = judged(&path);
    let (evidence, later) = (path.join("evidence.jsonl"), path.join("judgments.jsonl"));
    let whole = fs::read_to_string(&evidence).unwrap();
    let header = whole.split_inclusive('\n').next().unwrap();
    fs::write(&evidence, header).unwrap();
    fs::remove_file(path.join("answers.jsonl")).unwrap();
    let folder = RunFolder::open_with(&path, Durability::Off).unwrap();
    let protocol = folder.freeze(br#"{"version":1}"#).unwrap();
    let error = super::open::<Evidence>(&folder, &protocol).unwrap_err();
    assert_eq!(error.to_string(), format!("`{evidence}` has lost its end: `judgments.jsonl` continues it"));
    fs::write(path.join("answers.jsonl"), lines.concat()).unwrap();
    assert!(
        matches!(super::open::<Evidence>(&folder, &protocol).unwrap(), Opened::Sealed(_)),
        "the answers continue it"
    );
    assert_eq!(fs::read_to_string(&evidence).unwrap(), whole);
    drop(folder);
    fs::write(&later, "{\"format\":").unwrap();
    fs::write(path.join("answers.jsonl"), lines[..2].concat()).unwrap();
    let (folder, evidence) = begun(&path, Durability::Off);
    assert!(matches!(super::open::<Answers>(&folder, &evidence).unwrap(), Opened::Open(_)));
}

/// A writer with one record, and no folder to make files of blobs in: the disk refuses as a full one would.
async fn without_blobs(path: &Utf8Path, folder: &RunFolder, evidence: &super::EvidenceLock) -> super::Writer<Answers> {
    let writer = writer::<Answers>(folder, evidence);
    assert_eq!(writer.append(&attempt(0)).await.unwrap(), 0);
    fs::remove_dir(path.join("blobs")).unwrap();
    writer
}

#[test]
fn a_failed_write_stops_the_writer_and_loses_nothing_acknowledged() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Full);
    runtime().block_on(async {
        let writer = without_blobs(&path, &folder, &evidence).await;
        let failed = writer.append_with_blobs(&outcome(0, 0, b"x"), vec![b"x".to_vec()]).await.unwrap_err();
        assert_eq!(failed.class(), FailureClass::Incomplete);
        fs::create_dir(path.join("blobs")).unwrap();
        assert!(matches!(writer.append(&attempt(1)).await, Err(LedgerError::Stopped { .. })));
        assert!(matches!(writer.seal().await, Err(LedgerError::Stopped { .. })));
    });
    assert_eq!(answers(&path), [(0, attempt(0))]);
    let resumed = writer::<Answers>(&folder, &evidence);
    assert_eq!(runtime().block_on(resumed.append(&attempt(1))).unwrap(), 1);
}

#[test]
fn a_small_blob_is_durable_before_it_has_a_file_and_gets_one_before_any_seal() {
    let (_keep, path) = temporary();
    let (folder, evidence) = begun(&path, Durability::Full);
    runtime().block_on(async {
        let writer = without_blobs(&path, &folder, &evidence).await;
        // The journal takes it.
        writer.append_journaled(&outcome(0, 0, b"x"), vec![b"x".to_vec()]).await.unwrap();
        assert_eq!(writer.seal().await.unwrap_err().class(), FailureClass::Incomplete);
    });
    fs::create_dir(path.join("blobs")).unwrap();
    assert_eq!(answers(&path), [(0, attempt(0)), (1, outcome(0, 0, b"x"))]);
    runtime().block_on(writer::<Answers>(&folder, &evidence).seal()).unwrap();
    assert_eq!(folder.blobs().get(&Digest::of(b"x")).unwrap(), b"x");
}

/// What happens to a ledger in the property below.
#[derive(Clone, Debug)]
enum Happening {
    Append(Vec<u32>),
    /// A crash that keeps this share of the bytes written since the last durable point, and perhaps adds zeros.
    Crash {
        kept: u16,
        zeros: u8,
    },
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        3 => prop::collection::vec(0..9_u32, 1..5).prop_map(Happening::Append),
        1 => (any::<u16>(), 0..4_u8).prop_map(|(kept, zeros)| Happening::Crash { kept, zeros }),
    ]
}

fn whole_lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// Appends a batch that was never acknowledged, then cuts the file somewhere within it: what a crash leaves. Returns
/// how many whole records there are.
fn crash(path: &Utf8Path, evidence: &super::EvidenceLock, kept: u16, zeros: u8) -> usize {
    let file = path.join("answers.jsonl");
    let before = fs::read(&file).unwrap_or_default();
    let durable = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let folder = RunFolder::open_with(path, Durability::Off).unwrap();
    runtime().block_on(writer::<Answers>(&folder, evidence).append_all(&[attempt(90), attempt(91)], vec![])).unwrap();
    let whole = fs::read(&file).unwrap();
    let more = (whole.len() - durable) * usize::from(kept) / usize::from(u16::MAX);
    let mut left = whole[..durable + more].to_vec();
    let records = whole_lines(&left).saturating_sub(1);
    left.extend(std::iter::repeat_n(0, usize::from(zeros)));
    fs::write(&file, left).unwrap();
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_appended_cut_and_resumed_verifies_and_keeps_every_durable_record(
        happenings in prop::collection::vec(happening(), 1..8)
    ) {
        let (_keep, path) = temporary();
        let (folder, evidence) = begun(&path, Durability::Off);
        drop(folder);
        let mut durable: Vec<AnswersRecord> = Vec::new();
        for happening in happenings {
            match happening {
                Happening::Append(repeats) => {
                    let folder = RunFolder::open_with(&path, Durability::Off).unwrap();
                    let records: Vec<_> = repeats.into_iter().map(attempt).collect();
                    let writer = writer::<Answers>(&folder, &evidence);
                    let seqs = runtime().block_on(writer.append_all(&records, vec![])).unwrap();
                    prop_assert_eq!(seqs.start, durable.len() as u64);
                    durable.extend(records);
                }
                Happening::Crash { kept, zeros } => {
                    let survived = crash(&path, &evidence, kept, zeros);
                    prop_assert!(survived >= durable.len());
                    let unacknowledged = survived - durable.len();
                    durable.extend([attempt(90), attempt(91)].into_iter().take(unacknowledged));
                }
            }
        }
        let folder = RunFolder::open_with(&path, Durability::Off).unwrap();
        let writer = writer::<Answers>(&folder, &evidence);
        runtime().block_on(writer.seal()).unwrap();
        let lock = super::sealed::<Answers>(&evidence).unwrap();
        prop_assert_eq!(lock.records(), durable.len() as u64);
        let found: Vec<_> = answers(&path).into_iter().map(|(_, record)| record).collect();
        prop_assert_eq!(found, durable);
    }

    #[test]
    fn a_journal_torn_at_any_byte_gives_back_every_whole_blob(cut in any::<prop::sample::Index>(), zeros in 0..90_usize) {
        let (_keep, path) = temporary();
        let texts: Vec<_> = (0..4).map(|number| vec![b'a' + number; usize::from(number) * 37]).collect();
        let mut kept = 0;
        after_power_loss(&texts, &path, |mut journal| {
            kept = cut.index(journal.len() + 1);
            journal.truncate(kept);
            journal.resize(kept + zeros, 0);
            journal
        });
        let folder = RunFolder::open_with(&path, Durability::Off).unwrap();
        let mut end = 0;
        for text in &texts {
            end += 40 + text.len();
            if end <= kept {
                prop_assert_eq!(&folder.blobs().get(&Digest::of(text)).unwrap(), text);
            }
        }
    }

    #[test]
    fn a_ledger_cut_at_any_byte_resumes_with_every_whole_line(cut in 0..2000_usize) {
        let (_keep, path) = temporary();
        let (folder, evidence) = begun(&path, Durability::Off);
        let records: Vec<_> = (0..6).map(attempt).collect();
        runtime().block_on(async {
            let writer = writer::<Answers>(&folder, &evidence);
            writer.append_all(&records, vec![]).await.unwrap();
            writer.seal().await.unwrap()
        });
        let file = path.join("answers.jsonl");
        let whole = fs::read(&file).unwrap();
        let cut = cut % whole.len();
        fs::write(&file, &whole[..cut]).unwrap();
        let lines = whole_lines(&whole[..cut]);
        let writer = writer::<Answers>(&folder, &evidence);
        prop_assert_eq!(writer.notes().len(), usize::from(cut > 0 && whole[cut - 1] != b'\n'));
        let next = runtime().block_on(writer.append(&attempt(7))).unwrap();
        prop_assert_eq!(next, lines.saturating_sub(1) as u64);
        runtime().block_on(writer.seal()).unwrap();
        let kept: Vec<_> = answers(&path).into_iter().map(|(_, record)| record).take(lines.saturating_sub(1)).collect();
        prop_assert_eq!(&kept[..], &records[..lines.saturating_sub(1)]);
    }
}
