//! A finished run whose last ledgers are lost is not judged once more in silence.

use crate::fixture::{server, workspace};
use crate::harness::lost::nothing_is_drawn_again;
use crate::harness::{Workspace, code, server::Server, stderr};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const RUN: [&str; 3] = ["run", "--quiet", "churngate.yaml"];

/// A finished run with every ledger that an audit can have but that of vectors.
fn diagnosed(more: &str) -> Result<(Server, Workspace, PathBuf)> {
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    workspace.edit("churngate.yaml", |spec| spec + &more.replace("BASE", &server.base_url))?;
    let output = workspace.churngate(&RUN)?;
    ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    Ok((server, workspace, folder))
}

#[test]
fn no_lost_ledger_of_a_finished_audit_is_drawn_again() -> Result<()> {
    let (server, workspace, folder) = diagnosed(
        "  passes: 2\n  self_consistency: 10\n  second: { openai: { model: k, base_url: \"BASE\" }, sample: 10 }\n\
         replicate: { openai: { model: n, base_url: \"BASE\", structured: plain }, sample: 10 }\n",
    )?;
    for ledger in ["judgments-again", "judgments-second", "answers-replica", "judgments-replica"] {
        assert!(folder.join(format!("{ledger}.jsonl")).exists(), "{ledger}");
    }
    nothing_is_drawn_again(&workspace, &RUN, &folder, &|| server.count())
}

#[test]
fn a_lost_ledger_is_named_with_what_shows_it_and_what_can_be_done() -> Result<()> {
    let (_server, workspace, folder) = diagnosed("")?;
    let path = folder.join("judgments.jsonl");
    let whole = fs::read_to_string(&path)?;
    let header = whole.split_inclusive('\n').next().context("no header")?;
    for (left, what) in [(None, "is lost"), (Some(""), "is lost"), (Some(header), "has lost its end")] {
        fs::remove_file(&path)?;
        if let Some(left) = left {
            fs::write(&path, left)?;
        }
        let output = workspace.churngate(&RUN)?;
        let said = stderr(&output);
        assert_eq!(code(&output)?, 5, "{said}");
        assert!(said.contains(&format!("judgments.jsonl` {what}: `result.json` was made from it")), "{said}");
        assert!(said.contains("hint: restore the run folder from a copy, or delete it and run again"), "{said}");
        fs::write(&path, &whole)?;
    }
    Ok(())
}

#[test]
fn a_result_that_names_other_ledgers_is_not_written_anew_over_them() -> Result<()> {
    let (server, workspace, folder) = diagnosed("")?;
    let path = folder.join("result.json");
    let whole = fs::read_to_string(&path)?;
    for ledger in ["evidence", "answers", "judgments"] {
        let heads = serde_json::from_str::<serde_json::Value>(&whole)?["record"]["heads"].clone();
        let heads = heads.as_array().context("no heads")?;
        let head = heads.iter().find(|head| head[0] == ledger).and_then(|head| head[1].as_str()).context("no head")?;
        let other = whole.replace(head, &"0".repeat(64));
        fs::write(&path, &other)?;
        let (asked, output) = (server.count(), workspace.churngate(&RUN)?);
        let said = stderr(&output);
        assert_eq!((code(&output)?, server.count()), (5, asked), "{said}");
        assert!(
            said.contains(&format!("{ledger}.jsonl` is not the ledger that `result.json` was made from")),
            "{said}"
        );
        assert_eq!(fs::read_to_string(&path)?, other, "what differs stays there to be looked at");
    }
    fs::remove_file(&path)?;
    let (asked, again) = (server.count(), workspace.churngate(&RUN)?);
    assert!([0, 1].contains(&code(&again)?) && server.count() == asked, "{}", stderr(&again));
    assert_eq!(fs::read_to_string(&path)?, whole, "the hint's way");
    Ok(())
}

#[test]
fn nothing_says_that_a_finished_run_which_lost_its_end_can_be_gone_on_with() -> Result<()> {
    let (_server, workspace, folder) = diagnosed("")?;
    let run = folder.to_string_lossy().into_owned();
    for ledger in ["evidence.jsonl", "answers.jsonl", "judgments.jsonl"] {
        let path = folder.join(ledger);
        let whole = fs::read_to_string(&path)?;
        let seal = whole.trim_end().rfind('\n').context("one line alone")?;
        fs::write(&path, &whole[..=seal])?;
        for command in ["verify", "report", "export", "publish"] {
            let output = workspace.churngate(&[command, &run])?;
            let said = stderr(&output);
            assert_eq!(code(&output)?, 5, "{command}: {said}");
            assert!(said.contains(&format!("{ledger}` has lost its end: `result.json` was made from it")), "{said}");
            assert!(!said.contains("goes on with it"), "{said}");
        }
        fs::write(&path, whole)?;
    }
    Ok(())
}

#[test]
fn a_result_that_is_not_this_runs_locks_nothing_for_ever() -> Result<()> {
    let (server, workspace, folder) = diagnosed("")?;
    let (result, judgments) = (folder.join("result.json"), folder.join("judgments.jsonl"));
    let (whole, judged) = (fs::read_to_string(&result)?, fs::read(&judgments)?);
    let protocol = folder.file_name().context("no name")?.to_string_lossy().into_owned();
    let foreign = whole.replace(&protocol, &"0".repeat(64));
    for other in ["", "{", "[]", "{\"format\":\"1.0\"}", &foreign] {
        fs::write(&result, other)?;
        let finished = workspace.churngate(&RUN)?;
        assert!([0, 1].contains(&code(&finished)?), "{}", stderr(&finished));
        assert_eq!(fs::read_to_string(&result)?, whole, "sealed ledgers give the result anew");
        fs::write(&result, other)?;
        fs::remove_file(&judgments)?;
        let (asked, refused) = (server.count(), workspace.churngate(&RUN)?);
        let said = stderr(&refused);
        assert_eq!((code(&refused)?, server.count()), (5, asked), "{said}");
        assert!(said.contains("`result.json` lies there and cannot be read as its own"), "{said}");
        assert!(said.contains("where no audit was ever finished in it, remove that file and run again"), "{said}");
        assert!(!judgments.exists(), "nothing was begun");
        fs::write(&judgments, &judged)?;
    }
    // As somebody does on purpose, who wants the packets judged once more.
    fs::remove_file(&result)?;
    fs::remove_file(&judgments)?;
    let (asked, again) = (server.count(), workspace.churngate(&RUN)?);
    assert!([0, 1].contains(&code(&again)?), "{}", stderr(&again));
    assert!(server.count() > asked && judgments.exists() && result.exists());
    Ok(())
}
