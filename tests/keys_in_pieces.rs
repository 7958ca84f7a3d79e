//! Servers that send a key back in pieces, none of which holds it alone: through the real binary, in every form in which an answer
//! may come in pieces, and broken by control characters. What is put together must reach no ledger, no recording, no report and no
//! terminal, and neither may the pieces.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, figures, independent_check, stderr};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

const KEY: &str = "ab+cd/EF-12==z9";
/// The key as it is cut.
const PIECES: [&str; 2] = ["ab+cd", "/EF-12==z9"];
/// Requests, by their number, whose replies hold it.
const LEAKS: [usize; 3] = [0, 2, 5];
const QUESTIONS: usize = 4;

/// How a reply says the parts of an answer.
type Form = fn(&[String], usize) -> Reply;

fn stream(parts: &[String], number: usize) -> Reply {
    let events: Vec<String> = parts.iter().map(|part| format!("data: {}\n\n", json!({ "text": part }))).collect();
    let events = events.concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Reply::Cut(format!("{head}: {number}\n\n{events}data: [DONE]\n\n").into_bytes())
}

fn list(parts: &[String], number: usize) -> Reply {
    Reply::json(200, &json!({ "number": number, "text": parts }))
}

fn chat(parts: &[String], number: usize) -> Reply {
    chat_that_ends(parts, number, "stop")
}

fn chat_that_ends(parts: &[String], number: usize, finish: &str) -> Reply {
    let mut parts = parts.to_vec();
    parts[0] = format!("{{\"answer\": \"{}", parts[0]);
    parts.push("\"}".to_owned());
    let content: Vec<Value> = parts.iter().map(|part| json!({ "type": "text", "text": part })).collect();
    let choice = json!({ "index": 0, "finish_reason": finish, "message": { "role": "assistant", "content": content } });
    Reply::json(200, &json!({ "id": format!("response-{number}"), "model": "m-1", "choices": [choice] }))
}

fn server(form: Form, leaks: fn(usize) -> bool) -> Result<RawServer> {
    RawServer::start(move |request| {
        let [first, last] = if leaks(request.number) { PIECES } else { ["it is", " well"] };
        form(&[format!("your key {first}"), format!("{last} so")], request.number)
    })
}

/// A deployed system over HTTP, whose replies are read by these keys.
fn system(server: &RawServer, reading: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let texts = (0..QUESTIONS).map(|item| format!("Which key opens door {item}?"));
    workspace.write("questions.jsonl", harness::questions_file(texts))?;
    let spec = format!(
        "version: 1\nname: pieces\nquestions: {{ file: questions.jsonl }}\n\
         snapshots: {{ old: {{ index: v41 }}, new: {{ index: v42 }} }}\n\
         answer:\n  http:\n    url: '{}/ask'\n    body: {{ q: '{{{{question}}}}', index: '{{{{snapshot.index}}}}' }}\n    \
         secret_headers: {{ Authorization: {{ prefix: 'Bearer ', env: CHURNGATE_TEST_KEY }} }}\n    {reading}\n  \
         concurrency: 1\njudge: {{ embedded: {{}} }}\n",
        server.host
    );
    workspace.write("churngate.yaml", spec)?;
    Ok(workspace)
}

fn streaming(server: &RawServer) -> Result<Workspace> {
    system(server, "stream: { text: { message: /text }, end: ['[DONE]'] }\n    answer: /answer")
}

fn listing(server: &RawServer) -> Result<Workspace> {
    system(server, "answer: /text")
}

fn chatting(server: &RawServer) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    let model = format!("openai: {{ model: m, base_url: \"{}/v1\", key_env: CHURNGATE_TEST_KEY }}", server.host);
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 4, seed: 4 }")
            .replace("reader: {}", &format!("concurrency: 1\n  {model}"))
    })?;
    Ok(workspace)
}

fn run(workspace: &Workspace, more: &[&str]) -> Result<Output> {
    let mut command = workspace.command();
    Ok(command.args(["run", "churngate.yaml"]).args(more).env("CHURNGATE_TEST_KEY", KEY).output()?)
}

/// Asserts that no file below this folder holds the key or a piece of it, and returns how many there are.
fn holds_no_piece(folder: &Path) -> Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files += holds_no_piece(&path)?;
        } else {
            ensure!(!shows(&fs::read(&path)?), "the key stands in {}", path.display());
            files += 1;
        }
    }
    Ok(files)
}

fn shows(bytes: &[u8]) -> bool {
    PIECES.iter().any(|word| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
}

/// Asserts that neither the workspace nor a stream of the process holds a piece of the key.
fn is_clean(workspace: &Workspace, output: &Output) -> Result<()> {
    ensure!(!shows(&output.stdout) && !shows(&output.stderr), "the key was printed");
    let files = holds_no_piece(&workspace.path("."))?;
    ensure!(files > 5, "only {files} files were looked at");
    Ok(())
}

fn result(folder: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(folder.join("result.json"))?)?)
}

fn redrawn(form: Form, workspace: fn(&RawServer) -> Result<Workspace>) -> Result<()> {
    let server = server(form, |number| LEAKS.contains(&number))?;
    let workspace = workspace(&server)?;
    let output = run(&workspace, &["--record", "rec"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    is_clean(&workspace, &output)?;
    let folder = workspace.run_folder()?;
    let retries = json!([["key-in-answer", LEAKS.len()]]);
    assert_eq!(result(&folder)?["record"]["retries"], retries);
    assert_eq!(server.seen().len(), 4 * QUESTIONS + LEAKS.len());
    assert!(server.seen()[0].headers["authorization"].contains(KEY), "the key was sent");

    // Of such a reply there is no body, and the recording has its fault in place of it.
    let ledger = fs::read_to_string(folder.join("answers.jsonl"))?;
    let outcomes = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (bare, whole): (Vec<Value>, Vec<Value>) = outcomes
        .filter(|record| record["type"] == "outcome")
        .partition(|outcome| outcome["verdict"]["invalid"] == "key-in-answer");
    assert_eq!((bare.len(), whole.len()), (LEAKS.len(), 4 * QUESTIONS));
    assert!(bare.iter().all(|outcome| outcome["body"].is_null()), "{bare:?}");
    assert!(whole.iter().all(|outcome| outcome["body"].is_string()), "{whole:?}");
    assert_eq!(workspace.read("rec/exchanges.jsonl")?.matches(r#""fault":"key-in-answer""#).count(), LEAKS.len());
    let verified = workspace.churngate(&["verify", folder.to_str().unwrap()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    independent_check(std::slice::from_ref(&folder));

    let connections = server.connections();
    let replay = run(&workspace, &["--replay", "rec", "--runs", "replayed", "--folder-file", "at"])?;
    assert_eq!(code(&replay)?, 0, "{}", stderr(&replay));
    is_clean(&workspace, &replay)?;
    let replayed = workspace.path(&workspace.read("at")?);
    assert_eq!(figures(&replayed)?, figures(&folder)?);
    assert_eq!(result(&replayed)?["record"]["retries"], retries);
    assert_eq!(server.connections(), connections, "nobody was called");
    Ok(())
}

#[test]
fn a_key_in_the_pieces_of_a_stream_is_put_together_nowhere() -> Result<()> {
    redrawn(stream, streaming)
}

#[test]
fn a_key_in_the_texts_of_a_list_is_put_together_nowhere() -> Result<()> {
    redrawn(list, listing)
}

#[test]
fn a_key_in_the_parts_of_a_chats_content_is_put_together_nowhere() -> Result<()> {
    redrawn(chat, chatting)
}

#[test]
fn a_server_that_always_sends_it_gives_no_answer_and_is_told_why() -> Result<()> {
    let server = server(stream, |_| true)?;
    let workspace = streaming(&server)?;
    workspace.edit("churngate.yaml", |spec| spec.replace("concurrency: 1", "concurrency: 1\n  max_attempts: 1"))?;
    let output = run(&workspace, &["--record", "rec"])?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("key-in-answer"), "{}", stderr(&output));
    is_clean(&workspace, &output)?;
    let probe =
        workspace.command().args(["check", "--probe", "churngate.yaml"]).env("CHURNGATE_TEST_KEY", KEY).output()?;
    assert_eq!(code(&probe)?, 4, "{}", stderr(&probe));
    assert!(stderr(&probe).contains("`key-in-answer`"), "{}", stderr(&probe));
    is_clean(&workspace, &probe)
}

#[test]
fn pieces_of_an_answer_that_is_none_are_not_kept_either() -> Result<()> {
    // Cut off before its end.
    let cut = |parts: &[String], number: usize| {
        let Reply::Cut(bytes) = stream(parts, number) else { return Reply::json(500, &Value::Null) };
        let whole = String::from_utf8(bytes).unwrap();
        Reply::Cut(whole.replace("data: [DONE]\n\n", "").into_bytes())
    };
    let server = server(cut, |_| true)?;
    let workspace = streaming(&server)?;
    workspace.edit("churngate.yaml", |spec| spec.replace("concurrency: 1", "concurrency: 1\n  max_attempts: 1"))?;
    let output = run(&workspace, &["--record", "rec"])?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    is_clean(&workspace, &output)
}

#[test]
fn pieces_of_a_chats_content_that_broke_off_are_not_kept_either() -> Result<()> {
    let forms: [Form; 4] = [
        |parts, number| chat_that_ends(parts, number, "length"),
        |parts, number| chat_that_ends(parts, number, "abort"),
        |parts, number| chat_that_ends(parts, number, "tool_calls"),
        |parts, number| chat_that_ends(parts, number, "content_filter"),
    ];
    for form in forms {
        let server = server(form, |_| true)?;
        let workspace = chatting(&server)?;
        workspace.edit("churngate.yaml", |spec| spec.replace("concurrency: 1", "concurrency: 1\n  max_attempts: 1"))?;
        let output = run(&workspace, &["--record", "rec"])?;
        assert_eq!(code(&output)?, 4, "{}", stderr(&output));
        assert!(stderr(&output).contains("key-in-answer"), "{}", stderr(&output));
        is_clean(&workspace, &output)?;
    }
    Ok(())
}

#[test]
fn a_key_that_control_characters_break_is_taken_out_of_names_and_answers() -> Result<()> {
    let server = RawServer::start(|request| {
        let broken = |by: &str| PIECES.join(by);
        let content = json!({ "answer": format!("your key {} so", broken("\n")) }).to_string();
        let message = json!({ "role": "assistant", "content": content });
        let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
        let said = json!({
            "id": format!("{}-{:0>30}", broken("\u{7f}"), request.number),
            "model": format!("m-{}", broken("\u{7}")),
            "system_fingerprint": broken("\u{85}"),
            "choices": [choice]
        });
        Reply::json(200, &said)
    })?;
    let workspace = chatting(&server)?;
    let output = run(&workspace, &["--record", "rec"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    is_clean(&workspace, &output)?;
    let folder = workspace.run_folder()?;
    assert_eq!(result(&folder)?["validity"]["served_models"][0][1], json!(["m-[key]"]));
    assert!(fs::read_to_string(folder.join("answers.jsonl"))?.contains(r#""fingerprint":"[key]""#));
    let probe =
        workspace.command().args(["check", "--probe", "churngate.yaml"]).env("CHURNGATE_TEST_KEY", KEY).output()?;
    assert_eq!(code(&probe)?, 0, "{}", stderr(&probe));
    is_clean(&workspace, &probe)
}

#[test]
fn a_key_in_documents_that_come_encoded_is_unpacked_nowhere() -> Result<()> {
    let server = RawServer::start(|request| {
        let said = if LEAKS.contains(&request.number) { PIECES.concat() } else { "Door 2 has a lock.".to_owned() };
        let item = BASE64_STANDARD.encode(json!({ "id": "d", "text": said }).to_string());
        Reply::json(200, &json!({ "number": request.number, "results": [item] }))
    })?;
    let workspace = streaming(&server)?;
    let retrieval = "retrieve:\n  concurrency: 1\n  http:\n    items: /results\n    decode: base64_json\n    id: /id\n    text: /text";
    workspace.edit("churngate.yaml", |spec| {
        let spec = spec
            .replace("answer:\n  http:", retrieval)
            .replace("  concurrency: 1\njudge", "generate: { reader: {} }\njudge");
        let spec = spec.lines().filter(|line| !line.contains("stream:") && !line.contains("answer: /answer"));
        spec.map(|line| line.to_owned() + "\n").collect()
    })?;
    let output = run(&workspace, &["--record", "rec"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    is_clean(&workspace, &output)?;
    assert_eq!(server.seen().len(), 4 * QUESTIONS + LEAKS.len());
    let ledger = fs::read_to_string(workspace.run_folder()?.join("evidence.jsonl"))?;
    assert_eq!(ledger.matches(r#"{"invalid":"key-in-answer"}"#).count(), LEAKS.len());
    Ok(())
}
