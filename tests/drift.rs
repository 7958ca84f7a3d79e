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

/// An index under two aliases, asked by the preset `opensearch`.
fn index() -> Result<RawServer> {
    RawServer::start(|request| {
        let body = match request.path.split('/').nth(2).unwrap_or_default().split('?').next() {
            Some("_alias") => json!({ "docs_v41": { "aliases": { "docs_old": {}, "docs_new": {} } } }),
            Some("_count") => json!({ "count": 3, "_shards": { "failed": 0 } }),
            Some("_settings") => json!({ "docs_v41": { "settings": { "index": { "uuid": "u1" } } } }),
            Some("_search") => {
                let hit = json!({ "_id": "d1", "_score": 1.0, "_source": { "text": "Since version 12.", "url": "" } });
                json!({ "timed_out": false, "_shards": { "failed": 0 }, "hits": { "hits": [hit] } })
            }
            _ => json!({ "status": "green", "timed_out": false }),
        };
        Reply::json(200, &body)
    })
}

#[test]
fn an_alias_that_nobody_moved_passes_nothing() -> Result<()> {
    let server = index()?;
    let workspace = Workspace::quickstart()?;
    let spec = json!({
        "version": 1, "name": "alias",
        "questions": { "file": "questions.jsonl", "select": { "count": 5, "seed": 1 } },
        "snapshots": { "old": { "index": "docs_old" }, "new": { "index": "docs_new" } },
        "retrieve": { "preset": "opensearch", "base_url": server.host },
        "generate": { "reader": {} }, "judge": { "embedded": {} }, "gate": { "inconclusive": "fail" },
    });
    workspace.edit("churngate.yaml", |_| spec.to_string())?;
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 3, "the rebuild was never asked: {}", stderr(&output));
    let report = fs::read_to_string(workspace.run_folder()?.join("report.md"))?;
    assert!(report.contains("Old and new are one and the same snapshot"), "{report}");
    assert!(!report.contains("nothing to compare"), "{report}");
    Ok(())
}
