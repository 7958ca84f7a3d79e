//! Rows of a YAML document: a list of mappings, or a mapping that has such a list.
//!
//! Values keep their text as written, so that an answer `1.10` is not `1.1` and `no` is no truth value.

use super::place::Places;
use super::rows::{LISTS, Row, RowError, Visit, elsewhere, no_list, unfold};
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
    let known = LISTS.iter().find_map(|name| Some((*name, root.get(name)?)));
    match known.map(|(name, entry)| (name, &entry.value, &entry.value.kind)) {
        Some((_, _, Kind::List(items))) => Ok(items),
        Some((name, value, Kind::Scalar(scalar))) if scalar.text.contains('.') => {
            Err(elsewhere(places.place(value.span.start), name))
        }
        _ => Err(no_list(places.place(root.span.start))),
    }
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
