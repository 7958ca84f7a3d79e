//! Questions as vectors through the real binary: planned, paid for out of the budget, recorded call by call, held against
//! the indexes, and one embedder throughout.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::{Context as _, Result};
use camino::Utf8Path;
use churngate::model::Digest;
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, forge, independent_check, questions_file, stderr, stdout};
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
    /// How many stored documents the engine shows of each index.
    shown: u64,
    /// The status and the body that it answers every call with, in place of vectors.
    says: Option<(u16, Value)>,
}

/// A vector of three numbers that follows from the text and from which embedder it is.
fn embedded(embedder: u64, text: &str) -> Vec<f64> {
    let digest = Digest::of(format!("{embedder}{text}").as_bytes()).to_string();
    digest.as_bytes()[..12].chunks(4).map(|four| four.iter().map(|b| f64::from(*b)).sum::<f64>() - 280.0).collect()
}

/// An engine with two indexes, `old` and `new`, by embedder 1, that shows stored documents unless it is told not to; and an
/// embeddings server.
fn server(shows: bool) -> Result<(RawServer, Arc<Mutex<Does>>)> {
    let does = Arc::new(Mutex::new(Does { embedder: 1, counts: true, refuses: 0, shown: 2, says: None }));
    let now = Arc::clone(&does);
    let server = RawServer::start(move |request| {
        if !request.path.ends_with("/embeddings") {
            // What is stored is the same in both, so that both are as alike to any embedder.
            let index = request.path.strip_suffix("/search").unwrap_or_default().to_owned();
            let text = |id: u64| format!("{index} document {id}");
            let point = |id: u64| json!({"id": id.to_string(), "text": text(id), "vector": embedded(1, &text(id))});
            let points: Vec<Value> = match (shows, request.path.ends_with("/search")) {
                (_, true) => vec![point(1), point(2)],
                (true, false) => (1..=now.lock().unwrap().shown).map(point).collect(),
                (false, false) => Vec::new(),
            };
            return Reply::json(200, &json!({ "points": points }));
        }
        let mut does = now.lock().unwrap();
        if does.refuses > 0 {
            does.refuses -= 1;
            return Reply::json(503, &json!({"error": "busy"}));
        }
        if let Some((status, body)) = &does.says {
            return Reply::json(*status, body);
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
fn calls_are_spread_over_the_minute() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, ", rate_limit: { requests_per_minute: 120 }", "")?;
    let folder = finished(&workspace, &[])?;
    let records = records(&folder)?;
    let made: Vec<u64> = records.iter().filter_map(|record| record["at_ms"].as_u64()).collect();
    assert_eq!(made.len() as u64, CALLS);
    // Half a second after each of the first five; the first one may be late for its slot.
    let took = made.last().zip(made.first()).map(|(last, first)| last - first).context("no calls")?;
    assert!(took >= 2_000, "{made:?}");
    // The limit is no part of what is audited.
    workspace.edit("churngate.yaml", |spec| spec.replace(", rate_limit: { requests_per_minute: 120 }", ""))?;
    assert_eq!(finished(&workspace, &[])?, folder);
    Ok(())
}

fn probe(workspace: &Workspace) -> Result<Output> {
    workspace.churngate(&["check", "--probe", "churngate.yaml"])
}

#[test]
fn a_probe_asks_the_embedder_once_and_says_what_came_back() -> Result<()> {
    for (embed, more, took) in [
        ("", "", "no control"),
        (", dimensions: 3", "", "`dimensions`"),
        (", dimensions: 3", "mode: evidence\n", "`dimensions`"),
    ] {
        let (server, _) = server(true)?;
        let workspace = workspace(&server, embed, "")?;
        if !more.is_empty() {
            let of_answers = "generate: { reader: {} }\njudge: { embedded: {} }\n";
            workspace.edit("churngate.yaml", |spec| spec.replace(of_answers, more))?;
        }
        let output = probe(&workspace)?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        for part in [
            "probe of the embedder: status 200, ",
            &format!("served model `e-1`, vectors of 3 numbers, 7 tokens read and 0 written; it took {took}"),
        ] {
            assert!(stdout(&output).contains(part), "`{part}` is missing in:\n{}", stdout(&output));
        }
        assert_eq!(embeddings(&server), 1);
        assert!(!workspace.path(".churngate").exists(), "a probe begins nothing");
    }
    Ok(())
}

#[test]
fn a_call_for_vectors_that_is_refused_is_named_by_the_probe_and_by_the_run() -> Result<()> {
    let refused = json!({"error": {"code": "unsupported_parameter", "param": "dimensions", "message": "no"}});
    let unknown = json!({"error": {"code": "model_not_found", "message": "no"}});
    let ignored = json!({"model": "e-1", "data": [{"embedding": [0.5, 0.25, 1]}]});
    for (status, body, probed, ran, parts) in [
        (400, refused, 2, 4, ["the embedder gave `request-refused`", "about `dimensions`", "remove `dimensions`"]),
        (404, unknown, 2, 4, ["the embedder gave `model-unknown`", "404 or 410", "check `model` and `base_url`"]),
        (401, json!({}), 2, 4, ["the embedder gave `key-refused`", "401", "check the key"]),
        (200, ignored, 2, 2, ["vectors of 3 numbers", "`dimensions` asks for 256", "remove `dimensions`"]),
    ] {
        let (server, does) = server(true)?;
        does.lock().unwrap().says = Some((status, body));
        let workspace = workspace(&server, ", dimensions: 256", "")?;
        for (output, expected) in [(probe(&workspace)?, probed), (run(&workspace, &[])?, ran)] {
            assert_eq!(code(&output)?, expected, "{status}: {}", stderr(&output));
            for part in parts {
                assert!(stderr(&output).contains(part), "`{part}` is missing in:\n{}", stderr(&output));
            }
        }
        assert_eq!(embeddings(&server), 2, "what is refused is not asked again");
    }
    // What may pass is an audit's to ask again.
    let (server, does) = server(true)?;
    does.lock().unwrap().says = Some((503, json!({})));
    let output = probe(&workspace(&server, "", "")?)?;
    assert_eq!((code(&output)?, embeddings(&server)), (4, 1), "{}", stderr(&output));
    assert!(stderr(&output).contains("the embedder gave `server-error`, which is no vector"), "{}", stderr(&output));
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

#[test]
fn vectors_that_lost_their_end_beside_sealed_evidence_are_told_with_what_can_be_done() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, "", "")?;
    let folder = finished(&workspace, &[])?;
    let (path, asked) = (folder.join("vectors.jsonl"), embeddings(&server));
    let whole = std::fs::read_to_string(&path)?;
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for kept in [1, lines.len() / 2, lines.len() - 2, lines.len() - 1] {
        let cut = lines[..kept].concat();
        std::fs::write(&path, &cut)?;
        let output = run(&workspace, &[])?;
        assert_eq!(code(&output)?, 5, "{kept} lines: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("vectors.jsonl` has lost its end"), "{kept} lines: {said}");
        assert!(
            said.contains("hint: restore the run folder from a copy, or delete it and run again"),
            "{kept}: {said}"
        );
        assert_eq!(std::fs::read_to_string(&path)?, cut, "what is left is kept");
    }
    std::fs::remove_file(&path)?;
    let output = run(&workspace, &[])?;
    assert!(code(&output)? == 5 && stderr(&output).contains("vectors.jsonl` is missing"), "{}", stderr(&output));
    std::fs::write(&path, whole)?;
    finished(&workspace, &[])?;
    assert_eq!(embeddings(&server), asked, "nothing was embedded again");
    Ok(())
}

#[test]
fn no_lost_ledger_of_a_finished_run_is_embedded_or_searched_for_again() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, "", "")?;
    let folder = finished(&workspace, &[])?;
    let arguments = ["run", "--quiet", "churngate.yaml"];
    harness::lost::nothing_is_drawn_again(&workspace, &arguments, &folder, &|| embeddings(&server) as u64)
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
        assert!(
            code(&refused)? == 5 && stderr(&refused).contains("the vectors ledger, of which"),
            "{}",
            stderr(&refused)
        );
    }
    Ok(())
}

/// A digest that stands for nothing.
fn nothing() -> Value {
    json!(Digest::of(b"something else").to_string())
}

/// The accepted outcomes of calls for texts of this kind.
fn accepted<'r>(records: &'r mut [Value], texts: &'r str) -> impl Iterator<Item = &'r mut Value> {
    let wanted = move |record: &&mut Value| record["of"]["texts"] == texts && !record["verdict"]["accepted"].is_null();
    records.iter_mut().filter(wanted)
}

/// Every accepted outcome with this member, of the record or of what was accepted, changed.
fn told(records: &mut [Value], member: &str, value: &Value) {
    for texts in ["reference", "questions", "stored"] {
        for record in accepted(records, texts) {
            let of = if member == "dimensions" { &mut record["verdict"]["accepted"] } else { record };
            of[member] = value.clone();
        }
    }
}

/// Exchanges what two outcomes say of a member of their first vectors.
fn swapped(records: &mut [Value], texts: &str, member: &str) {
    let mut firsts = accepted(records, texts).map(|record| &mut record["verdict"]["accepted"]["vectors"][0][member]);
    let (one, other) = (firsts.next().unwrap(), firsts.next().unwrap());
    std::mem::swap(one, other);
}

/// The first stored document of each call has this member of the second.
fn repeated(records: &mut [Value], member: &str) {
    for record in accepted(records, "stored") {
        let vectors = &mut record["verdict"]["accepted"]["vectors"];
        vectors[0][member] = vectors[1][member].clone();
    }
}

/// An attempt at another unit, which came to nothing.
fn attempted(records: &mut Vec<Value>, texts: &str, request: &Value) {
    let of = json!({"texts": texts, "number": 99});
    records.push(json!({"type": "attempt", "of": of, "request": request, "at_ms": 0}));
}

/// The request of the last attempt for texts of this kind.
fn asked<'r>(records: &'r mut [Value], texts: &str) -> &'r mut Value {
    let is = |record: &&mut Value| record["type"] == "attempt" && record["of"]["texts"] == texts;
    &mut records.iter_mut().rfind(is).unwrap()["request"]
}

/// What somebody does to the records of a ledger who chains it anew.
type Edit = fn(&mut Vec<Value>);

/// Chains the ledger of vectors anew with these changes, and gives back what `verify` ends with and says.
fn forged(workspace: &Workspace, folder: &Path, edit: Edit) -> Result<(i32, String)> {
    let run = Utf8Path::from_path(folder).context("a path that is no text")?;
    let kept = std::fs::read(folder.join("vectors.jsonl"))?;
    let mut records = forge::records(run, "vectors.jsonl")?;
    edit(&mut records);
    forge::chain(run, "vectors.jsonl", Digest::of(&std::fs::read(run.join("protocol.lock.json"))?), &records)?;
    let verified = on(workspace, "verify", folder)?;
    std::fs::write(folder.join("vectors.jsonl"), kept)?;
    Ok((code(&verified)?, stderr(&verified)))
}

#[test]
fn calls_for_vectors_are_rendered_again_and_their_vectors_are_as_long_as_they_say() -> Result<()> {
    let (server, does) = server(true)?;
    does.lock().unwrap().refuses = 1;
    let workspace = workspace(&server, "", "")?;
    let folder = finished(&workspace, &[])?;
    let unasked = "the request is not that of its texts";
    let edits: [(&str, Edit); 14] = [
        (unasked, |records| *asked(records, "questions") = nothing()),
        (unasked, |records| *asked(records, "reference") = nothing()),
        (unasked, |records| *asked(records, "stored") = nothing()),
        // The attempt that was refused.
        ("line 2: the request is not that of its texts", |records| records[0]["request"] = nothing()),
        (unasked, |records| attempted(records, "questions", &nothing())),
        (unasked, |records| attempted(records, "reference", &nothing())),
        (unasked, |records| swapped(records, "questions", "question")),
        ("of another length than the reference text's", |records| {
            accepted(records, "stored").for_each(|record| record["verdict"]["accepted"]["dimensions"] = json!(4));
        }),
        ("of another length or model than `vectors.jsonl` says", |records| told(records, "dimensions", &json!(4))),
        ("by another model than the reference text's", |records| {
            accepted(records, "questions").for_each(|record| record["served_model"] = json!("e-2"));
        }),
        ("of another length or model than `vectors.jsonl` says", |records| {
            told(records, "served_model", &json!("e-2"));
        }),
        ("a vector is of another text", |records| repeated(records, "text")),
        ("a vector is of another text", |records| repeated(records, "vector")),
        ("a stored document has no text", |records| {
            let remove = |record: &mut Value| {
                record["verdict"]["accepted"]["vectors"][0].as_object_mut().and_then(|it| it.remove("text"))
            };
            accepted(records, "stored").for_each(|record| drop(remove(record)));
        }),
    ];
    for (number, (expected, edit)) in edits.into_iter().enumerate() {
        let (code, said) = forged(&workspace, &folder, edit)?;
        assert_eq!(code, 5, "{number}: {said}");
        assert!(
            said.contains(expected) || (expected == unasked && said.contains("`vectors.jsonl` has another one")),
            "{number}: {said}"
        );
        assert!(!said.contains("does not follow from the ledgers"), "{number}: found by its head alone: {said}");
    }
    // What came to nothing was asked for again, and follows from the protocol: what is left is the head of another ledger.
    let again: Edit = |records| {
        let request = asked(records, "questions").clone();
        attempted(records, "questions", &request);
    };
    let (_, said) = forged(&workspace, &folder, again)?;
    assert!(said.contains("does not follow from the ledgers"), "{said}");
    assert_eq!(code(&on(&workspace, "verify", &folder)?)?, 0);
    Ok(())
}

#[test]
fn the_evidence_of_an_export_names_the_vectors_that_its_ledger_has() -> Result<()> {
    let (server, _) = server(true)?;
    let workspace = workspace(&server, "", "")?;
    let folder = finished(&workspace, &[])?;
    assert_eq!(code(&on(&workspace, "export", &folder)?)?, 0);
    let copy = PathBuf::from(format!("{}-export", folder.display()));
    let verified = on(&workspace, "verify", &copy)?;
    assert!(stdout(&verified).contains("vectors: each question's is the one that its evidence names"));
    for (expected, edit) in [
        ("`vectors.jsonl` has another one", (|records| swapped(records, "questions", "vector")) as Edit),
        ("a question is embedded twice", |records| {
            let second = accepted(records, "questions").nth(1).unwrap();
            let entry = second["verdict"]["accepted"]["vectors"][0].clone();
            let vectors = accepted(records, "questions").next().unwrap();
            vectors["verdict"]["accepted"]["vectors"].as_array_mut().unwrap().push(entry);
        }),
        ("`vectors.jsonl` has not one vector for each question", |records| {
            let vectors = accepted(records, "questions").next().unwrap();
            let entry = json!({"question": "another", "vector": nothing()});
            vectors["verdict"]["accepted"]["vectors"].as_array_mut().unwrap().push(entry);
        }),
        ("of another length than the reference text's", |records| {
            accepted(records, "questions").for_each(|record| record["verdict"]["accepted"]["dimensions"] = json!(4));
        }),
        ("by another model than the reference text's", |records| {
            accepted(records, "stored").for_each(|record| record["served_model"] = json!("e-2"));
        }),
        ("the request is not that of its texts", |records| *asked(records, "reference") = nothing()),
    ] {
        let (code, said) = forged(&workspace, &copy, edit)?;
        assert!(code == 5 && said.contains(expected), "expected `{expected}`: {said}");
    }
    // A note of the evidence that names another question's vector.
    let run = Utf8Path::from_path(&copy).context("a path that is no text")?;
    let mut evidence = forge::records(run, "evidence.jsonl")?;
    let notes: Vec<usize> = (0..evidence.len()).filter(|at| evidence[*at]["type"] == "note").collect();
    let (one, other) = (evidence[notes[0]]["vector"].clone(), evidence[notes[1]]["vector"].clone());
    assert_ne!(one, other);
    for at in notes {
        if evidence[at]["vector"] == one {
            evidence[at]["vector"] = other.clone();
        }
    }
    forge::forge(run, "evidence.jsonl", &evidence)?;
    let verified = on(&workspace, "verify", &copy)?;
    assert_eq!(code(&verified)?, 5);
    assert!(stderr(&verified).contains("`vectors.jsonl` has another one"), "{}", stderr(&verified));
    Ok(())
}

/// How many texts the calls for stored documents asked for, each: they alone are no questions.
fn stored(server: &RawServer) -> Vec<usize> {
    let is_question = |text: &Value| text.as_str().is_some_and(|text| text.ends_with('?'));
    let texts = server.seen().into_iter().filter_map(|request| request.body["input"].as_array().cloned());
    texts.filter(|texts| !texts.iter().any(is_question)).map(|texts| texts.len()).collect()
}

#[test]
fn no_more_stored_documents_are_embedded_than_the_plan_says_whatever_shows_them() -> Result<()> {
    for database in [false, true] {
        let (server, does) = server(true)?;
        does.lock().unwrap().shown = 20;
        let workspace = workspace(&server, "", "")?;
        if database {
            ask_a_database(&workspace)?;
        }
        let planned = workspace.churngate(&["check", "churngate.yaml"])?;
        // The reference text twice, the questions, and eight documents of each of two snapshots.
        assert!(stdout(&planned).contains(&format!("{} texts", 2 + QUESTIONS + 16)), "{}", stdout(&planned));
        let folder = finished(&workspace, &[])?;
        assert_eq!(stored(&server), [8, 8]);
        assert_eq!(result(&folder)?["record"]["tokens"], json!([(2 + QUESTIONS + 16) * 7, 0]));
        assert_eq!(code(&on(&workspace, "verify", &folder)?)?, 0);
    }
    Ok(())
}

/// The same audit of two tables of a database, each with twenty documents and their vectors, of which the query takes all.
fn ask_a_database(workspace: &Workspace) -> Result<()> {
    let database = rusqlite::Connection::open(workspace.path("docs.db"))?;
    for table in ["old", "new"] {
        database.execute_batch(&format!("CREATE TABLE {table} (id TEXT, body TEXT, vector TEXT)"))?;
        for id in 0..20 {
            let body = format!("document {id}");
            let vector = json!(embedded(1, &body)).to_string();
            database.execute(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3)"), (id.to_string(), body, vector))?;
        }
    }
    drop(database);
    let query = "SELECT id, body AS text FROM {index} WHERE :vector <> '' ORDER BY id LIMIT :top_k";
    let sql =
        json!({"sqlite": {"file": "docs.db"}, "query": query, "sample": "SELECT body AS text, vector FROM {index}"});
    workspace.edit("churngate.yaml", |spec| {
        let before = spec.split("  http:").next().unwrap_or_default();
        let embed = spec.split_once("  embed:").map_or("", |(_, after)| after);
        format!("{before}  sql: {sql}\n  embed:{embed}")
    })
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
