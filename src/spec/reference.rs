//! The reference of every key as Markdown tables, written from the table of keys.

use super::surface::{Key, Need, ROOT, Section, Shape, Text};
use std::fmt::Write as _;

/// One table a section: key, type, default, limits, what it is for.
#[must_use]
pub fn reference() -> String {
    let mut out = String::new();
    tables(&ROOT, "", &mut out);
    out
}

/// The table of a section, then those of the sections in it.
fn tables(section: &Section, path: &str, out: &mut String) {
    let title = if path.is_empty() { "The whole spec".to_owned() } else { format!("`{path}`") };
    let _ = writeln!(out, "### {title}\n");
    if !section.one_of.is_empty() {
        let choices: Vec<String> = section.one_of.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "Exactly one of {}.\n", choices.join(", "));
    }
    if section.keys.is_empty() {
        let _ = writeln!(out, "No keys: write `{{}}`.\n");
        return;
    }
    out.push_str("| key | type | default | limits | about |\n|---|---|---|---|---|\n");
    for key in section.keys {
        row(key, out);
    }
    out.push('\n');
    for key in section.keys {
        if let Some((inner, suffix)) = inner(&key.shape) {
            let dot = if path.is_empty() { "" } else { "." };
            tables(inner, &format!("{path}{dot}{}{suffix}", key.name), out);
        }
    }
}

fn row(key: &Key, out: &mut String) {
    let default = match key.need {
        Need::Required => "required".to_owned(),
        Need::Unless(other) => format!("required without `{other}`"),
        Need::Optional => "none".to_owned(),
        Need::Default(value) => format!("`{value}`"),
    };
    let (kind, limits) = described(&key.shape);
    let cells = [format!("`{}`", key.name), kind, default, limits, key.about.to_owned()];
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// The section that a shape holds, and how its path goes on.
const fn inner(shape: &'static Shape) -> Option<(&'static Section, &'static str)> {
    match shape {
        Shape::Map(section) => Some((section, "")),
        Shape::Free { values: Shape::Map(section), .. } => Some((section, ".*")),
        Shape::List { items: Shape::Map(section), .. } => Some((section, "[]")),
        _ => None,
    }
}

/// Type and limits of a shape, in words.
fn described(shape: &Shape) -> (String, String) {
    let (kind, limits) = match shape {
        Shape::Map(_) => ("mapping", String::new()),
        Shape::Free { keys, values, max } => {
            let of = described(values).0;
            return (format!("mapping of {of}"), format!("at most {max} entries; keys: {}", rule(*keys)));
        }
        Shape::List { items, min, max } => {
            return (format!("list of {}", described(items).0), format!("{min} to {max} entries"));
        }
        Shape::Snapshot { rung, from } => {
            let name = if *rung { "with a `name`; " } else { "" };
            let from = if *from { ", `{ from }`" } else { "" };
            ("snapshot", format!("{name}`{{ path }}`, `{{ git, path }}`{from} or variables"))
        }
        Shape::Text(text) => ("text", rule(*text).to_owned()),
        Shape::Integer { min, max } if min == max => ("integer", format!("{min}")),
        Shape::Integer { min, max } => ("integer", format!("{min} to {max}")),
        Shape::Decimal { max } => ("number", format!("0 to {max}, at most three decimals")),
        Shape::Points => ("percentage points", "-100pp to 100pp, at most six decimals".to_owned()),
        Shape::Share => ("share", "0pp to 100pp; `%` is read as well".to_owned()),
        Shape::Confidence => ("confidence level", "above 50%, below 100%".to_owned()),
        Shape::Flag => ("truth value", "`true` or `false`".to_owned()),
        Shape::Word(words) => ("word", words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")),
        Shape::Json => ("JSON value", "numbers without exponent; ambiguous words in quotes".to_owned()),
    };
    (kind.to_owned(), limits)
}

const fn rule(text: Text) -> &'static str {
    match text {
        Text::Any => "not empty, one line",
        Text::Loose => "one line",
        Text::Lines => "not empty",
        Text::Name => "letters, digits, `-`, `_`, `.`; at most 64",
        Text::Variable => "an environment variable in capitals",
        Text::Header => "a header name",
        Text::Path => "relative to the spec's folder, forward slashes",
        Text::Revision => "a git revision",
        Text::Url => "http or https, no credentials, no query",
        Text::Pointer => "a JSON pointer",
    }
}
