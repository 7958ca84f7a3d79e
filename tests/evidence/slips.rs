//! Something else than a run, or than a folder, is named on the command line: a slip, told as one, and no damage.

use crate::fixture::{server, workspace};
use crate::harness::{code, stderr};
use anyhow::Result;
use std::fs;
use std::time::Duration;

#[test]
fn what_is_no_run_ends_with_exit_code_2_and_says_what_is_to_be_named() -> Result<()> {
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    fs::create_dir(workspace.path("empty"))?;
    let finished = workspace.churngate(&["run", "--quiet", "--runs=runs", "churngate.yaml"])?;
    assert!([0, 1].contains(&code(&finished)?), "{}", stderr(&finished));
    let named = ["churngate.yaml", "questions.jsonl", "nowhere", "churngate.yaml/nowhere", "empty", ".", "runs"];
    for command in ["verify", "report", "export", "merge", "publish"] {
        for name in named {
            let output = workspace.churngate(&[command, name])?;
            let said = stderr(&output);
            assert_eq!(code(&output)?, 2, "{command} {name}: {said}");
            assert!(said.contains(&format!("`{name}` is not a run folder")), "{command} {name}: {said}");
            assert!(said.contains("hint: name the folder of a run"), "{command} {name}: {said}");
        }
    }
    Ok(())
}

#[test]
fn runs_are_kept_in_no_file() -> Result<()> {
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    for command in ["check", "run", "diff"] {
        for runs in ["questions.jsonl", "questions.jsonl/deeper/still"] {
            let output = workspace.churngate(&[command, "--runs", runs, "churngate.yaml"])?;
            let said = stderr(&output);
            assert_eq!(code(&output)?, 2, "{command} {runs}: {said}");
            assert!(said.contains("`questions.jsonl` is no folder\nhint: name a folder with `--runs`"), "{said}");
        }
    }
    workspace.write(".churngate", "")?;
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert!(code(&output)? == 2 && stderr(&output).contains(".churngate` is no folder"), "{}", stderr(&output));
    assert_eq!(server.count(), 0);
    let deep = workspace.churngate(&["run", "--quiet", "--runs=a/b/c", "churngate.yaml"])?;
    assert!([0, 1].contains(&code(&deep)?), "{}", stderr(&deep));
    Ok(())
}

#[test]
fn a_repository_that_is_not_there_is_named() -> Result<()> {
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    for (name, why) in [("nope", "it does not exist"), ("churngate.yaml", "it is no folder")] {
        for more in [&[][..], &["--corpus=docs"]] {
            let output = workspace.churngate(&[&["init", name], more].concat())?;
            let said = stderr(&output);
            assert_eq!(code(&output)?, 2, "{said}");
            assert!(said.contains(&format!("failed to begin in `{name}`: {why}\nhint: name the folder")), "{said}");
        }
    }
    Ok(())
}
