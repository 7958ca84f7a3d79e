//! The journal of blobs: makes many small blobs durable with one flush.
//!
//! A file a blob costs a flush a file. So small blobs are first written to one journal, whose single flush makes them
//! all durable, and then to their own files without a flush. The journal goes when those files are durable by
//! themselves: at every seal, and when it has grown. After a crash it is read again and what it holds is put back. It
//! never outlives a seal, and no reader of a finished run needs it.

use super::{LedgerError, files};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};

/// Its name in the run folder.
pub(super) const FILE: &str = "blobs.journal";
/// The most bytes of a blob that goes through the journal. A larger one is worth a flush of its own.
pub(super) const MAX_BYTES: usize = 1024 * 1024;
/// When the journal has grown: its bytes, and its entries.
const FULL_BYTES: u64 = 64 * 1024 * 1024;
const FULL_ENTRIES: usize = 1 << 16;

/// A journal that this process writes.
#[derive(Debug)]
pub(super) struct Journal {
    path: Utf8PathBuf,
    file: Option<File>,
    length: u64,
    entries: Vec<Digest>,
}

impl Journal {
    /// The journal of this run folder, which must hold none.
    pub(super) fn new(run_folder: &Utf8Path) -> Self {
        Self { path: run_folder.join(FILE), file: None, length: 0, entries: Vec::new() }
    }

    /// Adds these blobs; durable on return.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn append(&mut self, blobs: &[(Digest, &[u8])]) -> Result<(), LedgerError> {
        let mut out = Vec::new();
        for (digest, bytes) in blobs {
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(digest.as_bytes());
            out.extend_from_slice(bytes);
        }
        let length = self.length;
        let file = self.open()?;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(length))?;
            file.write_all(&out)?;
            file.sync_data()
        };
        write(file).map_err(|error| LedgerError::io("write", &self.path, error))?;
        self.length += out.len() as u64;
        self.entries.extend(blobs.iter().map(|(digest, _)| *digest));
        Ok(())
    }

    /// Opens the file, so that what comes needs no descriptor.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn be_ready(&mut self) -> Result<(), LedgerError> {
        self.open().map(drop)
    }

    fn open(&mut self) -> Result<&mut File, LedgerError> {
        if self.file.is_none() {
            let created = OpenOptions::new().write(true).create_new(true).open(&self.path);
            self.file = Some(created.map_err(|error| LedgerError::io("create", &self.path, error))?);
            files::sync_folder(self.path.parent().unwrap_or(Utf8Path::new(".")))?;
        }
        self.file.as_mut().ok_or_else(|| LedgerError::Missing { path: self.path.clone() })
    }

    /// Whether it should go before more is added.
    pub(super) const fn is_full(&self) -> bool {
        self.length >= FULL_BYTES || self.entries.len() >= FULL_ENTRIES
    }

    /// The blobs that rely on it.
    pub(super) fn entries(&self) -> &[Digest] {
        &self.entries
    }

    /// Removes it. Every blob it holds must be durable by itself.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn remove(&mut self) -> Result<(), LedgerError> {
        if self.file.take().is_some() {
            fs::remove_file(&self.path).map_err(|error| LedgerError::io("remove", &self.path, error))?;
        }
        self.length = 0;
        self.entries.clear();
        Ok(())
    }
}

/// Reads what a crash left and gives every whole blob to `take`; what is torn was never acknowledged. Returns a
/// journal that holds them all.
///
/// # Errors
/// The journal cannot be read, or `take` fails.
pub(super) fn replay(
    run_folder: &Utf8Path,
    mut take: impl FnMut(&Digest, &[u8]) -> Result<(), LedgerError>,
) -> Result<Journal, LedgerError> {
    let mut journal = Journal::new(run_folder);
    if !files::is_plain_file(&journal.path)? {
        return Ok(journal);
    }
    let file = files::open_plain(&journal.path, OpenOptions::new().read(true).write(true))?;
    let mut reader = BufReader::new(file);
    while let Some((digest, bytes)) =
        read_entry(&mut reader).map_err(|error| LedgerError::io("read", &journal.path, error))?
    {
        take(&digest, &bytes)?;
        journal.entries.push(digest);
    }
    journal.file = Some(reader.into_inner());
    Ok(journal)
}

/// The next whole entry; `None` where there is none.
fn read_entry(reader: &mut impl std::io::Read) -> std::io::Result<Option<(Digest, Vec<u8>)>> {
    let mut head = Vec::new();
    reader.take(40).read_to_end(&mut head)?;
    let Some((length, digest)) = head.split_first_chunk::<8>() else { return Ok(None) };
    let (Ok(digest), length) = (<[u8; 32]>::try_from(digest), u64::from_le_bytes(*length)) else { return Ok(None) };
    if length > MAX_BYTES as u64 {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    let digest = Digest::from_bytes(digest);
    Ok((Digest::of(&bytes) == digest).then_some((digest, bytes)))
}
