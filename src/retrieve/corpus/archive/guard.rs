//! What every archive is held to, whatever its format: names, links, sizes, duplicates.

use super::Archive;
use crate::model::Digest;
use crate::retrieve::corpus::document::MAX_DOCUMENT_BYTES;
use crate::retrieve::corpus::passed::Tally;
use crate::retrieve::corpus::{CorpusDocument, CorpusError, folder, text};
use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most entries of one archive.
const MAX_ENTRIES: u64 = 5_000_000;
/// What any archive may unpack to, in bytes.
const ALWAYS: u64 = 64 << 20;
/// How many times its own size an archive may unpack to. Text is packed to a third or a tenth of its size.
const RATIO: u64 = 200;
/// What no archive may unpack to, in bytes.
const NEVER: u64 = 64 << 30;

/// What an archive holds besides the texts of its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::retrieve::corpus) struct Found {
    /// How many bytes its documents have.
    pub bytes: u64,
    /// What is no document. Links are not followed.
    pub passed_over: Tally,
}

/// The state of one reading.
pub(super) struct Guard<'a> {
    pub archive: &'a Archive,
    pub found: Found,
    entry: u64,
    seen: HashMap<[u8; 16], u64>,
    left: Arc<AtomicU64>,
}

/// What packed bytes of this size may unpack to.
fn limit(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).clamp(ALWAYS, NEVER)
}

impl<'a> Guard<'a> {
    pub(super) fn new(archive: &'a Archive) -> Self {
        let left = Arc::new(AtomicU64::new(limit(archive.packed)));
        Self { archive, found: Found::default(), entry: 0, seen: HashMap::new(), left }
    }

    /// Bytes that are counted while they are unpacked, and end in an error beyond the limit of the archive.
    pub(super) fn counted<R: Read>(&self, bytes: R) -> Counted<R> {
        Counted { bytes, left: Arc::clone(&self.left), ended: Arc::default() }
    }

    /// Counts an entry.
    pub(super) fn next(&mut self) -> Result<(), CorpusError> {
        self.entry += 1;
        if self.entry > MAX_ENTRIES { Err(CorpusError::Bomb(self.archive.name.clone())) } else { Ok(()) }
    }

    /// The id of the document that an entry of this name is; nothing where it is none, or lies elsewhere in the archive.
    ///
    /// # Errors
    /// The name is none that a folder could hold, or a document had it before.
    pub(super) fn document(&mut self, raw: &[u8]) -> Result<Option<String>, CorpusError> {
        let Some(id) = self.inside(raw)? else { return Ok(None) };
        if !folder::is_document(&id) {
            self.found.passed_over.file(&id);
            return Ok(None);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&Digest::of(id.as_bytes()).as_bytes()[..16]);
        match self.seen.insert(key, self.entry) {
            None => Ok(Some(id)),
            Some(first) => {
                let archive = self.archive.name.clone();
                Err(CorpusError::PackedTwice { archive, first, second: self.entry, name: shown(id.as_bytes()) })
            }
        }
    }

    /// Counts a symbolic link that stands among the documents.
    pub(super) fn link(&mut self, raw: &[u8]) -> Result<(), CorpusError> {
        if let Some(path) = self.inside(raw)? {
            self.found.passed_over.link(&path);
        }
        Ok(())
    }

    /// The path of an entry within the folder that is the corpus.
    fn inside(&mut self, raw: &[u8]) -> Result<Option<String>, CorpusError> {
        let Ok(name) = std::str::from_utf8(raw) else {
            let shown = shown(raw);
            if folder::is_document(&shown) {
                return Err(CorpusError::BadName(shown));
            }
            self.found.passed_over.file(&shown);
            return Ok(None);
        };
        if name.starts_with('/') || name.contains(['\\', '\0']) || name.split('/').any(|part| part == "..") {
            return Err(self.bad(raw, "has a name that leads out of the archive"));
        }
        let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let path = parts.join("/");
        if self.archive.inner.is_empty() {
            return Ok(Some(path));
        }
        let rest = path.strip_prefix(&self.archive.inner).and_then(|rest| rest.strip_prefix('/'));
        Ok(rest.map(str::to_owned))
    }

    /// Reads a document.
    pub(super) fn read(&mut self, id: String, bytes: impl Read) -> Result<CorpusDocument, CorpusError> {
        let mut read = Vec::new();
        bytes.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut read).map_err(|error| self.failed(error))?;
        if read.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(text::too_large(&id));
        }
        self.found.bytes += read.len() as u64;
        let text = text::decode(read, &id)?;
        Ok(CorpusDocument { id, url: None, text })
    }

    /// The error of an entry.
    pub(super) fn bad(&self, raw: &[u8], problem: &'static str) -> CorpusError {
        CorpusError::BadEntry { archive: self.archive.name.clone(), entry: self.entry, name: shown(raw), problem }
    }

    /// The error of reading: a limit that was met, else what the reader says.
    pub(super) fn failed(&self, error: io::Error) -> CorpusError {
        if self.left.load(Ordering::Relaxed) == 0 {
            CorpusError::Bomb(self.archive.name.clone())
        } else {
            self.archive.failed(error)
        }
    }
}

/// A name of an entry for a message: cut, and without control characters.
fn shown(raw: &[u8]) -> String {
    let name = String::from_utf8_lossy(raw);
    name.chars().take(120).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The bytes of one packed file, as far as a file of its size may unpack to.
pub(in crate::retrieve::corpus) fn bounded(bytes: Box<dyn Read + Send>, packed: u64) -> impl Read + Send {
    Counted { bytes, left: Arc::new(AtomicU64::new(limit(packed))), ended: Arc::default() }
}

/// Bytes that are counted while they are unpacked.
pub(super) struct Counted<R> {
    bytes: R,
    left: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
}

impl<R> Counted<R> {
    /// Becomes true once the bytes have come to their end.
    pub(super) fn ended(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ended)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.ended.fetch_or(count == 0 && !buffer.is_empty(), Ordering::Relaxed);
        let left = self.left.load(Ordering::Relaxed).saturating_sub(count as u64);
        self.left.store(left, Ordering::Relaxed);
        if left == 0 { Err(io::Error::from(io::ErrorKind::InvalidData)) } else { Ok(count) }
    }
}
