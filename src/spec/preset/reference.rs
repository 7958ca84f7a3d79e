//! The built-in presets as Markdown.

use super::list::{ENGINES, SYSTEMS};
use super::read::{Presets, Said};
use std::fmt::Write as _;

/// A table of the presets of engines, one of those of systems, then one of what each leaves open.
#[must_use]
pub fn preset_reference() -> String {
    let mut open = String::new();
    let engines = table("what it asks", ENGINES, &mut open);
    let systems = table("a deployed system, for `answer`", SYSTEMS, &mut open);
    format!("{engines}\n{systems}\n{open}")
}

fn table(what: &str, presets: &[(&str, &str)], open: &mut String) -> String {
    let mut table = format!("| preset | {what} | header of the key |\n|---|---|---|\n");
    for (name, text) in presets {
        let Some(said) = Presets::new(None).said(name, text) else { continue };
        let key = said.key.iter().map(|header| format!("`{header}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(table, "| `{name}` | {} | {key} |", said.about);
        opened(name, &said, open);
    }
    table
}

fn opened(name: &str, said: &Said, out: &mut String) {
    let _ = writeln!(out, "### `{name}`\n");
    if let Some(source) = &said.source {
        let _ = writeln!(out, "After {source}.\n");
    }
    for fact in &said.unchecked {
        let _ = writeln!(out, "Not checked: {fact}.\n");
    }
    if said.open.is_empty() {
        return;
    }
    out.push_str("| `with` | default | about |\n|---|---|---|\n");
    for (name, default, about) in &said.open {
        let default = match default.as_deref() {
            None => "required".to_owned(),
            Some("\"\"") => "empty".to_owned(),
            Some(value) => format!("`{value}`"),
        };
        let _ = writeln!(out, "| `{name}` | {default} | {about} |");
    }
    out.push('\n');
}
