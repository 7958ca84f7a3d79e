//! A question file as rows of named values, whatever its format.

use super::{csv_rows, json_rows, squad, yaml_rows};
use serde_json::Value;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// The format of a question file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::freeze) enum Format {
    /// One JSON object a line.
    Lines,
    /// One JSON document with a list of objects.
    Json,
    /// Rows under a line of names.
    Csv,
    /// One YAML document with a list of mappings.
    Yaml,
}

/// Where a document may have its list of questions; the one that stands first in the file counts.
pub(super) const LISTS: &[&str] = &["questions", "tests", "goldens", "data", "Data", "rows", "examples", "samples"];

/// One question as it stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::freeze) struct Row {
    /// Where: `line 3`, or `line 3, column 5` where rows are no lines.
    pub at: String,
    /// Names and values in the order of the file, each name once.
    pub fields: Vec<(String, Value)>,
}

/// What is wrong with one row, and where.
pub(in crate::freeze) type RowError = (String, String);
/// Is given each row, or what is wrong in its place; a break ends the reading.
pub(in crate::freeze) type Visit<'a> = dyn FnMut(Result<Row, RowError>) -> ControlFlow<()> + 'a;

impl Format {
    /// The format of a file of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" => Some(Self::Lines),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Shows every row of a text, one at a time, in the order of the file.
pub(in crate::freeze) fn each(text: &str, format: Format, visit: &mut Visit<'_>) {
    if text.trim().is_empty() {
        return;
    }
    // Whether it was broken off is for the visitor to know.
    let _ = match format {
        Format::Lines => json_rows::lines(text, visit),
        Format::Json => json_rows::document(text, visit),
        Format::Csv => csv_rows::records(text, visit),
        Format::Yaml => yaml_rows::document(text, visit),
    };
}

/// The same for a file that is read a piece at a time: JSON Lines are in memory one line at a time, other formats whole.
///
/// # Errors
/// The file cannot be read.
pub(in crate::freeze) fn each_of(reader: &mut impl BufRead, format: Format, visit: &mut Visit<'_>) -> io::Result<()> {
    if format == Format::Lines {
        return json_rows::lines_of(reader, visit);
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    match super::text(&bytes) {
        Ok(text) => each(text, format, visit),
        Err((line, fault)) => {
            // Nothing comes after it.
            let _ = visit(Err((format!("line {line}"), fault.to_owned())));
        }
    }
    Ok(())
}

/// One entry of a document's list is a question, an article with questions, or a numbered row around one.
pub(super) fn unfold(row: Row, visit: &mut Visit<'_>) -> ControlFlow<()> {
    if row.named("paragraphs").is_some() {
        return squad::questions(&row, visit);
    }
    match row.named("row") {
        Some(Value::Object(inner)) if row.named("row_idx").is_some() => {
            let fields = inner.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            visit(Ok(Row { at: row.at, fields }))
        }
        _ => visit(Ok(row)),
    }
}

/// What is said of a document without a list of questions.
pub(super) fn no_list(at: String) -> RowError {
    let names: Vec<String> = LISTS.iter().map(|name| format!("`{name}`")).collect();
    (at, format!("neither a list of questions, nor an object that has one as {}", names.join(", ")))
}

/// What is said where a file's name stands in the place of the list.
pub(super) fn elsewhere(at: String, name: &str) -> RowError {
    (at, format!("`{name}` names another file; name that file in `questions.file`"))
}

/// Whether a text in the place of the list is a file's name: it has an ending, and is no number.
pub(super) fn names_file(text: &str) -> bool {
    text.contains('.') && text.parse::<f64>().is_err()
}

/// What is said of a second list that could be the questions: which of them is meant is not for this program to guess.
pub(super) fn second_list(at: String, first: &str, name: &str) -> RowError {
    (
        at,
        format!(
            "`{name}` is a list of questions as well, and `{first}` stands before it; keep one of them, or give one another name"
        ),
    )
}

impl Row {
    /// The value under one of a field's names: the first name that has one. `a.b` names a member within a member.
    #[must_use]
    pub fn get(&self, names: &[&str]) -> Option<&Value> {
        self.find(names).map(|(_, value)| value)
    }

    /// The same with the name that it stands under.
    #[must_use]
    pub fn find<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &Value)> {
        names.iter().find_map(|name| Some((*name, self.named(name)?)))
    }

    /// The value under this very name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Value> {
        let member = |wanted: &str| self.fields.iter().find(|(key, _)| key == wanted).map(|(_, value)| value);
        let nested = || {
            let (outer, inner) = name.split_once('.')?;
            member(outer)?.as_object()?.get(inner)
        };
        member(name).or_else(nested).filter(|value| !is_nothing(value))
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}
