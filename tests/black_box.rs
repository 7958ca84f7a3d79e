//! A deployed system that retrieves by itself, audited through the real binary against a server that does as such systems do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harness;

use churngate::model::Digest;
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, figures, stderr, stdout};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::Duration;

const QUESTIONS: usize = 40;
/// Questions whose answers the new index changes.
const CHANGED: usize = 10;
/// Questions after those whose two answers are never the same, whatever is asked.
const NOISY: usize = 4;
const KEY: &str = "sk-open-sesame-1234";

/// What is asked about a gadget, with everything in it that a template could trip over.
fn question(item: usize) -> String {
    format!(
        "Which code does Gadget{item}_ carry, \"{{{{question}}}}\" {{flow}} <snapshot.flow> \\ {{# x #}} {{{{nonce}}}}?"
    )
}

fn questions(count: usize) -> String {
    let mut lines = String::new();
    for item in 0..count {
        writeln!(lines, "{}", json!({"id": format!("q{item}"), "question": question(item)})).unwrap();
    }
    lines
}

fn item(request: &Request) -> usize {
    let asked = request.body["question"].as_str().unwrap();
    asked.split_once("Gadget").unwrap().1.split_once('_').unwrap().0.parse().unwrap()
}

/// The reply of a flow that remembers nothing.
fn answered(request: &Request, code: usize, id: &str) -> Reply {
    let flow = request.path.rsplit('/').next().unwrap();
    let source = format!("https://h/{flow}/{}", item(request));
    // A new edition of the document, wherever the answer is another one.
    let edition = format!("Gadget {} carries {code}.", item(request));
    let document = |text: &str, source: &str| json!({"pageContent": text, "metadata": {"source": source}});
    let shared = document("All gadgets carry codes. {{question}}", "https://h/all");
    let reply = json!({
        "text": format!("It carries the code {code}."), "chatMessageId": id, "chatId": "c",
        "sourceDocuments": [shared, document(&edition, &source)],
    });
    Reply::json(200, &reply)
}

/// A system of two flows, of which the new one answers ten questions otherwise.
fn system(noise: bool) -> RawServer {
    let counts: Mutex<BTreeMap<(String, usize), usize>> = Mutex::default();
    RawServer::start(move |request| {
        let item = item(request);
        let times = {
            let mut counts = counts.lock().unwrap();
            let times = counts.entry((request.path.clone(), item)).or_default();
            *times += 1;
            *times
        };
        let is_noisy = noise && (CHANGED..CHANGED + NOISY).contains(&item);
        // One question in each flow is answered at the second attempt alone.
        if item == QUESTIONS - 1 && times == 1 {
            return Reply::json(200, &json!({"error": "half"}));
        }
        let moved = request.path.ends_with("docs_v42") && item < CHANGED;
        let code = 1000 + item + if moved { 5000 } else { 0 } + if is_noisy { 70 * (times % 2) } else { 0 };
        answered(request, code, &format!("message-{:032}", request.number))
    })
    .unwrap()
}

fn workspace(server: &RawServer, more: &str) -> Workspace {
    let workspace = Workspace::new().unwrap();
    workspace.write("questions.jsonl", questions(QUESTIONS)).unwrap();
    let spec = format!(
        "version: 1\nname: flows\nquestions: {{ file: questions.jsonl }}\n\
         snapshots: {{ old: {{ flow: docs_v41 }}, new: {{ flow: docs_v42 }} }}\n\
         answer: {{ preset: flowise, base_url: '{}', key_env: FLOW_KEY{more} }}\njudge: {{ embedded: {{}} }}\n",
        server.host
    );
    workspace.write("churngate.yaml", spec).unwrap();
    workspace
}

fn churngate(workspace: &Workspace, arguments: &[&str]) -> Output {
    workspace.command().args(arguments).env("FLOW_KEY", KEY).output().unwrap()
}

fn sessions(server: &RawServer) -> Vec<String> {
    let session = |request: &Request| request.body["overrideConfig"]["sessionId"].as_str().unwrap().to_owned();
    server.seen().iter().map(session).collect()
}

fn all_files(folder: &Path, of: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all_files(&path, of) } else { of.push(path) }
    }
}

/// Writes a ledger with these records after its own header, chained anew; returns its head.
fn chain(folder: &Path, ledger: &str, before: Digest, records: &[Value]) -> Digest {
    let path = folder.join(ledger);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["before"] = before.to_string().into();
    let mut lines = vec![header.to_string()];
    for (seq, record) in records.iter().enumerate() {
        let (prev, fields) = (Digest::of(lines[seq].as_bytes()), record.to_string());
        lines.push(format!("{{\"seq\":{seq},\"prev\":\"{prev}\",{}", fields.trim_start_matches('{')));
    }
    lines.push(format!("{{\"seal\":{},\"prev\":\"{}\"}}", records.len(), Digest::of(lines[records.len()].as_bytes())));
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
    Digest::of(lines[records.len() + 1].as_bytes())
}

/// The records of a ledger without their chain.
fn records(folder: &Path, ledger: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(ledger)).unwrap();
    let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.retain(|record| record.get("type").is_some());
    for record in &mut records {
        for name in ["seq", "prev"] {
            record.as_object_mut().unwrap().shift_remove(name).unwrap();
        }
    }
    records
}

/// Puts a record of evidence into the ledgers, all chained anew, as somebody would who forges them.
fn forge_evidence(folder: &Path) {
    let evidence = Digest::of(br#"{"documents":[]}"#);
    let of = json!({"question": "q0", "snapshot": "old", "pass": 0});
    let outcome = |attempt: u64, pass: u64| {
        let of = json!({"question": "q0", "snapshot": "old", "pass": pass});
        let accepted = json!({"evidence": evidence.to_string(), "documents": []});
        json!({"type": "outcome", "attempt": attempt, "of": of, "verdict": {"accepted": accepted}, "latency_ms": 1})
    };
    let attempt = |of: &Value| json!({"type": "attempt", "of": of, "request": evidence.to_string(), "at_ms": 1});
    let second = json!({"question": "q0", "snapshot": "old", "pass": 1});
    let note =
        json!({"type": "note", "question": "q0", "snapshot": "old", "evidence": evidence.to_string(), "matched": true});
    let forged = [attempt(&of), outcome(0, 0), attempt(&second), outcome(2, 1), note];
    let mut before = Digest::of(&std::fs::read(folder.join("protocol.lock.json")).unwrap());
    before = chain(folder, "evidence.jsonl", before, &forged);
    for ledger in ["answers.jsonl", "judgments.jsonl"] {
        before = chain(folder, ledger, before, &records(folder, ledger));
    }
}

/// The checker that was written from the page on the format alone.
fn checked_by_others(folder: &Path) {
    let script = harness::root().join("tests/ledger_checker/check_run.py");
    let Ok(output) = Command::new("python3").arg(script).arg(folder).output() else {
        assert!(std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "python3 is not there");
        return;
    };
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
fn a_new_index_behind_a_system_is_found_and_everything_about_it_can_be_checked_again() {
    let server = system(true);
    let workspace = workspace(&server, "");
    let output = churngate(&workspace, &["run", "--quiet", "churngate.yaml"]);
    assert_eq!(code(&output).unwrap(), 1, "{}", stderr(&output));
    let folder = workspace.run_folder().unwrap();
    let result = figures(&folder).unwrap();
    // Ten contrasts of 1 and four of -1/2, of forty.
    for kernel in result["analysis"]["kernels"].as_array().unwrap() {
        assert_eq!(kernel["churn"]["percentage_points"], 20.0, "{kernel}");
    }
    assert_eq!(result["analysis"]["flips"].as_array().unwrap().len(), CHANGED);

    // Every question was asked, word for word, each call in a conversation of its own, retries too.
    let sessions = sessions(&server);
    assert_eq!(sessions.len(), 4 * QUESTIONS + 2);
    assert_eq!(sessions.iter().collect::<BTreeSet<_>>().len(), sessions.len());
    for request in server.seen() {
        assert_eq!(request.body["question"], question(item(&request)));
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    }
    let mut files = Vec::new();
    all_files(&folder, &mut files);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", file.display());
    }

    let evidence = std::fs::read_to_string(folder.join("evidence.jsonl")).unwrap();
    assert_eq!(evidence.lines().count(), 2, "a header and a seal");
    let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("inside the noise floor"), "{report}");
    assert!(!report.contains("byte-identical evidence") && !report.contains("two retrievals"), "{report}");

    // Of two documents one is there in both flows. By content it is both, but for the ten answers that changed, and for the
    // four whose repeats differ.
    let cited = &result["analysis"]["cited"];
    assert_eq!((&cited["questions"], &cited["partly"]), (&json!(QUESTIONS), &json!(0)), "{cited}");
    let overlap = &cited["overlap"];
    let pairs = |pairs, mean: f64, same: u64| json!({"pairs": pairs, "mean_shared": mean, "none": 0, "same_set": same, "same_list": same});
    let by_id =
        json!({"within_old": pairs(40, 2.0, 40), "within_new": pairs(40, 2.0, 40), "cross": pairs(160, 1.0, 0)});
    assert_eq!((&overlap["documents"], &overlap["by_id"]), (&json!([2.0, 2.0]), &by_id));
    assert_eq!(overlap["by_url"], by_id);
    let by_content =
        json!({"within_old": pairs(40, 1.9, 36), "within_new": pairs(40, 1.9, 36), "cross": pairs(160, 1.7, 112)});
    assert_eq!(overlap["by_content"], by_content);
    for flip in result["flips"].as_array().unwrap() {
        let of = |flow: &str| format!("https://h/{flow}/{}", flip["question"].as_str().unwrap().replace('q', ""));
        let document = |flow| json!([{"id": of(flow), "excerpt": ""}]);
        assert_eq!(flip["cited"], json!({"lost": document("docs_v41"), "gained": document("docs_v42"), "shared": 1}));
    }
    assert!(report.contains("Documents as cited") && report.contains("- lost        https://h/docs_v41/"), "{report}");

    let verified = churngate(&workspace, &["verify", folder.to_str().unwrap()]);
    assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
    assert!(stdout(&verified).contains("each with an id of its own"), "{}", stdout(&verified));
    checked_by_others(&folder);
    let exported = churngate(&workspace, &["export", folder.to_str().unwrap(), "--output", "copy"]);
    assert_eq!(code(&exported).unwrap(), 0, "{}", stderr(&exported));
    let verified = churngate(&workspace, &["verify", "copy"]);
    assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
    checked_by_others(&workspace.path("copy"));
    let claims = workspace.read("copy/claims.md").unwrap();
    let (_, claims) = claims.split_once("## Documents as cited").unwrap();
    assert!(claims.lines().any(|line| line.contains("answers.accepted") && line.contains("1.70")), "{claims}");
    workspace.edit("copy/result.json", |text| text.replace("\"mean_shared\": 1.7", "\"mean_shared\": 1.8")).unwrap();
    assert_eq!(code(&churngate(&workspace, &["verify", "copy"])).unwrap(), 5);

    // Evidence that such an audit cannot have is found without the texts, too.
    let exported = churngate(&workspace, &["export", folder.to_str().unwrap(), "--output", "forged"]);
    assert_eq!(code(&exported).unwrap(), 0, "{}", stderr(&exported));
    forge_evidence(&workspace.path("forged"));
    let forged = churngate(&workspace, &["verify", "forged"]);
    assert_eq!(code(&forged).unwrap(), 5, "{}", stdout(&forged));
    assert!(
        stderr(&forged).contains("evidence.jsonl") && stderr(&forged).contains("retrieves by itself"),
        "{}",
        stderr(&forged)
    );

    // The same audit again is free, and says what it rests on.
    let again = churngate(&workspace, &["run", "churngate.yaml"]);
    assert_eq!((code(&again).unwrap(), self::sessions(&server).len()), (1, sessions.len()));
    assert!(stderr(&again).contains("answers were given earlier and are reused"), "{}", stderr(&again));
}

#[test]
fn a_run_that_was_killed_goes_on_and_never_goes_back_to_a_conversation() {
    let server = system(false);
    let workspace = workspace(&server, ", concurrency: 2");
    let mut command = workspace.command();
    command.args(["run", "--quiet", "churngate.yaml"]).env("FLOW_KEY", KEY);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while server.seen().len() < 30 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = churngate(&workspace, &["run", "--quiet", "churngate.yaml"]);
    assert_eq!(code(&output).unwrap(), 1, "{}", stderr(&output));
    let sessions = sessions(&server);
    assert!(sessions.len() < 4 * QUESTIONS + 2 + 8, "{} calls", sessions.len());
    assert_eq!(sessions.iter().collect::<BTreeSet<_>>().len(), sessions.len());
    let folder = workspace.run_folder().unwrap();
    let verified = churngate(&workspace, &["verify", folder.to_str().unwrap()]);
    assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
    // Begun anew it is the same protocol, and still no conversation of the run before.
    std::fs::remove_dir_all(folder).unwrap();
    let output = churngate(&workspace, &["run", "--quiet", "churngate.yaml"]);
    assert_eq!(code(&output).unwrap(), 1, "{}", stderr(&output));
    let sessions = self::sessions(&server);
    assert_eq!(sessions.iter().collect::<BTreeSet<_>>().len(), sessions.len());
}

/// The accepted answer of each cell, by question, snapshot and repeat, and the digest of each request.
fn answered_cells(folder: &Path) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let records = records(folder, "answers.jsonl");
    let accepted = records.iter().filter_map(|record| {
        Some((record["of"].to_string(), record.pointer("/verdict/accepted/answer")?.as_str()?.to_owned()))
    });
    let requests = records.iter().filter_map(|record| Some(record.get("request")?.as_str()?.to_owned()));
    (accepted.collect(), requests.collect())
}

const EXCHANGES: &str = "rec/exchanges.jsonl";

#[test]
fn a_recorded_audit_of_conversations_is_replayed_cell_by_cell_with_ids_of_its_own() {
    let server = system(true);
    let workspace = workspace(&server, "");
    let recorded = churngate(&workspace, &["run", "--quiet", "--record=rec", "churngate.yaml"]);
    assert_eq!(code(&recorded).unwrap(), 1, "{}", stderr(&recorded));
    let live = workspace.run_folder().unwrap();
    let (asked, tape) = (sessions(&server), workspace.read(EXCHANGES).unwrap());
    assert!(asked.iter().all(|session| !tape.contains(session.as_str())), "a nonce stands in the recording");
    assert_eq!(tape.matches("[nonce]").count(), asked.len());
    let (connections, (answers, requests)) = (server.connections(), answered_cells(&live));
    assert_eq!(answers.len(), 4 * QUESTIONS);
    for tasks in ["1", "16"] {
        let (runs, file) = (format!("--runs=replayed-{tasks}"), format!("at-{tasks}"));
        let (file_argument, tasks) = (format!("--folder-file={file}"), format!("--tasks={tasks}"));
        let arguments = ["run", "--quiet", "--replay=rec", &runs, &file_argument, &tasks, "churngate.yaml"];
        let replay = workspace.churngate(&arguments).unwrap();
        assert_eq!(code(&replay).unwrap(), 1, "{}", stderr(&replay));
        let folder = PathBuf::from(workspace.read(&file).unwrap());
        assert_eq!(figures(&folder).unwrap(), figures(&live).unwrap());
        let (replayed, made) = answered_cells(&folder);
        assert_eq!(replayed, answers, "each repeat has the answer that it had");
        assert!(made.len() == 4 * QUESTIONS + 2 && made.is_disjoint(&requests), "each call has an id of its own");
        let verified = workspace.churngate(&["verify", folder.to_str().unwrap()]).unwrap();
        assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
        checked_by_others(&folder);
    }
    assert_eq!(server.connections(), connections, "nobody was called");
}

#[test]
fn a_replay_of_conversations_ends_where_a_reply_is_missing_and_goes_on_once_it_is_there() {
    let server = system(true);
    let workspace = workspace(&server, "");
    let recorded = churngate(&workspace, &["run", "--quiet", "--record=rec", "churngate.yaml"]);
    assert_eq!(code(&recorded).unwrap(), 1, "{}", stderr(&recorded));
    let (live, connections) = (workspace.run_folder().unwrap(), server.connections());
    let whole = workspace.read(EXCHANGES).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let exchanges = |unit: &str| (0..lines.len()).filter(|at| lines[*at].contains(unit)).collect::<Vec<_>>();
    // One cell's only reply; and of a cell that was asked twice the second one, in whichever repeat that was.
    let last = QUESTIONS - 1;
    let twice = ["0", "1"].map(|repeat| exchanges(&format!("[\"answers\",\"q{last}\",\"new\",\"{repeat}\"]")));
    let second = *twice.iter().find(|exchanges| exchanges.len() == 2).unwrap().last().unwrap();
    let first = exchanges("[\"answers\",\"q3\",\"old\",\"1\"]");
    assert_eq!(first.len(), 1);
    for (left_out, said) in [(first[0], "no reply to `POST"), (second, "no further reply to `POST")] {
        let less: Vec<&str> = (0..lines.len()).filter(|at| *at != left_out).map(|at| lines[at]).collect();
        workspace.write("less/exchanges.jsonl", less.join("\n") + "\n").unwrap();
        let _ = std::fs::remove_dir_all(workspace.path("replayed"));
        let arguments = ["run", "--quiet", "--replay=less", "--runs=replayed", "--folder-file=at", "churngate.yaml"];
        let stopped = workspace.churngate(&arguments).unwrap();
        assert_eq!(code(&stopped).unwrap(), 4, "{}", stderr(&stopped));
        assert!(
            stderr(&stopped).contains(said) && stderr(&stopped).contains("nobody was called"),
            "{}",
            stderr(&stopped)
        );
        workspace.write("less/exchanges.jsonl", &whole).unwrap();
        let replay = workspace.churngate(&arguments).unwrap();
        assert_eq!(code(&replay).unwrap(), 1, "{}", stderr(&replay));
        let folder = PathBuf::from(workspace.read("at").unwrap());
        assert_eq!(answered_cells(&folder).0, answered_cells(&live).0);
        assert_eq!(figures(&folder).unwrap(), figures(&live).unwrap());
    }
    assert_eq!(server.connections(), connections, "nobody was called");
}

#[test]
fn answers_out_of_a_cache_stop_the_audit() {
    let server = RawServer::start(|request| {
        let item = item(request);
        answered(request, 1000 + item, &format!("message-{item:032}"))
    })
    .unwrap();
    let output = churngate(&workspace(&server, ""), &["run", "--quiet", "churngate.yaml"]);
    assert_eq!(code(&output).unwrap(), 4);
    assert!(stderr(&output).contains("a cache answered"), "{}", stderr(&output));
}

#[test]
fn shards_of_it_come_to_the_result_of_the_whole() {
    let server = system(false);
    let workspace = workspace(&server, "");
    let whole = churngate(&workspace, &["run", "--quiet", "--runs=whole", "--folder-file=whole-at", "churngate.yaml"]);
    assert_eq!(code(&whole).unwrap(), 1, "{}", stderr(&whole));
    let mut folders = Vec::new();
    for number in 1..=2 {
        let (shard, file) = (format!("--shard={number}/2"), format!("--folder-file=at-{number}"));
        let output = churngate(&workspace, &["run", "--quiet", "--runs=shards", &shard, &file, "churngate.yaml"]);
        assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
        folders.push(workspace.read(&format!("at-{number}")).unwrap());
    }
    let merged =
        churngate(&workspace, &["merge", "--runs=merged", "--folder-file=merged-at", &folders[0], &folders[1]]);
    assert_eq!(code(&merged).unwrap(), 1, "{}", stderr(&merged));
    let at = |file: &str| PathBuf::from(workspace.read(file).unwrap());
    assert_eq!(figures(&at("merged-at")).unwrap(), figures(&at("whole-at")).unwrap());
    let verified = churngate(&workspace, &["verify", at("merged-at").to_str().unwrap()]);
    assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
}

#[test]
fn a_plan_tells_what_the_rule_cannot_see_and_a_probe_asks_once() {
    let server = RawServer::start(|_| Reply::json(200, &json!({"text": "Seven."}))).unwrap();
    let workspace = workspace(&server, "");
    let output = churngate(&workspace, &["check", "--probe", "churngate.yaml"]);
    let text = stdout(&output);
    assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
    assert!(text.contains("160 external calls") && text.contains("`semantic` alone"), "{text}");
    assert!(text.contains("probe of the audited system: status 200"), "{text}");
    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].path.as_str()), (1, "/api/v1/prediction/docs_v41"));
    assert!(!seen[0].body.to_string().contains("Gadget"), "nothing of the audit's is asked");
}

#[test]
fn there_is_no_evidence_to_compare() {
    let server = system(false);
    let workspace = workspace(&server, "");
    let output = churngate(&workspace, &["diff", "churngate.yaml"]);
    assert_eq!(code(&output).unwrap(), 2);
    assert!(stderr(&output).contains("no evidence to compare") && stderr(&output).contains("churngate run"));
    assert!(server.seen().is_empty() && !workspace.path(".churngate").exists());
}

#[test]
fn a_budget_of_tokens_is_held_only_where_the_system_counts_them() {
    let server = system(false);
    let workspace = workspace(&server, "");
    workspace.edit("churngate.yaml", |spec| format!("{spec}budget: {{ tokens: 100000 }}\n")).unwrap();
    let output = churngate(&workspace, &["run", "--quiet", "churngate.yaml"]);
    assert_eq!(code(&output).unwrap(), 4);
    assert!(stderr(&output).contains("does not say how many tokens"), "{}", stderr(&output));
}

#[test]
fn a_system_that_refuses_stops_the_audit_in_its_own_words_and_without_the_key() {
    let refusing = |status: u16, body: Value| {
        let server = RawServer::start(move |_| Reply::json(status, &body)).unwrap();
        let output = churngate(&workspace(&server, ""), &["run", "--quiet", "churngate.yaml"]);
        assert_eq!(code(&output).unwrap(), 4);
        stderr(&output)
    };
    let said = refusing(404, json!({"message": format!("no flow for {KEY} \u{1b}[31m")}));
    assert!(said.contains("`system-unknown`") && said.contains("no flow for"), "{said}");
    assert!(!said.contains(KEY) && !said.contains('\u{1b}'), "{said}");
    assert!(refusing(401, json!({})).contains("`key-refused`"));
}

#[cfg(unix)]
#[test]
fn a_program_may_ask_the_system() {
    let workspace = Workspace::new().unwrap();
    workspace.write("questions.jsonl", questions(8)).unwrap();
    let program = "import json, sys\nasked = json.load(sys.stdin)\nopen('asked.jsonl', 'a').write(json.dumps(asked) + '\\n')\n\
                   flow = asked['snapshot']['flow']\nanswer = {'answer': flow}\n\
                   if flow == 'v41' or 'Gadget3_' not in asked['question']:\n    answer['citations'] = [{'id': flow}]\n\
                   print(json.dumps(answer))\n";
    workspace.write("ask.py", program).unwrap();
    workspace
        .write(
            "churngate.yaml",
            "version: 1\nname: flows\nquestions: { file: questions.jsonl }\n\
             snapshots: { old: { flow: v41 }, new: { from: new.yaml } }\n\
             answer: { command: { argv: [python3, ask.py] }, concurrency: 1 }\njudge: { embedded: {} }\n",
        )
        .unwrap();
    workspace.write("new.yaml", "flow: v42\n").unwrap();
    let output = workspace.churngate(&["run", "--quiet", "--new", "flow=v43", "churngate.yaml"]).unwrap();
    assert_eq!(code(&output).unwrap(), 1, "{}", stderr(&output));
    let asked: Vec<Value> =
        workspace.read("asked.jsonl").unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let nonces: BTreeSet<&str> = asked.iter().map(|asked| asked["nonce"].as_str().unwrap()).collect();
    assert_eq!((asked.len(), nonces.len()), (32, 32));
    let flows: BTreeSet<&str> = asked.iter().map(|asked| asked["snapshot"]["flow"].as_str().unwrap()).collect();
    assert_eq!(flows, BTreeSet::from(["v41", "v43"]));
    let folder = workspace.run_folder().unwrap();
    let verified = workspace.churngate(&["verify", folder.to_str().unwrap()]).unwrap();
    assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
    // One question has lists with its old answers alone; there are neither URLs nor texts.
    let cited = &figures(&folder).unwrap()["analysis"]["cited"];
    assert_eq!((&cited["questions"], &cited["partly"]), (&json!(7), &json!(1)), "{cited}");
    assert_eq!((&cited["overlap"]["by_url"], &cited["overlap"]["by_content"]), (&Value::Null, &Value::Null));
    assert_eq!(cited["overlap"]["by_id"]["cross"]["none"], 28);
    let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("7 of 8 asked questions compared") && report.contains("1 more, where"), "{report}");
}
