//! Opening a stage's ledger: begun, resumed or found sealed.

use super::commit::{Committer, Tail};
use super::format::Header;
use super::scan::{End, Scan};
use super::{Damage, Durability, LedgerError, Lock, Recorded, RunFolder, Writer, files, later, read};
use crate::model::Digest;
use camino::Utf8Path;
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

/// A stage's ledger, as it was found.
#[derive(Debug)]
pub enum Opened<S: Recorded> {
    /// Nothing is left to do.
    Sealed(Lock<S>),
    /// Records may be added.
    Open(Writer<S>),
}

/// Opens the ledger of stage `S`, which needs the lock of the stage before it. The file is begun where it is absent,
/// and otherwise read and checked as a whole; a last line that a crash tore is cut, with a note in
/// [`Writer::notes`]. Where a later ledger or the run's [`Conclusion`](super::Conclusion) shows that nothing but the seal is
/// missing, the seal is written again.
///
/// # Errors
/// Any other damage (with file and line), an end that is missing although a later ledger continues it or the run's conclusion was
/// made from it, a sealed one that is not the one that the conclusion was made from, a ledger that continues another one, a lock of another run, a ledger that is already open, replayed replies where
/// servers' own are wanted or the other way round, or the file system refuses.
pub fn open<S: Recorded>(folder: &RunFolder, before: &Lock<S::Before>) -> Result<Opened<S>, LedgerError> {
    if before.folder() != folder.path() {
        let (lock, folder) = (before.folder().to_owned(), folder.path().to_owned());
        return Err(LedgerError::OtherRun { lock, folder });
    }
    folder.inner().take_writer(S::FILE)?;
    let opened = open_taken(folder, before);
    if !matches!(opened, Ok(Opened::Open(_))) {
        folder.inner().give_writer_back(S::FILE);
    }
    opened
}

fn open_taken<S: Recorded>(folder: &RunFolder, before: &Lock<S::Before>) -> Result<Opened<S>, LedgerError> {
    let path = folder.path().join(S::FILE);
    if !files::is_plain_file(&path)? {
        later::only_the_seal_is_lost::<S>(folder, None)?;
        create(folder, &path)?;
    }
    let mut scan = Scan::open(&path, S::NAME)?;
    scan.check_before(before.head())?;
    if scan.has_header() && scan.is_replayed() != folder.is_replay() {
        return Err(LedgerError::OtherReplies { path, replayed: scan.is_replayed() });
    }
    let (end, record) = read::last_record(&mut scan)?;
    if let End::Sealed { head } = end {
        later::is_concluded_from::<S>(folder, head)?;
        return Ok(Opened::Sealed(Lock::prove(folder.path().to_owned(), head, scan.records())));
    }
    if let Some(record) = record {
        // No later line vouches for the last one, so it is read in full.
        let read = serde_json::from_slice::<S::Record>(&record);
        read.map_err(|error| scan.damaged_at(scan.whole_lines(), Damage::Record { column: error.column() }))?;
    }
    let notes = note_of(S::FILE, end, scan.whole_lines()).into_iter().collect();
    let sealed_once = later::only_the_seal_is_lost::<S>(folder, later::head_if_sealed(&scan)?)?;
    let tail = continue_at(folder, &scan, &Header::new(S::NAME, before.head(), folder.is_replay()))?;
    if sealed_once {
        let (head, records) = Committer::new(tail, S::FILE, Arc::clone(folder.inner())).seal()?;
        return Ok(Opened::Sealed(Lock::prove(folder.path().to_owned(), head, records)));
    }
    // Calls in flight may take every descriptor that is left.
    folder.inner().store.be_ready()?;
    Writer::start(folder.inner(), tail, notes).map(Opened::Open)
}

/// Creates the file, its name durable.
fn create(folder: &RunFolder, path: &Utf8Path) -> Result<(), LedgerError> {
    files::write_new(path, b"", false)?;
    if folder.inner().durability == Durability::Full { files::sync_folder(folder.path()) } else { Ok(()) }
}

fn note_of(file: &str, end: End, lines: u64) -> Option<String> {
    match end {
        End::Torn { bytes } => Some(format!(
            "`{file}`: cut {bytes} bytes after line {lines}, which a crash left behind; no recorded line is lost"
        )),
        End::Unsealed | End::Sealed { .. } => None,
    }
}

/// Cuts what a crash left behind, writes the header where there is none, and returns where to go on.
fn continue_at<R: std::io::BufRead>(folder: &RunFolder, scan: &Scan<R>, header: &Header) -> Result<Tail, LedgerError> {
    let path = scan.path().to_owned();
    let mut file = files::open_plain(&path, OpenOptions::new().read(true).write(true))?;
    let (mut length, mut prev) = (scan.position(), scan.prev());
    let begun = if scan.has_header() { Vec::new() } else { header.line()? };
    let write = |file: &mut File| {
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        if !begun.is_empty() {
            file.write_all(&[begun.as_slice(), b"\n"].concat())?;
        }
        if folder.inner().durability == Durability::Full { file.sync_all() } else { Ok(()) }
    };
    write(&mut file).map_err(|error| LedgerError::io("write", &path, error))?;
    if !begun.is_empty() {
        length += begun.len() as u64 + 1;
        prev = Digest::of(&begun);
    }
    Ok(Tail { file, path, length, prev, records: scan.records() })
}
