//! Every sort of damage, through the program, with its exit code.

use crate::fixture::{Copy, LEDGERS, QUESTIONS, records, server, workspace};
use crate::harness::{code, stderr};
use anyhow::{Context as _, Result, ensure};
use std::{fs, process::Stdio, thread, time::Duration, time::Instant};

/// Changes a copy of the run and gives back what `verify` says, which ends with this exit code.
fn refused(expected: i32, change: impl FnOnce(&Copy) -> Result<()>) -> Result<String> {
    let copy = Copy::new()?;
    change(&copy)?;
    let output = copy.workspace().churngate(&["verify", "run"])?;
    assert_eq!(code(&output)?, expected, "{}", stderr(&output));
    Ok(stderr(&output))
}

fn lines(copy: &Copy, ledger: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
    let path = copy.run().join(ledger);
    let mut lines: Vec<String> = fs::read_to_string(&path)?.split_inclusive('\n').map(str::to_owned).collect();
    change(&mut lines);
    Ok(fs::write(path, lines.concat())?)
}

/// A change of a ledger's lines.
type Change = fn(&mut Vec<String>);

#[test]
fn damaged_lines_are_named_by_file_and_line_with_exit_code_5() -> Result<()> {
    for ledger in LEDGERS {
        let damages: [(&str, Change); 6] = [
            ("line 4: ", |lines| lines.swap(3, 4)),
            ("has lost its end: `result.json` was made from it", |lines| lines.truncate(5)),
            ("line 3: ", |lines| drop(lines.remove(2))),
            ("line 4: ", |lines| lines.insert(3, lines[2].clone())),
            ("line 5: ", |lines| lines[3] = lines[3].replacen("\"type\":\"", "\"type\": \"", 1)),
            ("stands after the seal", |lines| lines.push(lines[1].clone())),
        ];
        for (expected, damage) in damages {
            let said = refused(5, |copy| lines(copy, ledger, damage))?;
            assert!(said.contains(ledger) && said.contains(expected), "{ledger}: expected `{expected}`: {said}");
            assert!(said.contains("hint: "), "{said}");
        }
        let newer = refused(5, |copy| lines(copy, ledger, |lines| lines[0] = lines[0].replacen("1.0", "2.0", 1)))?;
        assert!(newer.contains("has format 2.0; this program reads formats up to 1.0"), "{newer}");
        assert!(newer.contains("use the version of the program that wrote this run"), "{newer}");
    }
    Ok(())
}

#[test]
fn edited_blobs_results_links_and_foreign_ledgers_end_with_exit_code_5() -> Result<()> {
    let blob = refused(5, |copy| {
        let path = copy.run().join("blobs").read_dir_utf8()?.next().context("no blob")??.path().to_owned();
        Ok(fs::write(path, "something else")?)
    })?;
    assert!(blob.contains("does not hold the bytes it is named for") || blob.contains("bytes, but it has"), "{blob}");
    for name in ["result.json", "classes.jsonl"] {
        let said = refused(5, |copy| {
            let path = copy.run().join(name);
            Ok(fs::write(&path, fs::read_to_string(&path)?.replacen('1', "2", 1))?)
        })?;
        assert!(said.contains(name) && said.contains("does not follow from the ledgers"), "{said}");
    }
    let lock = refused(5, |copy| {
        let path = copy.run().join("protocol.lock.json");
        Ok(fs::write(&path, fs::read_to_string(&path)?.replacen("evidence", "evidenze", 1))?)
    })?;
    assert!(lock.contains("the header continues"), "{lock}");
    #[cfg(unix)]
    for name in ["answers.jsonl", "blobs", "protocol.lock.json"] {
        let said = refused(5, |copy| {
            fs::rename(copy.run().join(name), copy.path("aside"))?;
            Ok(std::os::unix::fs::symlink(copy.path("aside"), copy.run().join(name))?)
        })?;
        assert!(said.contains("is not a plain file or folder"), "{name}: {said}");
    }
    let foreign = refused(5, |copy| {
        let server = server(Duration::ZERO)?;
        let other = workspace(&server, "another-judge")?;
        other.churngate(&["run", "--quiet", "churngate.yaml"])?;
        fs::copy(other.run_folder()?.join("judgments.jsonl"), copy.run().join("judgments.jsonl"))?;
        Ok(())
    })?;
    assert!(foreign.contains("judgments.jsonl` line 1: the header continues"), "{foreign}");
    Ok(())
}

#[test]
fn a_second_process_says_who_holds_the_run_and_spends_nothing() -> Result<()> {
    let server = server(Duration::from_millis(150))?;
    let workspace = workspace(&server, "j")?;
    let mut first = workspace.command().args(["run", "--quiet", "churngate.yaml"]).stdout(Stdio::null()).spawn()?;
    let begun = Instant::now();
    while server.count() == 0 {
        ensure!(begun.elapsed() < Duration::from_mins(1), "nothing was asked");
        thread::sleep(Duration::from_millis(5));
    }
    let second = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&second)?, 2, "{}", stderr(&second));
    assert!(stderr(&second).contains(&format!("is in use by process {}", first.id())), "{}", stderr(&second));
    assert!([Some(0), Some(1)].contains(&first.wait()?.code()));
    let asked = records(camino::Utf8Path::from_path(&workspace.run_folder()?).context("no UTF-8")?, "answers.jsonl")?;
    let attempts = asked.iter().filter(|record| record["type"] == "attempt").count();
    assert_eq!(attempts, 4 * (QUESTIONS - QUESTIONS / 3));
    Ok(())
}

#[test]
fn answers_that_lost_their_end_are_not_asked_again_and_a_lost_seal_is_written_again() -> Result<()> {
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    let run = || workspace.churngate(&["run", "--quiet", "churngate.yaml"]);
    let finished = code(&run()?)?;
    ensure!([0, 1].contains(&finished), "the first run ended with {finished}");
    let (path, asked) = (workspace.run_folder()?.join("answers.jsonl"), server.count());
    let whole = fs::read_to_string(&path)?;
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for kept in [1, 2, lines.len() / 2, lines.len() - 2] {
        fs::write(&path, lines[..kept].concat())?;
        let output = run()?;
        assert_eq!(code(&output)?, 5, "{kept} lines: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("has lost its end: `judgments.jsonl` continues it"), "{kept} lines: {said}");
        assert!(said.contains("hint: restore the run folder from a copy"), "{kept} lines: {said}");
    }
    fs::write(&path, lines[..lines.len() - 1].concat())?;
    let output = run()?;
    assert_eq!(code(&output)?, finished, "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&path)?, whole);
    assert_eq!(server.count(), asked, "nothing was asked");
    Ok(())
}

/// A disk too small for the run, and one that cannot be written at all: only root on Linux may mount them.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn a_full_disk_and_a_read_only_one_stop_with_exit_code_4_and_the_run_goes_on_later() -> Result<()> {
    use std::process::Command;
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    let disk = workspace.path("disk");
    fs::create_dir(&disk)?;
    let mount = |options: &str| Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).output();
    if !mount("size=96k").is_ok_and(|output| output.status.success()) {
        println!("skipped: a tmpfs cannot be mounted here");
        return Ok(());
    }
    let remount = |options: &str| Command::new("mount").args(["-o", options]).arg(&disk).status();
    let outcome = (|| -> Result<()> {
        let run = || workspace.churngate(&["run", "--quiet", "churngate.yaml", "--runs", "disk"]);
        let full = run()?;
        assert_eq!(code(&full)?, 4, "{}", stderr(&full));
        assert!(stderr(&full).contains("No space left on device"), "{}", stderr(&full));
        ensure!(remount("remount,ro")?.success(), "no remount");
        let read_only = run()?;
        assert_eq!(code(&read_only)?, 4, "{}", stderr(&read_only));
        assert!(stderr(&read_only).contains("Read-only file system"), "{}", stderr(&read_only));
        ensure!(remount("remount,rw,size=16m")?.success(), "no remount");
        let resumed = run()?;
        assert!([0, 1].contains(&code(&resumed)?), "{}", stderr(&resumed));
        Ok(())
    })();
    ensure!(Command::new("umount").arg(&disk).status()?.success(), "still mounted");
    outcome
}
