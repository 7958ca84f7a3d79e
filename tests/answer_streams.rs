//! A deployed system that answers as a stream of events alone, audited through the real binary: whole streams are answers,
//! and whatever is none is asked for again under its own reason.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::Result;
use churngate::model::Digest;
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, figures, independent_check, stderr};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

const QUESTIONS: usize = 6;
const STATUS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

fn event(kind: &str, more: &Value) -> String {
    let mut data = json!({ "event": kind, "task_id": "t" });
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("data: {data}\n\n")
}

/// Five questions of six are answered otherwise from the new index; the answer comes in pieces, among events that are no part of it.
fn pieces(request: &Request) -> String {
    let asked = request.body["query"].as_str().unwrap();
    let item: usize = asked.bytes().find(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0')).unwrap();
    let moved = request.body["inputs"]["index"] == "docs_v42" && item < 5;
    let code = 100 + item + if moved { 500 } else { 0 };
    let thought = event("agent_thought", &json!({ "thought": "I look it up.", "observation": "999" }));
    let piece = |text: &str| event("agent_message", &json!({ "answer": text }));
    [thought, piece("It carries "), "event: ping\n\n".to_owned(), piece(&format!("{code}."))].concat()
}

fn end(request: &Request) -> String {
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 2 });
    let id = format!("message-{:032}", request.number);
    event("message_end", &json!({ "message_id": id, "metadata": { "usage": usage } }))
}

/// Nothing but the end of the connection tells where the body ends, as streams often have it.
fn whole(request: &Request) -> String {
    format!("{STATUS}connection: close\r\n\r\n{}{}", pieces(request), end(request))
}

/// The stream, or something in its place at every second one of the first requests.
fn reply(request: &Request) -> Reply {
    let headed = |body: String| format!("{STATUS}connection: close\r\n\r\n{body}").into_bytes();
    match request.number {
        0 => {
            let error = json!({ "status": 400, "code": "completion_request_error", "message": "x" });
            Reply::Full(200, Vec::new(), format!("{}{}", pieces(request), event("error", &error)).into_bytes())
        }
        2 => Reply::Cut(headed(pieces(request))),
        4 => Reply::Cut(format!("{STATUS}transfer-encoding: chunked\r\n\r\nffff\r\n{}", pieces(request)).into_bytes()),
        6 => Reply::Drip(whole(request).into_bytes(), Duration::from_millis(25)),
        8 => Reply::Cut([headed(pieces(request)), b"data: \xff\xfe\n\n".to_vec(), end(request).into_bytes()].concat()),
        10 => Reply::json(200, &json!({ "code": "app_unavailable", "message": "x", "status": 400 })),
        // Slow, and in time.
        12 => Reply::Drip(whole(request).into_bytes(), Duration::from_micros(200)),
        _ => Reply::Cut(whole(request).into_bytes()),
    }
}

fn workspace(server: &RawServer) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let texts = (0..QUESTIONS).map(|item| format!("Which code does Gadget{item} carry?"));
    workspace.write("questions.jsonl", harness::questions_file(texts))?;
    workspace.write(
        "churngate.yaml",
        format!(
            "version: 1\nname: streams\nquestions: {{ file: questions.jsonl }}\n\
             snapshots: {{ old: {{ index: docs_v41 }}, new: {{ index: docs_v42 }} }}\n\
             answer: {{ preset: dify-agent, base_url: '{}/v1', key_env: APP_KEY, timeout_seconds: 5, concurrency: 1 }}\n\
             judge: {{ embedded: {{}} }}\n",
            server.host
        ),
    )?;
    Ok(workspace)
}

#[test]
fn streams_are_answers_once_they_have_ended_and_are_kept_as_they_came() -> Result<()> {
    let server = RawServer::start(reply)?;
    let workspace = workspace(&server)?;
    let mut command = workspace.command();
    let output = command
        .args(["run", "--quiet", "--record", "rec", "churngate.yaml"])
        .env("APP_KEY", "key-314159265")
        .output()?;
    assert_eq!(code(&output)?, 1, "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    let faults = ["error-in-body", "not-ok", "not-utf8", "reply-cut", "stream-cut", "timed-out"];
    assert_eq!(result["record"]["retries"], json!(faults.map(|fault| (fault, 1))));
    // The embedded judge's packets are attempts as well: those of the questions whose answers differ.
    assert_eq!(result["record"]["attempts"], server.seen().len() + 5);
    assert_eq!(server.seen().len(), 4 * QUESTIONS + faults.len());
    assert!(server.seen().iter().all(|request| request.headers["accept"] == "text/event-stream"));
    assert_eq!(result["record"]["tokens"], json!([40 * 4 * QUESTIONS, 2 * 4 * QUESTIONS]));
    assert_eq!(result["analysis"]["flips"].as_array().unwrap().len(), 5);
    let flip = result["flips"].as_array().unwrap().iter().find(|flip| flip["question"] == "q0").unwrap();
    assert_eq!((&flip["old_answer"], &flip["new_answer"]), (&json!("It carries 100."), &json!("It carries 600.")));

    // What came is what is kept, of answers as of what was none.
    let ledger = fs::read_to_string(folder.join("answers.jsonl"))?;
    let outcomes = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut kept = 0;
    for outcome in outcomes.filter(|record| record["verdict"]["accepted"].is_object()) {
        let digest = outcome["body"].as_str().unwrap();
        let bytes = fs::read(folder.join("blobs").join(digest))?;
        assert_eq!(Digest::of(&bytes).to_string(), digest);
        let text = String::from_utf8(bytes)?;
        assert!(text.starts_with("data: ") && text.contains("event: ping") && text.contains("message_end"), "{text}");
        kept += 1;
    }
    assert_eq!(kept, 4 * QUESTIONS);
    let verified = workspace.churngate(&["verify", folder.to_str().unwrap()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    independent_check(std::slice::from_ref(&folder));

    let connections = server.connections();
    let arguments =
        ["run", "--quiet", "--replay", "rec", "--runs", "replayed", "--folder-file", "at", "churngate.yaml"];
    let replay = workspace.churngate(&arguments)?;
    assert_eq!(code(&replay)?, 1, "{}", stderr(&replay));
    assert_eq!(figures(workspace.path(&workspace.read("at")?).as_path())?, figures(&folder)?);
    assert_eq!(server.connections(), connections, "nobody was called");
    Ok(())
}

#[test]
fn a_system_whose_streams_never_end_gives_no_answer() -> Result<()> {
    let server = RawServer::start(|request| {
        Reply::Cut(format!("{STATUS}connection: close\r\n\r\n{}", pieces(request)).into_bytes())
    })?;
    let workspace = workspace(&server)?;
    workspace.edit("churngate.yaml", |spec| spec.replace("concurrency: 1", "concurrency: 8, max_attempts: 1"))?;
    let mut command = workspace.command();
    let output = command.args(["run", "--quiet", "churngate.yaml"]).env("APP_KEY", "key-314159265").output()?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("gave no answer at all") && stderr(&output).contains("stream-cut"),
        "{}",
        stderr(&output)
    );
    assert!(!workspace.run_folder()?.join("result.json").exists());
    Ok(())
}

/// Streams of which a piece, or the word that one failed, cannot be read as it was meant; each ends as a whole one does.
const HALVES: [(&str, &str); 5] = [
    ("event: error\ndata: upstream exploded\n\n", "error-in-body"),
    ("data: {\"choices\": [{\"delta\": {\"content\": \" or no\n\n", "not-json"),
    (r#"data: {"choices": [{"delta": {"content": "\ud800"}}]}"#, "not-json"),
    ("data: {\"choices\": [{\"delta\": {\"content\": \"t\", \"logprob\": -1e999}}]}\n\n", "not-json"),
    ("data: {\"choices\": [{\"delta\": {\"content\": [{\"text\": \" or not\"}]}}]}\n\n", "no-answer"),
];

/// An answer in two pieces, something between them, and an end that is a name without data.
fn completion(request: &Request, between: &str) -> Reply {
    let moved = request.body["model"] == "docs_v42";
    let piece = |text: &str| format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": text } }] }));
    let (first, second) = (piece("It is "), piece(if moved { "7." } else { "5." }));
    let body = format!("{STATUS}connection: close\r\n\r\n{first}{second}{between}\n\nevent: done\ndata:\n\n");
    Reply::Cut(body.into_bytes())
}

#[test]
fn half_an_answer_is_drawn_again_and_never_taken() -> Result<()> {
    let server = RawServer::start(|request| {
        completion(request, HALVES.get(request.number).map_or(": nothing", |(between, _)| between))
    })?;
    let workspace = workspace(&server)?;
    workspace.edit("churngate.yaml", |spec| {
        let answer = format!(
            "answer:\n  http:\n    url: '{}/v1'\n    body: {{ model: '{{{{snapshot.index}}}}', q: '{{{{question}}}}' }}\n    \
             stream: {{ text: {{ message: /choices/0/delta/content }}, end: ['[DONE]', done], failed: [error] }}\n    \
             answer: /answer\n  concurrency: 1\n  max_attempts: 9\n",
            server.host
        );
        let other = |line: &str| if line.starts_with("answer:") { answer.clone() } else { format!("{line}\n") };
        spec.lines().map(other).collect()
    })?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 1, "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    assert_eq!(result["record"]["retries"], json!([["error-in-body", 1], ["no-answer", 1], ["not-json", 3]]));
    assert_eq!(server.seen().len(), 4 * QUESTIONS + HALVES.len());
    for flip in result["flips"].as_array().unwrap() {
        assert_eq!((&flip["old_answer"], &flip["new_answer"]), (&json!("It is 5."), &json!("It is 7.")));
    }
    assert_eq!(result["analysis"]["flips"].as_array().unwrap().len(), QUESTIONS);
    Ok(())
}
