//! The built-in presets as Markdown.

use super::list::BUILT_IN;
use super::read::{Presets, Said};
use std::fmt::Write as _;

/// A table of the built-in presets, then one of what each leaves open.
#[must_use]
pub fn preset_reference() -> String {
    let mut table = "| preset | what it asks | header of the key |\n|---|---|---|\n".to_owned();
    let mut open = String::new();
    for (name, text) in BUILT_IN {
        let Some(said) = Presets::new(None).said(name, text) else { continue };
        let key = said.key.iter().map(|header| format!("`{header}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(table, "| `{name}` | {} | {key} |", said.about);
        opened(name, &said, &mut open);
    }
    format!("{table}\n{open}")
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
