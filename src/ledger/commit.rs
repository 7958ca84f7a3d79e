//! The thread that alone writes one ledger: it takes what is waiting, makes it durable with one flush, and answers.

use super::folder::Inner;
use super::store::Store;
use super::{Durability, LedgerError, files, format};
use crate::model::Digest;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, mpsc::Receiver};
use std::time::Duration;
use tokio::sync::oneshot;

/// The most bytes that one flush serves, so that a batch does not grow without bound.
const MAX_BATCH_BYTES: usize = 64 * 1024 * 1024;

/// How long nobody asks for a record before blobs are given files of their own. Replies of many calls come close together, and
/// files that are made meanwhile hold up those who read them: between two such bursts there is time.
const LULL: Duration = Duration::from_millis(3);

/// Where a ledger goes on.
#[derive(Debug)]
pub(super) struct Tail {
    /// The ledger, open for writing at its end.
    pub file: File,
    /// Its path.
    pub path: Utf8PathBuf,
    /// Its durable bytes.
    pub length: u64,
    /// The digest of its last line.
    pub prev: Digest,
    /// How many records it has.
    pub records: u64,
}

/// Takes the head and the number of records of a ledger that was sealed.
type SealReply = oneshot::Sender<Result<(Digest, u64), LedgerError>>;

/// What a writer asks of the thread.
pub(super) enum Command {
    /// Add records.
    Append(Append),
    /// Add the seal and stop.
    Seal(SealReply),
}

/// When blobs must have files of their own. They are durable before the answer in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// Before the answer.
    Now,
    /// Before the seal.
    Later,
}

/// Records to add in one piece, after the blobs that they name.
pub(super) struct Append {
    /// Each as a JSON object that `format::write_record` takes.
    pub records: Vec<Vec<u8>>,
    /// The blobs.
    pub blobs: Vec<(Digest, Vec<u8>)>,
    /// When the blobs must have files.
    pub files: Files,
    /// Answered with the number of the first record.
    pub reply: oneshot::Sender<Result<u64, LedgerError>>,
}

impl Append {
    fn bytes(&self) -> usize {
        let records: usize = self.records.iter().map(Vec::len).sum();
        let blobs: usize = self.blobs.iter().map(|(_, bytes)| bytes.len()).sum();
        records + blobs
    }
}

/// The state of the thread.
pub(super) struct Committer {
    tail: Tail,
    name: &'static str,
    folder: Arc<Inner>,
    failed: Option<String>,
}

impl Committer {
    pub(super) const fn new(tail: Tail, name: &'static str, folder: Arc<Inner>) -> Self {
        Self { tail, name, folder, failed: None }
    }

    /// Serves until the ledger is sealed or nobody can ask any more.
    pub(super) fn serve(mut self, commands: &Receiver<Command>) {
        while let Some(first) = self.next(commands) {
            let (batch, seal) = gather(first, commands);
            self.answer(batch);
            if let Some(reply) = seal {
                let sealed = self.guard(Self::seal);
                self.folder.give_writer_back(self.name);
                // Whoever asked may be gone; the ledger is sealed all the same.
                let _ = reply.send(sealed);
                return;
            }
        }
        self.folder.give_writer_back(self.name);
    }

    /// The next command; while there is none, blobs are given files of their own.
    fn next(&mut self, commands: &Receiver<Command>) -> Option<Command> {
        let mut unfiled = self.failed.is_none();
        let mut lull = if self.folder.store.has_many_unfiled() { Duration::ZERO } else { LULL };
        while unfiled {
            if let Ok(command) = commands.recv_timeout(lull) {
                return Some(command);
            }
            lull = Duration::ZERO;
            // A failure is told to whoever asks for the next record.
            unfiled = self.guard(|committer| committer.folder.store.file_some()).unwrap_or(false);
        }
        commands.recv().ok()
    }

    fn answer(&mut self, batch: Vec<Append>) {
        if batch.is_empty() {
            return;
        }
        let committed = self.guard(|committer| committer.commit(&batch));
        let mut seq = committed.as_ref().map_or(0, |first| *first);
        for append in batch {
            let reply = if committed.is_ok() { Ok(seq) } else { Err(self.stopped()) };
            seq += append.records.len() as u64;
            // A task that was cancelled no longer listens; its record stands.
            let _ = append.reply.send(reply);
        }
    }

    /// Does `work` unless an earlier write failed; after a failure nothing is written any more, because the file's
    /// state is unknown until it is read again.
    fn guard<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        if self.failed.is_some() {
            return Err(self.stopped());
        }
        work(self).inspect_err(|error| {
            self.failed = Some(error.to_string());
            // What was written of the batch is of no use to anybody. Where even this fails, resuming cuts it.
            let _ = self.tail.file.set_len(self.tail.length);
        })
    }

    fn stopped(&self) -> LedgerError {
        let cause = self.failed.clone().unwrap_or_else(|| "the writer has stopped".to_owned());
        LedgerError::Stopped { file: self.name, cause }
    }

    /// Makes a batch durable: blobs first, so that no record ever names a blob that is not there.
    fn commit(&mut self, batch: &[Append]) -> Result<u64, LedgerError> {
        store_blobs(&self.folder.store, batch)?;
        let first = self.tail.records;
        let mut out = Vec::new();
        let (mut seq, mut prev) = (first, self.tail.prev);
        for fields in batch.iter().flat_map(|append| &append.records) {
            let begin = out.len();
            format::write_record(&mut out, seq, &prev, fields)?;
            prev = Digest::of(&out[begin..]);
            out.push(b'\n');
            seq += 1;
        }
        self.write(&out)?;
        (self.tail.records, self.tail.prev) = (seq, prev);
        Ok(first)
    }

    /// Adds the seal. Gives back the head, and how many records there are.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn seal(&mut self) -> Result<(Digest, u64), LedgerError> {
        // A sealed ledger relies on nothing but the files that it names.
        self.folder.store.settle()?;
        let mut out = Vec::new();
        format::write_seal(&mut out, self.tail.records, &self.tail.prev)?;
        let head = Digest::of(&out);
        out.push(b'\n');
        self.write(&out)?;
        if self.folder.durability == Durability::Full {
            files::sync_folder(&self.folder.path)?;
        }
        Ok((head, self.tail.records))
    }

    fn write(&mut self, out: &[u8]) -> Result<(), LedgerError> {
        let Tail { file, path, length, .. } = &mut self.tail;
        let durable = self.folder.durability == Durability::Full;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(*length))?;
            file.write_all(out)?;
            if durable { file.sync_data() } else { Ok(()) }
        };
        write(file).map_err(|error| LedgerError::io("write", path, error))?;
        *length += out.len() as u64;
        Ok(())
    }
}

/// Takes all appends that are waiting, up to a seal.
fn gather(first: Command, commands: &Receiver<Command>) -> (Vec<Append>, Option<SealReply>) {
    let mut batch = Vec::new();
    let mut bytes = 0;
    let mut next = Some(first);
    while let Some(command) = next {
        match command {
            Command::Seal(reply) => return (batch, Some(reply)),
            Command::Append(append) => {
                bytes += append.bytes();
                batch.push(append);
            }
        }
        next = if bytes < MAX_BATCH_BYTES { commands.try_recv().ok() } else { None };
    }
    (batch, None)
}

fn store_blobs(store: &Store, batch: &[Append]) -> Result<(), LedgerError> {
    let blobs: BTreeMap<Digest, &[u8]> =
        batch.iter().flat_map(|append| &append.blobs).map(|(digest, bytes)| (*digest, bytes.as_slice())).collect();
    if blobs.is_empty() {
        return Ok(());
    }
    store.put_all(&blobs)?;
    let wanted = batch.iter().any(|append| append.files == Files::Now && !append.blobs.is_empty());
    if wanted { store.file_all() } else { Ok(()) }
}
