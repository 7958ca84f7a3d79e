//! A file of evidence that is read whole: the lines of the selected questions, and the digest of all bytes.

use super::error::EvidenceError;
use super::line::{self, Row, RowDocument};
use crate::model::{Digest, Document, Evidence, Failure, FailureClass, Question, SnapshotName};
use crate::retrieve::corpus::{Corpus, CorpusError};
use crate::retrieve::local::Local;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// The longest line: far more than any evidence has, and a bound for hostile files.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The digest of the file's bytes.
///
/// # Errors
/// The file cannot be read.
pub(in crate::retrieve) fn digest(corpus: &Corpus) -> Result<Digest, CorpusError> {
    let (path, bytes) = corpus.bytes()?;
    let mut hashing = Hashing { bytes, hasher: Sha256::new() };
    io::copy(&mut hashing, &mut io::sink()).map_err(|error| CorpusError::Io { path, error })?;
    Ok(hashing.digest())
}

/// The evidence of the selected questions, copied to a temporary file so that memory does not grow with it.
pub(in crate::retrieve) struct EvidenceFile {
    snapshot: SnapshotName,
    rows: Mutex<File>,
    places: Places,
    top_k: usize,
    max_chars: usize,
}

/// Where the line of each selected question is: its number in the evidence file, its begin and length in the copy.
type Places = HashMap<String, Place>;
type Place = Option<(u64, u64, usize)>;

/// Whether a run can use the file for these questions.
///
/// # Errors
/// As [`EvidenceFile::open`].
pub(in crate::retrieve) fn check(corpus: &Corpus, questions: &[Question]) -> Result<(), EvidenceError> {
    copy(corpus, questions, &mut io::sink()).map(drop)
}

impl EvidenceFile {
    /// Reads the whole file and keeps the lines of these questions. Returns the digest of all its bytes beside it.
    ///
    /// # Errors
    /// A line that is none, a question with two lines or without one, or the file system.
    pub(in crate::retrieve) fn open(
        corpus: &Corpus,
        snapshot: &SnapshotName,
        questions: &[Question],
        (top_k, max_chars): (usize, usize),
    ) -> Result<(Self, Digest), EvidenceError> {
        let failed = |error| CorpusError::Io { path: corpus.physical.clone(), error };
        let mut rows = BufWriter::new(tempfile::tempfile().map_err(failed)?);
        let (places, digest) = copy(corpus, questions, &mut rows)?;
        let rows = rows.into_inner().map_err(|error| failed(error.into_error()))?;
        let opened = Self { snapshot: snapshot.clone(), rows: Mutex::new(rows), places, top_k, max_chars };
        Ok((opened, digest))
    }

    fn row(&self, at: u64, length: usize) -> io::Result<Row> {
        let mut line = vec![0; length];
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.seek(SeekFrom::Start(at))?;
        rows.read_exact(&mut line)?;
        serde_json::from_slice(&line).map_err(io::Error::from)
    }
}

/// Copies the lines of these questions; where each is now, and the digest of all bytes.
fn copy(corpus: &Corpus, questions: &[Question], copy: &mut impl Write) -> Result<(Places, Digest), EvidenceError> {
    let (name, bytes) = corpus.bytes()?;
    let mut bytes = BufReader::new(Hashing { bytes, hasher: Sha256::new() });
    let mut places: Places = questions.iter().map(|question| (question.id.0.clone(), None)).collect();
    let (mut number, mut end) = (0, 0);
    while let Some(line) = read_line(&mut bytes, &name, number + 1)? {
        number += 1;
        if let Some(place) = wanted(&line, &name, number, &mut places)? {
            copy.write_all(&line).map_err(|error| CorpusError::Io { path: name.clone(), error })?;
            *place = Some((number, end, line.len()));
            end += line.len() as u64;
        }
    }
    answered(&places, questions, name)?;
    Ok((places, bytes.into_inner().digest()))
}

fn answered(places: &Places, questions: &[Question], file: String) -> Result<(), EvidenceError> {
    let missing = |question: &&Question| places.get(&question.id.0).copied().flatten().is_none();
    let mut missing = questions.iter().filter(missing);
    let Some(first) = missing.next() else { return Ok(()) };
    Err(EvidenceError::Unanswered { file, count: 1 + missing.count(), question: first.id.0.clone() })
}

impl Local for EvidenceFile {
    fn search(&self, question: &Question) -> Result<Evidence, Failure> {
        let Some((_, at, length)) = self.places.get(&question.id.0).copied().flatten() else {
            let message = format!("the evidence of snapshot `{}` was not read for `{}`", self.snapshot, question.id);
            return Err(Failure::new(FailureClass::Incomplete, message));
        };
        let failed = |error| Failure::new(FailureClass::Incomplete, format!("failed to read back evidence: {error}"));
        let row = self.row(at, length).map_err(failed)?;
        let document = |row: RowDocument| Document::compact(row.id.0, row.url, &row.text, self.max_chars);
        Ok(Evidence { documents: row.documents.into_iter().take(self.top_k).map(document).collect() })
    }

    /// Its copy of the rows may be large, though on disk.
    fn is_small(&self) -> bool {
        false
    }
}

/// The place to fill where the line belongs to a selected question.
fn wanted<'a>(
    line: &[u8],
    file: &str,
    number: u64,
    places: &'a mut Places,
) -> Result<Option<&'a mut Place>, EvidenceError> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let bad = |problem| EvidenceError::BadLine { file: file.to_owned(), line: number, problem };
    let question = line::question(line).map_err(bad)?;
    let Some(place) = places.get_mut(&question) else { return Ok(None) };
    if let Some((first, ..)) = *place {
        return Err(EvidenceError::Twice { file: file.to_owned(), first, second: number, question });
    }
    line::evidence(line).map_err(bad)?;
    Ok(Some(place))
}

fn read_line(bytes: &mut impl BufRead, name: &str, number: u64) -> Result<Option<Vec<u8>>, CorpusError> {
    let mut line = Vec::new();
    let read = bytes.take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line);
    let read = read.map_err(|error| CorpusError::Io { path: name.to_owned(), error })?;
    if read as u64 > MAX_LINE_BYTES {
        return Err(CorpusError::TooLarge { document: format!("{name}, line {number}"), limit: MAX_LINE_BYTES });
    }
    if number == 1 && line.starts_with(b"\xef\xbb\xbf") {
        line.drain(..3);
    }
    Ok(if read == 0 { None } else { Some(line) })
}

/// Bytes that are hashed while they are read.
struct Hashing<R> {
    bytes: R,
    hasher: Sha256,
}

impl<R> Hashing<R> {
    fn digest(self) -> Digest {
        Digest::from_bytes(self.hasher.finalize().into())
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}
