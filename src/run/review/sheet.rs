//! The file that a reviewer fills in elsewhere and gives back. All of it is checked before a label of it is kept.

use super::labels::LabelFile;
use super::usage;
use crate::analyze::review::{HandLabel, Pair};
use crate::model::{Digest, Failure, Object};
use crate::report::plain;
use crate::report::review::{COLUMNS, Row, SheetFormat, row, word};
use crate::run::files::{Files, LABELS};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1 << 30;
/// Characters of a text from the file that an error shows.
const SHOWN: usize = 60;
/// What is to be done about lines that are none.
const AS_WRITTEN: &str = "keep lines and columns as `--write` wrote them, and fill in `label` alone";

/// A file that was given back.
#[derive(Debug)]
pub(super) struct Sheet {
    file: Utf8PathBuf,
    format: SheetFormat,
    rows: Vec<Given>,
}

/// One line of it.
#[derive(Debug)]
struct Given {
    line: usize,
    id: Digest,
    question: String,
    a: String,
    b: String,
    label: String,
}

/// The format that a file's name tells.
///
/// # Errors
/// It tells none.
pub(super) fn format(file: &Utf8Path) -> Result<SheetFormat, Failure> {
    match file.extension().map(str::to_ascii_lowercase).as_deref() {
        Some("jsonl") => Ok(SheetFormat::Jsonl),
        Some("csv") => Ok(SheetFormat::Csv),
        _ => Err(usage(format!("`{file}` has another ending than `.jsonl` and `.csv`"))
            .with_hint("end its name with the format that is meant")),
    }
}

/// Writes a new file.
///
/// # Errors
/// It exists, or the file system refuses.
pub(super) fn write(file: &Utf8Path, bytes: &[u8]) -> Result<(), Failure> {
    let created = fs_err::OpenOptions::new().write(true).create_new(true).open(file);
    created.and_then(|mut created| created.write_all(bytes)).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => usage(format!("`{file}` exists already; nothing is written over it"))
            .with_hint("name another file, or give this one back with `--read`"),
        kind => {
            usage(format!("failed to write `{file}`: {kind}")).with_hint("name a file in a folder that can be written")
        }
    })
}

impl Sheet {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or a line of it is none.
    pub(super) fn read(file: &Utf8Path) -> Result<Self, Failure> {
        let format = format(file)?;
        let bytes = Files::Tree(Utf8Path::new(".")).require(LABELS, file, LIMIT)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.split(|byte| *byte == b'\n').count();
            fault(file, line, None, "it is not UTF-8").with_hint("save the file as UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rows = match format {
            SheetFormat::Jsonl => lines(file, text)?,
            SheetFormat::Csv => records(file, text)?,
        };
        Ok(Self { file: file.to_owned(), format, rows })
    }

    /// The names of its pairs.
    pub(super) fn ids(&self) -> impl Iterator<Item = Digest> {
        self.rows.iter().map(|given| given.id)
    }

    /// The labels that it gives to these pairs and that were not kept before.
    ///
    /// # Errors
    /// A name that no pair has, one that stands twice, a text that was edited, what is no label, or another label of a pair of
    /// which the judge's was shown.
    pub(super) fn labels(&self, pairs: &[Pair], kept: &LabelFile) -> Result<Vec<(Digest, HandLabel)>, Failure> {
        let pairs: BTreeMap<Digest, &Pair> = pairs.iter().map(|pair| (pair.id, pair)).collect();
        let (mut labels, mut seen) = (Vec::new(), BTreeMap::new());
        for given in &self.rows {
            let pair = pairs.get(&given.id).ok_or_else(|| unknown(&self.file, given.line))?;
            if let Some(line) = seen.insert(given.id, given.line) {
                return Err(self
                    .fault(given, "id", &format!("it stands on line {line} too"))
                    .with_hint("leave one line of each pair"));
            }
            self.check_texts(given, &row(pair, kept.labels(), self.format))?;
            let label = self.label(given)?;
            if let Some(label) = label.filter(|label| kept.labels().get(&given.id) != Some(label)) {
                self.check_settled(given, kept)?;
                labels.push((given.id, label));
            }
        }
        Ok(labels)
    }

    fn check_texts(&self, given: &Given, written: &Row) -> Result<(), Failure> {
        let texts = [
            ("question", &given.question, &written.question),
            ("a", &given.a, &written.a),
            ("b", &given.b, &written.b),
        ];
        match texts.into_iter().find(|(_, given, written)| given != written) {
            None => Ok(()),
            Some((column, ..)) => Err(self
                .fault(given, column, "the text was edited, and a label belongs to the text that was written")
                .with_hint(AS_WRITTEN)),
        }
    }

    fn label(&self, given: &Given) -> Result<Option<HandLabel>, Failure> {
        match given.label.trim().to_lowercase().as_str() {
            "" => Ok(None),
            "same" | "s" => Ok(Some(HandLabel::Same)),
            "different" | "d" => Ok(Some(HandLabel::Different)),
            "unsure" | "u" => Ok(Some(HandLabel::Unsure)),
            other => Err(self
                .fault(given, "label", &format!("`{}` is no label", plain(other, SHOWN)))
                .with_hint("write `same`, `different` or `unsure`, or leave it empty")),
        }
    }

    fn check_settled(&self, given: &Given, kept: &LabelFile) -> Result<(), Failure> {
        let Some(label) = kept.settled(&given.id) else { return Ok(()) };
        let what = format!("the judge's label of this pair was shown, so that yours stays `{}`", word(label));
        Err(self
            .fault(given, "label", &what)
            .with_hint("leave it as it was, or label blindly under another name with `--reviewer`"))
    }

    fn fault(&self, given: &Given, column: &str, what: &str) -> Failure {
        fault(&self.file, given.line, Some(column), what)
    }
}

fn unknown(file: &Utf8Path, line: usize) -> Failure {
    fault(file, line, Some("id"), "it names no pair of this run")
        .with_hint("give back a file that `--write` wrote for this run")
}

fn fault(file: &Utf8Path, line: usize, column: Option<&str>, what: &str) -> Failure {
    let column = column.map_or_else(String::new, |column| format!(", column `{column}`"));
    usage(format!("failed to read {LABELS} `{file}`, line {line}{column}: {what}"))
}

impl Given {
    /// A line of the values of all columns.
    fn of(file: &Utf8Path, line: usize, [id, question, a, b, label]: [String; 5]) -> Result<Self, Failure> {
        let id = id.trim().parse().map_err(|_| unknown(file, line))?;
        Ok(Self { line, id, question, a, b, label })
    }
}

/// The lines of a JSONL file; blank ones are passed over.
fn lines(file: &Utf8Path, text: &str) -> Result<Vec<Given>, Failure> {
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled.map(|(at, line)| object(file, at + 1, line)).collect()
}

fn object(file: &Utf8Path, line: usize, text: &str) -> Result<Given, Failure> {
    let object = Object::read(text).map_err(|why| fault(file, line, None, &why.to_string()).with_hint(AS_WRITTEN))?;
    let value = |column: &str| {
        let lacks = |what: &str| fault(file, line, Some(column), what).with_hint(AS_WRITTEN);
        match object.get(column) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Null) if column == "label" => Ok(String::new()),
            Some(_) => Err(lacks("it is no text")),
            None => Err(lacks("it is missing")),
        }
    };
    let [id, question, a, b, label] = COLUMNS;
    Given::of(file, line, [value(id)?, value(question)?, value(a)?, value(b)?, value(label)?])
}

/// The records of a CSV file under its line of names, whatever their order. Spreadsheets of some countries write semicolons.
fn records(file: &Utf8Path, text: &str) -> Result<Vec<Given>, Failure> {
    let first = text.lines().next().unwrap_or_default();
    let delimiter = if first.contains(';') && !first.contains(',') { b';' } else { b',' };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let uneven = |error: &csv::Error| {
        let at = error.position().map_or(0, csv::Position::byte);
        let what = "it has another number of columns than the first line, or a quote that does not end";
        fault(file, line_at(text, at), None, what).with_hint(AS_WRITTEN)
    };
    let names = reader.headers().map_err(|error| uneven(&error))?.clone();
    let place = |column: &str| {
        let mut places = names.iter().enumerate().filter(|(_, name)| name.trim() == column).map(|(place, _)| place);
        let lacks = |what: &str| fault(file, 1, Some(column), what).with_hint(AS_WRITTEN);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (None, _) => Err(lacks("it is missing")),
            (Some(_), Some(_)) => Err(lacks("it stands twice")),
        }
    };
    let [id, question, a, b, label] = COLUMNS;
    let places = [place(id)?, place(question)?, place(a)?, place(b)?, place(label)?];
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| uneven(&error))?;
        let line = lines.of(record.position().map_or(0, csv::Position::byte));
        let cell = |place: usize| record.get(place).unwrap_or_default().to_owned();
        rows.push(Given::of(file, line, places.map(cell))?);
    }
    Ok(rows)
}

/// The lines of a file whose records are read in order. The `csv` crate's own numbers are those of where it stood before a record,
/// which may be on the line above.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, from: u64) -> usize {
        let bytes = self.text.as_bytes();
        let from = usize::try_from(from).unwrap_or(usize::MAX).clamp(self.at, bytes.len());
        let begin = from + bytes[from..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += self.text.get(self.at..begin).unwrap_or_default().matches('\n').count();
        self.at = begin;
        self.line
    }
}

fn line_at(text: &str, byte: u64) -> usize {
    Lines { text, at: 0, line: 1 }.of(byte)
}
