//! A small audit whose answers and labels are known beforehand.

use crate::harness::raw::{RawServer, Reply, Request};
use crate::harness::{Workspace, code, stderr, stdout};
use churngate::model::Digest;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Questions of the audit.
pub const QUESTIONS: usize = 40;

/// Both snapshots say something else about each gadget, and about every fifth of them the same.
pub fn workspace() -> Workspace {
    let workspace = Workspace::new().unwrap();
    let (mut old, mut new, mut questions) = (String::new(), String::new(), String::new());
    for item in 0..QUESTIONS {
        let text = |code: usize| json!({ "id": format!("d{item}"), "text": format!("Gadget{item} has {code}.") });
        writeln!(old, "{}", text(1000 + item)).unwrap();
        writeln!(new, "{}", text(if differs(item) { 5000 + item } else { 1000 + item })).unwrap();
        writeln!(questions, "{}", json!({ "id": format!("q{item}"), "question": format!("What has Gadget{item}?") }))
            .unwrap();
    }
    for (name, text) in [("old.jsonl", old), ("new.jsonl", new), ("questions.jsonl", questions)] {
        workspace.write(name, text).unwrap();
    }
    workspace
}

/// Writes the spec: the answers are the evidence's checksum, so that they differ exactly where the evidence does.
pub fn spec(workspace: &Workspace, judge: &str, more: &str) {
    workspace.write("answer.sh", "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n").unwrap();
    let spec = format!(
        "version: 1\nname: judges\nquestions: {{ file: questions.jsonl }}\n\
         snapshots: {{ old: {{ path: old.jsonl }}, new: {{ path: new.jsonl }} }}\nretrieve: {{ bm25: {{}}, top_k: 1 }}\n\
         generate: {{ command: {{ argv: [sh, answer.sh] }}, repeats: 2 }}\njudge:\n{judge}{more}"
    );
    workspace.write("churngate.yaml", spec).unwrap();
}

/// A judge behind a server, as a spec names it.
pub fn model(server: &RawServer, name: &str) -> String {
    format!("openai: {{ model: {name}, base_url: \"{}/v1\" }}", server.host)
}

/// What a judge is shown: the number of the gadget, and the answers by label.
pub struct Shown {
    pub gadget: usize,
    pub answers: Vec<String>,
}

/// Reads the request of a packet of two answers.
pub fn shown(request: &Request) -> Shown {
    let text = request.body["messages"][1]["content"].as_str().unwrap();
    let gadget = text.split("Gadget").nth(1).unwrap().split('?').next().unwrap().parse().unwrap();
    let answers = text.lines().filter(|line| line.starts_with("{\"label\""));
    let answer = |line: &str| serde_json::from_str::<Value>(line).unwrap()["answer"].as_str().unwrap().to_owned();
    Shown { gadget, answers: answers.map(answer).collect() }
}

/// One label for the one pair of a packet.
pub fn labelled(label: &str, id: &str, model: &str) -> Reply {
    said(&json!({ "A-B": label }).to_string(), id, model)
}

/// Any text as a model's reply, which need not name it.
pub fn said<'a>(text: &str, id: &str, model: impl Into<Option<&'a str>>) -> Reply {
    let model = model.into();
    let message = json!({ "role": "assistant", "content": text });
    Reply::json(
        200,
        &json!({
            "id": id, "object": "chat.completion", "created": 0, "model": model,
            "choices": [{ "index": 0, "finish_reason": "stop", "message": message }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12 },
        }),
    )
}

/// An id that no other response of the server has.
pub fn id(number: usize) -> String {
    format!("chatcmpl-{number:024}")
}

/// A judge that labels each gadget by `first`, and by `again` whenever it is asked of the same gadget once more. Every seventh
/// reply is prose.
pub fn judge(first: fn(usize) -> &'static str, again: fn(usize) -> &'static str) -> RawServer {
    let asked: Mutex<BTreeMap<usize, usize>> = Mutex::default();
    RawServer::start(move |request| {
        if request.number % 7 == 6 {
            return said("I would say they are different.", &id(request.number), "j-1");
        }
        let gadget = shown(request).gadget;
        let mut asked = asked.lock().unwrap();
        let before = asked.entry(gadget).or_default();
        *before += 1;
        let label = if *before == 1 { first(gadget) } else { again(gadget) };
        labelled(label, &id(request.number), "j-1")
    })
    .unwrap()
}

/// Runs the audit in three shards and joins them: the shards' folders, and that of the whole, verified.
pub fn joined(workspace: &Workspace) -> (Vec<PathBuf>, PathBuf) {
    let shard = |number: u32| {
        let arguments = [&format!("--shard={number}/3"), "--runs=shards", "--folder-file=folder", "churngate.yaml"];
        let output = workspace.churngate(&[&["run", "--quiet"], &arguments[..]].concat()).unwrap();
        assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
        PathBuf::from(workspace.read("folder").unwrap())
    };
    let shards: Vec<PathBuf> = (1..=3).map(shard).collect();
    let names = shards.iter().map(|folder| folder.to_str().unwrap());
    let merge: Vec<&str> = ["merge", "--runs=merged", "--folder-file=folder"].into_iter().chain(names).collect();
    let output = workspace.churngate(&merge).unwrap();
    assert!(matches!(code(&output).unwrap(), 0 | 1), "{}{}", stdout(&output), stderr(&output));
    let whole = PathBuf::from(workspace.read("folder").unwrap());
    verify(workspace, &whole);
    (shards, whole)
}

/// Runs the audit, which must come to a verdict, and verifies it.
pub fn run(workspace: &Workspace) -> PathBuf {
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"]).unwrap();
    assert!(matches!(code(&output).unwrap(), 0 | 1), "{}", stderr(&output));
    let folder = workspace.run_folder().unwrap();
    verify(workspace, &folder);
    folder
}

/// Both the program and the independent checker accept the run.
pub fn verify(workspace: &Workspace, folder: &Path) {
    let verified = workspace.churngate(&["verify", folder.to_str().unwrap()]).unwrap();
    assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
    if let Some((accepted, said)) = independent(folder) {
        assert!(accepted, "{said}");
    }
}

/// What the checker says that shares no code with the program; nothing where there is no Python.
pub fn independent(folder: &Path) -> Option<(bool, String)> {
    let script = crate::harness::root().join("tests/ledger_checker/check_run.py");
    let Ok(output) = std::process::Command::new("python3").arg(script).arg(folder).output() else {
        assert!(std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "python3 is not there");
        return None;
    };
    Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// `result.json`.
pub fn result(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("result.json")).unwrap()).unwrap()
}

/// The records of a ledger, header and seal left out.
pub fn records(folder: &Path, ledger: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(ledger)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|record| record.get("seq").is_some()).collect()
}

/// The packets of a ledger, by question.
pub fn packets(folder: &Path, ledger: &str) -> BTreeMap<String, Vec<String>> {
    let notes = records(folder, ledger).into_iter().filter(|record| record["type"] == "note");
    let of = |note: Value| {
        let answers = note["answers"].as_array().unwrap().iter().map(|digest| digest.as_str().unwrap().to_owned());
        (note["question"].as_str().unwrap().to_owned(), answers.collect())
    };
    notes.map(of).collect()
}

/// The sample that docs/ledger-format.md describes, drawn here once more: names of gadgets, from ids and the protocol alone.
pub fn sample(folder: &Path, what: &str, size: usize) -> BTreeSet<usize> {
    let protocol = Digest::of(&fs::read(folder.join("protocol.lock.json")).unwrap());
    let domain = format!("churngate/sample/{what}/1");
    let key = |item: &usize| {
        let id = format!("q{item}");
        Digest::of_parts([domain.as_bytes(), protocol.as_bytes().as_slice(), id.as_bytes()])
    };
    let mut all: Vec<usize> = (0..QUESTIONS).collect();
    all.sort_by_key(key);
    all.into_iter().take(size).collect()
}

/// Gadgets whose evidence differs, so that there are two answers to judge.
pub const fn differs(gadget: usize) -> bool {
    !gadget.is_multiple_of(5)
}

/// A count as results have it.
pub const fn whole(count: usize) -> u64 {
    count as u64
}

/// A count to calculate with.
pub fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// A JSON object without what differs between two runs of one protocol.
pub fn figures(folder: &Path) -> Map<String, Value> {
    let mut result = result(folder).as_object().unwrap().clone();
    result.remove("record").unwrap();
    result
}
