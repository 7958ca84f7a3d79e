//! `mode: evidence`: a run that ends with its evidence, is verified and told, and never comes to a verdict.

mod harness;

use anyhow::{Context as _, Result};
use camino::Utf8PathBuf;
use churngate::model::Digest;
use harness::forge::{chain, records};
use harness::lost::nothing_is_drawn_again;
use harness::{Workspace, code, independent_check, stderr, stdout};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Output;

const SPEC: &str = "\
version: 1
name: docs-evidence
mode: evidence
questions: { file: q.jsonl }
snapshots:
  old: { path: old.jsonl }
  new: { path: new.jsonl }
retrieve: { bm25: {}, top_k: 2 }
";

/// Eight questions with a document each, of which the first three are edited.
fn workspace() -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let corpus = |edited: u32| {
        let line = |number: u32| {
            let version = if number < edited { 13 } else { 12 };
            json!({"id": format!("d{number}"), "text": format!("Tool{number} has it since version {version}.")})
                .to_string()
        };
        (0..8).map(|number| line(number) + "\n").collect::<String>()
    };
    let question =
        |number: u32| json!({"id": format!("q{number}"), "question": format!("Since when has Tool{number} it?")});
    workspace.write("churngate.yaml", SPEC)?;
    workspace.write("old.jsonl", corpus(0))?;
    workspace.write("new.jsonl", corpus(3))?;
    workspace.write("q.jsonl", (0..8).map(|number| question(number).to_string() + "\n").collect::<String>())?;
    Ok(workspace)
}

fn run(workspace: &Workspace) -> Result<(PathBuf, String)> {
    let output = workspace.churngate(&["run", "--quiet", "--folder-file=folder", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    Ok((PathBuf::from(workspace.read("folder")?), stdout(&output)))
}

fn on(workspace: &Workspace, arguments: &[&str], folder: &std::path::Path) -> Result<Output> {
    workspace.churngate(&[arguments, &[&folder.to_string_lossy()]].concat())
}

#[test]
fn a_run_holds_the_evidence_what_follows_from_it_and_no_verdict() -> Result<()> {
    let workspace = workspace()?;
    let (folder, said) = run(&workspace)?;
    assert!(said.contains("evidence alone, no verdict") && said.contains("churngate verify"), "{said}");
    let diff: Value = serde_json::from_slice(&std::fs::read(folder.join("diff.json"))?)?;
    let compared = workspace.churngate(&["diff", "--quiet", "--format", "json", "churngate.yaml"])?;
    let compared: Value = serde_json::from_slice(&compared.stdout)?;
    for figure in ["overlap", "cost", "protocol", "snapshots"] {
        assert_eq!(diff[figure], compared[figure], "{figure}");
    }
    // Two repeats of two snapshots, and every answer and packet is a call where the spec names no server.
    let asked = diff["cost"]["asked"].as_u64().context("no cost")?;
    assert_eq!((diff["cost"]["answers"].as_u64(), diff["cost"]["calls"].as_u64()), (Some(4 * asked), Some(5 * asked)));
    for absent in ["answers.jsonl", "judgments.jsonl", "classes.jsonl", "result.json"] {
        assert!(!folder.join(absent).exists(), "{absent}");
    }
    for report in ["report.md", "report.html"] {
        let text = std::fs::read_to_string(folder.join(report))?;
        assert!(text.contains("Evidence alone, no verdict") && !text.to_lowercase().contains("compatible"), "{text}");
    }
    let again = std::fs::read(folder.join("evidence.jsonl"))?;
    run(&workspace)?;
    assert_eq!(std::fs::read(folder.join("evidence.jsonl"))?, again, "a sealed run is taken as it is");
    Ok(())
}

#[test]
fn it_is_verified_by_us_and_by_the_other_program_and_an_edit_is_found() -> Result<()> {
    let workspace = workspace()?;
    let (folder, _) = run(&workspace)?;
    let verified = on(&workspace, &["verify"], &folder)?;
    let said = stdout(&verified);
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    assert!(
        said.contains("ok  evidence: ") && !said.contains("answers:") && said.contains("there is no verdict"),
        "{said}"
    );
    independent_check(std::slice::from_ref(&folder));
    for (file, from, to) in [
        ("diff.json", "\"identical_prompts\": ", "\"identical_prompts\": 1"),
        ("evidence.jsonl", "\"matched\":true", "\"matched\":false"),
        ("protocol.lock.json", "\"mode\":\"evidence\"", "\"mode\":\"audit\""),
    ] {
        let whole = std::fs::read_to_string(folder.join(file))?;
        let edited = whole.replacen(from, to, 1);
        assert_ne!(edited, whole, "{file}");
        std::fs::write(folder.join(file), edited)?;
        for command in [&["verify"][..], &["publish", "--comment=never", "--status=none"]] {
            // What is published follows from the ledger; only `verify` holds every line of it against the chain.
            let refused = on(&workspace, command, &folder)?;
            assert_ne!(code(&refused)?, 0, "{file} {command:?}: {}", stdout(&refused));
        }
        std::fs::write(folder.join(file), whole)?;
    }
    assert_eq!(code(&on(&workspace, &["verify"], &folder)?)?, 0);
    Ok(())
}

#[test]
fn it_is_rendered_again_and_what_needs_answers_says_so() -> Result<()> {
    let workspace = workspace()?;
    let (folder, _) = run(&workspace)?;
    for (format, file) in [("json", "diff.json"), ("markdown", "report.md"), ("html", "report.html")] {
        let output = on(&workspace, &["report", "--format", format], &folder)?;
        assert_eq!(output.stdout, std::fs::read(folder.join(file))?, "{format}: {}", stderr(&output));
    }
    let junit = on(&workspace, &["report", "--format", "junit"], &folder)?;
    assert_eq!(code(&junit)?, 2);
    assert!(stderr(&junit).contains("use `json`, `markdown`, `html`"), "{}", stderr(&junit));
    let exported = on(&workspace, &["export", "--output", "out"], &folder)?;
    assert!(code(&exported)? == 2 && stderr(&exported).contains("`mode: evidence`"), "{}", stderr(&exported));
    let cut = workspace.churngate(&["run", "--quiet", "--shard=1/2", "churngate.yaml"])?;
    assert!(code(&cut)? == 2 && stderr(&cut).contains("not run in shards"), "{}", stderr(&cut));
    let checked = stdout(&workspace.churngate(&["check", "churngate.yaml"])?);
    assert!(checked.contains("nothing is answered, judged or decided") && !checked.contains("packets"), "{checked}");
    Ok(())
}

#[test]
fn publishing_writes_outputs_without_a_verdict() -> Result<()> {
    let workspace = workspace()?;
    let (folder, _) = run(&workspace)?;
    let mut command = workspace.command();
    command.args(["publish", "--comment=never", "--status=none"]).arg(&folder);
    command.env("GITHUB_OUTPUT", workspace.path("outputs")).env("GITHUB_STEP_SUMMARY", workspace.path("summary"));
    let output = command.output()?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    let outputs = workspace.read("outputs")?;
    let value = |name: &str| outputs.lines().skip_while(|line| !line.starts_with(&format!("{name}<<"))).nth(1);
    assert_eq!((value("verdict"), value("questions"), value("stable-flips")), (Some(""), Some("8"), Some("")));
    assert!(value("report-json").is_some_and(|path| path.ends_with("/diff.json")), "{outputs}");
    assert!(workspace.read("summary")?.contains("Evidence alone, no verdict"));
    Ok(())
}

#[test]
fn whatever_answers_judges_or_decides_is_a_contradiction() -> Result<()> {
    let workspace = workspace()?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("  new: { path: new.jsonl }", "  new: { path: new.jsonl }\n  closed_book: true")
            + "generate: { reader: {} }\njudge: { embedded: {} }\ngate: { inconclusive: fail }\n"
    })?;
    let refused = workspace.churngate(&["check", "churngate.yaml"])?;
    let said = stderr(&refused);
    assert_eq!(code(&refused)?, 2);
    for key in ["generate", "judge", "gate", "closed_book"] {
        assert!(said.contains(&format!("`{key}` cannot stand beside `mode: evidence`")), "{said}");
    }
    assert!(said.contains("remove it, or write `mode: audit`"), "{said}");
    // Without the mode they are missing.
    workspace.edit("churngate.yaml", |spec| {
        let (head, _) = spec.split_once("generate:").unwrap_or_default();
        head.replace("mode: evidence\n", "")
    })?;
    let said = stderr(&workspace.churngate(&["check", "churngate.yaml"])?);
    assert!(said.contains("the key `generate` is missing") && said.contains("the key `judge` is missing"), "{said}");
    Ok(())
}

#[test]
fn retrievals_that_differ_where_the_spec_stops_at_them_cannot_stand_and_break_nothing() -> Result<()> {
    let workspace = workspace()?;
    let folder = Utf8PathBuf::try_from(run(&workspace)?.0)?;
    let mut evidence = records(&folder, "evidence.jsonl")?;
    let note = evidence.iter_mut().find(|record| record["matched"] == true).context("no note")?;
    note["matched"] = false.into();
    let (question, snapshot) = (note["question"].clone(), note["snapshot"].clone());
    let accepted = |record: &&Value| record["verdict"]["accepted"].is_object();
    let other = evidence.iter().filter(accepted).find(|record| record["of"]["question"] != question);
    let other = other.context("one question alone")?["verdict"].clone();
    let second = |record: &&mut Value| {
        let of = &record["of"];
        record["type"] == "outcome" && of["question"] == question && of["snapshot"] == snapshot && of["pass"] == 1
    };
    evidence.iter_mut().find(second).context("no second pass")?["verdict"] = other;
    chain(&folder, "evidence.jsonl", Digest::of(&std::fs::read(folder.join("protocol.lock.json"))?), &evidence)?;
    let verified = on(&workspace, &["verify"], folder.as_std_path())?;
    let said = stderr(&verified);
    assert_eq!(code(&verified)?, 4, "{said}");
    assert!(said.contains("cannot stand: 1 of the retrievals came to something else the second time"), "{said}");
    Ok(())
}

#[test]
fn a_report_that_says_something_else_than_the_evidence_does_not_verify() -> Result<()> {
    let workspace = workspace()?;
    let (folder, _) = run(&workspace)?;
    for file in ["diff.json", "report.md", "report.html"] {
        let path = folder.join(file);
        let whole = std::fs::read(&path)?;
        let half = whole[..whole.len() / 2].to_vec();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for changed in [half, flipped, [&whole, &b"\n"[..]].concat()] {
            std::fs::write(&path, changed)?;
            let refused = on(&workspace, &["verify"], &folder)?;
            assert_eq!(code(&refused)?, 5, "{file}: {}", stdout(&refused));
            assert!(stderr(&refused).contains(&format!("{file}` does not follow from")), "{}", stderr(&refused));
        }
        std::fs::write(&path, whole)?;
    }
    let sound = on(&workspace, &["verify"], &folder)?;
    assert_eq!(code(&sound)?, 0, "{}", stderr(&sound));
    Ok(())
}

#[test]
fn evidence_that_was_lost_after_it_was_compared_is_not_retrieved_again() -> Result<()> {
    let workspace = workspace()?;
    let (folder, _) = run(&workspace)?;
    nothing_is_drawn_again(&workspace, &["run", "--quiet", "churngate.yaml"], &folder, &|| 0)
}
