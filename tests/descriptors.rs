//! A process that may open few files, or write small ones alone: it makes fewer calls at once, or stops, and loses nothing that was
//! paid for.

#![cfg(target_os = "linux")]

mod harness;

use anyhow::{Result, ensure};
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, stderr};
use serde_json::json;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Cells of the audit: fifty questions, two snapshots, two repeats.
const CELLS: usize = 200;

/// The audit in a process with a limit of its shell.
fn run(workspace: &Workspace, limit: &str) -> Result<Output> {
    let program = workspace.command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -S {limit}; exec \"$@\""), "sh"]).arg(program.get_program());
    Ok(command.args(["run", "churngate.yaml"]).current_dir(workspace.path(".")).output()?)
}

#[test]
fn more_calls_at_once_than_files_may_be_open_lose_nothing_that_was_paid_for() -> Result<()> {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (in_flight, seen) = (Arc::clone(&now), Arc::clone(&most));
    let server = RawServer::start(move |request| {
        seen.fetch_max(in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(50));
        in_flight.fetch_sub(1, Ordering::SeqCst);
        let text = json!({ "answer": format!("answer {}", request.number) }).to_string();
        let choice = json!({ "finish_reason": "stop", "message": { "role": "assistant", "content": text } });
        Reply::json(200, &json!({ "id": format!("r-{}", request.number), "model": "m-1", "choices": [choice] }))
    })?;
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        let model = format!("openai: {{ model: m, base_url: \"{}/v1\" }}", server.host);
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 50, seed: 1 }")
            .replace("reader: {}", &format!("unchanged_evidence: sample\n  concurrency: 200\n  {model}"))
    })?;
    let output = run(&workspace, "-n 64")?;
    let said = stderr(&output);
    assert!(matches!(code(&output)?, 0 | 1), "{said}");
    ensure!(said.contains("at most 8 calls are in flight, not 200") && said.contains("ulimit -n"), "{said}");
    assert_eq!(server.seen().len(), CELLS, "each cell is asked and paid for once");
    assert_eq!(most.load(Ordering::SeqCst), 8);
    Ok(())
}

#[test]
fn a_file_that_may_grow_no_further_is_a_full_disk_and_the_audit_goes_on_from_there() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    // In blocks of 512 bytes.
    for blocks in ["8", "64"] {
        let output = run(&workspace, &format!("-f {blocks}"))?;
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains("failed to") && said.contains("hint: "), "{said}");
    }
    let output = run(&workspace, "-f unlimited")?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    Ok(())
}
