//! Rows of JSON Lines and of a JSON document.

use super::json_cursor::{Cursor, Stop};
use super::rows::{LISTS, Row, RowError, Visit, elsewhere, names_file, no_list, second_list, unfold};
use crate::model::{JsonError, Object};
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// One object a line; blank lines are passed over.
pub(super) fn lines(text: &str, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, line) in numbered {
        visit(of_line(line, index + 1))?;
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
            Ok(line) => visit(of_line(line, number)),
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
    let Some(name) = LISTS.iter().find(|list| **list == name) else { return cursor.slice().map(drop) };
    match (cursor.peek(), *found) {
        (Some(b'['), None) => {
            *found = Some(name);
            list(cursor, visit)
        }
        (Some(b'['), Some(first)) => {
            let at = cursor.place();
            let items = cursor.slice()?.strip_prefix('[').unwrap_or_default().trim_start();
            if items.starts_with('{') { Err(Stop::Bad(second_list(at, first, name))) } else { Ok(()) }
        }
        (Some(b'"'), _) => {
            let at = cursor.place();
            if names_file(&cursor.value::<String>()?) { Err(Stop::Bad(elsewhere(at, name))) } else { Ok(()) }
        }
        _ => cursor.slice().map(drop),
    }
}

fn list(cursor: &mut Cursor<'_>, visit: &mut Visit<'_>) -> Result<(), Stop> {
    cursor.items(|cursor| {
        let (at, here) = (cursor.place(), cursor.here());
        let flow = match fields(cursor.slice()?, at, |_, place| place, here) {
            Ok(row) => unfold(row, visit),
            Err(error) => visit(Err(error)),
        };
        if flow.is_break() { Err(Stop::Enough) } else { Ok(()) }
    })
}

fn of_line(line: &str, number: usize) -> Result<Row, RowError> {
    fields(line, format!("line {number}"), |at, _| at, Cursor::new(line))
}

/// The row of an object that stands at a place. A name that it has twice is told, at the place that `placed` makes of the object's
/// and of the name's own; `walk` begins at the object.
fn fields(
    text: &str,
    at: String,
    placed: impl Fn(String, String) -> String,
    walk: Cursor<'_>,
) -> Result<Row, RowError> {
    match Object::read(text) {
        Ok(Object(fields)) => Ok(Row { at, fields }),
        Err(JsonError::Twice) => Err(match walk.twice() {
            Some((name, place)) => {
                (placed(at, place), format!("the name `{}` stands twice in one object", super::shown(&name)))
            }
            None => (at, JsonError::Twice.to_string()),
        }),
        Err(error) => Err((at, error.to_string())),
    }
}
