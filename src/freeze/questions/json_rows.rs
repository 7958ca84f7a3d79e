//! Rows of JSON Lines and of a JSON array.

use super::rows::{Row, RowError};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// An object whose names are all different.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let (mut fields, mut seen) = (Vec::new(), BTreeSet::new());
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom("a name stands twice in the object"));
            }
            fields.push((name, value));
        }
        Ok(Fields(fields))
    }
}

/// One object a line; blank lines are passed over.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Result<Row, RowError>> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered.map(|(index, line)| {
        let at = format!("line {}", index + 1);
        match serde_json::from_str::<Fields>(line) {
            Ok(Fields(fields)) => Ok(Row { at, fields }),
            Err(error) => Err((at, said(&error, false))),
        }
    })
}

/// The objects of one array, or of the array under `questions` or `tests`.
///
/// # Errors
/// The text is no JSON, or holds no such array.
pub(super) fn array(text: &str) -> Result<Vec<Result<Row, RowError>>, RowError> {
    #[derive(Deserialize)]
    struct Wrapped {
        #[serde(alias = "tests")]
        questions: Vec<Fields>,
    }
    let whole = |error: serde_json::Error| (format!("line {}", error.line().max(1)), said(&error, true));
    let objects = if text.trim_start().starts_with('{') {
        serde_json::from_str::<Wrapped>(text).map_err(whole)?.questions
    } else {
        serde_json::from_str::<Vec<Fields>>(text).map_err(whole)?
    };
    let numbered = objects.into_iter().enumerate();
    Ok(numbered.map(|(index, Fields(fields))| Ok(Row { at: format!("entry {}", index + 1), fields })).collect())
}

/// What a JSON error says, in words of ours: the library's text would quote the file.
fn said(error: &serde_json::Error, whole: bool) -> String {
    use serde_json::error::Category;
    let column = error.column();
    match error.classify() {
        Category::Eof => "the JSON ends too early".to_owned(),
        Category::Syntax | Category::Io => format!("not valid JSON at column {column}"),
        Category::Data if error.to_string().contains("stands twice") => "a name stands twice in one object".to_owned(),
        Category::Data if whole => {
            "not an array of objects, nor an object with such an array as `questions`".to_owned()
        }
        Category::Data => "not a JSON object".to_owned(),
    }
}
