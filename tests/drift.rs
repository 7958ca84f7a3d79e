//! A model that changes while it is asked, through the real binary: the report says so, and nothing else changes.

mod harness;

use anyhow::{Context as _, Result};
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, stderr};
use serde_json::{Value, json};
use std::fs;

/// Answers `same` at first and something else every time after `steady` requests, from another backend. Every tenth reply is
/// too long to be an answer.
fn server(steady: usize) -> Result<RawServer> {
    RawServer::start(move |request| {
        let number = request.number;
        let text = match number {
            number if number % 10 == 9 => "long ".repeat(200),
            number if number < steady => "same".to_owned(),
            number => format!("answer {number}"),
        };
        let content = json!({ "answer": text }).to_string();
        let choice =
            json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } });
        let print = if number < steady { "fp_1" } else { "fp_2" };
        Reply::json(
            200,
            &json!({ "id": format!("r-{number}"), "model": "m-1", "system_fingerprint": print, "choices": [choice] }),
        )
    })
}

/// The report and the conduct on record of an audit of 24 questions, 96 answers, by this server.
fn audited(server: &RawServer) -> Result<(String, Value)> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        let model = format!("openai: {{ model: m, base_url: \"{}/v1\" }}", server.host);
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 24, seed: 1 }")
            .replace("reader: {}", &format!("unchanged_evidence: sample\n  concurrency: 1\n  {model}"))
    })?;
    let output = workspace.churngate(&["run", "churngate.yaml", "--tasks", "1"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    let conduct = result["record"]["conduct"].clone();
    Ok((fs::read_to_string(folder.join("report.md"))?, conduct))
}

#[test]
fn a_model_that_changes_on_the_way_is_warned_of() -> Result<()> {
    let (report, conduct) = audited(&server(53)?)?;
    for warning in ["agreed differently early and late", "named 2 fingerprints"] {
        assert!(report.contains(warning), "`{warning}` is missing in:\n{report}");
    }
    for snapshot in conduct.as_array().context("a list")? {
        // A question that is asked while the model changes may stand in either half.
        let agreeing = |half: &str| snapshot[half][0].as_u64().unwrap_or_default();
        assert!(agreeing("early") >= 10 && agreeing("late") <= 1, "{conduct}");
    }
    let redrawn: u64 = conduct.as_array().into_iter().flatten().filter_map(|one| one["redrawn"][0].as_u64()).sum();
    assert_eq!(redrawn, 10, "{conduct}");
    Ok(())
}

#[test]
fn a_steady_model_is_not() -> Result<()> {
    let (report, _) = audited(&server(usize::MAX)?)?;
    assert!(report.contains("answered last (p = 1.000)"), "{report}");
    for warning in ["early and late", "fingerprints", "unequally often", "without a model's name"] {
        assert!(!report.contains(warning), "{report}");
    }
    Ok(())
}

#[test]
fn a_model_whose_name_vanishes_on_the_way_is_warned_of() -> Result<()> {
    let server = RawServer::start(|request| {
        let content = json!({ "answer": "same" }).to_string();
        let choice =
            json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } });
        let mut reply = json!({ "id": format!("r-{}", request.number), "model": "m-1", "choices": [choice] });
        if request.number >= 53 {
            reply.as_object_mut().into_iter().for_each(|reply| drop(reply.remove("model")));
        }
        Reply::json(200, &reply)
    })?;
    let (report, _) = audited(&server)?;
    assert!(report.contains("though others of the same server have one: 43 of `generator`"), "{report}");
    Ok(())
}
