//! `churngate review`: pairs of a finished run labelled by hand, in a dialogue and in files.

mod harness;

use anyhow::{Context as _, Result, ensure};
use churngate::model::Digest;
use harness::{Workspace, code, server::Server, stderr, stdout};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// What old and new answer to each question. Five flip, three are worded otherwise, and one is the same.
const ANSWERS: [[&str; 2]; 9] = [
    ["Paris", "London"],
    ["Madrid", "Oslo"],
    ["copper", "linen"],
    ["the Nile", "Rhine"],
    ["the harbour", "harbour"],
    ["the bridge", "bridge"],
    ["the tower", "tower"],
    ["Vienna", "HOSTILE"],
    ["Lisbon", "Lisbon"],
];
/// Judged pairs: two wordings of the Nile make three of them.
const PAIRS: usize = 10;
/// An answer that would act on a terminal and on a workflow.
const HOSTILE: &str = "::error::x\u{1b}[31mred\u{202e}";

/// Answers with what the document says; the Nile with and without its article in turn.
fn server() -> Result<Server> {
    let turns = Mutex::new(0_u32);
    let answer = move |body: &Value| {
        let said = body["messages"][1]["content"].as_str().unwrap_or_default();
        let carried = said.split("carries ").nth(1).and_then(|rest| rest.split('.').next()).unwrap_or("UNKNOWN");
        match carried {
            "HOSTILE" => HOSTILE.to_owned(),
            "the Nile" => {
                let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
                *turns += 1;
                if turns.is_multiple_of(2) { "the Nile".to_owned() } else { "Nile".to_owned() }
            }
            other => other.to_owned(),
        }
    };
    Server::start(Duration::ZERO, Box::new(answer))
}

fn finished() -> Result<(Workspace, PathBuf)> {
    let (server, workspace) = (server()?, Workspace::new()?);
    let corpus = |side: usize| {
        let line = |(item, answers): (usize, &[&str; 2])| {
            json!({"id": format!("d{item}"), "text": format!("Gadget{item} carries {}.", answers[side])}).to_string()
                + "\n"
        };
        ANSWERS.iter().enumerate().map(line).collect::<String>()
    };
    workspace.write("old.jsonl", corpus(0))?;
    workspace.write("new.jsonl", corpus(1))?;
    let questions = (0..ANSWERS.len()).map(|item| format!("What does gadget{item} carry?"));
    workspace.write("questions.jsonl", harness::questions_file(questions))?;
    let base = &server.base_url;
    workspace.write(
        "churngate.yaml",
        format!(
            "version: 1\nname: by-hand\nquestions: {{ file: questions.jsonl }}\n\
             snapshots:\n  old: {{ path: old.jsonl }}\n  new: {{ path: new.jsonl }}\n\
             retrieve: {{ bm25: {{}}, top_k: 1 }}\n\
             generate:\n  openai: {{ model: m, base_url: \"{base}\", structured: plain }}\n\
             judge: {{ embedded: {{}} }}\n"
        ),
    )?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    Ok((workspace, folder))
}

/// A folder with a copy of the run that all tests share, under the name `run`.
fn copy() -> Result<Workspace> {
    static RUN: OnceLock<(Workspace, PathBuf)> = OnceLock::new();
    let run = if let Some(run) = RUN.get() {
        run
    } else {
        let run = finished()?;
        RUN.get_or_init(|| run)
    };
    let workspace = Workspace::new()?;
    copy_folder(&run.1, &workspace.path("run"))?;
    Ok(workspace)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// `churngate review run` with these lines as its input.
fn review(workspace: &Workspace, arguments: &[&str], input: &str) -> Result<Output> {
    let mut command = workspace.command();
    command.args(["review", "run"]).args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("no input")?;
    // One that ends before it has read everything closes the pipe.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    Ok(child.wait_with_output()?)
}

/// The pairs in the order in which they are shown.
fn pairs(workspace: &Workspace) -> Result<Vec<Value>> {
    let output = review(workspace, &["--write", "shown.jsonl"], "")?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    let text = workspace.read("shown.jsonl")?;
    fs::remove_file(workspace.path("shown.jsonl"))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// What is right of a pair: articles mean nothing.
fn truth(pair: &Value) -> &'static str {
    let text = |member: &str| pair[member].as_str().unwrap_or_default().replace("the ", "");
    if text("a") == text("b") { "same" } else { "different" }
}

/// The same, but Paris and London are called the same.
fn mistaken(pair: &Value) -> &'static str {
    if [&pair["a"], &pair["b"]].contains(&&json!("Paris")) { "same" } else { truth(pair) }
}

fn keys(pairs: &[Value], label: fn(&Value) -> &'static str) -> String {
    pairs.iter().flat_map(|pair| [&label(pair)[..1], "\n"]).collect()
}

fn figures(workspace: &Workspace, arguments: &[&str]) -> Result<Value> {
    let output = review(workspace, &[arguments, &["--format", "json"]].concat(), "")?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The bytes of every file of the run but the labels.
fn whole(workspace: &Workspace) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![workspace.path("run")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() && !path.ends_with("review") {
                folders.push(path);
            } else if path.is_file() {
                files.insert(path.clone(), fs::read(path)?);
            }
        }
    }
    Ok(files)
}

#[test]
fn a_dialogue_shows_pairs_blindly_and_ends_with_what_the_labels_came_to() -> Result<()> {
    let workspace = copy()?;
    let before = whole(&workspace)?;
    let shown = pairs(&workspace)?;
    assert_eq!(shown.len(), PAIRS);
    // A key that is none, and a first label that is taken back.
    let input = format!("x\nu\nb\n{}", keys(&shown, mistaken));
    let output = review(&workspace, &[], &input)?;
    let (asked, told) = (stderr(&output), stdout(&output));
    assert_eq!(code(&output)?, 0, "{asked}{told}");
    assert!(asked.contains("\n1 of 10\n") && asked.contains("\n10 of 10\n") && asked.contains("gadget7"), "{asked}");
    for secret in ["old", "new", "q0", "flip", "sample", "judge s", "judge d", "\u{1b}", "\u{202e}"] {
        let after = asked.split_once("q stop and keep").context("no keys")?.1;
        assert!(!after.contains(secret), "{secret}: {asked}");
    }
    for said in [
        "by-hand: 10 of 10 pairs labelled by hand as default",
        "Blind sample (10 of 10 judged pairs, drawn by a hash): 9 of 10 labels alike (90.00%, interval 59.58 to 98.21), kappa 0.80",
        "Pairs of 5 stable flips (7, chosen by the judge's own labels): 6 of 7 labels alike",
        "judge same       hand same 4, hand different 0 judge different  hand same 1, hand different 5 This sample alone",
        "By hand 4 of 5 stable flips are confirmed (80.00%",
        "those that are not make up 11.11 of the 55.56 pp of semantic D̂. The verdict stays incompatible",
        "1. What does gadget0 carry? · question q0 · stable flip",
    ] {
        assert!(told.replace("\n  ", " ").replace('\n', " ").contains(said), "{said}\n{told}");
    }
    let differ = "   old          Paris\n   new          London\n   judge different, hand same\n";
    assert!(told.ends_with(differ), "{told}");
    assert!(
        ![&asked, &told].iter().any(|text| text.lines().any(|line| line.trim_start().starts_with("::"))),
        "{asked}"
    );
    // The same labels, read again, for a program.
    let figures = figures(&workspace, &[])?;
    assert_eq!(figures["figures"]["confirmed"]["refuted"], 1);
    assert_eq!(figures["figures"]["labelled"].as_array().map(Vec::len), Some(PAIRS));
    assert_eq!(figures["verdict"], "incompatible");
    named_as_documented(&figures)?;
    assert_eq!(whole(&workspace)?, before);
    Ok(())
}

/// Names, and which answer is shown first, follow from docs/ledger-format.md.
fn named_as_documented(review: &Value) -> Result<()> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let protocol: Digest = text(&review["protocol"]).parse()?;
    let key = Digest::of_parts([b"churngate/seed/review/1".as_slice(), protocol.as_bytes()]);
    for pair in review["figures"]["labelled"].as_array().context("no pairs")? {
        let (question, shown) = (text(&pair["question"]), [text(&pair["a"]["text"]), text(&pair["b"]["text"])]);
        let mut sorted = shown.clone();
        sorted.sort();
        let texts = [&question, &sorted[0], &sorted[1]].map(String::as_bytes);
        let name = Digest::of_parts([b"churngate/review/pair/1".as_slice(), key.as_bytes()].into_iter().chain(texts));
        assert_eq!(pair["id"], name.to_string());
        assert_eq!(shown == sorted, name.as_bytes()[31] & 1 == 0);
    }
    Ok(())
}

#[test]
fn who_stops_goes_on_where_he_was_and_a_torn_line_is_all_that_a_kill_takes() -> Result<()> {
    let workspace = copy()?;
    let shown = pairs(&workspace)?;
    assert!(!workspace.path("run/review").exists());
    let first: String = keys(&shown[..3], truth);
    let output = review(&workspace, &[], &(first + "q\n"))?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    let told = stdout(&output);
    assert!(
        told.contains("3 of 10 pairs") && told.contains("no figures yet") && !told.contains("judge same"),
        "{told}"
    );
    assert_eq!(figures(&workspace, &[])?["figures"], Value::Null);
    let file = workspace.path("run/review/default.jsonl");
    let bytes = fs::read(&file)?;
    assert_eq!(bytes.split(|byte| *byte == b'\n').count(), 5);
    fs::write(&file, &bytes[..bytes.len() - 7])?;
    // The end of the input is the wish to stop.
    assert!(stdout(&review(&workspace, &[], "")?).contains("2 of 10 pairs"));
    let output = review(&workspace, &["--reveal"], "")?;
    assert!(
        stdout(&output).contains("Blind sample (10 of 10 judged pairs, drawn by a hash): 2 of 2 labels alike"),
        "{}",
        stdout(&output)
    );
    let output = review(&workspace, &[], &keys(&shown[2..], truth))?;
    assert!(stderr(&output).contains("\n3 of 10\n"), "{}", stderr(&output));
    assert!(stdout(&output).contains("10 of 10 labels alike (100.00%"), "{}", stdout(&output));
    assert!(stdout(&output).contains("By hand 5 of 5 stable flips are confirmed"), "{}", stdout(&output));
    Ok(())
}

#[test]
fn a_label_is_kept_before_the_next_pair_is_asked_for() -> Result<()> {
    let workspace = copy()?;
    let mut command = workspace.command();
    let command = command.args(["review", "run"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().context("no input")?;
    let mut asked = BufReader::new(child.stderr.take().context("no questions")?).lines();
    for number in 1..=4 {
        let pair = format!("{number} of 10");
        while asked.next().context("it ended")?? != pair {}
        let labels = workspace.read("run/review/default.jsonl").unwrap_or_default();
        assert_eq!(labels.matches("\"pair\"").count(), number - 1);
        stdin.write_all(b"s\n")?;
    }
    while asked.next().context("it ended")?? != "5 of 10" {}
    child.kill()?;
    child.wait()?;
    let output = review(&workspace, &[], "")?;
    assert!(stdout(&output).contains("4 of 10 pairs"), "{}{}", stdout(&output), stderr(&output));
    Ok(())
}

#[test]
fn a_file_gives_the_labels_that_a_dialogue_would() -> Result<()> {
    let workspace = copy()?;
    let shown = pairs(&workspace)?;
    review(&workspace, &[], &keys(&shown, mistaken))?;
    let by_dialogue = figures(&workspace, &[])?["figures"].clone();
    for name in ["labels.jsonl", "labels.csv"] {
        let who = name.replace('.', "-");
        let written = review(&workspace, &["--reviewer", &who, "--write", name], "")?;
        assert!(code(&written)? == 0 && stdout(&written).contains("10 pairs to label"), "{}", stderr(&written));
        workspace.edit(name, |text| {
            let label = |line: &str| match shown.iter().find(|pair| line.contains(pair["id"].as_str().unwrap_or("-"))) {
                Some(pair) if name.ends_with("csv") => format!("{line}{}\n", mistaken(pair)),
                Some(pair) => line.replace("\"label\":\"\"", &format!("\"label\":\"{}\"", mistaken(pair))) + "\n",
                None => format!("{line}\n"),
            };
            text.lines().map(label).collect()
        })?;
        let read = review(&workspace, &["--reviewer", &who, "--read", name, "--format", "json"], "")?;
        let read: Value = serde_json::from_slice(&read.stdout)?;
        for part in ["sample", "flips", "confirmed", "labelled"] {
            assert_eq!(read["figures"][part], by_dialogue[part], "{name}");
        }
        // Two people who label alike agree with one another.
        let two = &read["figures"]["reviewers"][0];
        assert_eq!((&two["agreement"], &two["kappa"]), (&json!(1.0), &json!(1.0)), "{read}");
        let again = review(&workspace, &["--write", name], "")?;
        assert!(code(&again)? == 2 && stderr(&again).contains("exists already"), "{}", stderr(&again));
    }
    Ok(())
}

#[test]
fn a_wrong_file_gives_no_label_at_all_and_what_was_shown_is_settled() -> Result<()> {
    let workspace = copy()?;
    review(&workspace, &["--write", "labels.csv"], "")?;
    let written = workspace.read("labels.csv")?;
    let filled: String =
        written.lines().map(|line| line.to_owned() + if line.ends_with(',') { "same\n" } else { "\n" }).collect();
    let cut = |text: &str| text.split_inclusive('\n').take(4).collect::<String>();
    for (name, text, said) in [
        (
            "labels.csv",
            cut(&filled) + "7,a,b,c,same\n",
            "`labels.csv`, line 5, column `id`: it names no pair of this run",
        ),
        ("labels.csv", filled.replacen(",same\n", ",sane\n", 3), "line 2, column `label`: `sane` is no label"),
        ("labels.csv", filled.replace("gadget4", "gadget5"), "column `question`: the text was edited"),
        (
            "labels.csv",
            filled.clone() + filled.lines().last().unwrap_or_default(),
            "column `id`: it stands on line 11 too",
        ),
        ("labels.txt", filled.clone(), "another ending than `.jsonl` and `.csv`"),
    ] {
        workspace.write(name, text)?;
        let output = review(&workspace, &["--read", name], "")?;
        let told = stderr(&output);
        assert!(code(&output)? == 2 && told.contains(said) && told.contains("\nhint: "), "{said}: {told}");
        assert!(!workspace.path("run/review").exists(), "{said}");
    }
    workspace.write("labels.csv", cut(&filled))?;
    let output = review(&workspace, &["--read", "labels.csv", "--reveal"], "")?;
    assert!(stdout(&output).contains("3 of 10 pairs"), "{}{}", stdout(&output), stderr(&output));
    workspace.write("labels.csv", cut(&filled).replace(",same\n", ",different\n"))?;
    let output = review(&workspace, &["--read", "labels.csv"], "")?;
    let told = stderr(&output);
    assert!(code(&output)? == 2 && told.contains("yours stays `same`") && told.contains("--reviewer"), "{told}");
    Ok(())
}

#[test]
fn no_other_command_sees_the_labels() -> Result<()> {
    let workspace = copy()?;
    let told = |arguments: &[&str]| -> Result<(i32, String, String)> {
        let output = workspace.churngate(arguments)?;
        Ok((code(&output)?, stdout(&output), stderr(&output)))
    };
    let commands: [&[&str]; 6] = [
        &["publish", "run"],
        &["publish", "run", "--artifact"],
        &["verify", "run"],
        &["report", "run", "--format", "json"],
        &["report", "run", "--format", "markdown"],
        &["verify", "run", "--claims"],
    ];
    let before = commands.iter().map(|arguments| told(arguments)).collect::<Result<Vec<_>>>()?;
    assert!(before.iter().all(|(code, ..)| *code == 0), "{before:?}");
    let shown = pairs(&workspace)?;
    review(&workspace, &[], &keys(&shown, mistaken))?;
    assert_eq!(before, commands.iter().map(|arguments| told(arguments)).collect::<Result<Vec<_>>>()?);
    assert_eq!(told(&["export", "run", "--output", "exported"])?.0, 0);
    assert!(workspace.path("run/review").exists() && !workspace.path("exported/review").exists());
    assert_eq!(told(&["verify", "exported"])?.0, 0);
    Ok(())
}

#[test]
fn shards_that_were_joined_and_reviewed_are_joined_again_to_the_same() -> Result<()> {
    let workspace = Workspace::new()?;
    let corpus = |edited: usize| {
        let version = |item: usize| if item < edited { 13 } else { 12 };
        let line = |item| json!({"id": format!("d{item}"), "text": format!("Tool{item} has it since version {}.", version(item))});
        (0..8).map(line).fold(String::new(), |text, line| text + &line.to_string() + "\n")
    };
    workspace.write("old.jsonl", corpus(0))?;
    workspace.write("new.jsonl", corpus(3))?;
    workspace.write(
        "q.jsonl",
        harness::questions_file((0..8).map(|item| format!("Since which version has Tool{item} it?"))),
    )?;
    let spec = "version: 1\nname: joined\nquestions: { file: q.jsonl }\nsnapshots:\n  old: { path: old.jsonl }\n  new: { path: new.jsonl }\n\
                retrieve: { bm25: {}, top_k: 1 }\ngenerate: { reader: {} }\njudge: { embedded: {} }\n";
    workspace.write("churngate.yaml", spec)?;
    let mut merge = vec!["merge".to_owned(), "--folder-file=run".to_owned()];
    for shard in ["1/2", "2/2"] {
        let output =
            workspace.churngate(&["run", "--quiet", "--folder-file=shard", "--shard", shard, "churngate.yaml"])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        let shard = workspace.read("shard")?;
        let refused = workspace.churngate(&["review", &shard])?;
        assert!(code(&refused)? == 2 && stderr(&refused).contains("join all shards"), "{}", stderr(&refused));
        merge.push(shard);
    }
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    let joined = workspace.churngate(&merge)?;
    let run = workspace.read("run")?;
    let reviewed = workspace.churngate(&["review", &run, "--reveal"])?;
    assert!(code(&reviewed)? == 0 && stdout(&reviewed).contains("joined: 0 of "), "{}", stdout(&reviewed));
    let output = workspace.churngate(&["review", &run, "--write", "labels.jsonl"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    workspace.edit("labels.jsonl", |text| text.replace("\"label\":\"\"", "\"label\":\"D\""))?;
    let reviewed = workspace.churngate(&["review", &run, "--read", "labels.jsonl"])?;
    assert!(stdout(&reviewed).contains("The verdict stays"), "{}", stdout(&reviewed));
    assert!(Path::new(&run).join("review/default.jsonl").exists());
    let again = workspace.churngate(&merge)?;
    assert_eq!((code(&again)?, stdout(&again)), (code(&joined)?, stdout(&joined)), "{}", stderr(&again));
    Ok(())
}

#[test]
fn what_cannot_be_reviewed_is_refused_with_a_remedy() -> Result<()> {
    let workspace = copy()?;
    let refused = |arguments: &[&str], expected: i32, said: &str| -> Result<()> {
        let output = workspace.churngate(&[&["review"], arguments].concat())?;
        let told = stderr(&output);
        assert!(code(&output)? == expected && told.contains(said) && told.contains("\nhint: "), "{said}: {told}");
        Ok(())
    };
    refused(&["nowhere"], 2, "nowhere")?;
    refused(&["run", "--reviewer", "../x"], 2, "no plain name")?;
    assert_eq!(code(&workspace.churngate(&["export", "run", "--output", "exported"])?)?, 0);
    refused(&["exported"], 2, "is an export")?;
    workspace.write("run/shard.json", r#"{"protocol":"P","part":{"shard":1,"of":2}}"#.replace('P', &"0".repeat(64)))?;
    refused(&["run"], 2, "is shard 1 of 2")?;
    fs::remove_file(workspace.path("run/shard.json"))?;
    let result = fs::read(workspace.path("run/result.json"))?;
    fs::remove_file(workspace.path("run/result.json"))?;
    refused(&["run"], 2, "is not finished")?;
    workspace.write("run/result.json", String::from_utf8(result.clone())?.replace("incompatible", "compatible"))?;
    refused(&["run"], 5, "does not follow from the ledgers")?;
    workspace.write("run/result.json", &result)?;
    review(&workspace, &[], "s\nq\n")?;
    let labels = workspace.read("run/review/default.jsonl")?;
    let head = labels.split("\"judgments\":\"").nth(1).and_then(|rest| rest.get(..64)).context("no head")?.to_owned();
    workspace.write("run/review/default.jsonl", labels.replace(&head, &"0".repeat(64)))?;
    refused(&["run"], 5, "labels of other judgments")?;
    workspace.write("run/review/default.jsonl", labels.replace("\"same\"", "\"sane\""))?;
    refused(&["run"], 5, "line 2 is no label")?;
    fs::remove_dir_all(workspace.path("run/review"))?;
    workspace.write("run/review", "x")?;
    refused(&["run"], 5, "no plain folder")
}

#[test]
fn a_run_of_equal_answers_has_nothing_to_label() -> Result<()> {
    let workspace = Workspace::new()?;
    let line = json!({"id": "d", "text": "A kettle weighs 4 kg."}).to_string();
    workspace.write("old.jsonl", &line)?;
    workspace.write("new.jsonl", &line)?;
    workspace.write("q.jsonl", harness::questions_file(["How heavy is a kettle?"]))?;
    let spec = "version: 1\nname: same\nquestions: { file: q.jsonl }\nsnapshots:\n  old: { path: old.jsonl }\n  new: { path: new.jsonl }\n\
                retrieve: { bm25: {}, top_k: 1 }\n";
    workspace.write("churngate.yaml", format!("{spec}generate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n"))?;
    workspace.write("evidence.yaml", format!("{spec}mode: evidence\n"))?;
    for (spec, expected, said) in [
        ("churngate.yaml", 0, "same: nothing to label: every two answers of old and new"),
        ("evidence.yaml", 2, "is a run of `mode: evidence`"),
    ] {
        let output = workspace.churngate(&["run", "--quiet", "--folder-file=folder", spec])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        let folder = workspace.read("folder")?;
        let output = workspace.churngate(&["review", folder.trim()])?;
        let told = stdout(&output) + &stderr(&output);
        assert!(code(&output)? == expected && told.contains(said), "{told}");
        assert!(!Path::new(folder.trim()).join("review").exists());
    }
    Ok(())
}
