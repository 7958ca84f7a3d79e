//! Which document flipped an answer: `churngate explain` through the real binary, with the embedded reader and with a model behind a
//! local server.

mod harness;

use anyhow::{Context as _, Result};
use harness::raw::{RawServer, Reply};
use harness::server::Server;
use harness::{Workspace, code, stderr, stdout};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const KEY: &str = "sk-explain-31415926";
/// Evidences of `flipped`: two bases; one document left, one came, one was edited, each undone and made.
const EVIDENCES: u64 = 8;
const REPEATS: u64 = 2;

fn document(id: &str, text: &str) -> Value {
    json!({ "id": id, "text": text })
}

/// A text that a terminal or a runner would obey.
const HOSTILE: &str = "::error::x\n\u{1b}[31m##[group]\u{202e}<!-- -->";

/// Four questions: the first flips because of `b`, the second has one evidence throughout, the third has hostile texts, and in the
/// fourth two documents must go together.
fn evidence(new: bool) -> String {
    let about = document("a", "Everything about widgets.");
    let code = |id: &str| document(id, "The widget code is 42.");
    let old = [
        vec![about.clone(), code("b"), document("c", "Widgets come in red.")],
        vec![about.clone()],
        vec![code(HOSTILE), about.clone()],
        vec![code("f"), document("g", "The widget code is 42 again."), about.clone()],
    ];
    let changed = [
        vec![about.clone(), document("d", "The widget code was retired."), document("c", "Widgets come in blue.")],
        vec![about.clone()],
        vec![about.clone(), document("e", HOSTILE)],
        vec![document("h", "No code."), about],
    ];
    let line = |(number, documents): (usize, Vec<Value>)| {
        json!({ "id": format!("q{number}"), "documents": documents }).to_string() + "\n"
    };
    (if new { changed } else { old }).into_iter().enumerate().map(line).collect()
}

fn workspace(generator: &str, more: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    workspace.write("old.jsonl", evidence(false))?;
    workspace.write("new.jsonl", evidence(true))?;
    workspace.write("questions.jsonl", harness::questions_file(vec!["What is the widget code?"; 4]))?;
    let spec = format!(
        "version: 1\nname: explained\nquestions: {{ file: questions.jsonl }}\n\
         snapshots: {{ old: {{ path: old.jsonl }}, new: {{ path: new.jsonl }} }}\n\
         retrieve: {{ file: {{}} }}\ngenerate:\n  {generator}\n  repeats: {REPEATS}\njudge: {{ embedded: {{}} }}\n{more}"
    );
    workspace.write("churngate.yaml", spec)?;
    Ok(workspace)
}

/// What the model says: it knows nothing but what stands in the prompt.
fn answer(body: &Value) -> String {
    let prompt = body["messages"].to_string();
    if prompt.contains("code is 42") { "42".to_owned() } else { format!("retired {}", HOSTILE.replace('\n', " ")) }
}

fn by_a_model(base_url: &str) -> String {
    format!("openai: {{ model: m, base_url: \"{base_url}\", structured: plain, key_env: EXPLAIN_KEY }}")
}

fn churngate(workspace: &Workspace, arguments: &[&str]) -> Result<Output> {
    Ok(with_key(workspace).args(arguments).output()?)
}

fn with_key(workspace: &Workspace) -> Command {
    let mut command = workspace.command();
    command.env("EXPLAIN_KEY", KEY);
    command
}

/// Runs the audit; the path of its folder.
fn run(workspace: &Workspace) -> Result<String> {
    let output = churngate(workspace, &["run", "--quiet", "churngate.yaml"])?;
    anyhow::ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    Ok(workspace.run_folder()?.display().to_string())
}

/// An audit by a model, finished.
fn audited() -> Result<(Server, Workspace, String)> {
    let server = Server::start(Duration::ZERO, Box::new(answer))?;
    let workspace = workspace(&by_a_model(&server.base_url), "")?;
    let run = run(&workspace)?;
    Ok((server, workspace, run))
}

/// Every file below a folder with its bytes, but those of explanations.
fn files(folder: &Path, of: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name == "explain") {
            continue;
        }
        if path.is_dir() {
            files(&path, of)?;
        } else {
            of.insert(path.clone(), fs::read(&path)?);
        }
    }
    Ok(())
}

fn all(folder: &str) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut of = BTreeMap::new();
    files(Path::new(folder), &mut of)?;
    Ok(of)
}

/// The ledger of the only explanation of a run.
fn ledger(run: &str) -> Result<PathBuf> {
    let mut folders = fs::read_dir(Path::new(run).join("explain"))?.collect::<std::io::Result<Vec<_>>>()?;
    anyhow::ensure!(folders.len() == 1, "{} explanations", folders.len());
    Ok(folders.remove(0).path().join("counterfactuals.jsonl"))
}

/// Standard output on one line.
fn words(output: &Output) -> String {
    stdout(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn explained(workspace: &Workspace, run: &str, more: &[&str]) -> Result<Value> {
    let output = churngate(workspace, &[&["explain", run, "q0", "--format", "json"], more].concat())?;
    anyhow::ensure!(code(&output)? == 0, "{}", stderr(&output));
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[test]
fn a_plan_is_shown_and_nobody_is_called_before_it_is_asked_for() -> Result<()> {
    let (server, workspace, run) = audited()?;
    let (calls, before) = (server.count(), all(&run)?);
    let output = workspace.command().env_remove("EXPLAIN_KEY").args(["explain", &run, "q0"]).output()?;
    let said = stdout(&output);
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert_eq!(server.count(), calls, "nobody was called");
    assert!(!Path::new(&run).join("explain").exists() && all(&run)? == before, "nothing was written");
    let asks =
        format!("asks: model `m` at {}, with the key in `EXPLAIN_KEY`; 16 calls before retries", server.base_url);
    let words = words(&output);
    for wanted in
        ["8 evidences, each asked 2 times: 16 answers, of which 0 are on record", &asks, "these take about 192 tokens"]
    {
        assert!(words.contains(wanted), "{wanted}: {said}");
    }
    assert!(
        stderr(&output).contains("nothing was asked: `--ask` asks for what is not on record"),
        "{}",
        stderr(&output)
    );
    let output = workspace.command().env_remove("EXPLAIN_KEY").args(["explain", &run, "q0", "--ask"]).output()?;
    assert_eq!(code(&output)?, 2);
    assert!(stderr(&output).contains("`EXPLAIN_KEY` is not set"), "{}", stderr(&output));
    Ok(())
}

#[test]
fn the_document_that_moved_the_answer_is_named_and_each_answer_is_asked_for_once() -> Result<()> {
    let (server, workspace, run) = audited()?;
    let (calls, before) = (server.count(), all(&run)?);
    let output = churngate(&workspace, &["explain", &run, "q0", "--ask", "--quiet"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert_eq!(server.count(), calls + EVIDENCES * REPEATS);
    insta::assert_snapshot!("explanation", stdout(&output));
    let again = churngate(&workspace, &["explain", &run, "q0", "--ask", "--quiet"])?;
    assert_eq!((code(&again)?, stdout(&again)), (0, stdout(&output)));
    assert_eq!(server.count(), calls + EVIDENCES * REPEATS, "nothing is asked twice");
    assert_eq!(all(&run)?, before, "the run's own files are as they were");
    let told = explained(&workspace, &run, &[])?;
    assert_eq!(told["findings"][0]["changes"]["decide"], json!([0]));
    assert_eq!(told["changes"][0]["id"], "b");
    assert_eq!(told["calls"]["left"], 0);
    // What was sent is the frozen prompt with other evidence: each prompt as often as there are repeats.
    let prompts: BTreeSet<String> =
        server.seen()[usize::try_from(calls)?..].iter().map(|seen| seen.body["messages"].to_string()).collect();
    assert_eq!(prompts.len() as u64, EVIDENCES);
    Ok(())
}

#[test]
fn documents_that_act_together_are_told_so_and_one_that_suffices_is_not_called_the_cause() -> Result<()> {
    let (_server, workspace, run) = audited()?;
    let output = churngate(&workspace, &["explain", &run, "q3", "--ask", "--quiet"])?;
    let said = words(&output);
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    // Either document alone brings the old answer back, and neither's loss alone takes it away.
    for id in ["f", "g"] {
        let wanted = format!(
            "Putting back `{id}` alone brings the old answer back in 2 of 2 repeats; taking `{id}` alone out of the old evidence gives the new answer in 0 of 2"
        );
        assert!(said.contains(&wanted), "{said}");
    }
    assert!(!said.contains("this change moves the answer"), "{said}");
    Ok(())
}

#[test]
fn everything_else_about_the_run_stays_as_it_was() -> Result<()> {
    let (_server, workspace, run) = audited()?;
    let commands: [&[&str]; 6] = [
        &["verify", &run],
        &["verify", "--claims", &run],
        &["report", &run, "--format", "json"],
        &["report", &run, "--format", "markdown"],
        &["publish", &run],
        &["publish", &run, "--artifact"],
    ];
    let said = |command: &[&str]| -> Result<(i32, String)> {
        let output = churngate(&workspace, command)?;
        Ok((code(&output)?, stdout(&output)))
    };
    let before = commands.iter().map(|command| said(command)).collect::<Result<Vec<_>>>()?;
    assert!(before.iter().all(|(code, _)| *code == 0), "{before:?}");
    let exported = said(&["export", &run, "--output", "before"])?;
    let asked = churngate(&workspace, &["explain", &run, "q0", "--ask", "--quiet"])?;
    assert_eq!(code(&asked)?, 0, "{}", stderr(&asked));
    assert_eq!(commands.iter().map(|command| said(command)).collect::<Result<Vec<_>>>()?, before);
    assert_eq!(said(&["export", &run, "--output", "after"])?.0, exported.0);
    let listed = |name: &str| -> Result<BTreeSet<_>> {
        Ok(fs::read_dir(workspace.path(name))?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<std::io::Result<_>>()?)
    };
    assert_eq!(listed("after")?, listed("before")?, "no explanation is exported");
    // The run is finished: run again it asks nothing and comes to the same result.
    let result = fs::read(Path::new(&run).join("result.json"))?;
    self::run(&workspace)?;
    assert_eq!(fs::read(Path::new(&run).join("result.json"))?, result);
    // What an artifact brings is looked at in explanations as well.
    fs::write(ledger(&run)?.with_file_name("evil.sh"), "x")?;
    let output = churngate(&workspace, &["publish", &run, "--artifact"])?;
    assert_eq!(code(&output)?, 5);
    assert!(stderr(&output).contains("is nothing that an explanation has"), "{}", stderr(&output));
    Ok(())
}

#[test]
fn a_run_that_was_merged_of_shards_is_explained_and_merged_as_before() -> Result<()> {
    let workspace = workspace("reader: {}", "")?;
    let mut shards = Vec::new();
    for part in ["1/2", "2/2"] {
        let output = workspace.churngate(&["run", "--quiet", "--folder-file=folder", "--shard", part])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        shards.push(workspace.read("folder")?);
    }
    let refused = workspace.churngate(&["explain", &shards[0], "q0"])?;
    assert_eq!(code(&refused)?, 2);
    assert!(stderr(&refused).contains("join all shards with `churngate merge`"), "{}", stderr(&refused));
    let merge = ["merge", "--folder-file=folder", &shards[0], &shards[1]];
    let merged = workspace.churngate(&merge)?;
    assert!([0, 1].contains(&code(&merged)?), "{}", stderr(&merged));
    let explained = workspace.churngate(&["explain", &workspace.read("folder")?, "q0"])?;
    assert_eq!(code(&explained)?, 0, "{}", stderr(&explained));
    let again = workspace.churngate(&merge)?;
    assert_eq!((code(&again)?, stdout(&again)), (code(&merged)?, stdout(&merged)));
    Ok(())
}

#[test]
fn the_embedded_reader_costs_nothing_and_answers_at_once() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.churngate(&["run", "--quiet"])?;
    let run = workspace.run_folder()?.display().to_string();
    let before = all(&run)?;
    let result: Value = serde_json::from_slice(&fs::read(Path::new(&run).join("result.json"))?)?;
    // The page shows what this says.
    let page = fs::read_to_string(harness::root().join("docs/explain.md"))?;
    let (_, shown) = page.split_once("```text\n").context("no block of text")?;
    let (shown, _) = shown.split_once("```").context("the block does not end")?;
    let example = workspace.churngate(&["explain", &run, "api.console.time/safari_ios"])?;
    assert!(stdout(&example).contains(shown), "{}", stdout(&example));
    let flips = result["flips"].as_array().context("no flips")?;
    for flip in flips.iter().take(3) {
        let id = flip["question"].as_str().context("no id")?;
        let output = workspace.churngate(&["explain", &run, id])?;
        let said = stdout(&output);
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        for wanted in ["exact", "semantic", "means old", id, "docs/judge.md"] {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        assert!(!said.contains("plan:"), "{said}");
        assert_eq!(stdout(&workspace.churngate(&["explain", &run, id])?), said, "the same answers each time");
        // Fewer changes ask for no more than is there already.
        let fewer = workspace.churngate(&["explain", &run, id, "--changes", "1"])?;
        assert!(words(&fewer).contains("nothing is said of that"), "{}", stdout(&fewer));
    }
    assert_eq!(all(&run)?, before);
    Ok(())
}

#[test]
fn what_a_kill_leaves_is_gone_on_with() -> Result<()> {
    let server = Server::start(Duration::from_millis(250), Box::new(answer))?;
    let workspace = workspace(&by_a_model(&server.base_url), "")?;
    let run = run(&workspace)?;
    let calls = server.count();
    let arguments = ["explain", &run, "q0", "--ask", "--quiet", "--tasks", "1"];
    for more in [3, 5] {
        let mut child = with_key(&workspace).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let target = server.count() + more;
        while server.count() < target && child.try_wait()?.is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill()?;
        child.wait()?;
    }
    // What is there is told without asking, whatever the kill left in the journal.
    let (count, told) = (server.count(), explained(&workspace, &run, &[])?);
    assert_eq!(server.count(), count);
    let left = told["calls"]["left"].as_u64().context("no number")?;
    assert!(left > 0 && left < EVIDENCES * REPEATS, "{left}");
    let output = churngate(&workspace, &arguments)?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    let (mut attempts, mut accepted) = (0, BTreeSet::new());
    for line in fs::read_to_string(ledger(&run)?)?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let cell = record["of"].to_string();
        if record["type"] == "attempt" {
            assert!(!accepted.contains(&cell), "{cell} was asked for again after it was accepted");
            attempts += 1;
        } else if record["verdict"].get("accepted").is_some() {
            assert!(accepted.insert(cell), "accepted twice");
        }
    }
    assert_eq!(accepted.len() as u64, EVIDENCES * REPEATS);
    let made = server.count() - calls;
    // Each kill costs the call in flight, and the one before it where what that came to was not on the disk yet: each call takes far
    // longer than a record.
    assert!(made <= attempts && made <= EVIDENCES * REPEATS + 4, "{made} calls, {attempts} attempts on record");
    assert_eq!(explained(&workspace, &run, &[])?["findings"][0]["changes"]["decide"], json!([0]));
    Ok(())
}

#[test]
fn calls_are_capped_and_the_rest_is_asked_for_later() -> Result<()> {
    let (server, workspace, run) = audited()?;
    let calls = server.count();
    let output = churngate(&workspace, &["explain", &run, "q0", "--ask", "--calls", "5"])?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert_eq!(server.count(), calls + 5);
    let said = stderr(&output);
    assert!(
        said.contains("the budget of calls is used up") && said.contains("hint: run the same command again"),
        "{said}"
    );
    assert!(said.contains("plan: 8 evidences") && said.contains("with the key in `EXPLAIN_KEY`"), "{said}");
    assert!(stdout(&output).contains("of which 5 are on record"), "what is there is told: {}", stdout(&output));
    let output = churngate(&workspace, &["explain", &run, "q0", "--ask", "--calls", "11"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert_eq!(server.count(), calls + EVIDENCES * REPEATS);
    // The first change alone, then all of them, ask for no evidence twice.
    let calls = server.count();
    for (changes, evidences) in [("1", 4), ("20", EVIDENCES)] {
        let output = churngate(&workspace, &["explain", &run, "q3", "--ask", "--quiet", "--changes", changes])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        assert_eq!(server.count(), calls + evidences * REPEATS);
    }
    Ok(())
}

#[test]
fn a_key_that_is_refused_ends_it_and_what_is_there_is_told() -> Result<()> {
    let closed = Arc::new(AtomicBool::new(false));
    let shut = Arc::clone(&closed);
    let server = RawServer::start(move |request| {
        if shut.load(Ordering::SeqCst) {
            return Reply::json(401, &json!({ "error": { "message": format!("no such key: {KEY}") } }));
        }
        let message = json!({ "role": "assistant", "content": format!("{} {KEY}", answer(&request.body)) });
        let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
        Reply::json(200, &json!({ "id": format!("id-{:030}", request.number), "model": "m-1", "choices": [choice] }))
    })?;
    let workspace = workspace(&by_a_model(&format!("{}/v1", server.host)), "")?;
    let run = run(&workspace)?;
    closed.store(true, Ordering::SeqCst);
    let output = churngate(&workspace, &["explain", &run, "q0", "--ask", "--tasks", "1"])?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    closed.store(false, Ordering::SeqCst);
    let told = churngate(&workspace, &["explain", &run, "q0", "--ask"])?;
    assert_eq!(code(&told)?, 0, "{}", stderr(&told));
    for output in [&output, &told] {
        assert!(!stdout(output).contains(KEY) && !stderr(output).contains(KEY), "the key was printed");
    }
    let explanation = ledger(&run)?.parent().context("no folder")?.to_owned();
    let mut kept = all(&run)?;
    files(&explanation, &mut kept)?;
    assert!(kept.len() > 20, "{}", kept.len());
    for (path, bytes) in kept {
        assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "the key stands in {}", path.display());
    }
    Ok(())
}

#[test]
fn the_same_evidence_asks_nothing() -> Result<()> {
    for more in ["", "  unchanged_evidence: sample\n"] {
        let server = Server::start(Duration::ZERO, Box::new(answer))?;
        let workspace = workspace(&by_a_model(&server.base_url), "")?;
        workspace.edit("churngate.yaml", |spec| spec.replace("  repeats", &format!("{more}  repeats")))?;
        let run = run(&workspace)?;
        let calls = server.count();
        let output = churngate(&workspace, &["explain", &run, "q1", "--ask"])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        assert!(stdout(&output).contains("The evidence is byte-identical in both snapshots"), "{}", stdout(&output));
        assert!(words(&output).contains("no document can have moved"), "{}", stdout(&output));
        assert_eq!(server.count(), calls);
        assert!(!Path::new(&run).join("explain").exists());
    }
    Ok(())
}

#[test]
fn hostile_texts_reach_no_terminal_raw_and_are_left_out_where_they_must_not_be_shown() -> Result<()> {
    let (_server, workspace, run) = audited()?;
    let output = churngate(&workspace, &["explain", &run, "q2", "--ask"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    for text in [stdout(&output), stderr(&output)] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("##["), "{text}");
        assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
    }
    assert!(words(&output).contains("brings the old answer back in 2 of 2 repeats"), "{}", stdout(&output));
    let json = churngate(&workspace, &["explain", &run, "q2", "--format", "json"])?;
    let told: Value = serde_json::from_slice(&json.stdout)?;
    assert_eq!(told["changes"][0]["id"], HOSTILE);
    for (disclosure, question) in [("questions", true), ("ids", false)] {
        for format in ["text", "json"] {
            let arguments = ["explain", &run, "q0", "--ask", "--quiet", "--disclosure", disclosure, "--format", format];
            let said = stdout(&churngate(&workspace, &arguments)?);
            assert!(!said.contains("retired") && !said.contains("code is 42"), "{said}");
            assert_eq!(said.contains("What is the widget code?"), question, "{said}");
            assert!(said.contains("(not shown)"), "{said}");
        }
    }
    Ok(())
}

#[test]
fn what_cannot_be_explained_is_refused_with_what_to_do() -> Result<()> {
    let (server, workspace, run) = audited()?;
    let calls = server.count();
    workspace.churngate(&["export", &run, "--output", "copy"])?;
    let unfinished = workspace.path("unfinished");
    fs::create_dir(&unfinished)?;
    fs::copy(Path::new(&run).join("protocol.lock.json"), unfinished.join("protocol.lock.json"))?;
    let spec = workspace.read("churngate.yaml")?;
    let (of_retrieval, _) = spec.split_once("generate:").context("no generator")?;
    workspace.write("evidence.yaml", format!("{of_retrieval}mode: evidence\n"))?;
    let of_evidence =
        workspace.churngate(&["run", "--quiet", "--runs=alone", "--folder-file=alone-folder", "evidence.yaml"])?;
    assert_eq!(code(&of_evidence)?, 0, "{}", stderr(&of_evidence));
    let alone = workspace.read("alone-folder")?;
    for (folder, id, wanted) in [
        (run.as_str(), "q9", "the run has no question `q9`, but 4 others"),
        (&run, "q00", "did you mean `q0`"),
        (&run, "something else", "the report names the id of each question that flipped"),
        ("nowhere", "q0", "`nowhere` is not a run folder"),
        ("copy", "q0", "is an export: the texts of evidence and answers are left out"),
        ("unfinished", "q0", "is not finished"),
        (&alone, "q0", "is a run of `mode: evidence`"),
    ] {
        let output = churngate(&workspace, &["explain", folder, id, "--ask"])?;
        assert_eq!(code(&output)?, 2, "{folder} {id}: {}", stderr(&output));
        assert!(stderr(&output).contains(wanted), "{wanted}: {}", stderr(&output));
        assert!(stderr(&output).contains("hint: "), "{}", stderr(&output));
    }
    assert_eq!(server.count(), calls);
    Ok(())
}

#[test]
fn a_black_box_has_no_evidence_of_ours_to_change() -> Result<()> {
    let server = RawServer::start(|request| {
        let answer = if request.path.ends_with("two") { "99" } else { "42" };
        Reply::json(
            200,
            &json!({ "text": answer, "chatMessageId": format!("message-{:030}", request.number), "chatId": "c" }),
        )
    })?;
    let workspace = workspace("reader: {}", "")?;
    let spec = format!(
        "version: 1\nname: flows\nquestions: {{ file: questions.jsonl }}\nsnapshots: {{ old: {{ flow: one }}, new: {{ flow: two }} }}\n\
         answer: {{ preset: flowise, base_url: '{}', key_env: EXPLAIN_KEY }}\njudge: {{ embedded: {{}} }}\n",
        server.host
    );
    workspace.write("churngate.yaml", spec)?;
    let run = run(&workspace)?;
    let output = churngate(&workspace, &["explain", &run, "q0", "--ask"])?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("retrieves by itself"), "{}", stderr(&output));
    Ok(())
}

#[test]
fn damage_is_told_from_everything_else() -> Result<()> {
    let (server, workspace, run) = audited()?;
    let asked = churngate(&workspace, &["explain", &run, "q0", "--ask", "--quiet"])?;
    assert_eq!(code(&asked)?, 0, "{}", stderr(&asked));
    let calls = server.count();
    let plan = ledger(&run)?.with_file_name("protocol.lock.json");
    let evidence = ledger(&run)?.with_file_name("evidence.jsonl");
    for path in [
        ledger(&run)?,
        evidence,
        plan,
        Path::new(&run).join("answers.jsonl"),
        Path::new(&run).join("protocol.lock.json"),
    ] {
        let whole = fs::read(&path)?;
        let mut damaged = whole.clone();
        let place = damaged.len() / 2;
        damaged[place] = if damaged[place] == b'0' { b'1' } else { b'0' };
        fs::write(&path, &damaged)?;
        for more in [&[][..], &["--ask"]] {
            let output = churngate(&workspace, &[&["explain", &run, "q0"], more].concat())?;
            assert_eq!(code(&output)?, 5, "{}: {}", path.display(), stderr(&output));
            let of_explanation = path.components().any(|part| part.as_os_str() == "explain");
            let said = stderr(&output);
            assert_eq!(
                said.contains("hint: restore the folder `") && said.contains("/explain/"),
                of_explanation,
                "{said}"
            );
        }
        fs::write(&path, &whole)?;
    }
    assert_eq!(server.count(), calls);
    let output = churngate(&workspace, &["explain", &run, "q0"])?;
    assert_eq!((code(&output)?, stdout(&output)), (0, stdout(&asked)));
    Ok(())
}

/// A program answers, too; one that is not there is told before anything is written.
#[cfg(unix)]
#[test]
fn a_program_is_named_before_it_is_started() -> Result<()> {
    let program = "if grep -q 'code is 42'; then echo 42; else echo 99; fi";
    let workspace = workspace(&format!("command: {{ argv: [/bin/sh, -c, \"{program}\"] }}"), "")?;
    let run = run(&workspace)?;
    let output = workspace.churngate(&["explain", &run, "q0"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert!(words(&output).contains("asks: the program `/bin/sh -c if grep"), "{}", stdout(&output));
    assert!(!Path::new(&run).join("explain").exists());
    let output = workspace.churngate(&["explain", &run, "q0", "--ask"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert!(words(&output).contains("this change moves the answer"), "{}", stdout(&output));
    Ok(())
}
