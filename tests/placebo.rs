//! `snapshots: { placebo }`: the old snapshot rebuilt unchanged, asked and judged like the others, beside the verdict and
//! without a say in it.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, figures, independent_check, stderr, stdout};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const QUESTIONS: usize = 20;

const SPEC: &str = "\
version: 1
name: docs
questions: { file: q.jsonl }
snapshots:
  old: { path: old.jsonl }
  new: { path: new.jsonl }
  placebo: { path: placebo.jsonl }
retrieve: { bm25: {}, top_k: 1 }
generate: { reader: { temperature: 0 } }
judge: { embedded: {} }
bootstrap: { draws: 1000 }
";

/// One document a question that says version 12; those named say version 13.
fn corpus(edited: std::ops::Range<usize>) -> String {
    let line = |number: usize| {
        let version = if edited.contains(&number) { 13 } else { 12 };
        let text = format!("Since version {version} Tool{number} supports widgets.");
        json!({"id": format!("d{number}"), "text": text}).to_string()
    };
    (0..QUESTIONS).map(|number| line(number) + "\n").collect()
}

fn workspace(new: std::ops::Range<usize>, placebo: std::ops::Range<usize>) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    workspace.write("churngate.yaml", SPEC)?;
    workspace.write("old.jsonl", corpus(0..0))?;
    workspace.write("new.jsonl", corpus(new))?;
    workspace.write("placebo.jsonl", corpus(placebo))?;
    let line = |number| json!({"id": format!("q{number:02}"), "question": format!("Since which version does Tool{number} support widgets?")});
    workspace.write("q.jsonl", (0..QUESTIONS).map(|number| line(number).to_string() + "\n").collect::<String>())?;
    Ok(workspace)
}

/// Runs the audit to its end: the exit code and the run's folder.
fn audited(workspace: &Workspace, runs: &str) -> Result<(i32, PathBuf, String)> {
    let options = ["run", "--quiet", &format!("--runs={runs}"), "--folder-file=folder", "churngate.yaml"];
    let output = workspace.churngate(&options)?;
    let folder = PathBuf::from(workspace.read("folder").context(stderr(&output))?);
    Ok((code(&output)?, folder, stdout(&output)))
}

fn share(figure: &Value) -> Option<f64> {
    Some(figure["numerator"].as_f64()? / figure["denominator"].as_f64()?)
}

/// D̂ of each kernel, of old against new or of old against the placebo.
fn churn(kernels: &Value) -> Vec<Option<f64>> {
    kernels.as_array().map(|kernels| kernels.iter().map(|one| share(&one["churn"])).collect()).unwrap_or_default()
}

#[test]
fn an_index_that_is_rebuilt_identically_shows_nothing_and_costs_nothing_where_nothing_changed() -> Result<()> {
    let workspace = workspace(0..8, 0..0)?;
    let (_, folder, said) = audited(&workspace, "runs")?;
    let analysis = &figures(&folder)?["analysis"];
    assert_eq!((&analysis["asked"], &analysis["unchanged"]), (&json!(8), &json!(12)));
    assert_eq!(churn(&analysis["kernels"]), [Some(0.4); 2]);
    let placebo = &analysis["placebo"];
    assert_eq!(churn(&placebo["kernels"]), [Some(0.0); 2]);
    assert_eq!(placebo["overlap"]["identical_prompts"], QUESTIONS);
    assert_eq!(
        placebo["beyond"].as_array().map(|all| all.iter().map(|one| share(&one["churn"])).collect()),
        Some(vec![Some(0.4); 2])
    );
    assert!(said.contains("the rebuild alone shows 0.00 pp"), "{said}");
    assert!(said.contains("the corpus explains that, not the rebuild"), "{said}");

    let same = self::workspace(0..0, 0..0)?;
    let (_, folder, said) = audited(&same, "runs")?;
    let result = figures(&folder)?;
    assert_eq!((&result["analysis"]["asked"], &result["validity"]["cells"]), (&json!(0), &json!(0)));
    assert_eq!(churn(&result["analysis"]["placebo"]["kernels"]), [Some(0.0); 2]);
    assert!(said.contains("the rebuild alone shows 0.00 pp"), "{said}");
    Ok(())
}

#[test]
fn a_rebuild_that_varies_is_told_and_the_verdict_is_as_without_it() -> Result<()> {
    let workspace = workspace(0..6, 10..16)?;
    let (exit, with, said) = audited(&workspace, "with")?;
    let result = figures(&with)?;
    let placebo = &result["analysis"]["placebo"];
    assert_eq!(churn(&placebo["kernels"]), [Some(0.3); 2]);
    assert_eq!(placebo["kernels"][1]["stable_flips"], 6);
    assert_eq!(share(&placebo["beyond"][1]["churn"]), Some(0.0));
    assert_eq!(placebo["overlap"]["by_content"]["none"], 6);
    let told = said.split_whitespace().collect::<Vec<_>>().join(" ");
    // Twenty questions do not tell 30 pp of the rebuild from 30 pp of the corpus.
    let explained = "the rebuild is enough to explain it, and up to ";
    assert!(told.contains("The rebuild alone shows 30.00 pp") && told.contains(explained), "{said}");
    for report in ["report.md", "report.html"] {
        let text = std::fs::read_to_string(with.join(report))?;
        assert!(text.contains(explained) && !text.contains("not the corpus"), "{text}");
    }
    // Questions whose old and new prompts are the same are asked where the placebo's differs, and count as they should.
    assert_eq!(
        (&result["analysis"]["asked"], &result["validity"]["accepted"][2]),
        (&json!(12), &json!(["placebo", 24]))
    );

    workspace.edit("churngate.yaml", |spec| spec.replace("  placebo: { path: placebo.jsonl }\n", ""))?;
    let (bare, without, _) = audited(&workspace, "without")?;
    let bare_result = figures(&without)?;
    assert_eq!(exit, bare);
    assert_eq!(result["decision"], bare_result["decision"]);
    assert_eq!(churn(&result["analysis"]["kernels"]), churn(&bare_result["analysis"]["kernels"]));
    assert_eq!((&bare_result["analysis"]["asked"], &bare_result["analysis"]["placebo"]), (&json!(6), &Value::Null));
    Ok(())
}

#[test]
fn its_record_is_verified_exported_cut_into_shards_and_read_by_the_other_program() -> Result<()> {
    let workspace = workspace(0..6, 3..9)?;
    let (_, whole, _) = audited(&workspace, "whole")?;
    let path = |folder: &Path| folder.to_string_lossy().into_owned();
    let export = path(&workspace.path("export"));
    let exported = workspace.churngate(&["export", &path(&whole), "--output", &export])?;
    assert_eq!(code(&exported)?, 0, "{}", stderr(&exported));
    let mut arguments = vec!["merge".to_owned(), "--runs=merged".to_owned(), "--folder-file=folder".to_owned()];
    for number in 1..=3 {
        let cut = format!("--shard={number}/3");
        let output =
            workspace.churngate(&["run", "--quiet", &cut, "--runs=parts", "--folder-file=folder", "churngate.yaml"])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        arguments.push(workspace.read("folder")?);
    }
    let merged = workspace.churngate(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    let folder = PathBuf::from(workspace.read("folder").context(stderr(&merged))?);
    assert_eq!(figures(&folder)?, figures(&whole)?);
    for run in [path(&whole), export.clone(), path(&folder)] {
        let verified = workspace.churngate(&["verify", &run])?;
        assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    }
    independent_check(&[whole.clone(), PathBuf::from(export), folder]);
    // A figure of the placebo is a figure like any other.
    let result = std::fs::read_to_string(whole.join("result.json"))?;
    let at = result.find("\"placebo\": {").context("no placebo")?;
    let edited = result[..at].to_owned() + &result[at..].replacen("\"stable_flips\": 6", "\"stable_flips\": 1", 1);
    assert_ne!(edited, result);
    std::fs::write(whole.join("result.json"), edited)?;
    assert_eq!(code(&workspace.churngate(&["verify", &path(&whole)])?)?, 5);
    Ok(())
}

#[test]
fn check_counts_its_calls_and_diff_shows_its_turnover() -> Result<()> {
    let workspace = workspace(0..6, 10..14)?;
    workspace.edit("churngate.yaml", |spec| spec.replace("reader: { temperature: 0 }", "openai: { model: m }"))?;
    let checked = workspace.churngate(&["check", "churngate.yaml"])?;
    let said = stdout(&checked);
    assert!(said.contains("snapshot placebo: placebo.jsonl, 20 documents"), "{said}");
    assert!(said.contains("asked 2 times of each of 3 snapshots") && said.contains("at most 120 answers"), "{said}");
    let output = workspace.churngate(&["diff", "--quiet", "--format", "json", "churngate.yaml"])?;
    let diff: Value = serde_json::from_slice(&output.stdout).context(stderr(&output))?;
    assert_eq!(
        (&diff["overlap"]["by_content"]["none"], &diff["placebo"]["by_content"]["none"]),
        (&json!(6), &json!(4))
    );
    assert_eq!((&diff["cost"]["asked"], &diff["cost"]["answers"]), (&json!(10), &json!(60)));
    // The questions at risk are those of the new snapshot, the last of which is not the placebo.
    assert_eq!(diff["at_risk"].as_array().map(Vec::len), Some(6));
    let text = stdout(&workspace.churngate(&["diff", "--quiet", "churngate.yaml"])?);
    assert!(text.contains("\nplacebo ") && text.contains("the rebuild alone"), "{text}");
    Ok(())
}

#[test]
fn the_name_is_taken_and_the_change_cannot_choose_what_it_is() -> Result<()> {
    let workspace = workspace(0..0, 0..0)?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("  placebo: {", "  between: [ { name: placebo, path: old.jsonl } ]\n  placebo: {")
    })?;
    let output = workspace.churngate(&["check", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2);
    assert!(stderr(&output).contains("`placebo` names another snapshot"), "{}", stderr(&output));
    workspace.write("churngate.yaml", SPEC.replace("placebo: { path", "placebo: { from"))?;
    let output = workspace.churngate(&["check", "churngate.yaml"])?;
    assert!(stderr(&output).contains("only `new` may be named by a file"), "{}", stderr(&output));
    Ok(())
}
