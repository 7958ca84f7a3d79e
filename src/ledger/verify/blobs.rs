//! Blobs against the records that name them, and against their own names.

use super::marks::Reference;
use super::report::Verification;
use crate::ledger::blobs::{BlobReader, TEMPORARY};
use crate::ledger::{Damage, LedgerError, files};
use crate::model::Digest;
use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

/// How many blobs are looked at together, on all cores.
const TOGETHER: usize = 4096;

/// References of one ledger that were not looked at yet.
pub(super) struct References {
    reader: BlobReader,
    ledger: Utf8PathBuf,
    waiting: Vec<(u64, Reference)>,
}

impl References {
    pub(super) fn new(folder_path: &Utf8Path, ledger: &Utf8Path) -> Self {
        Self { reader: BlobReader::at(folder_path), ledger: ledger.to_owned(), waiting: Vec::new() }
    }

    /// Takes the references of one line.
    ///
    /// # Errors
    /// One of those that are waiting names no blob, or one of another length.
    pub(super) fn take(&mut self, line: u64, references: Vec<Reference>) -> Result<(), LedgerError> {
        self.waiting.extend(references.into_iter().map(|reference| (line, reference)));
        if self.waiting.len() < TOGETHER { Ok(()) } else { self.flush() }
    }

    /// Looks at all that are waiting.
    ///
    /// # Errors
    /// The first of them that names no blob, or one of another length.
    pub(super) fn flush(&mut self) -> Result<(), LedgerError> {
        let found = self.waiting.par_iter().find_map_first(|(line, reference)| self.look(*line, *reference).err());
        self.waiting.clear();
        found.map_or(Ok(()), Err)
    }

    fn look(&self, line: u64, (digest, expected): Reference) -> Result<(), LedgerError> {
        let damage = match (self.reader.length(&digest)?, expected) {
            (None, _) => Damage::NoBlob { digest },
            (Some(found), Some(expected)) if found != expected => Damage::BlobLength { digest, expected, found },
            (Some(_), _) => return Ok(()),
        };
        Err(LedgerError::Damaged { path: self.ledger.clone(), line, damage })
    }
}

/// Reads every blob and compares it with its name, whether a record names it or not.
///
/// # Errors
/// The first that differs, or is not named by a digest, or is no plain file.
pub(super) fn check_all(folder_path: &Utf8Path, report: &mut Verification) -> Result<(), LedgerError> {
    let reader = BlobReader::at(folder_path);
    let folder = reader.folder();
    if !files::is_plain_folder(folder)? {
        return Ok(());
    }
    let mut entries = folder.read_dir_utf8().map_err(|error| LedgerError::io("read", folder, error))?;
    loop {
        let some: Vec<_> = entries
            .by_ref()
            .take(TOGETHER)
            .collect::<Result<_, _>>()
            .map_err(|error| LedgerError::io("read", folder, error))?;
        if some.is_empty() {
            return Ok(());
        }
        let sizes: Vec<_> = some.par_iter().map(|entry| check_entry(&reader, entry)).collect();
        for size in sizes {
            if let Some(bytes) = size? {
                report.blobs += 1;
                report.blob_bytes += bytes;
            }
        }
    }
}

/// The length of a blob that is what its name says; `None` for what a crash left under a temporary name.
fn check_entry(reader: &BlobReader, entry: &Utf8DirEntry) -> Result<Option<u64>, LedgerError> {
    if entry.file_name().starts_with(TEMPORARY) {
        return Ok(None);
    }
    let stray = || LedgerError::Stray { path: entry.path().to_owned() };
    let digest: Digest = entry.file_name().parse().map_err(|_| stray())?;
    Ok(Some(reader.open(&digest)?.finish()?))
}
