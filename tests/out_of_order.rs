//! Whoever is asked and gives no answer at all, through the real binary: what is said to be done about it fits what came back, and
//! few calls are made before that.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::Result;
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, stderr};
use serde_json::{Value, json};
use std::{
    fs,
    process::Stdio,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Calls in flight, where the spec does not say otherwise.
const IN_FLIGHT: usize = 8;
/// Attempts at one unit, where they are counted.
const ATTEMPTS: usize = 4;

/// The quickstart with so many questions, this generator and this judge. No question is passed over.
fn workspace(questions: usize, generate: &str, judge: &str) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace(
            "file: questions.jsonl",
            &format!("file: questions.jsonl\n  select: {{ count: {questions}, seed: 1 }}"),
        )
        .replace("reader: {}", &format!("unchanged_evidence: sample\n  {generate}"))
        .replace("embedded: {}", judge)
    })?;
    Ok(workspace)
}

fn model(host: &str, more: &str) -> String {
    format!("openai: {{ model: m, base_url: \"{host}/v1\"{more} }}")
}

fn choice(choice: &Value) -> Vec<u8> {
    json!({ "id": "response", "model": "m-1", "choices": [choice] }).to_string().into_bytes()
}

fn said(text: &str) -> Vec<u8> {
    choice(&json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }))
}

/// What a server replies throughout, the reason that this has, whether somebody should see that it can be reached, and what else the
/// hint must speak of.
type Case = (&'static str, fn() -> Reply, bool, &'static str);

fn full(status: u16, body: impl Into<Vec<u8>>) -> Reply {
    Reply::Full(status, Vec::new(), body.into())
}

const GENERATORS: [Case; 19] = [
    ("reply-cut", || Reply::Cut(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec()), true, "to go on"),
    ("timed-out", || Reply::Hang(Duration::from_secs(20)), true, "`timeout_seconds`"),
    (
        "reply-too-large",
        || Reply::Cut(b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n".to_vec()),
        false,
        "what it sends",
    ),
    ("server-timeout", || full(408, "{}"), false, "in trouble"),
    ("conflict", || full(409, "{}"), false, "in trouble"),
    ("server-error", || full(500, "{}"), false, "in trouble"),
    ("empty-body", || full(200, ""), false, "sends nothing"),
    ("not-utf8", || full(200, b"{\"\xff\"}".to_vec()), false, "`blobs/`"),
    ("not-json", || full(200, "<html>"), false, "`blobs/`"),
    ("error-in-body", || full(200, r#"{"error":{"message":"no"}}"#), false, "`blobs/`"),
    ("no-choices", || full(200, r#"{"choices":[]}"#), false, "`blobs/`"),
    (
        "cut-by-length",
        || full(200, choice(&json!({ "finish_reason": "length", "message": { "content": "a" } }))),
        false,
        "raise `max_tokens`",
    ),
    (
        "not-finished",
        || full(200, choice(&json!({ "finish_reason": "abort", "message": { "content": "a" } }))),
        false,
        "`blobs/`",
    ),
    ("no-text", || full(200, choice(&json!({ "message": { "tool_calls": [{}] } }))), false, "tools"),
    (
        "reasoning-only",
        || full(200, choice(&json!({ "message": { "reasoning_content": "hm" } }))),
        false,
        "raise `max_tokens`",
    ),
    ("empty-content", || full(200, choice(&json!({ "message": { "content": null } }))), false, "`blobs/`"),
    ("answer-malformed", || full(200, said("The answer is 92")), false, "`structured`"),
    ("answer-empty", || full(200, said(r#"{"answer":" "}"#)), false, "`blobs/`"),
    (
        "answer-too-long",
        || full(200, said(&json!({ "answer": "x".repeat(600) }).to_string())),
        false,
        "`max_answer_bytes`",
    ),
];

const JUDGES: [Case; 6] = [
    ("server-error", || full(500, "{}"), false, "in trouble"),
    (
        "cut-by-length",
        || full(200, choice(&json!({ "finish_reason": "length", "message": { "content": "a" } }))),
        false,
        "raise `max_tokens`",
    ),
    ("judgment-not-labels", || full(200, said("They are the same")), false, "`structured`"),
    ("judgment-pair-missing", || full(200, said("{}")), false, "`structured`"),
    (
        "judgment-pair-unasked",
        || {
            full(
                200,
                said(r#"{"A-B":"same","A-C":"same","A-D":"same","B-C":"same","B-D":"same","C-D":"same","Y-Z":"same"}"#),
            )
        },
        false,
        "`structured`",
    ),
    ("judge-refused", || full(200, choice(&json!({ "message": { "refusal": "I cannot" } }))), false, "another judge"),
];

/// Nothing was answered, for this reason; what is to be done about it fits.
fn is_told(workspace: &Workspace, (reason, _, reachable, remedy): Case) -> Result<()> {
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    let said = stderr(&output);
    assert_eq!(code(&output)?, 4, "{reason}: {said}");
    assert!(said.contains(&format!("({reason} ")), "{reason}: {said}");
    let hint = said.split_once("hint: ").unwrap().1;
    assert_eq!(hint.contains("reachable"), reachable, "{reason}: {said}");
    assert!(hint.contains(remedy), "{reason}: {said}");
    Ok(())
}

#[test]
fn what_is_to_be_done_about_a_generator_follows_from_what_it_replied() -> Result<()> {
    for case in GENERATORS {
        let server = RawServer::start(move |_| (case.1)())?;
        let slow = if case.0 == "timed-out" { ", timeout_seconds: 1" } else { "" };
        is_told(&workspace(4, &format!("max_attempts: 1\n  {}", model(&server.host, slow)), "embedded: {}")?, case)?;
    }
    let nobody: Case = ("connect-failed", || full(200, ""), true, "run the same command again");
    is_told(&workspace(4, &format!("max_attempts: 1\n  {}", model("http://127.0.0.1:1", "")), "embedded: {}")?, nobody)
}

#[test]
fn what_is_to_be_done_about_a_judge_follows_from_what_it_replied() -> Result<()> {
    let answers =
        RawServer::start(|request| full(200, said(&json!({ "answer": request.number.to_string() }).to_string())))?;
    for case in JUDGES {
        let judge = RawServer::start(move |_| (case.1)())?;
        let judge = format!("max_attempts: 1\n  {}", model(&judge.host, ""));
        is_told(&workspace(12, &model(&answers.host, ""), &judge)?, case)?;
        // As few packets as never stop a judge early.
        is_told(&workspace(2, &model(&answers.host, ""), &judge)?, case)?;
    }
    Ok(())
}

#[test]
fn a_server_that_streams_unasked_is_told_at_once() -> Result<()> {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n";
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", body.len());
    let server = RawServer::start(move |_| Reply::Cut(format!("{head}{body}").into_bytes()))?;
    let output =
        workspace(4, &model(&server.host, ""), "embedded: {}")?.churngate(&["run", "--quiet", "churngate.yaml"])?;
    let said = stderr(&output);
    assert_eq!(code(&output)?, 4, "{said}");
    assert!(said.contains("the generator gave `event-stream`") && said.contains("streams unasked"), "{said}");
    assert!(server.seen().len() <= IN_FLIGHT, "{} calls", server.seen().len());
    Ok(())
}

/// The calls that it may take to know: the first attempts of as many units as are in flight and in line, and all others of ten.
const ENOUGH: usize = 2 * IN_FLIGHT + 10 * (ATTEMPTS - 1);

#[test]
fn a_generator_that_gives_no_answer_is_called_no_more_than_it_takes_to_know() -> Result<()> {
    let server = RawServer::start(|_| full(200, choice(&json!({ "finish_reason": "length", "message": {} }))))?;
    let generate = format!("max_attempts: {ATTEMPTS}\n  {}", model(&server.host, ""));
    let workspace = workspace(40, &generate, "embedded: {}")?;
    let mut before = 0;
    for _ in 0..2 {
        let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
        let told = stderr(&output);
        assert_eq!(code(&output)?, 4, "{told}");
        assert!(told.contains("the generator gave no answer at all to the first 10 cells (cut-by-length "), "{told}");
        let calls = server.seen().len() - before;
        assert!((10 * ATTEMPTS..=ENOUGH).contains(&calls), "{calls} calls");
        before += calls;
    }
    Ok(())
}

#[test]
fn a_judge_that_writes_prose_is_asked_no_more_than_it_takes_to_know() -> Result<()> {
    let answers =
        RawServer::start(|request| full(200, said(&json!({ "answer": request.number.to_string() }).to_string())))?;
    let workspace = workspace(
        40,
        &model(&answers.host, ""),
        &format!("max_attempts: {ATTEMPTS}\n  command: {{ argv: [sh, judge.sh] }}"),
    )?;
    workspace.write("judge.sh", "cat > /dev/null; echo They are the same.\n")?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    let told = stderr(&output);
    assert_eq!(code(&output)?, 4, "{told}");
    assert!(told.contains("the judge gave no judgment at all of the first 10 packets (judgment-not-labels "), "{told}");
    let judgments = fs::read_to_string(workspace.run_folder()?.join("judgments.jsonl"))?;
    let outcomes = judgments.lines().filter(|line| line.contains("judgment-not-labels")).count();
    assert!((10 * ATTEMPTS..=ENOUGH).contains(&outcomes), "{outcomes} attempts");
    Ok(())
}

#[test]
fn a_server_that_is_well_gets_all_its_calls_at_once_and_the_line_before_them_is_full() -> Result<()> {
    let open = Arc::new((Mutex::new(false), Condvar::new()));
    let gate = Arc::clone(&open);
    let late = Arc::new(AtomicBool::new(false));
    let was_late = Arc::clone(&late);
    let server = RawServer::start(move |request: &Request| {
        let (is_open, opened) = &*gate;
        let waited =
            opened.wait_timeout_while(is_open.lock().unwrap(), Duration::from_mins(1), |open| !*open).unwrap().1;
        was_late.fetch_or(waited.timed_out(), Ordering::SeqCst);
        full(200, said(&json!({ "answer": request.number.to_string() }).to_string()))
    })?;
    let workspace = workspace(20, &model(&server.host, ""), "embedded: {}")?;
    let mut command = workspace.command();
    let mut child =
        command.args(["run", "--quiet", "churngate.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let attempts = || -> Option<usize> {
        let text = fs::read_to_string(workspace.run_folder().ok()?.join("answers.jsonl")).ok()?;
        Some(text.lines().filter(|line| line.contains("\"type\":\"attempt\"")).count())
    };
    let (started, wanted) = (Instant::now(), (IN_FLIGHT, Some(2 * IN_FLIGHT)));
    while (server.seen().len(), attempts()) != wanted && started.elapsed() < Duration::from_secs(50) {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((server.seen().len(), attempts()), wanted, "no call was answered yet");
    *open.0.lock().unwrap() = true;
    open.1.notify_all();
    let ended = child.wait()?;
    assert!(matches!(ended.code(), Some(0 | 1)) && !late.load(Ordering::SeqCst), "{ended}");
    Ok(())
}

/// A server that never gives an answer to these questions, by the order in which it first hears of them, and fails from this call on.
fn deaf_to(bad: std::ops::Range<usize>, reply: fn() -> Reply) -> Result<(RawServer, Arc<AtomicBool>)> {
    let known = Mutex::new(Vec::<String>::new());
    let deaf = Arc::new(AtomicBool::new(false));
    let all = Arc::clone(&deaf);
    let server = RawServer::start(move |request: &Request| {
        let prompt = request.body.to_string();
        let question = prompt.rsplit("Question:").next().unwrap().to_owned();
        let mut known = known.lock().unwrap();
        let place = known.iter().position(|one| *one == question).unwrap_or_else(|| {
            known.push(question);
            known.len() - 1
        });
        if bad.contains(&place) || all.load(Ordering::SeqCst) { reply() } else { full(200, said(r#"{"answer":"a"}"#)) }
    })?;
    Ok((server, deaf))
}

#[test]
fn a_few_questions_that_never_get_an_answer_hold_up_no_others_wherever_they_stand() -> Result<()> {
    let replies: [fn() -> Reply; 3] = [|| full(500, "{}"), || full(200, ""), || full(200, said("no JSON"))];
    for (at, (bad, repeats, at_once)) in
        [(0..1, 8, 8), (0..1, 5, 1), (0..3, 2, 1), (0..1, 11, 2), (5..8, 2, 8)].into_iter().enumerate()
    {
        let (server, _) = deaf_to(bad.clone(), replies[at % replies.len()])?;
        let generate = format!("max_attempts: 1\n  concurrency: {at_once}\n  {}", model(&server.host, ""));
        let workspace = workspace(20, &generate, "embedded: {}")?;
        workspace.edit("churngate.yaml", |spec| {
            spec.replace("repeats: 2", &format!("repeats: {repeats}")) + "\ntolerance: { invalid_cells: 25pp }\n"
        })?;
        let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
        assert!(matches!(code(&output)?, 0 | 1 | 3), "{bad:?} {repeats} {at_once}: {}", stderr(&output));
        assert_eq!(server.seen().len(), 20 * 2 * repeats, "each cell was asked once");
    }
    Ok(())
}

#[test]
fn an_audit_that_ended_early_is_finished_though_some_questions_never_get_an_answer() -> Result<()> {
    // The first ten give nothing, and the audit stops; the next run begins with the others.
    let (server, deaf) = deaf_to(0..10, || full(500, "{}"))?;
    let generate = format!("max_attempts: 1\n  concurrency: 1\n  {}", model(&server.host, ""));
    let workspace = workspace(40, &generate, "embedded: {}")?;
    workspace.edit("churngate.yaml", |spec| spec + "\ntolerance: { invalid_cells: 25pp }\n")?;
    let run = || workspace.churngate(&["run", "--quiet", "churngate.yaml"]);
    let output = run()?;
    assert_eq!((code(&output)?, server.seen().len()), (4, 10), "{}", stderr(&output));
    // Nobody answers meanwhile: few calls are made, and nothing is given up for good.
    deaf.store(true, Ordering::SeqCst);
    let output = run()?;
    assert_eq!((code(&output)?, server.seen().len()), (4, 20), "{}", stderr(&output));
    deaf.store(false, Ordering::SeqCst);
    let output = run()?;
    assert!(matches!(code(&output)?, 0 | 1 | 3), "{}", stderr(&output));
    assert_eq!(server.seen().len(), 20 + 40 * 4, "each cell that is left was asked once");
    Ok(())
}
