//! Rows of a CSV file under a line of names.

use super::fields::TEXT;
use super::rows::{Row, RowError, Visit};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The records under the line of names.
pub(super) fn records(text: &str, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let names = match check_quotes(text).and_then(|()| names(&mut reader)) {
        Ok(names) => names,
        Err(error) => return visit(Err(error)),
    };
    reader.into_records().try_for_each(|record| visit(row(record, &names)))
}

fn names(reader: &mut csv::Reader<&[u8]>) -> Result<Vec<String>, RowError> {
    let headers = reader.headers().map_err(|error| place(&error, "not valid CSV"))?;
    let names: Vec<String> = headers.iter().map(|name| name.trim().to_owned()).collect();
    let mut seen = BTreeSet::new();
    match names.iter().position(|name| !seen.insert(name)) {
        Some(second) => Err(("line 1".to_owned(), format!("the name of column {} stands twice", second + 1))),
        None => Ok(names),
    }
}

fn row(record: csv::Result<csv::StringRecord>, names: &[String]) -> Result<Row, RowError> {
    let record = record.map_err(|error| place(&error, "the row has another number of columns than the first line"))?;
    let at = format!("line {}", record.position().map_or(0, csv::Position::line));
    let fields = names.iter().cloned().zip(record.iter().map(cell)).collect();
    on_one_line(Row { at, fields })
}

/// A cell is a text, or a JSON list of them.
fn cell(text: &str) -> Value {
    let list = text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten();
    list.filter(Value::is_array).unwrap_or_else(|| Value::String(text.to_owned()))
}

fn place(error: &csv::Error, message: &str) -> RowError {
    let line = error.position().map_or(1, csv::Position::line);
    (format!("line {line}"), message.to_owned())
}

/// A quote that was forgotten and one that is meant look the same where another row's quote ends the cell; a line break in
/// the question is what both have in common.
fn on_one_line(row: Row) -> Result<Row, RowError> {
    match row.get(TEXT).and_then(Value::as_str) {
        Some(text) if text.contains(['\n', '\r']) => {
            let message = "a line break in the question: close its quote, or write the file as `.jsonl` if it is meant";
            Err((row.at, message.to_owned()))
        }
        _ => Ok(row),
    }
}

/// Where a reader of CSV stands within a cell; a quoted cell remembers the line that it began on.
#[derive(Clone, Copy)]
enum Place {
    Start,
    Bare,
    Quoted(usize),
    Closed(usize),
}

/// The `csv` crate forgives quotes that do not fit, and takes the rows after them for one cell.
fn check_quotes(text: &str) -> Result<(), RowError> {
    let (mut place, mut line) = (Place::Start, 1);
    for byte in text.bytes() {
        place = match (place, byte) {
            (Place::Start, b'"') => Place::Quoted(line),
            (Place::Quoted(from), b'"') => Place::Closed(from),
            (Place::Closed(from), b'"') | (Place::Quoted(from), _) => Place::Quoted(from),
            (_, b',' | b'\n' | b'\r') => Place::Start,
            (Place::Start | Place::Bare, _) => Place::Bare,
            (Place::Closed(from), _) => return Err(at(from, "a cell goes on after its closing quote")),
        };
        line += usize::from(byte == b'\n');
    }
    match place {
        Place::Quoted(from) => Err(at(from, "a quote opens here that is never closed")),
        Place::Start | Place::Bare | Place::Closed(_) => Ok(()),
    }
}

fn at(line: usize, message: &str) -> RowError {
    (format!("line {line}"), message.to_owned())
}
