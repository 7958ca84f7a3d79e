//! Blobs: named for their bytes, mended, durable before any record that names them.

use super::*;
use crate::ledger;

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

/// A writer with one record, and no folder to make files of blobs in: the disk refuses as a full one would.
async fn without_blobs(path: &Utf8Path, folder: &RunFolder, evidence: &ledger::EvidenceLock) -> Writer<Answers> {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
}
