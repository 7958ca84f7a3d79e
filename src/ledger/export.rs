//! A copy of a finished run without its texts: ids, digests and labels, for those who may not have the rest.

use super::stage::{FILES, Protocol, Stage as _};
use super::{LedgerError, files, read};
use camino::Utf8Path;
use std::fs::{self, OpenOptions};

/// Copies the protocol lock and the ledgers of a finished run, byte for byte and without any blob, into the new folder
/// `to`. The copy has the same heads and is verified with [`BlobCheck::Absent`](super::BlobCheck::Absent).
///
/// It still holds question ids, document ids and URLs, names of models, and digests. A digest hides a short answer only
/// from those who cannot guess it.
///
/// # Errors
/// The run is not sealed as a whole, `to` exists, or the file system refuses.
pub fn export(run_folder: &Utf8Path, to: &Utf8Path) -> Result<(), LedgerError> {
    let (protocol, evidence, answers, _) = read::open_locks(run_folder)?;
    read::open_side_locks(&protocol, &evidence, &answers)?;
    fs::create_dir(to).map_err(|error| LedgerError::io("create", to, error))?;
    for file in [Protocol::FILE].into_iter().chain(FILES) {
        // The locks above hold that all are there that must be.
        if files::look(&run_folder.join(file))?.is_some() {
            copy(&run_folder.join(file), &to.join(file))?;
        }
    }
    files::sync_folder(to)
}

fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), LedgerError> {
    let mut reader = files::open_to_read(from)?;
    let created = OpenOptions::new().write(true).create_new(true).open(to);
    created
        .and_then(|mut file| std::io::copy(&mut reader, &mut file).and_then(|_| file.sync_all()))
        .map_err(|error| LedgerError::io("write", to, error))
}
