//! Entries of a zip file, in the order of its table of contents.

use super::guard::{Found, Guard};
use super::{CorpusError, Visit};
use ::zip::result::ZipError;
use ::zip::{ZipArchive, ZipReadOptions};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The fixed part of an entry in the table of contents (APPNOTE 4.3.12), in bytes.
const ENTRY: usize = 46;

/// Shows every document.
pub(super) fn each(file: File, mut guard: Guard<'_>, visit: &mut Visit<'_>) -> Result<Found, CorpusError> {
    let opened = file.try_clone().map_err(|error| guard.failed(error))?;
    let mut archive = ZipArchive::new(BufReader::new(opened)).map_err(|error| said(error, &guard))?;
    if archive.has_duplicate_names() {
        // The library keeps the last of those, and another program might unpack the first.
        return Err(duplicate(file, archive.central_directory_start(), &guard));
    }
    for index in 0..archive.len() {
        guard.next()?;
        let entry = archive.by_index_data(index).map_err(|error| said(error, &guard))?;
        let name = entry.name_raw().to_vec();
        if entry.is_symlink() {
            guard.link(&name)?;
            continue;
        }
        if entry.is_dir() {
            continue;
        }
        let encrypted = entry.encrypted();
        let Some(id) = guard.document(&name)? else { continue };
        if encrypted {
            return Err(guard.bad(&name, "is encrypted"));
        }
        // A name that stands otherwise before the bytes than in the table would be another document elsewhere.
        let strict = ZipReadOptions::new().enforce_header_consistency(true);
        let bytes = archive.by_index_with_options(index, strict).map_err(|error| said(error, &guard))?;
        let bytes = guard.counted(bytes);
        if visit(guard.read(id, bytes)?).is_break() {
            break;
        }
    }
    Ok(guard.found)
}

fn said(error: ZipError, guard: &Guard<'_>) -> CorpusError {
    match error {
        ZipError::Io(error) => guard.failed(error),
        ZipError::UnsupportedArchive(_) => CorpusError::UnknownPacking(guard.archive.name.clone()),
        _ => CorpusError::Damaged(guard.archive.name.clone()),
    }
}

/// The error of a table of contents that has a name twice.
fn duplicate(file: File, table: u64, guard: &Guard<'_>) -> CorpusError {
    let archive = guard.archive.name.clone();
    match first_pair(file, table) {
        Ok(Some((first, second, name))) => CorpusError::PackedTwice { archive, first, second, name },
        Ok(None) | Err(_) => CorpusError::Damaged(archive),
    }
}

/// The numbers of the first two entries with one name, and the name.
fn first_pair(mut file: File, table: u64) -> io::Result<Option<(u64, u64, String)>> {
    file.seek(SeekFrom::Start(table))?;
    let mut bytes = BufReader::new(file);
    let mut seen = HashMap::new();
    let mut fixed = [0; ENTRY];
    for number in 1.. {
        bytes.read_exact(&mut fixed)?;
        if !fixed.starts_with(b"PK\x01\x02") {
            break;
        }
        let length = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let mut name = vec![0; usize::from(length(28))];
        bytes.read_exact(&mut name)?;
        bytes.seek_relative(i64::from(length(30)) + i64::from(length(32)))?;
        if let Some(first) = seen.insert(name.clone(), number) {
            return Ok(Some((
                first,
                number,
                String::from_utf8_lossy(&name).chars().filter(|c| !c.is_control()).collect(),
            )));
        }
    }
    Ok(None)
}
