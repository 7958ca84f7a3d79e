//! Old and new of the same content: nothing is compared, whatever the number of questions, whether they are asked or not, and
//! wherever the evidence comes from.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, figures, stderr, stdout};
use serde_json::{Value, json};

const SPEC: &str = "\
version: 1
name: docs
questions: { file: q.jsonl }
snapshots:
  old: { path: old.jsonl }
  new: { path: new.jsonl }
retrieve: { RETRIEVE, top_k: 1 }
generate: { reader: { temperature: 1 }, unchanged_evidence: UNCHANGED }
judge: { embedded: {} }
gate: { GATE inconclusive: fail }
bootstrap: { draws: 1000 }
";

fn lines(questions: usize, line: impl Fn(usize) -> Value) -> String {
    (0..questions).map(|number| line(number).to_string() + "\n").collect()
}

/// What such an audit comes to: its exit code, `result.json`, and what was said.
fn audited(questions: usize, retrieve: &str, unchanged: &str, gate: &str) -> Result<(i32, Value, String)> {
    let workspace = Workspace::new()?;
    let spec = SPEC.replace("RETRIEVE", retrieve).replace("UNCHANGED", unchanged).replace("GATE", gate);
    workspace.write("churngate.yaml", spec)?;
    let text = |number: usize| format!("Since version 12 Tool{number} supports widgets, gadgets and gears.");
    let content = lines(questions, |number| match retrieve {
        "file: {}" => json!({"id": format!("q{number}"), "documents": [{"id": "d", "text": text(number)}]}),
        _ => json!({"id": format!("d{number}"), "text": text(number)}),
    });
    workspace.write("old.jsonl", &content)?;
    workspace.write("new.jsonl", &content)?;
    let question = |number| json!({"id": format!("q{number}"), "question": format!("What does Tool{number} support?")});
    workspace.write("q.jsonl", lines(questions, question))?;
    let output = workspace.churngate(&["run", "--quiet", "--folder-file=folder", "churngate.yaml"])?;
    let folder = std::path::PathBuf::from(workspace.read("folder").context(stderr(&output))?);
    let report = std::fs::read_to_string(folder.join("report.md"))?;
    Ok((code(&output)?, figures(&folder)?, stdout(&output) + &report))
}

/// A rule that any figure meets.
const BLOCKS_ANYTHING: &str = "incompatible_when: [{ semantic: { at_least: -100pp } }],";

#[test]
fn nothing_is_compared_and_nobody_is_held_up() -> Result<()> {
    let statistics = std::fs::read_to_string(harness::root().join("docs/statistics.md"))?;
    let statistics = statistics.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(statistics.contains("no line of either rule holds, whatever the figures: the audit is inconclusive"));
    for (questions, retrieve, unchanged, gate) in [
        (20, "bm25: {}", "zero", ""),
        (70, "bm25: {}", "zero", ""),
        (20, "bm25: {}", "sample", ""),
        (70, "bm25: {}", "sample", ""),
        (20, "bm25: {}", "sample", BLOCKS_ANYTHING),
        (20, "file: {}", "zero", ""),
        (70, "file: {}", "zero", ""),
    ] {
        let (exit, result, said) = audited(questions, retrieve, unchanged, gate)?;
        let what = format!("{questions} {retrieve} {unchanged} {gate}: {said}");
        assert_eq!((exit, &result["decision"]["verdict"]), (0, &json!("inconclusive")), "{what}");
        assert_eq!(result["decision"]["questions_to_decide"], Value::Null, "{what}");
        for rule in ["incompatible_when", "compatible_when"] {
            let lines = result["decision"][rule].as_array().context("lines")?;
            assert!(lines.iter().all(|line| line["holds"] == false && line["void"] == "same-content"), "{what}");
        }
        let headline = "Inconclusive: old and new have the same content, so there was nothing to compare";
        assert!(said.contains(headline) && !said.contains("would decide"), "{what}");
        assert!(!said.contains("compares nothing but repeats"), "{what}");
        let asked = if unchanged == "zero" { 0 } else { questions };
        assert_eq!(result["analysis"]["asked"], asked, "{what}");
        assert_eq!(
            said.contains(&format!("the answers to {questions} questions show noise alone")),
            asked > 0,
            "{what}"
        );
    }
    Ok(())
}
