//! Disks that fill up and folders that cannot be written. Needs a file system of its own: a small tmpfs, which only
//! root on Linux may mount; elsewhere these tests say that they were skipped.

#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so and stops")]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use camino::{Utf8Path, Utf8PathBuf};
use churngate::ledger::record::{AnswersRecord, Attempt, Record};
use churngate::ledger::stage::{Answers, Evidence, Judgments};
use churngate::ledger::{BlobCheck, Lock, Opened, Recorded, RunFolder, Writer, verify};
use churngate::model::{Cell, Digest, Failure, FailureClass, QuestionId, SnapshotName};
use std::process::Command;

/// A tmpfs that is unmounted when it is dropped.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        println!("skipped: a tmpfs cannot be mounted here");
        None
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let status = Command::new("mount").args(["-o", &options]).arg(self.folder.path()).status();
        assert!(status.expect("mount starts").success());
    }

    fn run(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().join("run")).expect("a UTF-8 path")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.folder.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

fn writer<S: Recorded>(folder: &RunFolder, before: &Lock<S::Before>) -> Writer<S> {
    match churngate::ledger::open::<S>(folder, before).expect("the ledger opens") {
        Opened::Open(writer) => writer,
        Opened::Sealed(_) => panic!("the ledger is sealed"),
    }
}

async fn evidence(folder: &RunFolder) -> churngate::ledger::EvidenceLock {
    let protocol = folder.freeze(b"{}").expect("the protocol freezes");
    match churngate::ledger::open::<Evidence>(folder, &protocol).expect("the ledger opens") {
        Opened::Open(writer) => writer.seal().await.expect("the evidence seals"),
        Opened::Sealed(lock) => lock,
    }
}

fn attempt(repeat: u32) -> AnswersRecord {
    let of = Cell { question: QuestionId("q".to_owned()), snapshot: SnapshotName::old(), repeat };
    Record::Attempt(Attempt { of, request: Digest::of(b"prompt"), at_ms: u64::from(repeat) })
}

fn blob(repeat: u32) -> Vec<u8> {
    format!("body {repeat} ").repeat(700).into_bytes()
}

fn recorded(path: &Utf8Path) -> Vec<AnswersRecord> {
    let records = churngate::ledger::read::<Answers>(path).expect("the ledger is read");
    records.map(|record| record.expect("a record").1).collect()
}

/// Appends until the disk is full, and returns how many records were acknowledged.
async fn fill(path: &Utf8Path) -> u32 {
    let folder = RunFolder::open(path).expect("the folder opens");
    let evidence = evidence(&folder).await;
    let open = writer::<Answers>(&folder, &evidence);
    for repeat in 0..10_000 {
        let Err(error) = open.append_with_blobs(&attempt(repeat), vec![blob(repeat)]).await else { continue };
        let failure = Failure::from(error);
        assert_eq!(failure.class, FailureClass::Incomplete);
        assert!(failure.message.contains("No space left on device"), "{failure}");
        assert!(failure.hint.is_some());
        // Blob or no blob, nothing more is acknowledged.
        let later = open.append(&attempt(repeat)).await.expect_err("the writer has stopped");
        assert_eq!(later.class(), FailureClass::Incomplete);
        return repeat;
    }
    panic!("the disk did not fill up");
}

#[test]
fn a_full_disk_stops_the_run_and_loses_nothing_that_was_recorded() {
    let Some(disk) = SmallDisk::mount("1m") else { return };
    let path = disk.run();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let acknowledged = runtime.block_on(fill(&path));
    assert!(acknowledged > 20, "{acknowledged}");
    let expected: Vec<_> = (0..acknowledged).map(attempt).collect();
    assert_eq!(recorded(&path), expected);

    disk.remount("size=16m");
    runtime.block_on(async {
        let folder = RunFolder::open(&path).expect("the folder opens");
        for repeat in 0..acknowledged {
            let blob = blob(repeat);
            assert_eq!(folder.blobs().get(&Digest::of(&blob)).expect("the blob is there"), blob);
        }
        let evidence = evidence(&folder).await;
        let open = writer::<Answers>(&folder, &evidence);
        let seq = open.append_with_blobs(&attempt(acknowledged), vec![blob(acknowledged)]).await;
        assert_eq!(seq.expect("there is room again"), u64::from(acknowledged));
        let answers = open.seal().await.expect("the answers seal");
        writer::<Judgments>(&folder, &answers).seal().await.expect("the judgments seal");
    });
    assert_eq!(recorded(&path).len(), expected.len() + 1);
    assert!(verify(&path, BlobCheck::Present).expect("the run is verified").difference.is_none());
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_can_still_be_verified() {
    let Some(disk) = SmallDisk::mount("1m") else { return };
    let path = disk.run();
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let folder = RunFolder::open(&path).expect("the folder opens");
        let evidence = evidence(&folder).await;
        let open = writer::<Answers>(&folder, &evidence);
        open.append_with_blobs(&attempt(0), vec![blob(0)]).await.expect("the attempt is recorded");
        let answers = open.seal().await.expect("the answers seal");
        writer::<Judgments>(&folder, &answers).seal().await.expect("the judgments seal");
    });
    disk.remount("ro");
    let failure = Failure::from(RunFolder::open(&path).expect_err("nothing can be written"));
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.contains("Read-only file system"), "{failure}");
    assert!(failure.message.contains("run/lock"), "{failure}");
    assert!(verify(&path, BlobCheck::Present).expect("the run is verified").difference.is_none());
    assert!(churngate::ledger::open_locks(&path).is_ok());
    disk.remount("rw");
}
