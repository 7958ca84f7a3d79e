//! What a stage holds while it works: adds records from many tasks, then seals.

use super::commit::{Append, Command, Committer, Files, Tail};
use super::folder::Inner;
use super::format::{CHAIN_BYTES, MAX_LINE_BYTES};
use super::{LedgerError, Lock, Recorded, blobs};
use crate::model::Digest;
use camino::Utf8PathBuf;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// An open ledger. Appends from any number of tasks are made durable together: one flush serves all that wait.
///
/// Dropping it waits for what was handed in and leaves the ledger unsealed, to be resumed.
#[derive(Debug)]
pub struct Writer<S: Recorded> {
    folder: Utf8PathBuf,
    notes: Vec<String>,
    sender: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
    stage: PhantomData<S>,
}

impl<S: Recorded> Writer<S> {
    pub(super) fn start(folder: &Arc<Inner>, tail: Tail, notes: Vec<String>) -> Result<Self, LedgerError> {
        let (sender, commands) = mpsc::channel();
        let path = tail.path.clone();
        let committer = Committer::new(tail, S::FILE, Arc::clone(folder));
        let thread = std::thread::Builder::new()
            .name(format!("ledger-{}", S::NAME))
            .spawn(move || committer.serve(&commands))
            .map_err(|error| LedgerError::io("write", &path, error))?;
        let folder = folder.path.clone();
        Ok(Self { folder, notes, sender: Some(sender), thread: Some(thread), stage: PhantomData })
    }

    /// What a person should know about how the ledger was found: a torn line that was cut.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a record and returns its number; durable on return. Where the future is dropped before, the record may
    /// stand or not.
    ///
    /// # Errors
    /// The record is too long, or this or an earlier write failed: then nothing more is recorded until the ledger is
    /// opened again, and everything that was acknowledged stands.
    pub async fn append(&self, record: &S::Record) -> Result<u64, LedgerError> {
        self.append_with_blobs(record, Vec::new()).await
    }

    /// As [`Writer::append`], with the blobs that the record names: they are durable before the record is, in the same
    /// group commit, which under many tasks costs far less than [`Blobs::put`](super::Blobs::put) for each.
    ///
    /// # Errors
    /// As [`Writer::append`], or a blob is too large.
    pub async fn append_with_blobs(&self, record: &S::Record, blobs: Vec<Vec<u8>>) -> Result<u64, LedgerError> {
        self.append_all(std::slice::from_ref(record), blobs).await.map(|seqs| seqs.start)
    }

    /// As [`Writer::append_with_blobs`], for blobs that nobody reads before the seal: on return the journal makes them durable,
    /// and their files are made when nobody waits for a record, at the latest before the seal.
    ///
    /// # Errors
    /// As [`Writer::append_with_blobs`].
    pub async fn append_journaled(&self, record: &S::Record, blobs: Vec<Vec<u8>>) -> Result<u64, LedgerError> {
        self.append_all_journaled(std::slice::from_ref(record), blobs).await.map(|seqs| seqs.start)
    }

    /// The same for several records, as [`Writer::append_all`] takes them.
    ///
    /// # Errors
    /// As [`Writer::append_with_blobs`].
    pub async fn append_all_journaled(
        &self,
        records: &[S::Record],
        blobs: Vec<Vec<u8>>,
    ) -> Result<Range<u64>, LedgerError> {
        self.hand_in(records, blobs, Files::Later).await
    }

    /// As [`Writer::append_with_blobs`], for several records that follow one another without a gap. Returns their
    /// numbers. They are written together, but a crash may keep only the first of them.
    ///
    /// # Errors
    /// As [`Writer::append_with_blobs`].
    pub async fn append_all(&self, records: &[S::Record], blobs: Vec<Vec<u8>>) -> Result<Range<u64>, LedgerError> {
        self.hand_in(records, blobs, Files::Now).await
    }

    async fn hand_in(
        &self,
        records: &[S::Record],
        blobs: Vec<Vec<u8>>,
        files: Files,
    ) -> Result<Range<u64>, LedgerError> {
        let blobs = blobs.into_iter().map(named).collect::<Result<_, _>>()?;
        let records: Vec<_> = records.iter().map(fields).collect::<Result<_, _>>()?;
        let count = records.len() as u64;
        let (reply, answer) = oneshot::channel();
        self.send(Command::Append(Append { records, blobs, files, reply }))?;
        let first = answer.await.unwrap_or_else(|_| Err(gone::<S>()))?;
        Ok(first..first + count)
    }

    /// Seals the ledger and returns the proof; durable on return.
    ///
    /// # Errors
    /// This or an earlier write failed.
    pub async fn seal(self) -> Result<Lock<S>, LedgerError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Seal(reply))?;
        let (head, records) = answer.await.unwrap_or_else(|_| Err(gone::<S>()))?;
        Ok(Lock::prove(self.folder.clone(), head, records))
    }

    fn send(&self, command: Command) -> Result<(), LedgerError> {
        let sender = self.sender.as_ref().ok_or_else(gone::<S>)?;
        sender.send(command).map_err(|_| gone::<S>())
    }
}

impl<S: Recorded> Drop for Writer<S> {
    /// Waits for the thread, so that the ledger can be opened again at once.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told every waiting task by closing its channel.
            let _ = thread.join();
        }
    }
}

fn gone<S: Recorded>() -> LedgerError {
    LedgerError::Stopped { file: S::FILE, cause: "the writer has stopped".to_owned() }
}

fn named(bytes: Vec<u8>) -> Result<(Digest, Vec<u8>), LedgerError> {
    blobs::check_size(bytes.len())?;
    Ok((Digest::of(&bytes), bytes))
}

/// The record's own fields, checked here so that a record that cannot be written stops its caller and nobody else.
fn fields<R: serde::Serialize>(record: &R) -> Result<Vec<u8>, LedgerError> {
    let fields = serde_json::to_vec(record).map_err(|_| LedgerError::NotAnObject)?;
    let bytes = (fields.len() + CHAIN_BYTES) as u64;
    if bytes > MAX_LINE_BYTES {
        return Err(LedgerError::TooLarge { what: "a record", bytes, limit: MAX_LINE_BYTES });
    }
    if fields.starts_with(b"{\"") { Ok(fields) } else { Err(LedgerError::NotAnObject) }
}
