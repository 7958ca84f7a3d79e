//! The one file of a recording: opened without following a link, private to its owner, read line by line.

use super::error::RecordingError;
use super::exchange::{Exchange, FORMAT, Header, MAX_LINE};
use crate::ledger;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs::{DirBuilder, File};
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};

/// Its name.
pub(super) const FILE: &str = "exchanges.jsonl";

/// Where a line lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The byte it begins at.
    pub offset: u64,
    /// Its length, without the line feed.
    pub length: u64,
    /// Its number, from 1.
    pub line: u64,
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After a whole line.
    Whole,
    /// In a line that a crash tore; whole lines end at this byte.
    Torn(u64),
}

/// The file of a recording that is read.
#[derive(Debug)]
pub(super) struct Recorded {
    pub path: Utf8PathBuf,
    pub file: File,
}

impl Recorded {
    /// Opens the recording in this folder.
    pub(super) fn open(folder: &Utf8Path) -> Result<Self, RecordingError> {
        let path = folder.join(FILE);
        let file = ledger::open_plain_file(&path).map_err(|error| RecordingError::of_opening(error, folder, &path))?;
        Ok(Self { path, file })
    }

    /// Opens the file that a recorder writes, and keeps every other recorder out.
    pub(super) fn open_to_write(folder: &Utf8Path) -> Result<Self, RecordingError> {
        create_folder(folder).map_err(|error| RecordingError::io("create", folder, &error))?;
        let path = folder.join(FILE);
        let file = ledger::open_or_create(&path).map_err(|error| RecordingError::of_opening(error, folder, &path))?;
        make_private(&file).map_err(|error| RecordingError::io("write", &path, &error))?;
        match ledger::lock_patiently(&file) {
            Ok(()) => Ok(Self { path, file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(RecordingError::Held(folder.to_owned())),
            Err(std::fs::TryLockError::Error(error)) => Err(RecordingError::io("lock", &path, &error)),
        }
    }

    /// Reads it from the start and gives every exchange with its place to `take`. Holds one line in memory.
    pub(super) fn read(&self, mut take: impl FnMut(Exchange, Place)) -> Result<End, RecordingError> {
        let mut reader = BufReader::with_capacity(1 << 18, &self.file);
        reader.seek(SeekFrom::Start(0)).map_err(|error| self.unread(&error))?;
        let (mut offset, mut line, mut number) = (0, Vec::new(), 0);
        loop {
            number += 1;
            line.clear();
            let length = (&mut reader).take(MAX_LINE + 2).read_until(b'\n', &mut line);
            let length = length.map_err(|error| self.unread(&error))? as u64;
            if length == 0 {
                return Ok(End::Whole);
            }
            if line.pop_if(|last| *last == b'\n').is_none() {
                let too_long = || self.damaged(number, format!("longer than {MAX_LINE} bytes"));
                return if length > MAX_LINE { Err(too_long()) } else { Ok(End::Torn(offset)) };
            }
            let place = Place { offset, length: length - 1, line: number };
            match number {
                1 => self.check_header(&line)?,
                _ => take(Exchange::parse(&line).map_err(|what| self.damaged(number, what))?, place),
            }
            offset += length;
        }
    }

    fn check_header(&self, line: &[u8]) -> Result<(), RecordingError> {
        let header: Header =
            serde_json::from_slice(line).map_err(|_| self.damaged(1, "not the header of a recording".to_owned()))?;
        if header.recording.major == FORMAT.major {
            return Ok(());
        }
        let what = format!("format {}; this program reads format {FORMAT}", header.recording);
        Err(self.damaged(1, what))
    }

    /// Reads one line again.
    pub(super) fn at(&mut self, place: Place) -> Result<Exchange, RecordingError> {
        let mut line = Vec::new();
        let read = self.file.seek(SeekFrom::Start(place.offset));
        let read = read.and_then(|_| (&mut self.file).take(place.length).read_to_end(&mut line));
        read.map_err(|error| self.unread(&error))?;
        Exchange::parse(&line).map_err(|what| self.damaged(place.line, what))
    }

    /// What is wrong with a line.
    pub(super) fn damaged(&self, line: u64, what: String) -> RecordingError {
        RecordingError::Damaged { path: self.path.clone(), line, what }
    }

    fn unread(&self, error: &std::io::Error) -> RecordingError {
        RecordingError::io("read", &self.path, error)
    }
}

/// Creates a folder for its owner alone. One that is there already stays as it is.
fn create_folder(folder: &Utf8Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Exchanges hold questions, documents and answers.
fn make_private(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}
