//! Rows of a CSV file under a line of names.

use super::fields::TEXT;
use super::rows::{Row, RowError};
use serde_json::Value;
use std::collections::BTreeSet;

/// The records under the line of names.
///
/// # Errors
/// There is no line of names, a name stands twice in it, or a quote somewhere does not end where its cell does.
pub(super) fn records(text: &str) -> Result<impl Iterator<Item = Result<Row, RowError>>, RowError> {
    check_quotes(text)?;
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let names: Vec<String> = match reader.headers() {
        Ok(headers) => headers.iter().map(|name| name.trim().to_owned()).collect(),
        Err(error) => return Err(place(&error, "not valid CSV")),
    };
    let distinct: BTreeSet<&String> = names.iter().collect();
    if distinct.len() < names.len() {
        return Err(("line 1".to_owned(), "a column name stands twice".to_owned()));
    }
    Ok(reader.into_records().map(move |record| match record {
        Ok(record) => {
            let at = format!("line {}", record.position().map_or(0, csv::Position::line));
            let cells = names.iter().cloned().zip(record.iter().map(|cell| Value::String(cell.to_owned())));
            on_one_line(Row { at, fields: cells.collect() })
        }
        Err(error) => Err(place(&error, "the row has another number of columns than the first line")),
    }))
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
