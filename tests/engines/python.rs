//! Python with the packages of `tests/requirements.txt`, and the embedder that is written in it.

use crate::harness::{self, root};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Python with this module, where there is one; where there is none, the test says that it was skipped.
pub fn with(module: &str) -> Result<Option<PathBuf>> {
    let found = harness::python(module)?;
    required(found, &format!("CHURNGATE_PYTHON names no Python with `{module}`"))
}

/// What a test needs; without it, it fails where everything is required, and says elsewhere that it was skipped.
pub fn required<T>(found: Option<T>, lacking: &str) -> Result<Option<T>> {
    ensure!(found.is_some() || std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "{lacking}");
    if found.is_none() {
        println!("skipped: {lacking}");
    }
    Ok(found)
}

/// A script of this folder.
pub fn script(name: &str) -> PathBuf {
    root().join("tests/engines").join(name)
}

/// Runs a program with this on its standard input, and gives back what it writes as JSON, null where it is none.
pub fn piped(command: &mut Command, input: &str) -> Result<Value> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
}

/// The vectors of these texts, by a variant of the embedder.
pub fn embedded(python: &Path, texts: &[String], variant: &str) -> Result<Vec<Vec<f64>>> {
    let mut command = Command::new(python);
    command.arg(script("embed.py")).arg(variant);
    let reply = piped(&mut command, &json!({ "texts": texts }).to_string())?;
    Ok(serde_json::from_value(reply["vectors"].clone())?)
}

/// `retrieve.embed` of a variant of the embedder.
pub fn embedder(python: &Path, variant: &str) -> Value {
    let argv = [python.display().to_string(), script("embed.py").display().to_string(), variant.to_owned()];
    json!({"command": {"argv": argv}})
}
