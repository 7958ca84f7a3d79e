//! Bodies, named by their digests.
//!
//! A blob is written under a temporary name in the same folder and then renamed, so that a name always stands for
//! whole bytes. It is durable before anybody is told so: by its own flush or by the journal's. A blob is never changed,
//! and never believed without its digest.

use super::store::Store;
use super::{LedgerError, files};
use crate::model::{Digest, Hashing};
use camino::{Utf8Path, Utf8PathBuf};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// The most bytes of one blob.
pub const MAX_BLOB_BYTES: u64 = 512 * 1024 * 1024;
/// How temporary names begin.
pub(super) const TEMPORARY: &str = ".tmp-";

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
        let put = tokio::task::spawn_blocking(move || store.put(bytes));
        put.await.unwrap_or_else(|_| Err(LedgerError::NotStored { cause: "the task was cancelled".to_owned() }))
    }

    /// As [`Blobs::put`], from a thread that may block.
    ///
    /// # Errors
    /// As [`Blobs::put`].
    pub fn put_sync(&self, bytes: &[u8]) -> Result<Digest, LedgerError> {
        self.store.put(bytes.to_vec())
    }

    /// The bytes of a blob, checked against its digest.
    ///
    /// # Errors
    /// It is missing, damaged, too large, or not a plain file.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, LedgerError> {
        self.store.reader().get(digest)
    }

    /// The same blobs, to be read alone.
    #[must_use]
    pub fn reader(&self) -> BlobReader {
        self.store.reader().clone()
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

    /// Opens a blob to be read a piece at a time. It is not believed before [`OpenBlob::finish`].
    ///
    /// # Errors
    /// It is missing, or not a plain file.
    pub fn open(&self, digest: &Digest) -> Result<OpenBlob, LedgerError> {
        let path = self.path(digest);
        let file = files::open_to_read(&path)?;
        Ok(OpenBlob { file, path, digest: *digest, hashing: Hashing::default(), bytes: 0 })
    }

    /// The names of all blobs, in order. What else lies among them is none.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Vec<Digest>, LedgerError> {
        let failed = |error| LedgerError::io("read", &self.folder, error);
        let mut names = Vec::new();
        for entry in self.folder.read_dir_utf8().map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().parse::<Digest>().ok());
        }
        names.sort_unstable();
        Ok(names)
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

    /// Where a blob lies.
    pub(super) fn path(&self, digest: &Digest) -> Utf8PathBuf {
        self.folder.join(digest.to_string())
    }
}

/// A blob that is being read.
#[derive(Debug)]
pub struct OpenBlob {
    file: File,
    path: Utf8PathBuf,
    digest: Digest,
    hashing: Hashing,
    bytes: u64,
}

impl Read for OpenBlob {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.hashing.update(into.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        Ok(read)
    }
}

impl OpenBlob {
    /// Reads what is left; the length of a blob that holds what it is named for.
    ///
    /// # Errors
    /// It is damaged, too large, or cannot be read.
    pub fn finish(mut self) -> Result<u64, LedgerError> {
        io::copy(&mut self, &mut io::sink()).map_err(|error| LedgerError::io("read", &self.path, error))?;
        let Self { digest, hashing, bytes, .. } = self;
        if bytes > MAX_BLOB_BYTES {
            return Err(LedgerError::TooLarge { what: "a blob", bytes, limit: MAX_BLOB_BYTES });
        }
        if hashing.finish() == digest { Ok(bytes) } else { Err(LedgerError::BlobDamaged { digest }) }
    }
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
