//! The labels of one reviewer on disk: `review/<name>.jsonl` in the run's folder, a line a label, each durable before the next
//! pair is shown. The first line binds them to the run and to the head of its judgments.
//!
//! A later label of a pair stands in an earlier one's place. A last line without its line feed was never reported as kept and is
//! cut when the next label is written.

use crate::analyze::review::{HandLabel, Labels, Pair};
use crate::ledger;
use crate::model::{Digest, Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// The folder in the run's own.
pub(in crate::run) const FOLDER: &str = "review";
/// How the files' names end.
const ENDING: &str = "jsonl";
/// The version that is written.
const FORMAT: &str = "1.0";
/// How the versions begin that are read.
const MAJOR: &str = "1.";
/// The largest file that is read, in bytes.
const LIMIT: u64 = 1 << 30;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    format: String,
    run: Digest,
    /// The head of the judgments that are reviewed.
    pub judgments: Digest,
    reviewer: String,
}

/// Every other line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// A pair was labelled.
    Label(Labelled),
    /// The judge's labels of all pairs before this line were shown.
    Revealed(Revealed),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    pair: Digest,
    label: HandLabel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Revealed {
    revealed: bool,
}

/// What whole lines say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Kept {
    labels: Labels,
    /// Pairs of which the judge's label was shown.
    revealed: BTreeSet<Digest>,
    /// The bytes of the whole lines.
    length: u64,
}

/// The labels of one reviewer, which this process may add to.
#[derive(Debug)]
pub(super) struct LabelFile {
    header: Header,
    path: Utf8PathBuf,
    kept: Kept,
    /// The digest of all bytes as they were read; nothing where there was no file.
    read: Option<Digest>,
    /// Open and locked from the first label on.
    file: Option<File>,
}

impl Header {
    /// Of a review that is begun now.
    pub(super) fn new(run: Digest, judgments: Digest, reviewer: &str) -> Self {
        Self { format: FORMAT.to_owned(), run, judgments, reviewer: reviewer.to_owned() }
    }

    /// What is wrong with a file that begins so, where something is.
    fn fault(&self, found: &Self) -> Option<String> {
        let Self { run, judgments, reviewer, .. } = self;
        match () {
            () if !found.format.starts_with(MAJOR) => {
                Some(format!("it has another format; this program reads formats up to {FORMAT}"))
            }
            () if found.run != *run => Some("it holds labels of another run".to_owned()),
            () if found.judgments != *judgments => Some("it holds labels of other judgments".to_owned()),
            () if found.reviewer != *reviewer => Some(format!("it holds labels of another reviewer than `{reviewer}`")),
            () => None,
        }
    }
}

impl LabelFile {
    /// Reads what a reviewer gave; nothing where there is no file. Writes nothing.
    ///
    /// # Errors
    /// The file is damaged or of another run: class [`FailureClass::Evidence`].
    pub(super) fn read(run: &Utf8Path, header: Header) -> Result<Self, Failure> {
        let path = run.join(FOLDER).join(format!("{}.{ENDING}", header.reviewer));
        let bytes = if is_folder(run)? { bytes(&path)? } else { None };
        let read = bytes.as_deref().map(Digest::of);
        let kept = parse(&path, &header, &bytes.unwrap_or_default())?;
        Ok(Self { header, path, kept, read, file: None })
    }

    /// The first line.
    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The labels.
    pub(super) const fn labels(&self) -> &Labels {
        &self.kept.labels
    }

    /// The label of a pair of which the judge's was shown: it stays.
    pub(super) fn settled(&self, pair: &Digest) -> Option<HandLabel> {
        self.kept.labels.get(pair).copied().filter(|_| self.kept.revealed.contains(pair))
    }

    /// Whether every label is one of these pairs, which are all that are named here.
    ///
    /// # Errors
    /// One is not: class [`FailureClass::Evidence`].
    pub(super) fn check(&self, pairs: &[Pair]) -> Result<(), Failure> {
        let known: BTreeSet<&Digest> = pairs.iter().map(|pair| &pair.id).collect();
        match self.kept.labels.keys().find(|id| !known.contains(id)) {
            Some(id) => Err(damaged(&self.path, &format!("pair `{}` is none of this run's", id.short()))),
            None => Ok(()),
        }
    }

    /// Keeps labels; all are on the disk on return.
    ///
    /// # Errors
    /// Another process labels under this name: class [`FailureClass::Usage`]. The file system refuses: class
    /// [`FailureClass::Incomplete`].
    pub(super) fn give(&mut self, labels: &[(Digest, HandLabel)]) -> Result<(), Failure> {
        let lines: Vec<Line> =
            labels.iter().map(|(pair, label)| Line::Label(Labelled { pair: *pair, label: *label })).collect();
        self.append(&lines)?;
        self.kept.labels.extend(labels.iter().copied());
        Ok(())
    }

    /// Keeps that the judge's labels of all pairs so far were shown.
    ///
    /// # Errors
    /// As [`LabelFile::give`].
    pub(super) fn reveal(&mut self) -> Result<(), Failure> {
        if self.kept.labels.keys().all(|pair| self.kept.revealed.contains(pair)) {
            return Ok(());
        }
        self.append(&[Line::Revealed(Revealed { revealed: true })])?;
        self.kept.revealed.extend(self.kept.labels.keys().copied());
        Ok(())
    }

    fn append(&mut self, lines: &[Line]) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = lines.iter().flat_map(line).collect();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.begin()?,
        };
        file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(|error| unwritten(&self.path, &error))?;
        // A file that could not be written is not written to again.
        self.file = Some(file);
        Ok(())
    }

    /// Opens the file for this process alone, as it was read, without what is torn at its end.
    fn begin(&self) -> Result<File, Failure> {
        if let Some(folder) = self.path.parent() {
            ledger::create_folder(folder)?;
        }
        let mut file = ledger::open_or_create(&self.path)?;
        let held = || {
            usage(format!("another process labels as `{}`", self.header.reviewer))
                .with_hint("wait until it ends, or label under another name with `--reviewer`")
        };
        ledger::lock_patiently(&file).map_err(|error| match error {
            TryLockError::WouldBlock => held(),
            TryLockError::Error(error) => unwritten(&self.path, &error),
        })?;
        let failed = |error: io::Error| unwritten(&self.path, &error);
        let mut now = Vec::new();
        (&file).take(LIMIT).read_to_end(&mut now).map_err(failed)?;
        if self.read.unwrap_or_else(|| Digest::of(b"")) != Digest::of(&now) {
            return Err(usage(format!("the labels of `{}` changed meanwhile", self.header.reviewer))
                .with_hint("run the same command again"));
        }
        let begin = |file: &mut File| {
            file.set_len(self.kept.length)?;
            file.seek(SeekFrom::End(0))?;
            if self.kept.length == 0 {
                file.write_all(&line(&self.header))?;
            }
            file.sync_all()
        };
        begin(&mut file).map_err(failed)?;
        if let Some(folder) = self.path.parent() {
            ledger::sync_folder(folder)?;
        }
        Ok(file)
    }
}

/// The labels of all other reviewers of this run, by name.
///
/// # Errors
/// As [`LabelFile::read`].
pub(super) fn others(run: &Utf8Path, own: &Header) -> Result<Vec<(String, Labels)>, Failure> {
    if !is_folder(run)? {
        return Ok(Vec::new());
    }
    let folder = run.join(FOLDER);
    let failed = |error: io::Error| {
        Failure::new(FailureClass::Incomplete, format!("failed to read `{folder}`: {}", error.kind()))
    };
    let mut others = Vec::new();
    for entry in folder.read_dir_utf8().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let name = path.file_stem().filter(|name| path.extension() == Some(ENDING) && *name != own.reviewer);
        let Some(name) = name else { continue };
        let header = Header { reviewer: name.to_owned(), ..own.clone() };
        others.push((name.to_owned(), LabelFile::read(run, header)?.kept.labels));
    }
    Ok(others)
}

/// Whether a run has labels. What stands in the folder's place is not followed.
fn is_folder(run: &Utf8Path) -> Result<bool, Failure> {
    let folder = run.join(FOLDER);
    match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(damaged(&folder, "it is no plain folder")),
        Err(_) => Ok(false),
    }
}

fn bytes(path: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
    match ledger::read_plain(path, "a file of labels", LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ledger::LedgerError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What the whole lines of a file say.
fn parse(path: &Utf8Path, header: &Header, bytes: &[u8]) -> Result<Kept, Failure> {
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = bytes.get(..length).unwrap_or_default().split_inclusive(|byte| *byte == b'\n').enumerate();
    let mut kept = Kept { length: length as u64, ..Kept::default() };
    if let Some((_, first)) = lines.next() {
        let found: Header = serde_json::from_slice(first).map_err(|_| damaged(path, "line 1 is no header"))?;
        if let Some(fault) = header.fault(&found) {
            return Err(damaged(path, &fault));
        }
    }
    for (at, line) in lines {
        let line = serde_json::from_slice(line).map_err(|_| damaged(path, &format!("line {} is no label", at + 1)))?;
        match line {
            Line::Label(Labelled { pair, label }) => {
                kept.labels.insert(pair, label);
            }
            Line::Revealed(_) => kept.revealed.extend(kept.labels.keys().copied()),
        }
    }
    Ok(kept)
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // Plain members always serialise.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn damaged(path: &Utf8Path, what: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("failed to read the labels `{path}`: {what}"))
        .with_hint("restore it from a copy, or move it away and label again; the run does not need it")
}

fn unwritten(path: &Utf8Path, error: &io::Error) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("failed to write `{path}`: {}", error.kind()))
        .with_hint("mend the disk (space, rights) and run the same command again: labels before this one are kept")
}

fn usage(message: String) -> Failure {
    Failure::new(FailureClass::Usage, message)
}
