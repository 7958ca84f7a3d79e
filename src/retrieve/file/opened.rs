//! Evidence that was computed beforehand: one JSONL file a snapshot, one question a line.

use super::corpus::{Corpus, CorpusError};
use super::local::Local;
use crate::model::{Digest, Document, Evidence, Failure, FailureClass, Question, SnapshotName};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// The longest line: far more than any evidence has, and a bound for hostile files.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The evidence of one line.
#[derive(Deserialize)]
struct Row {
    #[serde(alias = "evidence", alias = "results")]
    documents: Vec<RowDocument>,
}

#[derive(Deserialize)]
struct RowDocument {
    #[serde(alias = "_id", alias = "doc_id")]
    id: String,
    #[serde(alias = "content", alias = "body")]
    text: String,
    url: Option<String>,
}

/// The question of one line.
#[derive(Deserialize)]
struct RowId {
    #[serde(alias = "_id", alias = "question_id", alias = "qid")]
    id: String,
}

/// The digest of the file's bytes.
///
/// # Errors
/// The file cannot be read.
pub(super) fn digest(corpus: &Corpus) -> Result<Digest, CorpusError> {
    let (path, bytes) = corpus.bytes()?;
    let mut hashing = Hashing { bytes, hasher: Sha256::new() };
    io::copy(&mut hashing, &mut io::sink()).map_err(|error| CorpusError::Io { path, error })?;
    Ok(hashing.digest())
}

/// The evidence of the selected questions, copied to a temporary file so that memory does not grow with it.
pub(super) struct EvidenceFile {
    snapshot: SnapshotName,
    rows: Mutex<File>,
    places: Places,
    top_k: usize,
    max_chars: usize,
}

/// Where the line of each selected question is: its number in the evidence file, its begin and length in the copy.
type Places = HashMap<String, Place>;
type Place = Option<(u64, u64, usize)>;

impl EvidenceFile {
    /// Reads the whole file and keeps the lines of these questions. Returns the digest of all its bytes beside it.
    ///
    /// # Errors
    /// A line that is none, a question with two lines, or the file system.
    pub(super) fn open(
        corpus: &Corpus,
        snapshot: &SnapshotName,
        questions: &[Question],
        (top_k, max_chars): (usize, usize),
    ) -> Result<(Self, Digest), CorpusError> {
        let (name, bytes) = corpus.bytes()?;
        let failed = |error| CorpusError::Io { path: name.clone(), error };
        let mut bytes = BufReader::new(Hashing { bytes, hasher: Sha256::new() });
        let mut copy = BufWriter::new(tempfile::tempfile().map_err(failed)?);
        let mut places: Places = questions.iter().map(|question| (question.id.0.clone(), None)).collect();
        let (mut number, mut end) = (0, 0);
        while let Some(line) = read_line(&mut bytes, &name, number + 1)? {
            number += 1;
            if let Some(place) = wanted(&line, &name, number, &mut places)? {
                copy.write_all(&line).map_err(failed)?;
                *place = Some((number, end, line.len()));
                end += line.len() as u64;
            }
        }
        let rows = copy.into_inner().map_err(|error| failed(error.into_error()))?;
        let opened = Self { snapshot: snapshot.clone(), rows: Mutex::new(rows), places, top_k, max_chars };
        Ok((opened, bytes.into_inner().digest()))
    }

    fn row(&self, at: u64, length: usize) -> io::Result<Row> {
        let mut line = vec![0; length];
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.seek(SeekFrom::Start(at))?;
        rows.read_exact(&mut line)?;
        serde_json::from_slice(&line).map_err(io::Error::from)
    }
}

impl Local for EvidenceFile {
    fn search(&self, question: &Question) -> Result<Evidence, Failure> {
        let Some((_, at, length)) = self.places.get(&question.id.0).copied().flatten() else {
            let message =
                format!("the evidence of snapshot `{}` has no line for question `{}`", self.snapshot, question.id);
            return Err(Failure::new(FailureClass::Usage, message)
                .with_hint("a question that retrieves nothing needs a line with an empty list of documents"));
        };
        let failed = |error| Failure::new(FailureClass::Incomplete, format!("failed to read back evidence: {error}"));
        let row = self.row(at, length).map_err(failed)?;
        let document = |row: RowDocument| Document::compact(row.id, row.url, &row.text, self.max_chars);
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
) -> Result<Option<&'a mut Place>, CorpusError> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let bad = |problem| CorpusError::BadLine { file: file.to_owned(), line: number, problem };
    let row: RowId = serde_json::from_slice(line).map_err(|_| bad("is no JSON object with an `id`"))?;
    let Some(place) = places.get_mut(&row.id) else { return Ok(None) };
    if let Some((first, ..)) = *place {
        return Err(CorpusError::Duplicate { file: file.to_owned(), first, second: number, id: row.id });
    }
    serde_json::from_slice::<Row>(line).map_err(|_| bad("has no `documents`, each with an `id` and a `text`"))?;
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
