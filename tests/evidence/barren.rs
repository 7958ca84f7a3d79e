//! An index that retrieved nothing for any question, through every command that reads what it left: no audit stands on it.

use crate::fixture::{LEDGERS, copy_folder, records};
use crate::harness::forge::chain;
use crate::harness::{Workspace, code, questions_file, stderr};
use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use churngate::model::Digest;
use serde_json::{Value, json};
use std::fs;

/// Enough of them that no chance leaves all of them without a document; half of them are too few to tell.
const QUESTIONS: usize = 12;
/// What is said of them.
const WHY: &str = "none of the 12 questions got a document from `old`, `new`";

/// An audit that asks a program which writes what lies in a file: nothing tells that it changed, so that the run stays the same.
fn workspace() -> Result<Workspace> {
    let workspace = Workspace::new()?;
    workspace.write(
        "churngate.yaml",
        "version: 1\nname: barren\nquestions: { file: q.jsonl }\n\
         snapshots: { old: { index: one }, new: { index: two } }\n\
         retrieve:\n  command: { argv: [/bin/sh, -c, \"cat > /dev/null; cat found.json\"] }\n\
         generate: { reader: {} }\njudge: { embedded: {} }\n",
    )?;
    workspace.write("q.jsonl", questions_file((0..QUESTIONS).map(|number| format!("What is item {number}?"))))?;
    workspace.write("found.json", "[]")?;
    Ok(workspace)
}

fn run(workspace: &Workspace, more: &[&str]) -> Result<(i32, String)> {
    let output =
        workspace.churngate(&[&["run", "--quiet", "--folder-file=folder"], more, &["churngate.yaml"]].concat())?;
    Ok((code(&output)?, stderr(&output)))
}

/// Both halves of the audit, each with too few questions to tell.
fn shards(workspace: &Workspace) -> Result<[Utf8PathBuf; 2]> {
    let mut folders = Vec::new();
    for part in ["--shard=1/2", "--shard=2/2"] {
        let (code, said) = run(workspace, &[part])?;
        assert_eq!(code, 0, "{said}");
        folders.push(Utf8PathBuf::from(workspace.read("folder")?));
    }
    folders.try_into().ok().context("two shards")
}

/// What `merge` would make of two shards if it did not look: one run, with all of their records.
fn joined([one, other]: &[Utf8PathBuf; 2], to: &Utf8Path) -> Result<()> {
    copy_folder(one, to)?;
    copy_folder(&other.join("blobs"), &to.join("blobs"))?;
    fs::remove_file(to.join("shard.json"))?;
    let mut before = Digest::of(&fs::read(to.join("protocol.lock.json"))?);
    for ledger in LEDGERS {
        let mut all = records(one, ledger)?;
        let first = all.len() as u64;
        for mut record in records(other, ledger)? {
            if let Some(attempt) = record.get("attempt").and_then(Value::as_u64) {
                record["attempt"] = json!(first + attempt);
            }
            all.push(record);
        }
        before = chain(to, ledger, before, &all)?;
    }
    Ok(())
}

/// The export that such a run would have: its ledgers, and what its figures need of texts, of which there are none.
fn exported(run: &Utf8Path, to: &Utf8Path) -> Result<()> {
    fs::create_dir(to)?;
    let lock = "protocol.lock.json";
    for file in LEDGERS.into_iter().chain([lock]) {
        fs::copy(run.join(file), to.join(file))?;
    }
    let protocol = Digest::of(&fs::read(run.join(lock))?).to_string();
    let mut lines = vec![json!({"format": "1.0", "protocol": protocol, "normalisation": "nq"})];
    for record in records(run, "answers.jsonl")? {
        assert_eq!(record["type"], "note", "nothing was asked: the prompts are identical");
        lines.push(json!({"question": record["question"], "gold": false, "answers": []}));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(to.join("classes.jsonl"), lines.join("\n") + "\n")?;
    let manifest = json!({"format": "1.0", "run": protocol, "tool": "0.1.0", "left_out": []});
    Ok(fs::write(to.join("export.json"), manifest.to_string())?)
}

#[test]
fn an_index_that_retrieved_nothing_is_the_same_to_every_command() -> Result<()> {
    let workspace = workspace()?;
    let refused = |arguments: &[&str], what: &str| -> Result<()> {
        let output = workspace.churngate(arguments)?;
        assert_eq!(code(&output)?, 4, "{what}: {}", stderr(&output));
        assert!(stderr(&output).contains(WHY), "{what}: {}", stderr(&output));
        Ok(())
    };
    let (code_of_run, said) = run(&workspace, &["--runs", "whole"])?;
    assert!(code_of_run == 4 && said.contains(WHY), "{said}");

    let parts = shards(&workspace)?;
    for part in &parts {
        let verified = workspace.churngate(&["verify", part.as_str()])?;
        assert_eq!(code(&verified)?, 0, "six questions may be so by chance: {}", stderr(&verified));
    }
    refused(&["merge", "--runs=merged", parts[0].as_str(), parts[1].as_str()], "merge")?;
    assert_eq!(fs::read_dir(workspace.path("merged"))?.count(), 0, "nothing is left of what was refused");

    let at = |name: &str| Utf8PathBuf::try_from(workspace.path(name));
    let (whole, copy) = (at("joined")?, at("copy")?);
    joined(&parts, &whole)?;
    for command in ["verify", "export", "report"] {
        refused(&[command, whole.as_str()], command)?;
    }
    exported(&whole, &copy)?;
    for command in ["verify", "report"] {
        refused(&[command, copy.as_str()], &format!("{command} of an export"))?;
    }
    Ok(())
}

/// The forger's own tools change nothing where the index gave something: what is refused above is refused for its evidence.
#[test]
fn the_same_shards_with_documents_are_merged_verified_and_exported() -> Result<()> {
    let workspace = workspace()?;
    workspace.write("found.json", r#"[{"id": "a", "text": "Item 3 is a lamp."}]"#)?;
    let parts = shards(&workspace)?;
    let merged = workspace.churngate(&["merge", "--runs=merged", parts[0].as_str(), parts[1].as_str()])?;
    assert_eq!(code(&merged)?, 0, "{}", stderr(&merged));
    let entry = fs::read_dir(workspace.path("merged"))?.next().context("no run")??;
    let run = Utf8PathBuf::try_from(entry.path())?;
    let joined_run = Utf8PathBuf::try_from(workspace.path("joined"))?;
    joined(&parts, &joined_run)?;
    for ledger in LEDGERS {
        assert_eq!(records(&joined_run, ledger)?, records(&run, ledger)?, "{ledger}");
    }
    for arguments in [&["verify", run.as_str()][..], &["export", run.as_str()]] {
        let output = workspace.churngate(arguments)?;
        assert_eq!(code(&output)?, 0, "{arguments:?}: {}", stderr(&output));
    }
    let copy = format!("{run}-export");
    let verified = workspace.churngate(&["verify", &copy])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    Ok(())
}
