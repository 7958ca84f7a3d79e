//! Bytes to the text of a document.

use super::CorpusError;
use super::document::{MAX_DOCUMENT_BYTES, MAX_ID_BYTES};
use std::io::Read;

/// How a Git LFS pointer begins.
const LFS: &str = "version https://git-lfs.github.com/spec/";

/// Everything a reader has, as far as the size limit for one document goes.
pub(super) fn read(mut bytes: impl Read, id: &str) -> Result<Vec<u8>, CorpusError> {
    let mut read = Vec::new();
    let outcome = bytes.by_ref().take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut read);
    outcome.map_err(|error| CorpusError::Io { path: id.to_owned(), error })?;
    if read.len() as u64 > MAX_DOCUMENT_BYTES { Err(too_large(id)) } else { Ok(read) }
}

/// The error of a document above the size limit.
pub(super) fn too_large(id: &str) -> CorpusError {
    CorpusError::TooLarge { document: id.to_owned(), limit: MAX_DOCUMENT_BYTES }
}

/// Refuses an id above the limit.
fn short_id(id: &str) -> Result<(), CorpusError> {
    if id.len() <= MAX_ID_BYTES { Ok(()) } else { Err(CorpusError::LongId(id.chars().take(80).collect())) }
}

/// The text of a file, without a byte order mark, its lines ended by a line feed alone: how git checks a file out is no part of
/// its content.
pub(super) fn decode(bytes: Vec<u8>, id: &str) -> Result<String, CorpusError> {
    short_id(id)?;
    if bytes.contains(&0) {
        return Err(CorpusError::Binary(id.to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_| CorpusError::NotUtf8(id.to_owned()))?;
    if text.starts_with(LFS) {
        return Err(CorpusError::LfsPointer(id.to_owned()));
    }
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    Ok(if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text })
}
