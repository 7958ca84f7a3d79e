//! The real binary, in a folder of its own, with a scrubbed environment.

#![allow(dead_code, reason = "each test file uses its own part of the harness")]

pub mod authority;
pub mod described;
pub mod forge;
pub mod lost;
pub mod raw;
pub mod schema;
pub mod server;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

/// The project's own folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The tests' Python (`CHURNGATE_PYTHON`), where it has these modules; `None` says that a test is to be skipped.
pub fn python(modules: &str) -> Result<Option<PathBuf>> {
    let found = std::env::var_os("CHURNGATE_PYTHON").map(PathBuf::from).filter(|python| {
        let import = format!("import {modules}");
        let tried = Command::new(python).args(["-c", &import]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    });
    let required = std::env::var_os("CHURNGATE_REQUIRE_ALL").is_some();
    ensure!(found.is_some() || !required, "CHURNGATE_PYTHON names no Python with {modules}");
    Ok(found)
}

/// A folder with files in it, removed at the end.
pub struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    /// An empty one.
    pub fn new() -> Result<Self> {
        Ok(Self { folder: tempfile::tempdir()? })
    }

    /// One with the quickstart's files.
    pub fn quickstart() -> Result<Self> {
        let workspace = Self::new()?;
        for entry in fs::read_dir(root().join("examples/quickstart"))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), workspace.path(&entry.file_name().to_string_lossy()))?;
            }
        }
        Ok(workspace)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<()> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(fs::write(path, text)?)
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Result<String> {
        Ok(fs::read_to_string(self.path(name))?)
    }

    /// Rewrites a file.
    pub fn edit(&self, name: &str, edit: impl FnOnce(String) -> String) -> Result<()> {
        let text = self.read(name)?;
        self.write(name, edit(text))
    }

    /// Runs the program here, without any variable of a workflow and without proxies.
    pub fn churngate(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.command();
        Ok(command.args(arguments).output()?)
    }

    /// The program, to be run here.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
        command.current_dir(self.folder.path());
        for (name, _) in std::env::vars() {
            let hosted = ["GH_", "GITHUB_", "RUNNER_", "ACTIONS_"].iter().any(|prefix| name.starts_with(prefix));
            if hosted || name.to_ascii_lowercase().ends_with("_proxy") {
                command.env_remove(name);
            }
        }
        command
    }

    /// The only run in this folder's `.churngate`.
    pub fn run_folder(&self) -> Result<PathBuf> {
        let mut runs = fs::read_dir(self.path(".churngate"))?.collect::<std::io::Result<Vec<_>>>()?;
        runs.retain(|entry| entry.path().is_dir());
        ensure!(runs.len() == 1, "{} runs", runs.len());
        Ok(runs.remove(0).path())
    }
}

/// A file of questions, one a line, whose ids are `q0`, `q1` and so on.
pub fn questions_file<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let line = |(number, text): (usize, T)| {
        serde_json::json!({"id": format!("q{number}"), "question": text.as_ref()}).to_string() + "\n"
    };
    texts.into_iter().enumerate().map(line).collect()
}

/// The exit code.
pub fn code(output: &Output) -> Result<i32> {
    output.status.code().context("ended by a signal")
}

/// Standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `result.json` of a run, without what differs between two runs of one protocol.
pub fn figures(folder: &Path) -> Result<Value> {
    let mut result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    let record = result.as_object_mut().context("no object")?.remove("record");
    ensure!(record.is_some(), "the result has no record");
    Ok(result)
}

/// Holds runs against a checker that shares no code with the program, written from docs/ledger-format.md.
pub fn independent_check(runs: &[PathBuf]) {
    let script = root().join("tests/ledger_checker/check_run.py");
    let Ok(output) = Command::new("python3").arg(script).args(runs).output() else {
        assert!(std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "python3 is not there");
        return;
    };
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

/// Runs until some of the evidence is there, and is killed.
pub fn killed(command: Command, workspace: &Workspace) -> Result<PathBuf> {
    killed_at(command, workspace, "evidence.jsonl", 20)
}

/// Runs until a ledger has more than so many lines, and is killed.
pub fn killed_at(mut command: Command, workspace: &Workspace, ledger: &str, most: usize) -> Result<PathBuf> {
    let command = command.args(["run", "--quiet", "--tasks", "1", "churngate.yaml"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    loop {
        let lines = || -> Result<(PathBuf, usize)> {
            let folder = workspace.run_folder()?;
            let text = std::fs::read_to_string(folder.join(ledger))?;
            Ok((folder, text.lines().count()))
        };
        match lines() {
            Ok((folder, count)) if count > most => {
                child.kill()?;
                child.wait()?;
                return Ok(folder);
            }
            _ if child.try_wait()?.is_some() => {
                anyhow::bail!("it ended before it was killed: {}", stderr(&child.wait_with_output()?));
            }
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
