//! Audits that are recorded and replayed, through the real binary: the same figures without a server and without a key, at
//! any number of tasks, faults and all; what is not recorded is an error and never a call; and no replay passes for an audit.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::{Context as _, Result, ensure};
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, figures, stderr, stdout};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

const MODEL_KEY: &str = "key-27182818284";
const ENGINE_KEY: &str = "key-31415926535";

/// A search engine, a generator that never answers twice alike, and a judge, each with faults at first. What the engine says
/// of its indexes is sound.
struct World {
    server: RawServer,
    faulty: Arc<AtomicBool>,
}

impl World {
    fn start() -> Result<Self> {
        let faulty = Arc::new(AtomicBool::new(true));
        let (on, turns) = (Arc::clone(&faulty), Mutex::new([0_usize; 3]));
        let server = RawServer::start(move |request| {
            let who = match request.body.to_string().contains("\"labels\"") {
                true => 2,
                false if request.path.starts_with("/v1/") => 1,
                false => 0,
            };
            if request.method == "GET" {
                return engine(request);
            }
            let turn = {
                let mut turns = turns.lock().unwrap();
                turns[who] += 1;
                turns[who] - 1
            };
            match fault(request, turn).filter(|_| on.load(Ordering::SeqCst)) {
                Some(fault) => fault,
                None if who == 0 => engine(request),
                None if who == 1 => said(request, &json!({ "answer": answer(request) })),
                None => said(request, &labels(request)),
            }
        })?;
        Ok(Self { server, faulty })
    }

    /// Six questions; the evidence of every second one is the same in both indexes, and is sampled all the same.
    fn workspace(&self) -> Result<Workspace> {
        let workspace = Workspace::new()?;
        let line = |n: usize| {
            format!("{{\"id\": \"q{n}\", \"question\": \"Since when is there Thing{n}?\", \"answer\": \"{n}\"}}\n")
        };
        workspace.write("questions.jsonl", (0..6).map(line).collect::<String>())?;
        let model = format!(
            "openai: {{ model: m, base_url: \"{}/v1\", key_env: MODEL_KEY, timeout_seconds: 2 }}",
            self.server.host
        );
        workspace.write(
            "churngate.yaml",
            format!(
                "version: 1\nname: replayed\nquestions: {{ file: questions.jsonl }}\n\
                 snapshots: {{ old: {{ index: docs_v1 }}, new: {{ index: docs_v2 }} }}\n\
                 retrieve: {{ preset: meilisearch, base_url: \"{}\", key_env: ENGINE_KEY, top_k: 2 }}\n\
                 generate:\n  {model}\n  unchanged_evidence: sample\n  max_attempts: 4\njudge:\n  {model}\n  max_attempts: 8\n",
                self.server.host
            ),
        )?;
        Ok(workspace)
    }
}

/// Something else than an answer, at the first turns of each server. What can echoes the key.
fn fault(request: &Request, turn: usize) -> Option<Reply> {
    let echo = request.headers.get("authorization").cloned().unwrap_or_default();
    let cookie = || vec![("set-cookie", format!("session={echo}")), ("retry-after-ms", "30".to_owned())];
    Some(match turn {
        0 => Reply::Full(429, cookie(), format!("{{\"error\":{{\"message\":\"{echo}\"}}}}").into_bytes()),
        1 => Reply::Full(500, cookie(), echo.into_bytes()),
        2 => Reply::Cut(format!("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{echo}").into_bytes()),
        3 if request.path.starts_with("/v1/") => Reply::Hang(Duration::from_secs(20)),
        4 => Reply::Full(200, Vec::new(), b"\xff\xfe".to_vec()),
        _ => return None,
    })
}

fn engine(request: &Request) -> Reply {
    let index = if request.path.contains("docs_v1") { 1 } else { 2 };
    if request.path.ends_with("/stats") {
        return Reply::json(200, &json!({ "isIndexing": false, "numberOfDocuments": 6 }));
    }
    if !request.path.ends_with("/search") {
        return Reply::json(
            200,
            &json!({ "uid": index, "createdAt": "2026", "updatedAt": "2026", "primaryKey": "id" }),
        );
    }
    let question = request.body["q"].as_str().unwrap().to_owned();
    let number = question.bytes().find(u8::is_ascii_digit).unwrap();
    let version = if number.is_multiple_of(2) { 1 } else { index };
    let hit = json!({ "id": format!("d{number}-{version}"), "text": format!("{question} Since {version}."), "_rankingScore": 1 });
    Reply::json(200, &json!({ "hits": [hit] }))
}

/// Another one each time: a replay must give each repeat of each snapshot its own.
fn answer(request: &Request) -> String {
    format!("answer {}", request.number % 3)
}

fn said(request: &Request, text: &Value) -> Reply {
    let message = json!({ "role": "assistant", "content": text.to_string() });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 2 });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    let id = format!("response-of-a-good-length-{}", request.number);
    Reply::json(200, &json!({ "id": id, "model": "m-1", "choices": [choice], "usage": usage }))
}

/// Every second judge's reply says otherwise than the one before.
fn labels(request: &Request) -> Value {
    let pairs = request.body.pointer("/response_format/json_schema/schema/required").unwrap().as_array().unwrap();
    let word = if request.number.is_multiple_of(2) { "same" } else { "different" };
    pairs.iter().map(|pair| (pair.as_str().unwrap().to_owned(), json!(word))).collect::<serde_json::Map<_, _>>().into()
}

fn live(workspace: &Workspace, arguments: &[&str]) -> Result<Output> {
    let mut command = workspace.command();
    command.env("MODEL_KEY", MODEL_KEY).env("ENGINE_KEY", ENGINE_KEY);
    Ok(command.args(arguments).output()?)
}

/// The one run in this folder.
fn folder(workspace: &Workspace, runs: &str) -> Result<PathBuf> {
    let mut found = fs::read_dir(workspace.path(runs))?.collect::<std::io::Result<Vec<_>>>()?;
    ensure!(found.len() == 1, "{} runs in {runs}", found.len());
    Ok(found.remove(0).path())
}

fn result(folder: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(folder.join("result.json"))?)?)
}

/// Asserts that no file below this folder holds a key, and returns how many there are.
fn holds_no_key(folder: &Path) -> Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files += holds_no_key(&path)?;
            continue;
        }
        let bytes = fs::read(&path)?.to_ascii_lowercase();
        for secret in [MODEL_KEY, ENGINE_KEY, "set-cookie", "session="] {
            let stands = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            ensure!(!stands, "`{secret}` stands in {}", path.display());
        }
        files += 1;
    }
    Ok(files)
}

const EXCHANGES: &str = "rec/exchanges.jsonl";

#[test]
fn a_replay_needs_no_server_and_no_key_and_comes_to_the_same_result_with_any_number_of_tasks() -> Result<()> {
    let world = World::start()?;
    let workspace = world.workspace()?;
    let output = live(&workspace, &["run", "churngate.yaml", "--runs", "live", "--record", "rec"])?;
    let verdict = code(&output)?;
    assert!(matches!(verdict, 0 | 1), "{}", stderr(&output));
    let live_run = folder(&workspace, "live")?;
    let recorded = result(&live_run)?;
    assert_eq!(recorded["record"]["replayed"], false);
    assert_eq!(holds_no_key(&workspace.path("rec"))?, 1);
    let calls = workspace.read(EXCHANGES)?.lines().count() - 1;
    assert_eq!(calls, world.server.seen().len(), "every exchange is kept, once");

    let connections = world.server.connections();
    for tasks in ["1", "16"] {
        let runs = format!("replayed-{tasks}");
        let arguments = ["run", "churngate.yaml", "--runs", &runs, "--replay", "rec", "--tasks", tasks];
        let output = workspace.churngate(&arguments)?;
        assert_eq!(code(&output)?, verdict, "{}", stderr(&output));
        assert!(stderr(&output).contains("no server is called"), "{}", stderr(&output));
        let replay = folder(&workspace, &runs)?;
        assert_eq!(figures(&replay)?, figures(&live_run)?, "{tasks} tasks");
        let record = result(&replay)?["record"].clone();
        for same in ["retries", "tokens", "attempts"] {
            assert_eq!(record[same], recorded["record"][same], "{same}");
        }
        assert_eq!(record["replayed"], true);
        let verified = workspace.churngate(&["verify", &replay.display().to_string()])?;
        assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    }
    assert_eq!(world.server.connections(), connections, "nobody was called");
    let reasons: Vec<&str> =
        recorded["record"]["retries"].as_array().unwrap().iter().map(|retry| retry[0].as_str().unwrap()).collect();
    for reason in ["rate-limited", "server-error", "reply-cut", "timed-out", "not-utf8"] {
        assert!(reasons.contains(&reason), "{reason} was replayed: {reasons:?}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_recording_is_private_and_its_folder_too() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::start()?;
    let workspace = world.workspace()?;
    live(&workspace, &["diff", "churngate.yaml", "--record", "rec"])?;
    let mode = |name: &str| -> Result<u32> { Ok(fs::metadata(workspace.path(name))?.permissions().mode() & 0o777) };
    assert_eq!((mode("rec")?, mode(EXCHANGES)?), (0o700, 0o600));
    Ok(())
}

#[test]
fn what_is_not_recorded_is_named_and_nobody_is_called() -> Result<()> {
    let world = World::start()?;
    world.faulty.store(false, Ordering::SeqCst);
    let workspace = world.workspace()?;
    live(&workspace, &["run", "churngate.yaml", "--runs", "live", "--record", "rec"])?;
    let connections = world.server.connections();
    let whole = workspace.read(EXCHANGES)?;
    let host = world.server.host.trim_start_matches("http://");
    for (unit, method, path) in [
        (r#"["evidence","q3","new","1"]"#, "POST", "/indexes/docs_v2/search"),
        (r#"["answers","q2","old","1"]"#, "POST", "/v1/chat/completions"),
        (r#"["judgments","q1"]"#, "POST", "/v1/chat/completions"),
        (r#""unit":[]"#, "GET", "/indexes/docs_v"),
    ] {
        let lines: Vec<&str> = whole.lines().filter(|line| !line.contains(unit)).collect();
        ensure!(lines.len() < whole.lines().count(), "{unit} was recorded");
        workspace.write("less/exchanges.jsonl", lines.join("\n") + "\n")?;
        for tasks in ["1", "16"] {
            let _ = fs::remove_dir_all(workspace.path("replayed"));
            let arguments = ["run", "churngate.yaml", "--runs", "replayed", "--replay", "less", "--tasks", tasks];
            let output = workspace.churngate(&arguments)?;
            let said = stderr(&output);
            assert_eq!(code(&output)?, 4, "{said}");
            let named: String = unit.chars().filter(|c| !"[]\"".contains(*c)).collect::<String>().replace(',', " ");
            let named = if unit.contains("unit") { "the audit as a whole" } else { &named };
            for part in [&format!("{method} {host}{path}"), named, "nobody was called", "hint: record"] {
                assert!(said.contains(part), "`{part}` is missing in: {said}");
            }
            let runs = fs::read_dir(workspace.path("replayed")).map_or(0, Iterator::count);
            assert!(runs <= 1 && !said.contains("panicked"), "{said}");
        }
    }
    assert_eq!(world.server.connections(), connections);
    Ok(())
}

#[test]
fn a_replay_goes_on_with_the_calls_whose_turn_did_not_come() -> Result<()> {
    let world = World::start()?;
    world.faulty.store(false, Ordering::SeqCst);
    let workspace = world.workspace()?;
    live(&workspace, &["run", "churngate.yaml", "--runs", "live", "--record", "rec"])?;
    let whole = workspace.read(EXCHANGES)?;
    let arguments = ["run", "churngate.yaml", "--runs", "replayed", "--replay", "less", "--tasks", "2"];
    let mut waited = 0;
    for question in 0..6 {
        let unit = format!(r#"["answers","q{question}","old","1"]"#);
        let lines: Vec<&str> = whole.lines().filter(|line| !line.contains(&unit)).collect();
        workspace.write("less/exchanges.jsonl", lines.join("\n") + "\n")?;
        let _ = fs::remove_dir_all(workspace.path("replayed"));
        let stopped = workspace.churngate(&arguments)?;
        assert_eq!(code(&stopped)?, 4, "{}", stderr(&stopped));
        let answers = fs::read_to_string(folder(&workspace, "replayed")?.join("answers.jsonl"))?;
        waited += answers.matches("not-sent").count();
        workspace.write("less/exchanges.jsonl", &whole)?;
        let output = workspace.churngate(&arguments)?;
        assert!(matches!(code(&output)?, 0 | 1), "{unit}: {}", stderr(&output));
        assert_eq!(figures(&folder(&workspace, "replayed")?)?, figures(&folder(&workspace, "live")?)?, "{unit}");
    }
    assert!(waited > 0, "no call stood in line when a replay ended");
    Ok(())
}

#[test]
fn a_damaged_recording_is_refused_by_file_and_line_before_anything_is_begun() -> Result<()> {
    let world = World::start()?;
    let workspace = world.workspace()?;
    live(&workspace, &["diff", "churngate.yaml", "--runs", "live", "--record", "rec"])?;
    let whole = fs::read(workspace.path(EXCHANGES))?;
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let replaced = |at: usize, line: &[u8]| [lines[..at].concat().as_slice(), line, &lines[at + 1..].concat()].concat();
    let newer = String::from_utf8_lossy(lines[0]).replace("1.0", "2.0").into_bytes();
    for (bytes, exit, said) in [
        (whole[..whole.len() - 9].to_vec(), 5, format!("line {}: cut off", lines.len())),
        (replaced(3, b"{\n"), 5, "line 4: not an exchange".to_owned()),
        (replaced(3, b"\xff\xfe\n"), 5, "line 4: not an exchange".to_owned()),
        (replaced(0, &newer), 5, "line 1: format 2.0".to_owned()),
        (b"{}\n".to_vec(), 5, "line 1: not the header".to_owned()),
        (
            replaced(2, &String::from_utf8_lossy(lines[2]).replace("docs_v", "docs-v").into_bytes()),
            5,
            "line 3: the digest".to_owned(),
        ),
        ([lines[0], vec![b' '; (128 << 20) + 1].as_slice()].concat(), 5, "line 2: longer than".to_owned()),
    ] {
        workspace.write("bad/exchanges.jsonl", bytes)?;
        for command in ["run", "diff"] {
            let output = workspace.churngate(&[command, "churngate.yaml", "--runs", "none", "--replay", "bad"])?;
            assert_eq!(code(&output)?, exit, "{}", stderr(&output));
            assert!(stderr(&output).contains(&format!("bad/exchanges.jsonl` {said}")), "{said}: {}", stderr(&output));
        }
    }
    let output = workspace.churngate(&["run", "churngate.yaml", "--runs", "none", "--replay", "nowhere"])?;
    assert_eq!((code(&output)?, stderr(&output).contains("there is no recording in `nowhere`")), (2, true));
    fs::create_dir_all(workspace.path("folder/exchanges.jsonl"))?;
    let mut others = vec!["folder"];
    #[cfg(unix)]
    {
        fs::create_dir_all(workspace.path("link"))?;
        std::os::unix::fs::symlink(workspace.path(EXCHANGES), workspace.path("link/exchanges.jsonl"))?;
        others.push("link");
    }
    for place in others {
        for tape in ["--replay", "--record"] {
            let output = live(&workspace, &["run", "churngate.yaml", "--runs", "none", tape, place])?;
            assert_eq!(code(&output)?, 5, "{}", stderr(&output));
            assert!(stderr(&output).contains("is not a plain file"), "{}", stderr(&output));
        }
    }
    assert!(!workspace.path("none").exists(), "nothing was begun");
    Ok(())
}

#[test]
fn an_audit_that_was_recorded_in_two_processes_is_replayed_in_two() -> Result<()> {
    let world = World::start()?;
    let workspace = world.workspace()?;
    // The first fault of the generator's uses up the only attempt of its cell, and so on.
    workspace.edit("churngate.yaml", |spec| spec.replace("max_attempts: 4", "max_attempts: 1"))?;
    let arguments = |runs| ["run", "churngate.yaml", "--runs", runs, "--tasks", "2"];
    let first = live(&workspace, &[arguments("live").as_slice(), &["--record", "rec"]].concat())?;
    assert_eq!(code(&first)?, 4, "{}", stderr(&first));
    let second = live(&workspace, &[arguments("live").as_slice(), &["--record", "rec"]].concat())?;
    assert!(matches!(code(&second)?, 0 | 1), "{}", stderr(&second));
    let connections = world.server.connections();
    for output in [&first, &second] {
        let replay = workspace.churngate(&[arguments("replayed").as_slice(), &["--replay", "rec"]].concat())?;
        assert_eq!(code(&replay)?, code(output)?, "{}", stderr(&replay));
    }
    assert_eq!(figures(&folder(&workspace, "replayed")?)?, figures(&folder(&workspace, "live")?)?);
    assert_eq!(world.server.connections(), connections);
    Ok(())
}

#[test]
fn shards_are_replayed_one_by_one_and_merged_among_themselves() -> Result<()> {
    let world = World::start()?;
    let workspace = world.workspace()?;
    for shard in ["1", "2"] {
        let (part, rec) = (format!("{shard}/2"), format!("rec-{shard}"));
        let arguments = ["run", "churngate.yaml", "--shard", &part];
        let output = live(&workspace, &[arguments.as_slice(), &["--runs", "live", "--record", &rec]].concat())?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        let output =
            workspace.churngate(&[arguments.as_slice(), &["--runs", "replayed", "--replay", &rec]].concat())?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    }
    let shards = |runs: &str| -> Result<Vec<String>> {
        let found = fs::read_dir(workspace.path(runs))?.collect::<std::io::Result<Vec<_>>>()?;
        let mut shards: Vec<String> = found.iter().map(|entry| entry.path().display().to_string()).collect();
        shards.sort();
        Ok(shards)
    };
    let (of_servers, replayed) = (shards("live")?, shards("replayed")?);
    let merge = |shards: &[&String], runs: &str| {
        let shards = shards.iter().map(|shard| shard.as_str());
        workspace.churngate(&["merge", "--runs", runs].into_iter().chain(shards).collect::<Vec<_>>())
    };
    let mixed = merge(&[&of_servers[0], &replayed[1]], "mixed")?;
    assert_eq!(code(&mixed)?, 5, "{}", stderr(&mixed));
    assert!(stderr(&mixed).contains("shard 2 of 2 is a replay and shard 1 of 2 is none"), "{}", stderr(&mixed));
    let live_merge = merge(&of_servers.iter().collect::<Vec<_>>(), "merged-live")?;
    let merged = merge(&replayed.iter().collect::<Vec<_>>(), "merged-replay")?;
    assert_eq!(code(&live_merge)?, code(&merged)?, "{}", stderr(&merged));
    let merged = folder(&workspace, "merged-replay")?;
    assert!(merged.to_string_lossy().ends_with(".replay"));
    assert_eq!(figures(&merged)?, figures(&folder(&workspace, "merged-live")?)?);
    assert_eq!(result(&merged)?["record"]["replayed"], true);
    Ok(())
}

#[test]
fn a_replay_never_passes_for_an_audit() -> Result<()> {
    let world = World::start()?;
    let workspace = world.workspace()?;
    live(&workspace, &["run", "churngate.yaml", "--runs", "runs", "--record", "rec"])?;
    let whole = folder(&workspace, "runs")?;
    let output = workspace.churngate(&["run", "churngate.yaml", "--runs", "runs", "--replay", "rec"])?;
    assert!(
        stdout(&output).contains("A replay: every reply of a server was read from a recording"),
        "{}",
        stdout(&output)
    );
    let replay = PathBuf::from(format!("{}.replay", whole.display()));
    for report in ["report.md", "report.html"] {
        assert!(fs::read_to_string(replay.join(report))?.contains("A replay: every reply"), "{report}");
        assert!(!fs::read_to_string(whole.join(report))?.contains("A replay: every reply"), "{report}");
    }
    // What a run folder is called says nothing: its ledgers do.
    fs::rename(&whole, workspace.path("kept"))?;
    fs::rename(&replay, &whole)?;
    let asked = world.server.seen().len();
    let output = live(&workspace, &["run", "churngate.yaml", "--runs", "runs"])?;
    assert_eq!(code(&output)?, 5, "{}", stderr(&output));
    assert!(stderr(&output).contains("were read from a recording, not from servers"), "{}", stderr(&output));
    let searches = world.server.seen()[asked..].iter().filter(|request| request.method == "POST").count();
    assert_eq!(searches, 0, "nothing was retrieved or answered beside it");
    let shown = whole.display().to_string();
    let export = live(&workspace, &["export", &shown, "--output", "export"])?;
    assert_eq!(code(&export)?, 0, "{}", stderr(&export));
    assert!(workspace.read("export/report.md")?.contains("A replay: every reply"));
    // On a pull request, where the rule is a base commit's, servers are asked.
    for other in [["--base", "HEAD"], ["--record", "more"]] {
        let output =
            workspace.churngate(&[&["run", "churngate.yaml", "--replay", "rec"], other.as_slice()].concat())?;
        assert_eq!(code(&output)?, 2);
        assert!(stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
    }
    Ok(())
}

#[test]
fn comparisons_of_evidence_and_probes_are_recorded_and_replayed_too() -> Result<()> {
    let world = World::start()?;
    world.faulty.store(false, Ordering::SeqCst);
    let workspace = world.workspace()?;
    let diff = ["diff", "churngate.yaml", "--format", "json"];
    let check = ["check", "churngate.yaml", "--probe"];
    let first = live(&workspace, &[diff.as_slice(), &["--record", "rec"]].concat())?;
    assert_eq!(code(&first)?, 0, "{}", stderr(&first));
    assert_eq!(code(&live(&workspace, &[check.as_slice(), &["--record", "probes"]].concat())?)?, 0);
    assert_eq!(holds_no_key(&workspace.path("probes"))?, 1);
    let connections = world.server.connections();
    let again = workspace.churngate(&[diff.as_slice(), &["--replay", "rec"]].concat())?;
    assert_eq!(code(&again)?, 0, "{}", stderr(&again));
    let (mut first, mut again): (Value, Value) =
        (serde_json::from_slice(&first.stdout)?, serde_json::from_slice(&again.stdout)?);
    let described = again["retrieve"].take();
    assert!(described.as_str().context("a text")?.ends_with(", replayed from a recording"));
    first["retrieve"].take();
    assert_eq!([&first["replayed"], &again["replayed"]], [false, true]);
    first["replayed"] = true.into();
    assert_eq!(first, again);
    let probed = workspace.churngate(&[check.as_slice(), &["--replay", "probes"]].concat())?;
    assert_eq!(code(&probed)?, 0, "{}", stderr(&probed));
    for part in
        ["probe: replayed from a recording", "probe of the generator: status 200", "probe of the judge: status 200"]
    {
        assert!(stdout(&probed).contains(part), "{part}: {}", stdout(&probed));
    }
    assert_eq!(world.server.connections(), connections);
    Ok(())
}

#[test]
fn a_key_too_short_to_be_found_again_is_not_recorded() -> Result<()> {
    let world = World::start()?;
    let workspace = world.workspace()?;
    let mut command = workspace.command();
    command.env("MODEL_KEY", "sesame").env("ENGINE_KEY", ENGINE_KEY);
    let output = command.args(["run", "churngate.yaml", "--record", "rec"]).output()?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("`MODEL_KEY` is too short"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("sesame") && world.server.connections() == 0);
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_that_cannot_be_written_ends_the_audit_before_the_next_call() -> Result<()> {
    let world = World::start()?;
    world.faulty.store(false, Ordering::SeqCst);
    let workspace = world.workspace()?;
    // No file of this process may have more than so many blocks.
    let script = "ulimit -f 3; trap '' XFSZ; exec \"$0\" run churngate.yaml --runs runs --record rec --tasks 1";
    let mut command = std::process::Command::new("sh");
    command.current_dir(workspace.path(".")).args(["-c", script, env!("CARGO_BIN_EXE_churngate")]);
    let output = command.env("MODEL_KEY", MODEL_KEY).env("ENGINE_KEY", ENGINE_KEY).output()?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("failed to write the recording"), "{}", stderr(&output));
    let (seen, kept) = (world.server.seen().len(), workspace.read(EXCHANGES)?.lines().count() - 1);
    assert!(seen <= kept + 1, "{seen} calls and {kept} in the recording");
    let output = live(&workspace, &["run", "churngate.yaml", "--runs", "runs", "--record", "rec"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    Ok(())
}

/// A recording of a run that was begun, or finished, without it.
#[test]
fn what_a_recording_would_lack_is_refused_and_recorded_whole_where_the_hint_is_followed() -> Result<()> {
    for (ending, killed) in [("churngate.yaml", false), ("half.yaml", false), ("churngate.yaml", true)] {
        let world = World::start()?;
        world.faulty.store(ending == "half.yaml", Ordering::SeqCst);
        let workspace = world.workspace()?;
        let run = |spec: &str, more: &[&str]| live(&workspace, &[&["run", spec, "--runs", "live"], more].concat());
        // Half a run is one whose server fails more often than it is asked: the protocol does not know how often that is.
        workspace
            .write("half.yaml", workspace.read("churngate.yaml")?.replace("max_attempts: 4", "max_attempts: 1"))?;
        if killed {
            let mut command = workspace.command();
            command.env("MODEL_KEY", MODEL_KEY).env("ENGINE_KEY", ENGINE_KEY);
            harness::killed_at(command, &workspace, "answers.jsonl", 8)?;
            fs::rename(workspace.path(".churngate"), workspace.path("live"))?;
        } else {
            let first = run(ending, &[])?;
            assert_eq!(code(&first)? == 4, ending == "half.yaml", "{}", stderr(&first));
        }
        world.faulty.store(false, Ordering::SeqCst);
        let (seen, found) = (world.server.seen().len(), folder(&workspace, "live")?);
        let refused = run("churngate.yaml", &["--record", "rec"])?;
        let said = stderr(&refused);
        assert_eq!(code(&refused)?, 2, "{said}");
        assert!(
            said.contains("the recording lacks replies that the run") && said.contains("remove the run folder"),
            "{said}"
        );
        let asked = world.server.seen().split_off(seen);
        assert!(asked.iter().all(|request| request.method == "GET"), "only the engine is asked what its indexes are");

        fs::remove_dir_all(found)?;
        let recorded = run("churngate.yaml", &["--record", "fresh"])?;
        assert!(matches!(code(&recorded)?, 0 | 1), "{}", stderr(&recorded));
        let again = run("churngate.yaml", &["--record", "fresh"])?;
        assert_eq!(code(&again)?, code(&recorded)?, "a recording that holds all of a run may stand beside it");
        let replay = workspace.churngate(&["run", "churngate.yaml", "--runs", "replayed", "--replay", "fresh"])?;
        assert_eq!(code(&replay)?, code(&recorded)?, "{}", stderr(&replay));
        assert_eq!(figures(&folder(&workspace, "replayed")?)?, figures(&folder(&workspace, "live")?)?);
    }
    Ok(())
}

#[test]
fn a_recorded_run_that_was_killed_goes_on_with_its_recording() -> Result<()> {
    let world = World::start()?;
    world.faulty.store(false, Ordering::SeqCst);
    let workspace = world.workspace()?;
    let mut command = workspace.command();
    command.env("MODEL_KEY", MODEL_KEY).env("ENGINE_KEY", ENGINE_KEY);
    let recorded = ["run", "churngate.yaml", "--record", "rec", "--tasks", "1"];
    let mut child =
        command.args(recorded).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?;
    let lines = || workspace.read(EXCHANGES).map_or(0, |text| text.lines().count());
    while lines() < 40 && child.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    child.wait()?;
    let output = live(&workspace, &recorded)?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    Ok(())
}

/// A server that refuses with the time of its own clock beside a date, and echoes the key wherever a reply has room.
#[test]
fn a_clock_that_goes_wrong_stops_no_replay_and_no_key_hides_in_the_name_of_a_header() -> Result<()> {
    for ahead in [86_400, -86_400_i64] {
        let turns = Mutex::new(0_usize);
        let server = RawServer::start(move |request| {
            if !request.path.starts_with("/v1/") {
                return engine(request);
            }
            let turn = {
                let mut turns = turns.lock().unwrap();
                *turns += 1;
                *turns
            };
            let is_judge = request.body.to_string().contains("\"labels\"");
            let text = if is_judge { labels(request) } else { json!({ "answer": answer(request) }) };
            if turn % 5 == 1 {
                let now = jiff::Timestamp::now().as_second() + ahead;
                let echo = format!("x-ratelimit-{MODEL_KEY}: 1\r\nanthropic-ratelimit-{MODEL_KEY}-reset");
                let headers = vec![
                    ("date", http_date(now)),
                    ("retry-after", http_date(now + 1)),
                    ("x-ratelimit-remaining-requests", MODEL_KEY.to_owned()),
                    ("x-request-id", format!("{MODEL_KEY}\r\n{echo}: 1")),
                ];
                return Reply::Full(429, headers, MODEL_KEY.as_bytes().to_vec());
            }
            said(request, &text)
        })?;
        let world = World { server, faulty: Arc::new(AtomicBool::new(false)) };
        let workspace = world.workspace()?;
        let output = live(&workspace, &["run", "churngate.yaml", "--runs", "live", "--record", "rec"])?;
        assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
        let kept = workspace.read(EXCHANGES)?.to_lowercase();
        assert!(kept.contains("[\"date\",") && !kept.contains(&MODEL_KEY.to_lowercase()), "{kept}");
        let replay = workspace.churngate(&["run", "churngate.yaml", "--runs", "replayed", "--replay", "rec"])?;
        assert_eq!(code(&replay)?, code(&output)?, "{}", stderr(&replay));
        assert_eq!(figures(&folder(&workspace, "replayed")?)?, figures(&folder(&workspace, "live")?)?);
        // A recording that has no dates of the server's, as older ones have none, waits for nobody either.
        let lines = workspace.read(EXCHANGES)?;
        let kept: Vec<String> = lines.lines().map(without_date).collect();
        workspace.write("dateless/exchanges.jsonl", kept.join("\n") + "\n")?;
        let replay =
            workspace.churngate(&["run", "churngate.yaml", "--runs", "dateless-runs", "--replay", "dateless"])?;
        assert_eq!(code(&replay)?, code(&output)?, "{}", stderr(&replay));
    }
    Ok(())
}

/// A line of a recording without the header `date` of its reply.
fn without_date(line: &str) -> String {
    let Some(at) = line.find("[\"date\",") else { return line.to_owned() };
    let end = line[at..].find(']').map_or(line.len(), |end| at + end + 1);
    format!("{}{}", &line[..at], line[end..].trim_start_matches(','))
}

fn http_date(second: i64) -> String {
    let then = jiff::Timestamp::from_second(second).unwrap();
    jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&then).unwrap()
}
