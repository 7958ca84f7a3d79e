//! `vectors.jsonl` in the run folder: one embedded text a line, the reference text first.

use crate::model::{Digest, Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};

/// The file in the run folder.
const FILE: &str = "vectors.jsonl";

/// One embedded text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// The question; `None` for the reference text.
    pub question: Option<String>,
    /// The digest of the text that was embedded.
    pub text: Digest,
    /// The model that the server said it used.
    pub model: Option<String>,
    /// The digest of the reference text's line, in that of a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Digest>,
    /// The vector.
    pub vector: Vec<f64>,
}

impl Line {
    /// The line as it is written, without its line feed.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // A line holds nothing that is no JSON: the numbers of a vector were read from JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The digest of the line as it is written.
    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.bytes())
    }
}

/// The file, open to be written on.
pub(super) struct Store {
    path: Utf8PathBuf,
    file: File,
}

impl Store {
    /// Opens the file and reads what is in it. A last line that was not written whole is cut.
    ///
    /// # Errors
    /// Another line is no record, or the file system refuses.
    pub(super) fn open(folder: &Utf8Path) -> Result<(Self, Vec<Line>), Failure> {
        let path = folder.join(FILE);
        let opened = File::options().read(true).append(true).create(true).open(&path);
        let file = opened.map_err(|error| unusable(&path, &error.kind().to_string()))?;
        let (lines, whole) = read(&file, &path)?;
        file.set_len(whole).map_err(|error| unusable(&path, &error.kind().to_string()))?;
        Ok((Self { path, file }, lines))
    }

    /// Writes these lines, durable before anything is made of them.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn append(&mut self, lines: &[Line]) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend(line.bytes());
            bytes.push(b'\n');
        }
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        written.map_err(|error| unusable(&self.path, &error.kind().to_string()))
    }
}

/// The lines of a run's file, where it has one.
///
/// # Errors
/// The file cannot be read, or a line is no record.
pub(super) fn kept(folder: &Utf8Path) -> Result<Option<Vec<Line>>, Failure> {
    let path = folder.join(FILE);
    match File::open(&path) {
        Ok(file) => Ok(Some(read(&file, &path)?.0)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(&path, &error.kind().to_string())),
    }
}

/// The lines, and how many bytes they have.
fn read(file: &File, path: &Utf8Path) -> Result<(Vec<Line>, u64), Failure> {
    let (mut lines, mut whole, mut reader) = (Vec::new(), 0, BufReader::new(file));
    loop {
        let mut bytes = Vec::new();
        let read = reader.read_until(b'\n', &mut bytes).map_err(|error| unusable(path, &error.kind().to_string()))?;
        if read == 0 || !bytes.ends_with(b"\n") {
            return Ok((lines, whole));
        }
        let line = serde_json::from_slice(&bytes);
        lines.push(line.map_err(|_| unusable(path, &format!("line {} is damaged", lines.len() + 1)))?);
        whole += read as u64;
    }
}

fn unusable(path: &Utf8Path, why: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("failed to keep vectors in `{path}`: {why}"))
        .with_hint("make room, or remove the run folder and run again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(question: &str) -> Line {
        let text = Digest::of(question.as_bytes());
        Line { question: Some(question.to_owned()), text, model: None, reference: None, vector: vec![0.1, -2e-9] }
    }

    #[test]
    fn lines_come_back_exactly_and_a_torn_one_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let (mut store, found) = Store::open(folder).unwrap();
        assert_eq!(found, []);
        store.append(&[line("a"), line("b")]).unwrap();
        let path = folder.join(FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"question\":\"c\""].concat()).unwrap();
        let (mut store, found) = Store::open(folder).unwrap();
        assert_eq!(found, [line("a"), line("b")]);
        store.append(&[line("c")]).unwrap();
        assert_eq!(Store::open(folder).unwrap().1.len(), 3);
        std::fs::write(&path, [b"{}\n", &whole[..]].concat()).unwrap();
        let failure = Store::open(folder).err().unwrap();
        assert!(failure.message.ends_with("line 1 is damaged"), "{failure}");
    }
}
