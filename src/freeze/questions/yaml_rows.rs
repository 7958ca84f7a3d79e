//! Rows of a YAML document: a list of mappings, or a mapping that has such a list.
//!
//! Values keep their text as written, so that an answer `1.10` is not `1.1` and `no` is no truth value.

use super::place::Places;
use super::rows::{LISTS, Row, RowError, Visit, elsewhere, names_file, no_list, second_list, unfold};
use crate::spec::node::{Kind, Node, Scalar};
use crate::spec::yaml;
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// The largest YAML file that is read, in bytes: it is in memory as a tree, which other formats are not.
const MAX_BYTES: usize = 64 << 20;

const SORT: yaml::Sort =
    yaml::Sort { one: "a question file", this: "the file", max_bytes: MAX_BYTES, begin: "write a list of questions" };

/// The rows of a document.
pub(super) fn document(text: &str, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let mut places = Places::of(text);
    let mut problems = Vec::new();
    let root = yaml::read(text, SORT, &mut problems);
    for problem in &problems {
        let remedy = problem.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        visit(Err((places.place(problem.span.start), format!("{}{remedy}", problem.message))))?;
    }
    let Some(root) = root.filter(|_| problems.is_empty()) else { return ControlFlow::Continue(()) };
    match list(&root, &mut places) {
        Ok(items) => items.iter().try_for_each(|item| match fields(item, &mut places) {
            Ok(row) => unfold(row, visit),
            Err(error) => visit(Err(error)),
        }),
        Err(error) => visit(Err(error)),
    }
}

fn list<'a>(root: &'a Node, places: &mut Places<'_>) -> Result<&'a [Node], RowError> {
    if let Kind::List(items) = &root.kind {
        return Ok(items);
    }
    let Kind::Map(entries) = &root.kind else { return Err(no_list(places.place(root.span.start))) };
    let mut found: Option<(&str, &[Node])> = None;
    for entry in entries {
        let Some(name) = LISTS.iter().find(|list| **list == entry.key) else { continue };
        match (&entry.value.kind, found) {
            (Kind::List(items), None) => found = Some((name, items)),
            (Kind::List(items), Some((first, _))) if matches!(items.first(), Some(Node { kind: Kind::Map(_), .. })) => {
                return Err(second_list(places.place(entry.value.span.start), first, name));
            }
            (Kind::Scalar(scalar), _) if names_file(&scalar.text) => {
                return Err(elsewhere(places.place(entry.value.span.start), name));
            }
            _ => {}
        }
    }
    found.map(|(_, items)| items).ok_or_else(|| no_list(places.place(root.span.start)))
}

fn fields(item: &Node, places: &mut Places<'_>) -> Result<Row, RowError> {
    let at = places.place(item.span.start);
    match &item.kind {
        Kind::Map(entries) => {
            let fields = entries.iter().map(|entry| (entry.key.clone(), value(&entry.value))).collect();
            Ok(Row { at, fields })
        }
        Kind::Scalar(scalar) if scalar.text.starts_with("file://") => {
            Err((at, "the entry names another file; name that file in `questions.file`".to_owned()))
        }
        kind => Err((at, format!("expected a mapping, found {}", kind.describe()))),
    }
}

fn value(node: &Node) -> Value {
    match &node.kind {
        Kind::Scalar(scalar) => single(scalar),
        Kind::List(items) => Value::Array(items.iter().map(value).collect()),
        Kind::Map(entries) => {
            let members = entries.iter().map(|entry| (entry.key.clone(), value(&entry.value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Kind::Refused => Value::Null,
    }
}

fn single(scalar: &Scalar) -> Value {
    match scalar.text.as_str() {
        _ if scalar.is_null() => Value::Null,
        "true" if scalar.plain => Value::Bool(true),
        "false" if scalar.plain => Value::Bool(false),
        text => Value::String(text.to_owned()),
    }
}
