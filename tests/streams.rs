//! Streams, signals and files as others meet them: nothing panics, nothing is left behind, others may read.

#![cfg(unix)]

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, server::Server, stderr};
use std::{
    fs::{self, OpenOptions},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A stream that takes nothing.
fn full() -> Result<Stdio> {
    Ok(OpenOptions::new().write(true).open("/dev/full")?.into())
}

#[test]
fn a_standard_output_that_is_full_is_a_failure_and_never_a_verdict() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    for arguments in [vec!["schema"], vec!["check", "churngate.yaml"], vec!["run", "churngate.yaml"], vec!["--help"]] {
        let output =
            workspace.command().args(&arguments).stdout(full()?).stderr(Stdio::piped()).spawn()?.wait_with_output()?;
        assert_eq!(code(&output)?, 4, "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    }
    Ok(())
}

#[test]
fn a_standard_error_that_is_full_changes_nothing() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let status = workspace.command().args(["run", "churngate.yaml"]).stdout(Stdio::null()).stderr(full()?).status()?;
    assert_eq!(status.code(), Some(1));
    let status = workspace.command().args(["run", "nowhere.yaml"]).stdout(Stdio::null()).stderr(full()?).status()?;
    assert_eq!(status.code(), Some(2));
    Ok(())
}

#[test]
fn reports_are_for_whoever_may_read_the_folder_and_runs_are_hidden_from_git() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.churngate(&["run", "churngate.yaml"])?;
    let folder = workspace.run_folder()?;
    let mode = |name: &str| -> Result<u32> { Ok(fs::metadata(folder.join(name))?.permissions().mode() & 0o777) };
    assert_eq!(mode("result.json")?, mode("answers.jsonl")?);
    assert_eq!(mode("report.md")?, mode("answers.jsonl")?);
    assert_eq!(fs::read_to_string(folder.join(".gitignore"))?, "*\n");
    assert_eq!(code(&workspace.churngate(&["verify", &folder.display().to_string()])?)?, 0);
    Ok(())
}

#[test]
fn a_run_hides_itself_from_git_and_nothing_beside_it() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let git = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("git").current_dir(workspace.path(".")).args(arguments).output()?;
        anyhow::ensure!(output.status.success(), "git {arguments:?}: {}", stderr(&output));
        Ok(String::from_utf8(output.stdout)?)
    };
    git(&["init", "--quiet"])?;
    let before = git(&["status", "--porcelain", "--untracked-files=all"])?;
    anyhow::ensure!(before.contains("churngate.yaml"), "{before}");
    for runs in [".", ".churngate"] {
        assert_eq!(code(&workspace.churngate(&["run", "churngate.yaml", "--runs", runs])?)?, 1);
        assert_eq!(git(&["status", "--porcelain", "--untracked-files=all"])?, before, "--runs {runs}");
    }
    Ok(())
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() -> Result<()> {
    for name in ["churngate.yaml", "questions.jsonl"] {
        let workspace = Workspace::quickstart()?;
        fs::remove_file(workspace.path(name))?;
        anyhow::ensure!(Command::new("mkfifo").arg(workspace.path(name)).status()?.success(), "no pipe");
        let mut child = workspace
            .command()
            .args(["check", "churngate.yaml"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let begun = Instant::now();
        while child.try_wait()?.is_none() {
            if begun.elapsed() > Duration::from_secs(30) {
                child.kill()?;
                anyhow::bail!("{name}: still waiting");
            }
            thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output()?;
        assert_eq!(code(&output)?, 2, "{name}");
        assert!(stderr(&output).contains(&format!("`{name}`: it is no regular file")), "{}", stderr(&output));
    }
    Ok(())
}

/// The quickstart with a generator that never answers and says which process it is.
fn hanging(workspace: &Workspace) -> Result<()> {
    workspace.write("hang.sh", "echo $$ >> pids\nexec sleep 300\n")?;
    let script = workspace.path("hang.sh").display().to_string();
    let pids = workspace.path("pids").display().to_string();
    workspace.write("hang.sh", format!("echo $$ >> '{pids}'\nexec sleep 300\n"))?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("reader: {}", &format!("command: {{ argv: [sh, \"{script}\"] }}\n  concurrency: 4"))
    })
}

fn alive(pid: &str) -> bool {
    // A zombie that nobody has waited for yet is dead.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) -> Result<()> {
    let begun = Instant::now();
    while !holds() {
        anyhow::ensure!(begun.elapsed() < Duration::from_mins(1), "{what} did not happen");
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[test]
fn a_run_that_is_asked_to_end_twice_leaves_no_program_behind() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    hanging(&workspace)?;
    let mut child =
        workspace.command().args(["run", "churngate.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let pids = || workspace.read("pids").unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    eventually("four programs", || pids().len() >= 4)?;
    let terminate = || Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    anyhow::ensure!(terminate()?.success(), "no signal");
    thread::sleep(Duration::from_millis(500));
    anyhow::ensure!(terminate()?.success(), "no second signal");
    assert_eq!(child.wait()?.code(), Some(4));
    eventually("the end of the programs", || pids().iter().all(|pid| !alive(pid)))
}

#[test]
fn a_lost_ledger_stops_before_anything_is_asked_again() -> Result<()> {
    let server = Server::start(Duration::ZERO, Box::new(|_| "the same".to_owned()))?;
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace(
            "reader: {}",
            &format!("openai: {{ model: m, base_url: \"{}\", structured: plain }}", server.base_url),
        )
        .replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 3, seed: 1 }")
    })?;
    assert_eq!(code(&workspace.churngate(&["run", "churngate.yaml"])?)?, 0);
    let asked = server.count();
    let ledger = workspace.run_folder()?.join("answers.jsonl");
    fs::remove_file(&ledger)?;
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 5, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("answers.jsonl") && stderr(&output).contains("judgments.jsonl"),
        "{}",
        stderr(&output)
    );
    assert_eq!(server.count(), asked);
    Ok(())
}

#[test]
fn a_blob_that_is_edited_or_gone_is_found_whichever_it_is() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 4, seed: 1 }")
    })?;
    workspace.churngate(&["run", "churngate.yaml"])?;
    let folder = workspace.run_folder()?;
    let shown = folder.display().to_string();
    let mut found = 0;
    for entry in fs::read_dir(folder.join("blobs"))? {
        let path = entry?.path();
        let intact = fs::read(&path)?;
        fs::write(&path, [intact.as_slice(), b"x"].concat())?;
        assert_eq!(code(&workspace.churngate(&["verify", &shown])?)?, 5, "{} edited", path.display());
        fs::remove_file(&path)?;
        assert_eq!(code(&workspace.churngate(&["verify", &shown])?)?, 5, "{} gone", path.display());
        fs::write(&path, intact)?;
        found += 1;
    }
    anyhow::ensure!(found > 8, "{found} blobs");
    assert_eq!(code(&workspace.churngate(&["verify", &shown])?).context("restored")?, 0);
    Ok(())
}
