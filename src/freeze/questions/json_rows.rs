//! Rows of JSON Lines and of a JSON document.

use super::json_cursor::{Cursor, Stop};
use super::rows::{LISTS, Row, RowError, Visit, elsewhere, no_list, unfold};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

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
pub(super) fn lines(text: &str, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, line) in numbered {
        visit(fields(line, format!("line {}", index + 1)))?;
    }
    ControlFlow::Continue(())
}

/// The same for a text that is read line by line.
///
/// # Errors
/// It cannot be read.
pub(super) fn lines_of(reader: &mut impl BufRead, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let flow = match super::text(&bytes) {
            Ok(line) if line.trim().is_empty() => ControlFlow::Continue(()),
            Ok(line) => visit(fields(line, format!("line {number}"))),
            Err((_, fault)) => visit(Err((format!("line {number}"), fault.to_owned()))),
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// The objects of one list: the whole document, or the member of it that holds the questions.
pub(super) fn document(text: &str, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let mut cursor = Cursor::new(text);
    match walk(&mut cursor, visit) {
        Ok(()) => ControlFlow::Continue(()),
        Err(Stop::Enough) => ControlFlow::Break(()),
        Err(Stop::Bad(error)) => visit(Err(error)),
    }
}

fn walk(cursor: &mut Cursor<'_>, visit: &mut Visit<'_>) -> Result<(), Stop> {
    let place = cursor.place();
    match cursor.peek() {
        Some(b'[') => list(cursor, visit)?,
        Some(b'{') => {
            let mut found = None;
            cursor.members(|cursor, name| member(cursor, name, &mut found, visit))?;
            if found.is_none() {
                return Err(Stop::Bad(no_list(place)));
            }
        }
        _ => return Err(Stop::Bad(no_list(place))),
    }
    cursor.finish()
}

/// One member of the document; `found` is the list that the questions are in.
fn member(
    cursor: &mut Cursor<'_>,
    name: &str,
    found: &mut Option<&'static str>,
    visit: &mut Visit<'_>,
) -> Result<(), Stop> {
    let known = LISTS.iter().find(|list| **list == name);
    match (known, cursor.peek()) {
        (Some(name), Some(b'[')) if found.is_none() => {
            *found = Some(name);
            list(cursor, visit)
        }
        (Some(name), Some(b'"')) => Err(Stop::Bad(elsewhere(cursor.place(), name))),
        _ => cursor.slice().map(drop),
    }
}

fn list(cursor: &mut Cursor<'_>, visit: &mut Visit<'_>) -> Result<(), Stop> {
    cursor.items(|cursor| {
        let at = cursor.place();
        let flow = match fields(cursor.slice()?, at) {
            Ok(row) => unfold(row, visit),
            Err(error) => visit(Err(error)),
        };
        if flow.is_break() { Err(Stop::Enough) } else { Ok(()) }
    })
}

fn fields(text: &str, at: String) -> Result<Row, RowError> {
    match serde_json::from_str::<Fields>(text) {
        Ok(Fields(fields)) => Ok(Row { at, fields }),
        Err(error) => Err((at, said(&error))),
    }
}

/// What a JSON error says, in words of ours: the library's text would quote the file.
fn said(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "the JSON ends too early".to_owned(),
        Category::Syntax | Category::Io => format!("not valid JSON at column {}", error.column()),
        Category::Data if error.to_string().contains("stands twice") => "a name stands twice in one object".to_owned(),
        Category::Data => "not a JSON object".to_owned(),
    }
}
