//! Engines without an interface over HTTP, asked by the programs in `examples/commands`, with `retrieve.embed`: `LanceDB` by
//! versions of a table, Milvus Lite over gRPC, and SQLite with sqlite-vec. Each program is started anew for every question,
//! and the slower its start, the fewer are asked.

use crate::audit::{assert_nearest, audited, locked, workspace};
use crate::corpus::{self, documents, questions, texts};
use crate::harness::{Workspace, code, root, stderr};
use crate::python;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Fills an engine with a release.
fn fill(python: &Path, arguments: &[&str], release: usize) -> Result<Value> {
    let mut command = Command::new(python);
    python::piped(command.arg(python::script("index.py")).args(arguments), &corpus::lines(&documents(release)))
}

/// A workspace whose retriever is one of the example programs.
fn asking(python: &Path, (program, target): (&str, &str), snapshots: &Value, questions: usize) -> Result<Workspace> {
    let program = root().join("examples/commands").join(program);
    let argv = json!([python.display().to_string(), program.display().to_string(), target]);
    let command = json!({"argv": argv, "env": ["OMP_NUM_THREADS"]});
    let retrieve = json!({"command": command, "embed": python::embedder(python, "0"), "concurrency": 2});
    workspace(snapshots, &retrieve, questions)
}

fn command(workspace: &Workspace) -> Command {
    let mut command = workspace.command();
    command.env("OMP_NUM_THREADS", "1");
    command
}

/// Audits, kills, goes on, and holds the evidence against every document's distance.
fn held(python: &Path, workspace: &Workspace) -> Result<()> {
    let (_, evidence) = audited(workspace, &|| command(workspace))?;
    let asked = python::embedded(python, &questions()[..evidence["old"].len()], "0")?;
    for (release, snapshot) in [(1, "old"), (2, "new")] {
        let docs = documents(release);
        let stored = python::embedded(python, &texts(&docs), "0")?;
        assert_nearest(&docs, &stored, &asked, &evidence[snapshot])?;
    }
    assert_ne!(evidence["old"], evidence["new"]);
    Ok(())
}

/// Another snapshot under the same name of the spec is another run, with other evidence.
fn swapped(workspace: &Workspace, new: &str, other: &str) -> Result<()> {
    let before = workspace.run_folder()?;
    workspace.edit("churngate.yaml", |spec| spec.replace(new, other))?;
    let output = command(workspace).args(["run", "--quiet", "churngate.yaml"]).output()?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    let runs = std::fs::read_dir(workspace.path(".churngate"))?.collect::<std::io::Result<Vec<_>>>()?;
    let after = runs.iter().map(std::fs::DirEntry::path).find(|run| run.is_dir() && *run != before);
    let evidence = locked(&after.context("no other run")?)?;
    assert_eq!(evidence["old"], evidence["new"]);
    Ok(())
}

#[test]
fn versions_of_a_table_of_lancedb_are_audited_killed_resumed_and_swapped() -> Result<()> {
    let Some(python) = python::with("lancedb")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("docs.lance").display().to_string();
    let versions = [1, 2].map(|release| fill(&python, &["lancedb", &database], release));
    let [old, new] = versions.map(|version| version.map(|version| version.to_string()));
    let (old, new) = (old?, new?);
    let snapshots = json!({"old": {"table": "docs", "version": old}, "new": {"table": "docs", "version": new}});
    let workspace = asking(&python, ("ask_lancedb.py", &database), &snapshots, 5)?;
    held(&python, &workspace)?;
    swapped(&workspace, &format!("\"version\":\"{new}\""), &format!("\"version\":\"{old}\""))
}

#[test]
fn tables_of_sqlite_vec_are_audited_killed_resumed_and_swapped() -> Result<()> {
    let (Some(python), Some(_)) = (python::with("sqlite_vec")?, python::with("apsw")?) else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("docs.db").display().to_string();
    fill(&python, &["sqlite-vec", &file, "docs_1"], 1)?;
    fill(&python, &["sqlite-vec", &file, "docs_2"], 2)?;
    let snapshots = json!({"old": {"table": "docs_1"}, "new": {"table": "docs_2"}});
    let workspace = asking(&python, ("ask_sqlite_vec.py", &file), &snapshots, 12)?;
    held(&python, &workspace)?;
    swapped(&workspace, "docs_2", "docs_1")
}

/// A server of Milvus Lite; ends with the test.
struct Milvus {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Drop for Milvus {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Milvus {
    fn start(python: &Path) -> Result<Self> {
        let (folder, port) = (tempfile::tempdir()?, std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let mut command = Command::new(python);
        command.args(["-m", "milvus_lite", "server", "--host", "127.0.0.1", "--port", &port.to_string(), "--data-dir"]);
        command.arg(folder.path().join("milvus")).env("OMP_NUM_THREADS", "1");
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let server = Self { child, address: format!("http://127.0.0.1:{port}"), _folder: folder };
        for _ in 0..600 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        anyhow::bail!("the server does not answer")
    }
}

#[test]
fn collections_of_milvus_lite_are_audited_killed_resumed_and_swapped() -> Result<()> {
    let (Some(python), Some(_)) = (python::with("milvus_lite")?, python::with("pymilvus")?) else { return Ok(()) };
    let server = Milvus::start(&python)?;
    fill(&python, &["milvus", &server.address, "docs_1"], 1)?;
    fill(&python, &["milvus", &server.address, "docs_2"], 2)?;
    let snapshots = json!({"old": {"collection": "docs_1"}, "new": {"collection": "docs_2"}});
    let workspace = asking(&python, ("ask_milvus.py", &server.address), &snapshots, 6)?;
    held(&python, &workspace)?;
    swapped(&workspace, "docs_2", "docs_1")
}
