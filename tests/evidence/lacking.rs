//! What is sealed although an audit under way would have stopped at it, through every command that reads a run or an export: its
//! chains hold, so that the evidence is not broken. It is an audit that could not be completed.

use crate::fixture::{Copy, forge, records};
use crate::forged::{about, renumber};
use crate::harness::{code, stderr};
use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use std::fs;

/// A finished run and its export.
fn both() -> Result<(Copy, [Utf8PathBuf; 2])> {
    let copy = Copy::new()?;
    let (run, export) = (copy.run(), copy.path("export"));
    churngate::run::export(&run, &export)?;
    Ok((copy, [run, export]))
}

/// Takes away whatever was answered to a question, and judged of it.
fn take_away(folder: &Utf8Path, question: &str) -> Result<()> {
    for ledger in ["judgments.jsonl", "answers.jsonl"] {
        let whole = records(folder, ledger)?;
        let mut kept = whole.clone();
        kept.retain(|record| !about(record, question));
        assert!(kept.len() < whole.len(), "{ledger}");
        renumber(&mut kept, &whole)?;
        forge(folder, ledger, &kept)?;
    }
    let classes = fs::read_to_string(folder.join("classes.jsonl"))?;
    let without = |line: &str| -> Result<String> {
        let mut line: Value = serde_json::from_str(line)?;
        if line["question"] == question {
            line["answers"] = json!([]);
        }
        Ok(line.to_string() + "\n")
    };
    let classes = classes.lines().map(without).collect::<Result<String>>()?;
    Ok(fs::write(folder.join("classes.jsonl"), classes)?)
}

fn refused(copy: &Copy, arguments: &[&str], why: &str) -> Result<()> {
    let output = copy.workspace().churngate(arguments)?;
    let said = stderr(&output);
    assert_eq!(code(&output)?, 4, "{arguments:?}: {said}");
    assert!(said.contains(why), "{arguments:?}: {said}");
    Ok(())
}

#[test]
fn too_many_missing_answers_are_the_same_to_every_command() -> Result<()> {
    let (copy, [run, export]) = both()?;
    take_away(&run, "q1")?;
    take_away(&export, "q1")?;
    let why = "2 of 12 cells of snapshot `old` hold no answer, more than is tolerated";
    for command in ["verify", "export", "report", "publish"] {
        refused(&copy, &[command, run.as_str()], why)?;
    }
    for command in ["verify", "report"] {
        refused(&copy, &[command, export.as_str()], why)?;
    }
    Ok(())
}

#[test]
fn a_model_that_changed_is_the_same_in_a_run_and_in_its_export() -> Result<()> {
    let (copy, folders) = both()?;
    for folder in &folders {
        let mut answers = records(folder, "answers.jsonl")?;
        let named = answers.iter_mut().find(|record| record["served_model"].is_string()).context("no model")?;
        named["served_model"] = "another-model".into();
        forge(folder, "answers.jsonl", &answers)?;
        refused(&copy, &["verify", folder.as_str()], "the generator's server changed the model that it serves")?;
    }
    refused(&copy, &["export", folders[0].as_str(), "--output", "again"], "the generator's server changed the model")
}
