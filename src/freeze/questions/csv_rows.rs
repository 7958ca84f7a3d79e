//! Rows of a CSV file under a line of names.

use super::rows::{Row, RowError};
use serde_json::Value;
use std::collections::BTreeSet;

/// The records under the line of names.
///
/// # Errors
/// There is no line of names, or a name stands twice in it.
pub(super) fn records(text: &str) -> Result<impl Iterator<Item = Result<Row, RowError>>, RowError> {
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
            Ok(Row { at, fields: cells.collect() })
        }
        Err(error) => Err(place(&error, "the row has another number of columns than the first line")),
    }))
}

fn place(error: &csv::Error, message: &str) -> RowError {
    let line = error.position().map_or(1, csv::Position::line);
    (format!("line {line}"), message.to_owned())
}
