//! `churngate export`: no text, every figure, nothing overwritten, and every change found.

use crate::fixture::{Copy, MARK, QUESTIONS};
use crate::harness::{code, root, stderr, stdout};
use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use churngate::model::FailureClass;
use serde_json::Value;
use std::{fs, process::Command};

fn exported() -> Result<(Copy, Utf8PathBuf)> {
    let copy = Copy::new()?;
    let to = copy.path("export");
    churngate::run::export(&copy.run(), &to)?;
    Ok((copy, to))
}

fn files(folder: &Utf8Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        files.push((entry.file_name().to_owned(), fs::read(entry.path())?));
    }
    files.sort();
    Ok(files)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn no_text_of_the_audit_is_in_an_export() -> Result<()> {
    let (copy, export) = exported()?;
    let files = files(&export)?;
    assert_eq!(files.len(), 10, "{:?}", files.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for (name, bytes) in &files {
        assert!(!contains(&bytes.to_ascii_lowercase(), MARK.as_bytes()), "{name} holds a text");
    }
    let mut bodies = 0;
    for entry in fs::read_dir(copy.run().join("blobs"))? {
        let body = fs::read(entry?.path())?;
        assert!(files.iter().all(|(_, bytes)| !contains(bytes, &body)), "{}", String::from_utf8_lossy(&body));
        bodies += 1;
    }
    assert!(bodies > 40, "{bodies}");
    // The run itself has them, so that looking for them means something.
    let report = fs::read(copy.run().join("report.md"))?;
    assert!(contains(&report, MARK.as_bytes()));
    Ok(())
}

#[test]
fn an_export_comes_to_the_runs_own_figures() -> Result<()> {
    let (copy, export) = exported()?;
    let result =
        |folder: &Utf8Path| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(folder.join("result.json"))?)?) };
    let (whole, without) = (result(&copy.run())?, result(&export)?);
    for part in ["decision", "validity", "record", "snapshots", "machinery", "protocol", "audited", "spec"] {
        assert_eq!(whole[part], without[part], "{part}");
    }
    for part in ["kernels", "correctness", "overlap", "subgroups", "power", "transitivity", "questions", "unchanged"] {
        assert_eq!(whole["analysis"][part], without["analysis"][part], "{part}");
    }
    assert!(whole["analysis"]["correctness"]["exact_match"][0]["numerator"].as_u64() > Some(0), "{whole}");
    let flips = |result: &Value| result["analysis"]["flips"].as_array().map(Vec::len);
    assert_eq!(flips(&whole), Some(6));
    assert_eq!(flips(&without), Some(6));
    let ids = |result: &Value| -> Vec<String> {
        let documents =
            result["flips"].as_array().into_iter().flatten().filter_map(|flip| flip["left"].as_array().cloned());
        documents.flatten().map(|document| document["id"].to_string()).collect()
    };
    assert_eq!(ids(&whole), ids(&without));
    Ok(())
}

#[test]
fn the_command_exports_verifies_and_names_what_needs_texts() -> Result<()> {
    let copy = Copy::new()?;
    let output = copy.workspace().churngate(&["export", "run"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("churngate verify run-export"), "{}", stdout(&output));
    let verified = copy.workspace().churngate(&["verify", "run-export"])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    for what in ["blobs", "questions", "requests", "packets", "classes", "documents"] {
        assert!(stdout(&verified).contains(&format!("--  {what}: ")), "{}", stdout(&verified));
    }
    let report = copy.workspace().churngate(&["report", "run-export", "--format", "markdown"])?;
    assert_eq!(stdout(&report), fs::read_to_string(copy.path("run-export").join("report.md"))?);
    Ok(())
}

#[test]
fn nothing_is_written_over_and_no_link_is_followed() -> Result<()> {
    let copy = Copy::new()?;
    let refused = |to: &str| -> Result<String> {
        let output = copy.workspace().churngate(&["export", "run", "--output", to])?;
        assert_eq!(code(&output)?, 2, "{to}: {}", stderr(&output));
        Ok(stderr(&output))
    };
    fs::create_dir(copy.path("folder"))?;
    fs::write(copy.path("file"), "mine")?;
    assert!(refused("folder")?.contains("`folder` exists already"));
    refused("file")?;
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", copy.path("dangling"))?;
        std::os::unix::fs::symlink("folder", copy.path("link"))?;
        refused("dangling")?;
        refused("link")?;
        assert!(!copy.path("nowhere").exists());
    }
    assert_eq!(fs::read_to_string(copy.path("file"))?, "mine");
    assert_eq!(fs::read_dir(copy.path("folder"))?.count(), 0);
    churngate::run::export(&copy.run(), &copy.path("export"))?;
    let again = copy.workspace().churngate(&["export", "export"])?;
    assert_eq!(code(&again)?, 2, "{}", stderr(&again));
    Ok(())
}

#[test]
fn a_run_that_does_not_verify_is_not_exported() -> Result<()> {
    let copy = Copy::new()?;
    let result = copy.run().join("result.json");
    fs::write(&result, fs::read_to_string(&result)?.replacen('0', "1", 1))?;
    let output = copy.workspace().churngate(&["export", "run", "--output", "export"])?;
    assert_eq!(code(&output)?, 5, "{}", stderr(&output));
    assert!(!copy.path("export").exists());
    Ok(())
}

/// The text with one character in its middle replaced by another of its kind.
fn edited(line: &str, at: usize) -> String {
    let swap = |character: char| match character {
        '9' => '8',
        'f' | 'z' => 'e',
        '0'..='8' | 'a'..='y' => char::from(character as u8 + 1),
        _ => 'x',
    };
    line.chars().enumerate().map(|(place, character)| if place == at { swap(character) } else { character }).collect()
}

#[test]
fn every_change_to_an_export_is_found() -> Result<()> {
    let (copy, export) = exported()?;
    let (mut cases, mut missed) = (0, Vec::new());
    let mut check = |what: String| {
        cases += 1;
        match churngate::run::verify(&export) {
            Err(failure) if failure.class == FailureClass::Evidence => {}
            other => missed.push(format!("{what}: {other:?}")),
        }
    };
    for (name, bytes) in files(&export)? {
        let path = export.join(&name);
        let text = String::from_utf8(bytes.clone())?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for at in (0..lines.len()).step_by((lines.len() / 12).max(1)) {
            // The version of the program that exported it, and what it says it left out, are told and decide nothing.
            if name == "export.json" && !(lines[at].contains("format") || lines[at].contains("run")) {
                continue;
            }
            let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            changed[at] = edited(lines[at], lines[at].chars().count() / 2);
            fs::write(&path, changed.concat())?;
            check(format!("{name} line {} edited", at + 1));
            changed.remove(at);
            fs::write(&path, changed.concat())?;
            check(format!("{name} line {} deleted", at + 1));
        }
        fs::remove_file(&path)?;
        if name != "export.json" {
            check(format!("{name} gone"));
        }
        fs::write(&path, bytes)?;
    }
    fs::write(export.join("notes.txt"), "a text")?;
    check("one file more".to_owned());
    fs::remove_file(export.join("notes.txt"))?;
    copy_blobs(&copy, &export)?;
    check("blobs put back".to_owned());
    fs::remove_dir_all(export.join("blobs"))?;
    assert!(missed.is_empty(), "missed {} of {cases}: {missed:#?}", missed.len());
    assert!(cases > 100, "{cases}");
    assert!(churngate::run::verify(&export).is_ok());
    Ok(())
}

fn copy_blobs(copy: &Copy, export: &Utf8Path) -> Result<()> {
    crate::fixture::copy_folder(&copy.run().join("blobs"), &export.join("blobs"))
}

#[test]
fn an_export_of_a_newer_format_is_refused_by_name() -> Result<()> {
    let (_copy, export) = exported()?;
    let path = export.join("export.json");
    fs::write(&path, fs::read_to_string(&path)?.replacen("\"1.0\"", "\"2.0\"", 1))?;
    let failure = churngate::run::verify(&export).err().context("verified")?;
    assert!(failure.message.contains("has format 2.0"), "{failure}");
    Ok(())
}

#[test]
fn the_independent_checker_reads_an_export_and_finds_changes_of_its_classes() -> Result<()> {
    let (_copy, export) = exported()?;
    let script = root().join("tests/ledger_checker/check_run.py");
    let Ok(output) = Command::new("python3").arg(&script).arg(&export).output() else {
        // Without Python the library's own tests stand alone.
        return Ok(());
    };
    assert!(stdout(&output).starts_with("ok: "), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains(&format!("{QUESTIONS} questions of classes")), "{}", stdout(&output));
    let path = export.join("classes.jsonl");
    let text = fs::read_to_string(&path)?;
    for (from, to) in [("\"class\":1", "\"class\":3"), ("\"right\":true", "\"right\":null"), ("\"q4\"", "\"q5\"")] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        fs::write(&path, changed)?;
        let output = Command::new("python3").arg(&script).arg(&export).output()?;
        assert!(stdout(&output).starts_with("difference: "), "{from}: {}", stdout(&output));
    }
    Ok(())
}
