//! `churngate diff`: retrieval alone, what changed in it, and what a whole audit would take.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, figures, stderr, stdout};
use serde_json::{Value, json};

fn compared(workspace: &Workspace) -> Result<Value> {
    let output = workspace.churngate(&["diff", "--quiet", "--format", "json", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[test]
fn questions_are_ranked_and_an_audit_goes_on_from_the_same_evidence() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let diff = compared(&workspace)?;
    let at_risk = diff["at_risk"].as_array().context("no questions")?;
    let turnovers: Vec<f64> = at_risk.iter().filter_map(|question| question["turnover"].as_f64()).collect();
    assert!(turnovers.len() > 10 && turnovers.is_sorted_by(|one, other| one >= other), "{turnovers:?}");
    let (asked, unasked) = (diff["cost"]["asked"].as_u64(), diff["cost"]["unasked"].as_u64());
    let evidence = std::fs::read(workspace.run_folder()?.join("evidence.jsonl"))?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 1, "{}", stderr(&output));
    assert_eq!(std::fs::read(workspace.run_folder()?.join("evidence.jsonl"))?, evidence);
    let result = figures(&workspace.run_folder()?)?;
    let overlap = &result["analysis"]["overlap"];
    for figure in ["questions", "identical_prompts", "by_id", "by_content"] {
        assert_eq!(diff["overlap"][figure], overlap[figure], "{figure}");
    }
    assert_eq!(asked.zip(unasked).map(|(asked, unasked)| asked + unasked), overlap["questions"].as_u64());
    assert_eq!(unasked, overlap["identical_prompts"].as_u64());
    assert_eq!(diff["protocol"], result["protocol"]);
    Ok(())
}

#[test]
fn the_text_shows_what_came_and_went() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let output = workspace.churngate(&["diff", "--quiet", "--limit", "2", "churngate.yaml"])?;
    let text = stdout(&output);
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert!(text.contains("evidence alone, no verdict") && text.contains("a whole audit would ask"), "{text}");
    assert!(
        text.contains("\n   2. ") && !text.contains("\n   3. ") && text.contains("more; `--limit` shows them"),
        "{text}"
    );
    Ok(())
}

const SPEC: &str = "\
version: 1
name: docs
questions: { file: q.jsonl }
snapshots:
  old: { path: old.jsonl }
  new: { path: new.jsonl }
retrieve: { bm25: {}, top_k: 3 }
generate: { openai: { model: m, key_env: A_KEY_THAT_IS_NOT_SET } }
judge: { embedded: {} }
";

fn workspace(old: &[(&str, &str)], new: &[(&str, &str)]) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let corpus = |documents: &[(&str, &str)]| {
        let line = |(id, text): &(&str, &str)| json!({"id": id, "text": text}).to_string() + "\n";
        documents.iter().map(line).collect::<String>()
    };
    workspace.write("churngate.yaml", SPEC)?;
    workspace.write("old.jsonl", corpus(old))?;
    workspace.write("new.jsonl", corpus(new))?;
    let questions = [("q1", "How large is a kettle?"), ("q2", "How old is an anchor?")];
    let line = |(id, text): &(&str, &str)| json!({"id": id, "question": text}).to_string() + "\n";
    workspace.write("q.jsonl", questions.iter().map(line).collect::<String>())?;
    Ok(workspace)
}

#[test]
fn new_ids_of_equal_content_are_no_turnover() -> Result<()> {
    let old = [("a", "A kettle is large."), ("b", "An anchor is old.")];
    let new = [("chunk-81", "A kettle is large."), ("chunk-82", "An anchor is old.")];
    let diff = compared(&workspace(&old, &new)?)?;
    assert_eq!(diff["overlap"]["by_id"]["none"], 2);
    assert_eq!(diff["overlap"]["by_content"]["same_list"], 2);
    for question in diff["at_risk"].as_array().context("no questions")? {
        assert_eq!(
            (&question["turnover"], &question["lost"], &question["gained"]),
            (&json!(0.0), &json!([]), &json!([]))
        );
    }
    // The prompts hold the ids, so the questions would be asked all the same.
    assert_eq!((&diff["cost"]["asked"], &diff["cost"]["calls"]), (&json!(2), &json!(8)));
    Ok(())
}

#[test]
fn no_key_of_a_generator_is_needed_and_what_changed_most_comes_first() -> Result<()> {
    let old = [("a", "A kettle is large."), ("b", "An anchor is old."), ("c", "An old anchor, an anchor.")];
    let new = [("a", "A kettle is large."), ("b", "An anchor is old."), ("c", "An old anchor, edited.")];
    let diff = compared(&workspace(&old, &new)?)?;
    let at_risk = diff["at_risk"].as_array().context("no questions")?;
    assert_eq!(at_risk.len(), 1);
    assert_eq!((&at_risk[0]["question"], &at_risk[0]["shared"]), (&json!("q2"), &json!(1)));
    assert_eq!(at_risk[0]["gained"][0], json!({"id": "c", "excerpt": "An old anchor, edited."}));
    assert_eq!((&diff["cost"]["unasked"], &diff["cost"]["answers"]), (&json!(1), &json!(4)));
    Ok(())
}
