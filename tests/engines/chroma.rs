//! The preset `chroma` against a real server: two collections, a run that is killed and goes on, names that are swapped,
//! and an embedder that is swapped; and requests held against the server's own description of its interface.

use crate::audit::{assert_nearest, audited, compared, counted, workspace};
use crate::corpus::{self, Doc, QUESTIONS, documents, questions, texts};
use crate::harness::schema::conform;
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
    let Some(python) = python::with("chromadb")? else { return Ok(()) };
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
    requests_fit_the_description(&server)?;
    embedder_is_named(&server)
}

/// What the preset sends, as the fixture has it that a test of the presets holds it to, by the server's own
/// description: every path is there with its method, and every member of a body is described and fits.
fn requests_fit_the_description(server: &Chroma) -> Result<()> {
    let described = server.script(&["get", &server.url, "/openapi.json"], "")?;
    let fixture = std::fs::read_to_string(root().join("tests/fixtures/presets/chroma.json"))?;
    let fixture: Value = serde_json::from_str(&fixture)?;
    let search = &fixture["of"]["chroma"]["request"];
    let probes = fixture["probes"].as_array().context("no probes")?.iter();
    let probes =
        probes.filter_map(|probe| probe["request"].as_str()?.split_once(' ')).map(|(verb, path)| (verb, path, None));
    let search = (
        search["method"].as_str().context("no method")?,
        search["path"].as_str().context("no path")?,
        Some(&search["body"]),
    );
    let mut held = 0;
    for (verb, path, body) in probes.chain([search]) {
        let operation = operation(&described, verb, path).with_context(|| format!("{verb} {path} is not described"))?;
        let Some(body) = body else { continue };
        let schema = plain(&operation["requestBody"]["content"]["application/json"]["schema"], &described);
        let filled = body.to_string().replace("\"VECTOR\"", "[0.25, -1]").replace("\"TOP_K\"", "3");
        let faults = |body: &Value| {
            let mut faults = Vec::new();
            conform(body, &schema, "", &mut faults);
            faults
        };
        let body: Value = serde_json::from_str(&filled)?;
        assert_eq!(faults(&body), Vec::<String>::new());
        for (member, bad) in [("n_result", json!(1)), ("n_results", json!("3")), ("include", json!(["text"]))] {
            let mut broken = body.clone();
            broken[member] = bad;
            assert_eq!(faults(&broken).len(), 1, "{member}");
        }
        held += 1;
    }
    assert_eq!(held, 1);
    Ok(())
}

/// The operation whose path this is, whatever stands in its braces.
fn operation<'a>(described: &'a Value, verb: &str, path: &str) -> Option<&'a Value> {
    let fits = |template: &str| {
        let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
        template.len() == path.len()
            && template.iter().zip(path).all(|(one, other)| one.starts_with('{') || *one == other)
    };
    let mut paths = described["paths"].as_object()?.iter().filter(|(template, _)| fits(template));
    paths.find_map(|(_, operations)| operations.get(verb.to_ascii_lowercase()))
}

/// A schema without references, alternatives to null and parts: as much as a test of values understands.
fn plain(schema: &Value, described: &Value) -> Value {
    if let Some(named) = schema["$ref"].as_str() {
        return plain(described.pointer(named.trim_start_matches('#')).unwrap_or(&Value::Null), described);
    }
    let mut whole = json!({"properties": {}, "required": []});
    for part in schema["allOf"].as_array().into_iter().flatten().map(|part| plain(part, described)) {
        for (name, property) in part["properties"].as_object().into_iter().flatten() {
            whole["properties"][name] = property.clone();
        }
        let required = part["required"].as_array().cloned().unwrap_or_default();
        whole["required"].as_array_mut().into_iter().for_each(|all| all.extend(required.iter().cloned()));
    }
    let mut found = schema.clone();
    if schema.get("allOf").is_some() {
        found = whole;
        found["type"] = json!("object");
    }
    if let Some(kinds) = schema["type"].as_array() {
        found["type"] = kinds.iter().find(|kind| **kind != "null").cloned().unwrap_or_default();
    }
    if schema.get("items").is_some() {
        found["items"] = plain(&schema["items"], described);
    }
    let properties = found["properties"].as_object().cloned().unwrap_or_default();
    for (name, property) in &properties {
        found["properties"][name] = plain(property, described);
    }
    if found["type"] == "object" {
        found["additionalProperties"] = json!(false);
    }
    found
}

fn embedder_is_named(server: &Chroma) -> Result<()> {
    let workspace = server.workspace("docs_swapped")?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the vectors in the snapshot `new` are of another embedder than the questions'"), "{said}");
    Ok(())
}
