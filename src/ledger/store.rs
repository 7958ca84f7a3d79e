//! Where all writers of one run put their blobs.

use super::blobs::{BlobReader, TEMPORARY, check_size};
use super::journal::{self, Journal};
use super::{Durability, LedgerError, files};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The blobs of one run, the journal that makes them durable, and who waits for it.
#[derive(Debug)]
pub(super) struct Store {
    reader: BlobReader,
    durable: bool,
    temporary: AtomicU64,
    journal: Mutex<Journal>,
    waiting: Mutex<Vec<Waiting>>,
}

/// A blob that some thread waits for.
#[derive(Debug)]
struct Waiting {
    digest: Digest,
    bytes: Vec<u8>,
    done: Arc<OnceLock<Result<(), String>>>,
}

impl Store {
    /// Opens the blobs of a run folder, puts back what a crash left in the journal, and removes temporary names.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn open(run_folder: &Utf8Path, durability: Durability) -> Result<Self, LedgerError> {
        let reader = BlobReader::at(run_folder);
        remove_temporary(reader.folder())?;
        let store = Self {
            reader,
            durable: durability == Durability::Full,
            temporary: AtomicU64::new(0),
            journal: Mutex::new(Journal::new(run_folder)),
            waiting: Mutex::new(Vec::new()),
        };
        let put_back = |digest: &Digest, bytes: &[u8]| {
            if store.reader.get(digest).is_ok() { Ok(()) } else { store.write(digest, bytes, false) }
        };
        let left = journal::replay(run_folder, put_back)?;
        *lock(&store.journal) = left;
        store.settle()?;
        Ok(store)
    }

    /// Its blobs, to be read.
    pub(super) const fn reader(&self) -> &BlobReader {
        &self.reader
    }

    /// Stores one blob together with all that other threads wait for; durable on return.
    ///
    /// # Errors
    /// It is too large, or the file system refuses.
    pub(super) fn put(&self, bytes: Vec<u8>) -> Result<Digest, LedgerError> {
        check_size(bytes.len())?;
        let digest = Digest::of(&bytes);
        let done = Arc::new(OnceLock::new());
        lock(&self.waiting).push(Waiting { digest, bytes, done: Arc::clone(&done) });
        let mut journal = lock(&self.journal);
        if done.get().is_none() {
            self.serve(&mut journal);
        }
        match done.get() {
            Some(Ok(())) => Ok(digest),
            Some(Err(cause)) => Err(LedgerError::NotStored { cause: cause.clone() }),
            None => Err(LedgerError::NotStored { cause: "nobody stored it".to_owned() }),
        }
    }

    /// Stores everything that is waiting and answers.
    fn serve(&self, journal: &mut Journal) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let blobs = waiting.iter().map(|one| (one.digest, one.bytes.as_slice())).collect();
        let stored = self.put_locked(journal, &blobs).map_err(|error| error.to_string());
        for one in waiting {
            // Each is answered once: only the holder of the journal takes it out of the queue.
            let _ = one.done.set(stored.clone());
        }
    }

    /// Stores a batch; durable on return.
    ///
    /// # Errors
    /// A blob is too large, or the file system refuses.
    pub(super) fn put_all(&self, blobs: &BTreeMap<Digest, &[u8]>) -> Result<(), LedgerError> {
        self.put_locked(&mut lock(&self.journal), blobs)
    }

    /// Stores what is absent. Whoever holds the journal has seen every earlier batch become durable, so a blob that is
    /// there is durable.
    fn put_locked(&self, journal: &mut Journal, blobs: &BTreeMap<Digest, &[u8]>) -> Result<(), LedgerError> {
        let absent = blobs.iter().filter(|(digest, _)| self.reader.get(digest).is_err());
        let (small, large): (Vec<_>, Vec<_>) =
            absent.map(|(digest, bytes)| (*digest, *bytes)).partition(|(_, bytes)| bytes.len() <= journal::MAX_BYTES);
        if self.durable && !small.is_empty() {
            if journal.is_full() {
                self.settle_locked(journal)?;
            }
            journal.append(&small)?;
        }
        small.iter().try_for_each(|(digest, bytes)| self.write(digest, bytes, false))?;
        large.iter().try_for_each(|(digest, bytes)| self.write(digest, bytes, self.durable))?;
        if self.durable && !large.is_empty() { files::sync_folder(self.reader.folder()) } else { Ok(()) }
    }

    fn write(&self, digest: &Digest, bytes: &[u8], durable: bool) -> Result<(), LedgerError> {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = self.reader.folder().join(format!("{TEMPORARY}{number}"));
        let path = self.reader.path(digest);
        let written = files::write_new(&temporary, bytes, durable).and_then(|()| files::rename(&temporary, &path));
        if written.is_err() {
            // The first error is the one to report; what is left behind is removed when the run is opened again.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Makes every blob durable by itself and removes the journal.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn settle(&self) -> Result<(), LedgerError> {
        self.settle_locked(&mut lock(&self.journal))
    }

    fn settle_locked(&self, journal: &mut Journal) -> Result<(), LedgerError> {
        let paths: Vec<Utf8PathBuf> = journal.entries().iter().map(|digest| self.reader.path(digest)).collect();
        if !paths.is_empty() && self.durable {
            files::sync_files(self.reader.folder(), &paths)?;
        }
        journal.remove()
    }
}

impl Drop for Store {
    /// Leaves a tidy folder where it can; where it cannot, the journal stays and is read when the run is opened again.
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove_temporary(folder: &Utf8Path) -> Result<(), LedgerError> {
    let entries = folder.read_dir_utf8().map_err(|error| LedgerError::io("read", folder, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| LedgerError::io("read", folder, error))?;
        if entry.file_name().starts_with(TEMPORARY) {
            fs::remove_file(entry.path()).map_err(|error| LedgerError::io("remove", entry.path(), error))?;
        }
    }
    Ok(())
}
