//! Damage: what a crash leaves is cut, anything else is named by its line, and no end that was lost is gone on with.

use super::*;
use crate::ledger;

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
        let mut reader = ledger::read::<Answers>(&path).unwrap();
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
            matches!(ledger::open::<Answers>(&folder, &evidence).unwrap(), Opened::Sealed(lock) if lock.records() == 2)
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), lines.concat(), "the seal is what it was");
    }
    ledger::open_locks(&path).unwrap();
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
    let error = ledger::open::<Evidence>(&folder, &protocol).unwrap_err();
    assert_eq!(error.to_string(), format!("`{evidence}` has lost its end: `judgments.jsonl` continues it"));
    fs::write(path.join("answers.jsonl"), lines.concat()).unwrap();
    assert!(
        matches!(ledger::open::<Evidence>(&folder, &protocol).unwrap(), Opened::Sealed(_)),
        "the answers continue it"
    );
    assert_eq!(fs::read_to_string(&evidence).unwrap(), whole);
    drop(folder);
    fs::write(&later, "{\"format\":").unwrap();
    fs::write(path.join("answers.jsonl"), lines[..2].concat()).unwrap();
    let (folder, evidence) = begun(&path, Durability::Off);
    assert!(matches!(ledger::open::<Answers>(&folder, &evidence).unwrap(), Opened::Open(_)));
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
fn crash(path: &Utf8Path, evidence: &ledger::EvidenceLock, kept: u16, zeros: u8) -> usize {
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
        let lock = ledger::sealed::<Answers>(&evidence).unwrap();
        prop_assert_eq!(lock.records(), durable.len() as u64);
        let found: Vec<_> = answers(&path).into_iter().map(|(_, record)| record).collect();
        prop_assert_eq!(found, durable);
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
