//! Rows of a CSV file under a line of names.

use super::fields::TEXT;
use super::rows::{Row, RowError, Visit};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The records under the line of names.
pub(super) fn records(text: &str, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let mut lines = Lines { text, at: 0, line: 1 };
    let names = match check_quotes(text).and_then(|()| names(&mut reader, &mut lines)) {
        Ok(names) => names,
        Err(error) => return visit(Err(error)),
    };
    reader.into_records().try_for_each(|record| visit(row(record, &names, &mut lines)))
}

fn names(reader: &mut csv::Reader<&[u8]>, lines: &mut Lines<'_>) -> Result<Vec<String>, RowError> {
    let headers = reader.headers().map_err(|error| lines.place(&error, "not valid CSV"))?;
    let names: Vec<String> = headers.iter().map(|name| name.trim().to_owned()).collect();
    let mut seen = BTreeSet::new();
    match names.iter().position(|name| !seen.insert(name)) {
        Some(second) => Err(("line 1".to_owned(), format!("the name of column {} stands twice", second + 1))),
        None => Ok(names),
    }
}

fn row(record: csv::Result<csv::StringRecord>, names: &[String], lines: &mut Lines<'_>) -> Result<Row, RowError> {
    let other = "the row has another number of columns than the first line";
    let record = record.map_err(|error| lines.place(&error, other))?;
    let at = format!("line {}", lines.of(record.position()));
    let fields = names.iter().cloned().zip(record.iter().map(cell)).collect();
    on_one_line(Row { at, fields })
}

/// A cell is a text, or a JSON list of them.
fn cell(text: &str) -> Value {
    let list = text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten();
    list.filter(Value::is_array).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The lines of a file whose rows are read in order. The `csv` crate's own numbers are those of where it stood before a row: on
/// the end of the line above, where that is `\r\n`, or before the blank lines that it passes over.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line on which the row begins that the crate found from here on.
    fn of(&mut self, from: Option<&csv::Position>) -> usize {
        let from = from.and_then(|from| usize::try_from(from.byte()).ok()).unwrap_or(0).max(self.at);
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let begin = from + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += self.text.get(self.at..begin).unwrap_or_default().matches('\n').count();
        self.at = begin;
        self.line
    }

    fn place(&mut self, error: &csv::Error, message: &str) -> RowError {
        (format!("line {}", self.of(error.position())), message.to_owned())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where each row stands, or what is said of it.
    fn lines(text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let _ = records(text, &mut |row| {
            lines.push(row.map_or_else(|(at, why)| format!("{at}: {why}"), |row| row.at));
            ControlFlow::Continue(())
        });
        lines
    }

    #[test]
    fn rows_stand_where_an_editor_shows_them_however_lines_end() {
        let text = "id,question,note\na,A?,x\n\n\nb,B?,\"two\nlines\"\nc,C?,y\nd,D?\ne,E?,z";
        let expected =
            ["line 2", "line 5", "line 7", "line 8: the row has another number of columns than the first line"];
        for end in ["\n", "\r\n"] {
            let found = lines(&text.replace('\n', end));
            assert_eq!(found[..4], expected, "{end:?}");
            assert_eq!(found.last().unwrap(), "line 9", "{end:?}");
        }
        assert_eq!(lines("\r\n\r\nid,question\r\na,A?"), ["line 4"]);
    }
}
