//! Bodies, named by their digests.
//!
//! A blob is written under a temporary name in the same folder, made durable and then renamed, so that a name always
//! stands for whole bytes. A blob is never changed, and never believed without its digest.

use super::{Durability, LedgerError, files};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of one blob.
pub const MAX_BLOB_BYTES: u64 = 512 * 1024 * 1024;
/// How temporary names begin.
pub(super) const TEMPORARY: &str = ".tmp-";
/// Files made durable at once: what the file systems we measured gain from, without a thread a file.
const SYNCING: usize = 16;

/// The blobs of a run that this process may write. Clones share it.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Arc<Store>,
}

/// The blobs of a run, to be read alone.
#[derive(Clone, Debug)]
pub struct BlobReader {
    folder: Utf8PathBuf,
}

impl Blobs {
    pub(super) const fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    /// Stores these bytes under their digest; durable on return. Storing the same bytes again changes nothing.
    /// A record that names the blob should rather be appended together with it: see
    /// [`Writer::append_with_blobs`](super::Writer::append_with_blobs).
    ///
    /// # Errors
    /// More bytes than [`MAX_BLOB_BYTES`], or the file system refuses.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn put(&self, bytes: Vec<u8>) -> Result<Digest, LedgerError> {
        let store = Arc::clone(&self.store);
        let put = tokio::task::spawn_blocking(move || store.put(&bytes));
        put.await
            .unwrap_or_else(|_| Err(LedgerError::Stopped { file: "blobs", cause: "the task was cancelled".into() }))
    }

    /// As [`Blobs::put`], from a thread that may block.
    ///
    /// # Errors
    /// As [`Blobs::put`].
    pub fn put_sync(&self, bytes: &[u8]) -> Result<Digest, LedgerError> {
        self.store.put(bytes)
    }

    /// The bytes of a blob, checked against its digest.
    ///
    /// # Errors
    /// It is missing, damaged, too large, or not a plain file.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, LedgerError> {
        self.store.reader.get(digest)
    }

    /// The same blobs, to be read alone.
    #[must_use]
    pub fn reader(&self) -> BlobReader {
        self.store.reader.clone()
    }
}

impl BlobReader {
    /// The blobs of the run in this folder. Needs no lock.
    #[must_use]
    pub fn at(run_folder: &Utf8Path) -> Self {
        Self { folder: run_folder.join("blobs") }
    }

    /// The bytes of a blob, checked against its digest.
    ///
    /// # Errors
    /// It is missing, damaged, too large, or not a plain file.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, LedgerError> {
        let bytes = files::read_plain(&self.path(digest), "a blob", MAX_BLOB_BYTES)?;
        if Digest::of(&bytes) == *digest { Ok(bytes) } else { Err(LedgerError::BlobDamaged { digest: *digest }) }
    }

    /// The length of a blob in bytes, without reading it; `None` where there is none.
    ///
    /// # Errors
    /// Something else than a plain file stands in its place.
    pub(super) fn length(&self, digest: &Digest) -> Result<Option<u64>, LedgerError> {
        let path = self.path(digest);
        match files::look(&path)? {
            Some(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Some(_) => Err(LedgerError::NotPlain { path }),
            None => Ok(None),
        }
    }

    /// The folder they lie in.
    pub(super) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    fn path(&self, digest: &Digest) -> Utf8PathBuf {
        self.folder.join(digest.to_string())
    }
}

/// What all writers of one run share.
#[derive(Debug)]
pub(super) struct Store {
    reader: BlobReader,
    durable: bool,
    temporary: AtomicU64,
    /// Batches whose names are in the folder but perhaps not durable.
    unsynced: AtomicU64,
}

impl Store {
    /// Opens the blobs folder and removes what a crash left under temporary names.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn open(folder: Utf8PathBuf, durability: Durability) -> Result<Self, LedgerError> {
        remove_temporary(&folder)?;
        let durable = durability == Durability::Full;
        let reader = BlobReader { folder };
        Ok(Self { reader, durable, temporary: AtomicU64::new(0), unsynced: AtomicU64::new(0) })
    }

    fn put(&self, bytes: &[u8]) -> Result<Digest, LedgerError> {
        let digest = Digest::of(bytes);
        self.put_all(&BTreeMap::from([(digest, bytes)]))?;
        Ok(digest)
    }

    /// Stores a batch; durable on return.
    ///
    /// # Errors
    /// A blob is too large, or the file system refuses.
    pub(super) fn put_all(&self, blobs: &BTreeMap<Digest, &[u8]>) -> Result<(), LedgerError> {
        for bytes in blobs.values() {
            check_size(bytes.len())?;
        }
        let absent: Vec<_> = blobs.iter().filter(|(digest, _)| self.reader.get(digest).is_err()).collect();
        if absent.is_empty() && self.unsynced.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
        self.unsynced.fetch_add(1, Ordering::SeqCst);
        let written = self.write(&absent).and_then(|()| self.sync_names());
        self.unsynced.fetch_sub(1, Ordering::SeqCst);
        written
    }

    fn write(&self, absent: &[(&Digest, &&[u8])]) -> Result<(), LedgerError> {
        let share = absent.len().div_ceil(SYNCING).max(1);
        if absent.len() <= 1 {
            return self.write_share(absent);
        }
        std::thread::scope(|scope| {
            let shares: Vec<_> =
                absent.chunks(share).map(|share| scope.spawn(move || self.write_share(share))).collect();
            shares.into_iter().try_for_each(|share| share.join().unwrap_or_else(|_| Err(stopped())))
        })
    }

    fn write_share(&self, share: &[(&Digest, &&[u8])]) -> Result<(), LedgerError> {
        share.iter().try_for_each(|(digest, bytes)| self.write_one(digest, bytes))
    }

    fn write_one(&self, digest: &Digest, bytes: &[u8]) -> Result<(), LedgerError> {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = self.reader.folder.join(format!("{TEMPORARY}{number}"));
        let path = self.reader.path(digest);
        let written = files::write_new(&temporary, bytes, self.durable).and_then(|()| files::rename(&temporary, &path));
        if written.is_err() {
            // The first error is the one to report; what is left behind is removed when the run is opened again.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn sync_names(&self) -> Result<(), LedgerError> {
        if self.durable { files::sync_folder(&self.reader.folder) } else { Ok(()) }
    }
}

fn stopped() -> LedgerError {
    LedgerError::Stopped { file: "blobs", cause: "a thread that wrote them has stopped".to_owned() }
}

/// Checks a blob's size before anything is written.
///
/// # Errors
/// It is too large.
pub(super) fn check_size(bytes: usize) -> Result<(), LedgerError> {
    let bytes = bytes as u64;
    if bytes <= MAX_BLOB_BYTES {
        return Ok(());
    }
    Err(LedgerError::TooLarge { what: "a blob", bytes, limit: MAX_BLOB_BYTES })
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
