//! The preset `chroma` against a real server: two collections, a run that is killed and goes on, names that are swapped,
//! and an embedder that is swapped; and requests held against the server's own description of its interface.

use crate::audit::{assert_nearest, audited, compared, counted, workspace};
use crate::corpus::{self, Doc, QUESTIONS, documents, questions, texts};
use crate::harness::described::{Held, MODULES, renamed, wrong};
use crate::harness::{Workspace, code, root, stderr};
use crate::python;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server in a folder of its own; ends with the test.
struct Chroma {
    python: PathBuf,
    url: String,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Chroma {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Chroma {
    fn start(python: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let program = python.parent().context("no folder")?.join("chroma");
        let child = Command::new(program)
            .args(["run", "--host", "127.0.0.1", "--port", &port.to_string(), "--path"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let url = format!("http://127.0.0.1:{port}");
        let server = Self { python, url, child, _folder: folder };
        server.script(&["wait", &server.url], "")?;
        Ok(server)
    }

    fn script(&self, arguments: &[&str], input: &str) -> Result<Value> {
        let mut command = Command::new(&self.python);
        python::piped(command.arg(python::script("chroma.py")).args(arguments), input)
    }

    fn build(&self, name: &str, variant: &str, documents: &[Doc]) -> Result<()> {
        self.script(&["build", &self.url, name, variant], &corpus::lines(documents)).map(|_| ())
    }

    fn assert_nearest(&self, documents: &[Doc], found: &[Vec<String>]) -> Result<()> {
        let stored = python::embedded(&self.python, &texts(documents), "0")?;
        assert_nearest(documents, &stored, &python::embedded(&self.python, &questions(), "0")?, found)
    }

    fn workspace(&self, new: &str) -> Result<Workspace> {
        let snapshots = json!({"old": {"collection": "docs_1"}, "new": {"collection": new}});
        let embed = python::embedder(&self.python, "0");
        workspace(&snapshots, &json!({"preset": "chroma", "base_url": self.url, "embed": embed}), QUESTIONS)
    }
}

#[test]
fn two_collections_of_chroma_are_audited_killed_resumed_and_swapped() -> Result<()> {
    let Some(python) = python::with(&format!("chromadb, {MODULES}"))? else { return Ok(()) };
    let server = Chroma::start(python)?;
    let (old, new) = (documents(1), documents(2));
    server.build("docs_1", "0", &old)?;
    server.build("docs_2", "0", &new)?;
    server.build("docs_3", "0", &new[..40])?;
    server.build("docs_swapped", "1", &new)?;

    let workspace = server.workspace("docs_2")?;
    let (folder, evidence) = audited(&workspace, &|| workspace.command())?;
    server.assert_nearest(&old, &evidence["old"])?;
    server.assert_nearest(&new, &evidence["new"])?;
    let physical = counted(&folder)?;
    assert!(physical.starts_with("collection=docs_2 ("), "{physical}");
    assert_eq!(physical.len(), "collection=docs_2 ()".len() + 36, "{physical}");

    // The same name for another collection is another run.
    let before = compared(workspace.command())?;
    server.script(&["rename", &server.url, "docs_2", "docs_2_before"], "")?;
    server.script(&["rename", &server.url, "docs_3", "docs_2"], "")?;
    let swapped = compared(workspace.command())?;
    assert_eq!(swapped["snapshots"][1]["documents"], 40);
    assert_ne!(swapped["protocol"], before["protocol"]);
    fixture_fits_the_description(&server)?;
    embedder_is_named(&server)
}

/// What the preset sends and reads, as the fixture has it that tests of the presets hold it to, by the description that the
/// server gives out of itself.
fn fixture_fits_the_description(server: &Chroma) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("openapi.json");
    std::fs::write(&path, server.script(&["get", &server.url, "/openapi.json"], "")?.to_string())?;
    let text = std::fs::read_to_string(root().join("tests/fixtures/presets/chroma.json"))?;
    let fixture: Value = serde_json::from_str(&text.replace("\"VECTOR\"", "[0.25, -1]").replace("\"TOP_K\"", "3"))?;
    let mut held = Vec::new();
    let mut ask = |at: &str, status: Option<&Value>, body: &Value, fits: bool| {
        let (method, asked) = at.split_once(' ').unwrap_or_default();
        let mut asked = json!({
            "described": path, "method": method, "path": asked, "body": body,
            "headers": {"content-type": "application/json", "x-chroma-token": "-"},
        });
        if let Some(status) = status {
            asked["status"] = status.clone();
        }
        held.push(Held { what: format!("{status:?} {at}: {body}"), asked, fits });
    };
    let search = &fixture["of"]["chroma"]["request"];
    let at =
        format!("{} {}", search["method"].as_str().unwrap_or_default(), search["path"].as_str().unwrap_or_default());
    let ok = json!(200);
    ask(&at, None, &search["body"], true);
    ask(&at, Some(&ok), &fixture["success"], true);
    ask(&at, Some(&ok), &fixture["empty"], true);
    for (_, other) in renamed(&search["body"]) {
        ask(&at, None, &other, false);
    }
    for (_, other) in renamed(&fixture["success"]) {
        ask(&at, Some(&ok), &other, false);
    }
    for error in fixture["errors"].as_array().context("no errors")? {
        ask(&at, Some(&error["status"]), &error["body"], true);
    }
    for probe in fixture["probes"].as_array().context("no probes")? {
        let at = probe["request"].as_str().context("no request")?;
        ask(at, None, &Value::Null, true);
        ask(at, Some(&ok), &probe["reply"], true);
        ask(&format!("{at}/x"), None, &Value::Null, false);
    }
    assert_eq!(wrong(&server.python, &held)?, Vec::<String>::new());
    Ok(())
}

fn embedder_is_named(server: &Chroma) -> Result<()> {
    let workspace = server.workspace("docs_swapped")?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the vectors in the snapshot `new` are of another embedder than the questions'"), "{said}");
    Ok(())
}
