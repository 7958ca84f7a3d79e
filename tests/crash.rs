//! An audit against a local server is killed at 25 random moments and goes on where it stopped.

#![expect(clippy::print_stdout, reason = "measured figures are shown with --nocapture")]

mod harness;

use anyhow::{Context as _, Result};
use harness::{
    Workspace, code, figures,
    server::{Seen, Server},
    stderr,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
    path::Path,
    process::Stdio,
    thread,
    time::Duration,
};

const QUESTIONS: usize = 200;
const KILLS: u64 = 25;
const IN_FLIGHT: u64 = 8;
/// Replies that one kill can lose: those of the calls in flight, and of those that stood in line with their attempt on record
/// while earlier outcomes became durable. Whoever lines up later has its attempt behind those outcomes in the same file.
const LOST_BY_A_KILL: u64 = 2 * IN_FLIGHT;
/// Two snapshots, two repeats.
const CELLS: u64 = 4 * QUESTIONS as u64;

/// A corpus of 200 facts of which every second one differs between the snapshots, and a question about each.
fn workspace(base_url: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let (mut old, mut new, mut questions) = (String::new(), String::new(), String::new());
    for item in 0..QUESTIONS {
        let code = 1000 + item;
        writeln!(old, "{{\"id\":\"d{item}\",\"text\":\"Gadget{item} carries the code {code}.\"}}")?;
        let code = if item % 2 == 0 { code } else { code + 5000 };
        writeln!(new, "{{\"id\":\"d{item}\",\"text\":\"Gadget{item} carries the code {code}.\"}}")?;
        writeln!(
            questions,
            "{{\"id\":\"q{item}\",\"question\":\"Which code does Gadget{item} carry?\",\"answer\":\"{code}\"}}"
        )?;
    }
    workspace.write("old.jsonl", old)?;
    workspace.write("new.jsonl", new)?;
    workspace.write("questions.jsonl", questions)?;
    workspace.write(
        "churngate.yaml",
        format!(
            "version: 1\nname: crash\nquestions: {{ file: questions.jsonl }}\n\
             snapshots:\n  old: {{ path: old.jsonl }}\n  new: {{ path: new.jsonl }}\n\
             retrieve: {{ bm25: {{}}, top_k: 1 }}\n\
             generate:\n  openai: {{ model: m, base_url: \"{base_url}\", structured: plain }}\n  concurrency: {IN_FLIGHT}\n  unchanged_evidence: sample\n\
             judge: {{ embedded: {{}} }}\n"
        ),
    )?;
    Ok(workspace)
}

/// The answer depends on the prompt alone, so that it is the same whenever it is asked.
fn answer(body: &Value) -> String {
    let prompt = body["messages"].to_string();
    let sum = prompt.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("code {}", sum % 100_000)
}

fn server() -> Result<Server> {
    Server::start(Duration::from_millis(2), Box::new(answer))
}

/// A small generator of the moments, so that a failure can be repeated.
fn moment(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Starts the audit and kills it once the server has answered so many more requests.
fn killed_after(workspace: &Workspace, server: &Server, requests: u64, pause: Duration) -> Result<()> {
    let target = server.count() + requests;
    let mut child =
        workspace.command().args(["run", "churngate.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    while server.count() < target && child.try_wait()?.is_none() {
        thread::sleep(Duration::from_micros(200));
    }
    thread::sleep(pause);
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// The attempts and the accepted outcomes of the answers ledger: how many attempts, and the response of each cell.
fn ledger(folder: &Path) -> Result<(u64, BTreeMap<String, String>)> {
    let (mut attempts, mut accepted) = (0, BTreeMap::new());
    for line in std::fs::read_to_string(folder.join("answers.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let cell = record["of"].to_string();
        match record["type"].as_str() {
            Some("attempt") => {
                assert!(!accepted.contains_key(&cell), "{cell} was asked again after it was accepted");
                attempts += 1;
            }
            Some("outcome") if record["verdict"].get("accepted").is_some() => {
                let response = record["response_id"].as_str().context("no response id")?.to_owned();
                assert_eq!(accepted.insert(cell, response), None, "accepted twice");
            }
            _ => {}
        }
    }
    Ok((attempts, accepted))
}

#[test]
fn an_audit_killed_25_times_ends_like_one_that_was_not() -> Result<()> {
    let calm_server = server()?;
    let calm = workspace(&calm_server.base_url)?;
    let output = calm.churngate(&["run", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 1, "{}", stderr(&output));
    assert_eq!(calm_server.count(), CELLS);

    let server = server()?;
    let workspace = workspace(&server.base_url)?;
    let mut state = 20_260_810;
    for _ in 0..KILLS {
        let requests = moment(&mut state) % 40;
        killed_after(&workspace, &server, requests, Duration::from_micros(moment(&mut state) % 3000))?;
    }
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 1, "{}", stderr(&output));

    let folder = workspace.run_folder()?;
    let (attempts, accepted) = ledger(&folder)?;
    assert_eq!(accepted.len() as u64, CELLS);
    nothing_was_paid_for_twice(&server.seen(), attempts, &accepted);
    assert_eq!(inputs(&figures(&folder)?)?, inputs(&figures(&calm.run_folder()?)?)?);
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    println!("{KILLS} kills: {} requests for {CELLS} cells, {attempts} attempts recorded", server.count());
    Ok(())
}

/// Every request has its attempt on record, and no more requests were made than cells and what a kill could lose.
fn nothing_was_paid_for_twice(seen: &[Seen], attempts: u64, accepted: &BTreeMap<String, String>) {
    let requests = seen.len() as u64;
    assert!(requests <= attempts, "{requests} requests, {attempts} attempts on record");
    assert!(requests <= CELLS + KILLS * LOST_BY_A_KILL, "{requests} requests");
    let kept: BTreeSet<&String> = accepted.values().collect();
    assert_eq!(kept.len() as u64, CELLS, "one response fills two cells");
    // Requests of one prompt: as many as its cells, and one more only for a response that was lost in a kill.
    let mut lost: HashMap<String, i64> = HashMap::new();
    for request in seen {
        let entry = lost.entry(request.body["messages"].to_string()).or_default();
        *entry += i64::from(!kept.contains(&request.response_id));
    }
    let lost: i64 = lost.values().sum();
    assert_eq!(lost.unsigned_abs(), requests - CELLS);
}

/// What the verdict follows from. The protocol differs between the two runs by the server's port.
fn inputs(result: &Value) -> Result<Value> {
    Ok(serde_json::json!({
        "decision": result["decision"],
        "flips": result["flips"],
        "kernels": result["analysis"]["kernels"].as_array().context("no kernels")?.iter().map(without_stream).collect::<Vec<_>>(),
        "correctness": result["analysis"]["correctness"],
        "validity": result["validity"],
    }))
}

/// The preregistered stream is seeded by the protocol, which names the server's port.
fn without_stream(kernel: &Value) -> Value {
    let mut kernel = kernel.clone();
    if let Some(kernel) = kernel.as_object_mut() {
        kernel.remove("stream");
    }
    kernel
}
