//! A standard output that nobody reads any more: what is left of the output is dropped, and every command ends as it would have.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, stderr};
use std::process::{Output, Stdio};

/// Runs a command whose output nobody reads.
fn unread(workspace: &Workspace, arguments: &[&str]) -> Result<Output> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut command = workspace.command();
    Ok(command.args(arguments).stdout(writer).stderr(Stdio::piped()).output()?)
}

/// Expects this exit code, and no word of the output.
fn ends(workspace: &Workspace, arguments: &[&str], expected: i32) -> Result<()> {
    let output = unread(workspace, arguments)?;
    let said = stderr(&output);
    assert_eq!(code(&output)?, expected, "{arguments:?}: {said}");
    assert!(!said.contains("standard output") && !said.contains("panicked"), "{arguments:?}: {said}");
    Ok(())
}

#[test]
fn every_command_ends_as_it_would_have() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    for arguments in [&["--help"][..], &["--version"], &["schema"], &["check"], &["diff"]] {
        ends(&workspace, arguments, 0)?;
    }
    ends(&workspace, &["check", "nowhere.yaml"], 2)?;
    ends(&workspace, &["check", "--no-such-option"], 2)?;
    // The verdict is the gate's, whoever reads it.
    ends(&workspace, &["run", "--quiet", "--folder-file=folder"], 1)?;
    let run = workspace.read("folder")?;
    assert!(workspace.path(&run).join("report.html").exists());
    for format in ["terminal", "markdown", "html", "json", "junit"] {
        ends(&workspace, &["report", &run, "--format", format], 0)?;
    }
    ends(&workspace, &["verify", &run], 0)?;
    ends(&workspace, &["verify", "--claims", &run], 0)?;
    ends(&workspace, &["publish", &run], 0)?;
    ends(&workspace, &["export", &run, "--output", "copy"], 0)?;
    ends(&workspace, &["verify", "copy"], 0)
}

#[test]
fn shards_are_run_and_merged_to_the_gates_verdict() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let mut shards = Vec::new();
    for part in ["--shard=1/2", "--shard=2/2"] {
        ends(&workspace, &["run", "--quiet", "--folder-file=folder", part], 0)?;
        shards.push(workspace.read("folder")?);
    }
    let merge: Vec<&str> = ["merge"].into_iter().chain(shards.iter().map(String::as_str)).collect();
    ends(&workspace, &merge, 1)
}

#[test]
fn a_repository_is_begun_whole() -> Result<()> {
    let workspace = Workspace::new()?;
    workspace.write("corpus/a.md", "Since version 12.")?;
    ends(&workspace, &["init"], 0)?;
    for file in ["churngate.yaml", "questions.jsonl", ".github/workflows/churngate.yml"] {
        assert!(workspace.path(file).exists(), "{file}");
    }
    Ok(())
}

/// A disk that is full is no reader who has enough: what was to be kept is not.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_a_failure() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    for arguments in [&["schema"][..], &["check"], &["--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").context("no /dev/full")?;
        let output = workspace.command().args(arguments).stdout(full).stderr(Stdio::piped()).output()?;
        assert_eq!(code(&output)?, 4, "{arguments:?}: {}", stderr(&output));
    }
    Ok(())
}
