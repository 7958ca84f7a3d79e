//! Questions as vectors through the real binary: planned, paid for out of the budget, recorded call by call, held against
//! the indexes, and one embedder throughout.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::{Context as _, Result};
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, independent_check, questions_file, stderr, stdout};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};

/// Two batches of questions.
const QUESTIONS: usize = 40;
/// The reference text at both ends, two batches, and a few stored documents of each snapshot.
const CALLS: u64 = 6;

/// What the embedded reader answers: every question from old and new twice.
const CELLS: u64 = 160;

/// What the embeddings server does from now on.
#[derive(Clone)]
struct Does {
    /// Which embedder it is.
    embedder: u64,
    /// Whether it counts tokens: seven for every text.
    counts: bool,
    /// The calls that it answers with 503 before it goes on.
    refuses: usize,
}

/// A vector of three numbers that follows from the text and from which embedder it is.
fn embedded(embedder: u64, text: &str) -> Vec<f64> {
    let digest = churngate::model::Digest::of(format!("{embedder}{text}").as_bytes()).to_string();
    digest.as_bytes()[..12].chunks(4).map(|four| four.iter().map(|b| f64::from(*b)).sum::<f64>() - 280.0).collect()
}

/// An engine with two indexes, `old` and `new`, by embedder 1, that shows stored documents unless it is told not to; and an
/// embeddings server.
fn server(shows: bool) -> Result<(RawServer, Arc<Mutex<Does>>)> {
    let does = Arc::new(Mutex::new(Does { embedder: 1, counts: true, refuses: 0 }));
    let now = Arc::clone(&does);
    let server = RawServer::start(move |request| {
        if !request.path.ends_with("/embeddings") {
            // What is stored is the same in both, so that both are as alike to any embedder.
            let index = request.path.strip_suffix("/search").unwrap_or_default().to_owned();
            let text = |id: u64| format!("{index} document {id}");
            let point = |id: u64| json!({"id": id.to_string(), "text": text(id), "vector": embedded(1, &text(id))});
            let points = if shows || request.path.ends_with("/search") { vec![point(1), point(2)] } else { Vec::new() };
            return Reply::json(200, &json!({ "points": points }));
        }
        let mut does = now.lock().unwrap();
        if does.refuses > 0 {
            does.refuses -= 1;
            return Reply::json(503, &json!({"error": "busy"}));
        }
        let texts = request.body["input"].as_array().unwrap();
        let entry = |text: &Value| json!({"embedding": embedded(does.embedder, text.as_str().unwrap())});
        let mut reply = json!({"model": "e-1", "data": texts.iter().map(entry).collect::<Vec<_>>()});
        if does.counts {
            reply["usage"] = json!({"prompt_tokens": 7 * texts.len(), "total_tokens": 7 * texts.len()});
        }
        Reply::json(200, &reply)
    })?;
    Ok((server, does))
}

fn workspace(server: &RawServer, embed: &str, more: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let host = &server.host;
    workspace.write(
        "churngate.yaml",
        format!(
            "version: 1\nname: vectors\nquestions: {{ file: q.jsonl }}\n\
             snapshots: {{ old: {{ index: old }}, new: {{ index: new }} }}\n\
             retrieve:\n  http:\n    url: \"{host}/{{index}}/search\"\n    body: {{ v: \"{{{{vector}}}}\" }}\n    items: /points\n    \
             sample: {{ url: \"{host}/{{index}}/stored\", body: {{}}, items: /points, vector: /vector }}\n  \
             embed: {{ openai: {{ model: e, base_url: \"{host}/v1\"{embed} }} }}\n\
             generate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n{more}"
        ),
    )?;
    workspace.write("q.jsonl", questions_file((0..QUESTIONS).map(|number| format!("What is document {number}?"))))?;
    Ok(workspace)
}

fn run(workspace: &Workspace, more: &[&str]) -> Result<Output> {
    workspace.churngate(&[&["run", "--quiet", "--folder-file=folder"], more, &["churngate.yaml"]].concat())
}

fn finished(workspace: &Workspace, more: &[&str]) -> Result<PathBuf> {
    let output = run(workspace, more)?;
    assert!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    Ok(PathBuf::from(workspace.read("folder")?))
}

fn on(workspace: &Workspace, command: &str, folder: &Path) -> Result<Output> {
    workspace.churngate(&[command, folder.to_str().context("a path that is no text")?])
}

fn result(folder: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(folder.join("result.json"))?)?)
}

fn records(folder: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(folder.join("vectors.jsonl"))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn embeddings(server: &RawServer) -> usize {
    server.seen().iter().filter(|request| request.path.ends_with("/embeddings")).count()
}

#[test]
fn every_call_is_planned_recorded_and_told_in_the_result() -> Result<()> {
    let (server, does) = server(true)?;
    does.lock().unwrap().refuses = 1;
    let workspace = workspace(&server, ", price: { input: 2 }", "")?;
    let planned = workspace.churngate(&["check", "churngate.yaml"])?;
    let said = stdout(&planned);
    assert!(
        said.contains(&format!("questions as vectors: at most {CALLS} of these calls, 58 texts, up to ")),
        "{said}"
    );
    assert!(said.contains(&format!("{CALLS} external calls before retries")), "{said}");
    assert_eq!(embeddings(&server), 0, "a plan spends nothing");

    let folder = finished(&workspace, &[])?;
    // The reference text twice, 40 questions, two stored documents of each snapshot: 46 texts of seven tokens.
    let record = result(&folder)?["record"].clone();
    assert_eq!(record["attempts"], json!(CALLS + 1 + CELLS));
    assert_eq!(record["retries"], json!([["server-error", 1]]));
    assert_eq!((&record["tokens"], &record["nano_usd"]), (&json!([46 * 7, 0]), &json!(46 * 7 * 2_000)));
    let models = result(&folder)?["validity"]["served_models"].clone();
    assert!(models.as_array().context("no list")?.contains(&json!(["embedder", ["e-1"]])), "{models}");

    let of = |kind: &str| records(&folder).map(|all| all.into_iter().filter(|one| one["type"] == kind).count());
    assert_eq!((of("attempt")?, of("outcome")?, of("note")?), (7, 7, 2));
    let verified = on(&workspace, "verify", &folder)?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    assert!(stdout(&verified).contains("all by one embedder"), "{}", stdout(&verified));
    independent_check(std::slice::from_ref(&folder));

    // A rerun of what is sealed pays for nothing.
    let before = embeddings(&server);
    finished(&workspace, &[])?;
    assert_eq!(embeddings(&server), before);
    Ok(())
}

#[test]
fn an_export_recomputes_what_was_paid_and_says_what_it_cannot_check() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, "", "")?;
    let folder = finished(&workspace, &[])?;
    let exported = on(&workspace, "export", &folder)?;
    assert_eq!(code(&exported)?, 0, "{}", stderr(&exported));
    let copy = PathBuf::from(format!("{}-export", folder.display()));
    let verified = on(&workspace, "verify", &copy)?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    assert!(stdout(&verified).contains("--  vectors: left out"), "{}", stdout(&verified));
    assert_eq!(result(&copy)?["record"], result(&folder)?["record"]);
    independent_check(&[copy]);
    Ok(())
}

#[test]
fn budgets_of_calls_tokens_and_money_hold_for_embedding() -> Result<()> {
    for (budget, key) in
        [("calls: 5", "`budget.calls`"), ("tokens: 50", "`budget.tokens`"), ("usd: 0.001", "`budget.usd`")]
    {
        let (server, _) = server(true)?;
        let workspace = workspace(&server, ", price: { input: 2 }", &format!("budget: {{ {budget} }}\n"))?;
        let output = run(&workspace, &[])?;
        assert_eq!((code(&output)?, embeddings(&server)), (2, 0), "{budget}: {}", stderr(&output));
        assert!(stderr(&output).contains(key), "{}", stderr(&output));
    }
    // One call comes to nothing, which the plan does not know: the last one has no room, and the next process goes on.
    let (server, does) = server(true)?;
    does.lock().unwrap().refuses = 1;
    let workspace = workspace(&server, "", &format!("budget: {{ calls: {CALLS} }}\n"))?;
    let output = run(&workspace, &[])?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("the budget of calls is used up"), "{}", stderr(&output));
    let before = embeddings(&server);
    finished(&workspace, &[])?;
    // The reference text when it goes on and at the end: no question and no stored document is embedded again.
    assert_eq!(embeddings(&server), before + 2);
    Ok(())
}

#[test]
fn a_server_that_does_not_count_tokens_ends_an_audit_that_limits_them() -> Result<()> {
    let (server, does) = server(true)?;
    does.lock().unwrap().counts = false;
    let workspace = workspace(&server, "", "budget: { tokens: 1000000 }\n")?;
    let output = run(&workspace, &[])?;
    assert!(
        code(&output)? == 4 && stderr(&output).contains("the embedder's server does not say"),
        "{}",
        stderr(&output)
    );
    assert_eq!(embeddings(&server), 1);
    Ok(())
}

#[test]
fn money_needs_the_price_of_the_embedder() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, "", "budget: { usd: 5 }\n")?;
    let output = run(&workspace, &[])?;
    assert_eq!(code(&output)?, 2);
    for part in ["price of the embedder's model", "price: { input: 0.02 }"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    Ok(())
}

#[test]
fn what_leaves_the_embedder_unknown_stands_in_every_report() -> Result<()> {
    for (shows, embedder, embed, words) in [
        (true, 1, "", None),
        (false, 1, "", Some("The engine shows no stored vectors of the snapshot new")),
        (true, 2, "", Some("Stored vectors are unlike those that retrieve.embed makes")),
        (true, 1, "check: off", Some("were not held against the embedder of the questions: the spec says not to")),
        (true, 1, "no sample", Some("were not held against the embedder of the questions: nothing shows")),
    ] {
        let (server, does) = server(shows)?;
        does.lock().unwrap().embedder = embedder;
        let workspace = workspace(&server, "", "")?;
        workspace.edit("churngate.yaml", |spec| match embed {
            "check: off" => spec.replace("embed: {", "embed: { check: off,"),
            "no sample" => spec.lines().filter(|line| !line.contains("sample:")).collect::<Vec<_>>().join("\n"),
            _ => spec,
        })?;
        let folder = finished(&workspace, &[])?;
        let caveats = result(&folder)?["machinery"]["caveats"].to_string();
        let report = std::fs::read_to_string(folder.join("report.md"))?.to_lowercase();
        let lapses = ["stored vectors", "held against the embedder"];
        match words {
            Some(words) => {
                assert!(caveats.contains(words), "{caveats}");
                assert!(lapses.iter().any(|lapse| report.contains(lapse)), "{report}");
            }
            None => assert!(lapses.iter().all(|lapse| !report.contains(lapse) && !caveats.contains(lapse)), "{report}"),
        }
        assert_eq!(code(&on(&workspace, "verify", &folder)?)?, 0);
    }
    Ok(())
}

fn merge(workspace: &Workspace, folders: &[PathBuf]) -> Result<Output> {
    let mut arguments = vec!["merge", "--runs=merged", "--folder-file=folder"];
    arguments.extend(folders.iter().filter_map(|folder| folder.to_str()));
    workspace.churngate(&arguments)
}

#[test]
fn shards_are_joined_with_their_vectors_and_only_by_one_embedder() -> Result<()> {
    for (second, expected) in [(1, 0), (2, 4)] {
        let (server, does) = server(true)?;
        let workspace = workspace(&server, "", "")?;
        // The second one's indexes are not looked at: the embedder itself is what the shards have in common.
        workspace.edit("churngate.yaml", |spec| spec.replace("embed: {", "embed: { check: off,"))?;
        let one = finished(&workspace, &["--shard=1/2"])?;
        does.lock().unwrap().embedder = second;
        let other = finished(&workspace, &["--shard=2/2"])?;
        let merged = merge(&workspace, &[one, other.clone()])?;
        assert_eq!(code(&merged)?, expected, "{}", stderr(&merged));
        if expected != 0 {
            assert!(stderr(&merged).contains("shard 2 of 2, `"), "{}", stderr(&merged));
            assert!(stderr(&merged).contains("by another embedder than those of shard 1 of 2"), "{}", stderr(&merged));
            continue;
        }
        let folder = PathBuf::from(workspace.read("folder")?);
        let verified = on(&workspace, "verify", &folder)?;
        assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
        assert_eq!(result(&folder)?["record"]["tokens"], json!([(QUESTIONS + 4) * 7, 0]));
        independent_check(&[folder]);
        // A shard without its ledger is none.
        std::fs::remove_file(other.join("vectors.jsonl"))?;
        std::fs::remove_dir_all(workspace.path("merged"))?;
        let refused = on(&workspace, "verify", &other)?;
        assert!(code(&refused)? == 5 && stderr(&refused).contains("vectors.jsonl` is missing"), "{}", stderr(&refused));
    }
    Ok(())
}

#[test]
fn a_ledger_of_vectors_that_was_made_up_is_found() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, "", "")?;
    let folder = finished(&workspace, &[])?;
    let file = folder.join("vectors.jsonl");
    let whole = std::fs::read_to_string(&file)?;
    let cut = whole.rsplit_once("{\"seal\"").context("no seal")?.0.to_owned();
    for edited in [whole.replacen("\"input\":7", "\"input\":8", 1), whole.replacen("q7\"", "q8\"", 1), cut] {
        assert_ne!(edited, whole);
        std::fs::write(&file, &edited)?;
        let verified = on(&workspace, "verify", &folder)?;
        assert!(code(&verified)? == 5 && stderr(&verified).contains("vectors.jsonl"), "{}", stderr(&verified));
    }
    std::fs::remove_file(&file)?;
    let verified = on(&workspace, "verify", &folder)?;
    assert!(code(&verified)? == 5 && stderr(&verified).contains("vectors.jsonl` is missing"), "{}", stderr(&verified));
    std::fs::write(&file, whole)?;
    assert_eq!(code(&on(&workspace, "verify", &folder)?)?, 0);
    Ok(())
}
