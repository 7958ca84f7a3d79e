//! Where all writers of one run put their blobs.

use super::blobs::{BlobReader, TEMPORARY, check_size};
use super::journal::{self, Journal};
use super::{Durability, LedgerError, files};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Blobs that are durable in the journal alone, up to which nobody waits for their files.
const UNFILED: usize = 4096;
/// The same in bytes.
const UNFILED_BYTES: usize = 16 * 1024 * 1024;
/// So many of them that their files are made whenever nobody asks for a record, so that nobody ever has to wait for all of them.
const MANY_UNFILED: usize = UNFILED / 4;
/// Files that are made before somebody who may wait is looked for again.
const FILED_TOGETHER: usize = 8;

/// The blobs of one run, the journal that makes them durable, and who waits for it.
#[derive(Debug)]
pub(super) struct Store {
    reader: BlobReader,
    durable: bool,
    temporary: AtomicU64,
    kept: Mutex<Kept>,
    waiting: Mutex<Vec<Waiting>>,
}

/// The journal, and those of its blobs that have no file of their own yet. To make a file takes longer than to write the
/// journal's share of it, so records do not wait for files.
#[derive(Debug)]
struct Kept {
    journal: Journal,
    unfiled: VecDeque<(Digest, Vec<u8>)>,
    unfiled_bytes: usize,
}

impl Kept {
    const fn new(journal: Journal) -> Self {
        Self { journal, unfiled: VecDeque::new(), unfiled_bytes: 0 }
    }

    /// Gives one of them to `file`, and keeps it where that fails.
    fn file_next(&mut self, file: impl FnOnce(&Digest, &[u8]) -> Result<(), LedgerError>) -> Result<(), LedgerError> {
        let Some((digest, bytes)) = self.unfiled.front() else { return Ok(()) };
        file(digest, bytes)?;
        self.unfiled_bytes = self.unfiled_bytes.saturating_sub(bytes.len());
        self.unfiled.pop_front();
        Ok(())
    }
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
            kept: Mutex::new(Kept::new(Journal::new(run_folder))),
            waiting: Mutex::new(Vec::new()),
        };
        let put_back = |digest: &Digest, bytes: &[u8]| {
            if store.reader.get(digest).is_ok() { Ok(()) } else { store.write(digest, bytes, false) }
        };
        let left = journal::replay(run_folder, put_back)?;
        *lock(&store.kept) = Kept::new(left);
        store.settle()?;
        Ok(store)
    }

    /// Opens what the first blob will need.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn be_ready(&self) -> Result<(), LedgerError> {
        if self.durable { lock(&self.kept).journal.be_ready() } else { Ok(()) }
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
        let mut kept = lock(&self.kept);
        if done.get().is_none() {
            self.serve(&mut kept);
        }
        drop(kept);
        match done.get() {
            Some(Ok(())) => Ok(digest),
            Some(Err(cause)) => Err(LedgerError::NotStored { cause: cause.clone() }),
            None => Err(LedgerError::NotStored { cause: "nobody stored it".to_owned() }),
        }
    }

    /// Stores everything that is waiting and answers.
    fn serve(&self, kept: &mut Kept) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let blobs = waiting.iter().map(|one| (one.digest, one.bytes.as_slice())).collect();
        let stored = self.put_locked(kept, &blobs).and_then(|()| self.file_all_of(kept));
        let stored = stored.map_err(|error| error.to_string());
        for one in waiting {
            // Each is answered once: only the holder of the journal takes it out of the queue.
            let _ = one.done.set(stored.clone());
        }
    }

    /// Stores a batch; durable on return, though perhaps not in files of its own before [`Store::file_some`] has said that
    /// nothing is left or the store has settled.
    ///
    /// # Errors
    /// A blob is too large, or the file system refuses.
    pub(super) fn put_all(&self, blobs: &BTreeMap<Digest, &[u8]>) -> Result<(), LedgerError> {
        let mut kept = lock(&self.kept);
        self.put_locked(&mut kept, blobs)?;
        let too_many = kept.unfiled.len() > UNFILED || kept.unfiled_bytes > UNFILED_BYTES;
        if too_many { self.file_all_of(&mut kept) } else { Ok(()) }
    }

    /// Whether so many blobs are in the journal alone that files should be made of them at every chance.
    pub(super) fn has_many_unfiled(&self) -> bool {
        let kept = lock(&self.kept);
        kept.unfiled.len() > MANY_UNFILED || kept.unfiled_bytes > UNFILED_BYTES / 4
    }

    /// Makes files of some blobs that are in the journal alone; says whether any are left.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn file_some(&self) -> Result<bool, LedgerError> {
        let mut kept = lock(&self.kept);
        for _ in 0..FILED_TOGETHER {
            kept.file_next(|digest, bytes| self.write(digest, bytes, false))?;
        }
        Ok(!kept.unfiled.is_empty())
    }

    /// Makes files of all blobs that are in the journal alone.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn file_all(&self) -> Result<(), LedgerError> {
        self.file_all_of(&mut lock(&self.kept))
    }

    fn file_all_of(&self, kept: &mut Kept) -> Result<(), LedgerError> {
        while !kept.unfiled.is_empty() {
            kept.file_next(|digest, bytes| self.write(digest, bytes, false))?;
        }
        Ok(())
    }

    /// Stores what is absent. Whoever holds the journal has seen every earlier batch become durable, so a blob that is
    /// there is durable.
    fn put_locked(&self, kept: &mut Kept, blobs: &BTreeMap<Digest, &[u8]>) -> Result<(), LedgerError> {
        let absent = blobs.iter().filter(|(digest, _)| self.reader.get(digest).is_err());
        let (small, large): (Vec<_>, Vec<_>) =
            absent.map(|(digest, bytes)| (*digest, *bytes)).partition(|(_, bytes)| bytes.len() <= journal::MAX_BYTES);
        if self.durable && !small.is_empty() {
            if kept.journal.is_full() {
                self.settle_locked(kept)?;
            }
            kept.journal.append(&small)?;
        }
        kept.unfiled_bytes += small.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        kept.unfiled.extend(small.iter().map(|(digest, bytes)| (*digest, bytes.to_vec())));
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
        self.settle_locked(&mut lock(&self.kept))
    }

    fn settle_locked(&self, kept: &mut Kept) -> Result<(), LedgerError> {
        self.file_all_of(kept)?;
        let paths: Vec<Utf8PathBuf> = kept.journal.entries().iter().map(|digest| self.reader.path(digest)).collect();
        if !paths.is_empty() && self.durable {
            files::sync_files(self.reader.folder(), &paths)?;
        }
        kept.journal.remove()
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
