//! A question file as rows of named values, whatever its format.

use super::{csv_rows, json_rows};
use serde_json::Value;

/// The format of a question file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::freeze) enum Format {
    /// One JSON object a line.
    Lines,
    /// One JSON array of objects.
    Json,
    /// Rows under a line of names.
    Csv,
}

/// One question as it stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::freeze) struct Row {
    /// Where: `line 3` or `entry 3`.
    pub at: String,
    /// Names and values in the order of the file, each name once.
    pub fields: Vec<(String, Value)>,
}

/// What is wrong with one row, and where.
pub(in crate::freeze) type RowError = (String, String);
/// Rows, one at a time.
pub(in crate::freeze) type Rows<'a> = Box<dyn Iterator<Item = Result<Row, RowError>> + 'a>;

impl Format {
    /// The format of a file of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" => Some(Self::Lines),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The rows of a text.
///
/// # Errors
/// The text as a whole is not of this format.
pub(in crate::freeze) fn rows(text: &str, format: Format) -> Result<Rows<'_>, RowError> {
    match format {
        Format::Lines => Ok(Box::new(json_rows::lines(text))),
        Format::Json => Ok(Box::new(json_rows::array(text)?.into_iter())),
        Format::Csv => Ok(Box::new(csv_rows::records(text)?)),
    }
}

impl Row {
    /// The value under one of a field's names: the first name that has one. `a.b` names a member within a member.
    #[must_use]
    pub fn get(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.named(name)).filter(|value| !is_nothing(value))
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
