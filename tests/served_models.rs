//! Servers that change their model on the way, or give a reply twice: what stops, what goes on with a warning, and what must be thrown
//! away, through the real binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harness;

use anyhow::{Context as _, Result};
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, figures, stderr};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};

/// What a server does from one of its replies on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    /// It serves another model.
    Model,
    /// It gives an id again.
    Id,
}

/// Servers of models below one address, told apart by the first part of the path.
#[derive(Debug, Default)]
struct State {
    /// Replies so far, by server.
    turns: BTreeMap<String, usize>,
    /// Which server has what fault, and from which of its replies on.
    fault: (String, usize, Fault),
}

struct World {
    server: RawServer,
    state: Arc<Mutex<State>>,
}

impl World {
    fn start() -> Result<Self> {
        let state = Arc::new(Mutex::new(State::default()));
        let held = Arc::clone(&state);
        let server = RawServer::start(move |request| {
            let whose = whose(request);
            let (turn, (faulty, from, fault)) = {
                let mut state = held.lock().unwrap();
                let turn = state.turns.entry(whose.clone()).or_default();
                *turn += 1;
                (*turn - 1, state.fault.clone())
            };
            let fault = if faulty == whose && turn >= from { fault } else { Fault::None };
            let model = if fault == Fault::Model { format!("{whose}-2") } else { format!("{whose}-1") };
            let number = if fault == Fault::Id { from - 1 } else { turn };
            reply(request, &model, &format!("response-of-{whose}-{number:024}"))
        })?;
        Ok(Self { server, state })
    }

    /// From the `from`-th of its next replies on this server has this fault.
    fn ail(&self, whose: &str, from: usize, fault: Fault) {
        let mut state = self.state.lock().unwrap();
        // Ids stay such as never came before.
        let done = state.turns.get(whose).copied().unwrap_or(0);
        state.fault = (whose.to_owned(), done + from, fault);
    }

    /// Requests by server, from the `since`-th of all on.
    fn calls(&self, since: usize) -> BTreeMap<String, usize> {
        let mut calls = BTreeMap::new();
        for request in self.server.seen().split_off(since) {
            *calls.entry(whose(&request)).or_default() += 1;
        }
        calls
    }

    fn model(&self, whose: &str) -> String {
        format!("openai: {{ model: m, base_url: \"{}/{whose}/v1\" }}", self.server.host)
    }

    /// An audit of 12 questions with every diagnosis of its judge, or with none.
    fn workspace(&self, diagnoses: bool, more: &str) -> Result<Workspace> {
        let workspace = Workspace::quickstart()?;
        let [generator, judge, second, replica] = ["g", "j", "s", "r"].map(|whose| self.model(whose));
        let (again, replicate) = if diagnoses {
            (
                format!("  passes: 2\n  self_consistency: 12\n  second: {{ {second}, sample: 12 }}"),
                format!("replicate: {{ {replica}, sample: 12 }}\n"),
            )
        } else {
            (String::new(), String::new())
        };
        workspace.edit("churngate.yaml", |spec| {
            let spec = spec
                .replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 12, seed: 1 }")
                .replace("reader: {}", &format!("unchanged_evidence: sample\n  {generator}"))
                .replace("  embedded: {}", &format!("  {judge}\n{again}"));
            spec + &replicate + more
        })?;
        Ok(workspace)
    }
}

fn whose(request: &Request) -> String {
    request.path.split('/').nth(1).unwrap_or_default().to_owned()
}

/// Labels where a judge is asked; else an answer that follows from what is asked, so that old and new differ wherever their
/// evidence does, and differ in the repeats of one only by the number.
fn reply(request: &Request, model: &str, id: &str) -> Reply {
    let text = if request.body.to_string().contains("\"labels\"") {
        let pairs = request.body.pointer("/response_format/json_schema/schema/required").unwrap().as_array().unwrap();
        pairs
            .iter()
            .map(|pair| (pair.as_str().unwrap().to_owned(), json!("same")))
            .collect::<serde_json::Map<_, _>>()
            .into()
    } else {
        json!({ "answer": format!("answer {}", request.number) })
    };
    let message = json!({ "role": "assistant", "content": text.to_string() });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    Reply::json(200, &json!({ "id": id, "model": model, "choices": [choice] }))
}

fn run(workspace: &Workspace, more: &[&str]) -> Result<Output> {
    workspace.churngate(&[&["run", "churngate.yaml", "--quiet", "--tasks", "1"], more].concat())
}

fn result(folder: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(folder.join("result.json"))?)?)
}

fn verified(workspace: &Workspace, folder: &Path) -> Result<()> {
    let output = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    Ok(())
}

/// The ledgers that a hint tells to remove.
fn spoiled(said: &str) -> Vec<String> {
    let hint = said.split_once("remove ").map_or("", |(_, hint)| hint);
    let hint = hint.split(": what was sealed").next().unwrap_or_default();
    hint.split('`').skip(1).step_by(2).filter(|name| name.contains(".json")).map(str::to_owned).collect()
}

#[test]
fn what_is_spoiled_is_removed_as_the_hint_says_and_what_was_sealed_before_is_not_asked_for_again() -> Result<()> {
    // Twelve questions of four answers each, all different: twelve packets a judge, who is asked once more and about the second
    // generator's answers after that. What each case may ask for of the servers of earlier stages stands beside it.
    let cases = [
        ("generator", "g", 20, &[][..]),
        ("judge", "j", 6, &[("g", 0)][..]),
        ("judge", "j", 12 + 6, &[("g", 0)][..]),
        ("second judge", "s", 6, &[("g", 0), ("j", 12)][..]),
        ("second generator", "r", 20, &[("g", 0), ("s", 0), ("j", 12)][..]),
        ("judge", "j", 24 + 6, &[("g", 0), ("s", 0), ("r", 0)][..]),
    ];
    for fault in [Fault::Model, Fault::Id] {
        let world = World::start()?;
        for (name, whose, from, before) in cases {
            let workspace = world.workspace(true, "")?;
            world.ail(whose, from, fault);
            let stopped = run(&workspace, &[])?;
            let said = stderr(&stopped);
            assert_eq!(code(&stopped)?, 4, "{fault:?} {name} {from}: {said}");
            let words = if fault == Fault::Model { "changed the model" } else { "gave one response twice" };
            assert!(said.contains(words) && said.contains(&format!("the {name}'s server")), "{said}");
            let (folder, ledgers) = (workspace.run_folder()?, spoiled(&said));
            assert!(!ledgers.is_empty(), "{said}");
            for ledger in &ledgers {
                let _ = fs::remove_file(folder.join(ledger));
            }
            world.ail(whose, 0, Fault::None);
            let since = world.server.seen().len();
            let output = run(&workspace, &[])?;
            assert!(matches!(code(&output)?, 0 | 1), "{fault:?} {name} {from} {ledgers:?}: {}", stderr(&output));
            let calls = world.calls(since);
            for (server, expected) in before {
                let asked = calls.get(*server).copied().unwrap_or(0);
                assert_eq!(asked, *expected, "{fault:?} {name} {from}: {calls:?}");
            }
            verified(&workspace, &folder)?;
        }
    }
    Ok(())
}

const REPORT: &str = "tolerance: { served_models: report }\n";

#[test]
fn a_model_that_changes_stops_the_audit_unless_the_spec_lets_it_be_reported() -> Result<()> {
    for (server, whose, from) in
        [("generator", "g", 24), ("judge", "j", 6), ("second judge", "s", 6), ("second generator", "r", 24)]
    {
        let world = World::start()?;
        let workspace = world.workspace(true, "tolerance: { served_models: one }\n")?;
        world.ail(whose, from, Fault::Model);
        let stopped = run(&workspace, &[])?;
        assert_eq!(code(&stopped)?, 4, "{}", stderr(&stopped));

        let world = World::start()?;
        let workspace = world.workspace(true, REPORT)?;
        world.ail(whose, from, Fault::Model);
        let output = run(&workspace, &["--record", "rec"])?;
        assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
        let folder = workspace.run_folder()?;
        let changed = result(&folder)?["validity"]["changed_models"].clone();
        assert_eq!(changed.as_array().map(Vec::len), Some(1), "{changed}");
        assert_eq!(changed[0]["server"], server);
        let models = changed[0]["models"].as_array().context("models")?;
        let names: Vec<&str> = models.iter().filter_map(|one| one["model"].as_str()).collect();
        assert_eq!(names, [format!("{whose}-1"), format!("{whose}-2")]);
        let replies: u64 = models.iter().filter_map(|one| one["replies"].as_u64()).sum();
        let all = match whose {
            "g" | "r" => 48,
            "s" => 12,
            // The judge judges once more, and the second generator's answers.
            _ => 36,
        };
        assert_eq!(replies, all, "{changed}");
        if whose == "g" {
            let snapshots: u64 = models
                .iter()
                .flat_map(|one| one["snapshots"].as_array().unwrap())
                .filter_map(|of| of[1].as_u64())
                .sum();
            assert_eq!(snapshots, 48, "{changed}");
        }
        let warning = "'s server changed its model during the audit";
        for report in ["report.md", "report.html"] {
            let text = fs::read_to_string(folder.join(report))?;
            assert!(
                text.contains(&format!("{whose}-2")) && text.contains("server changed its model during"),
                "{report}: {text}"
            );
        }
        let markdown = fs::read_to_string(folder.join("report.md"))?;
        assert!(markdown.contains(&format!("`{server}`{warning}")), "{markdown}");
        verified(&workspace, &folder)?;

        let replay = workspace.churngate(&["run", "churngate.yaml", "--replay", "rec", "--runs", "replayed"])?;
        assert_eq!(code(&replay)?, code(&output)?, "{}", stderr(&replay));
        let replayed = fs::read_dir(workspace.path("replayed"))?.next().context("a run")??.path();
        assert_eq!(figures(&replayed)?, figures(&folder)?);
    }
    Ok(())
}

#[test]
fn a_black_box_that_changes_its_model_is_held_to_the_same_rule() -> Result<()> {
    // Each system may have a model of its own, which is no change; one that changes on the way is.
    for (rule, before, stops) in [("one", "m-1", true), ("report", "m-1", false), ("one", "m-2", false)] {
        let turns = Mutex::new(0_usize);
        let server = RawServer::start(move |request| {
            let turn = {
                let mut turns = turns.lock().unwrap();
                *turns += usize::from(request.path.contains("new"));
                *turns
            };
            let is_new = request.path.contains("new");
            let model = if !is_new {
                "m-1"
            } else if turn > 6 {
                "m-2"
            } else {
                before
            };
            let id = format!("response-{:024}", request.number);
            Reply::json(200, &json!({ "answer": format!("answer {}", request.number), "model": model, "id": id }))
        })?;
        let workspace = Workspace::quickstart()?;
        let spec = json!({
            "version": 1, "name": "deployed",
            "questions": { "file": "questions.jsonl", "select": { "count": 12, "seed": 1 } },
            "snapshots": { "old": { "flow": "old" }, "new": { "flow": "new" } },
            "answer": { "http": {
                "url": format!("{}/{{flow}}/ask", server.host), "body": { "question": "{{question}}" },
                "answer": "/answer", "served_model": "/model", "response_id": "/id",
            } },
            "judge": { "embedded": {} },
            "tolerance": { "served_models": rule },
        });
        workspace.edit("churngate.yaml", |_| spec.to_string())?;
        let output = run(&workspace, &[])?;
        assert_eq!(code(&output)? == 4, stops, "{}", stderr(&output));
        if rule == "one" {
            continue;
        }
        let folder = workspace.run_folder()?;
        let changed = result(&folder)?["validity"]["changed_models"].clone();
        let expected = json!([{ "server": "generator", "models": [
            { "model": "m-1", "replies": 30, "snapshots": [["new", 6], ["old", 24]] },
            { "model": "m-2", "replies": 18, "snapshots": [["new", 18]] },
        ] }]);
        assert_eq!(changed, expected);
        let markdown = fs::read_to_string(folder.join("report.md"))?;
        assert!(markdown.contains("beyond chance (p = "), "{markdown}");
        verified(&workspace, &folder)?;
    }
    Ok(())
}

#[test]
fn shards_of_different_models_are_merged_by_the_rule_of_their_spec() -> Result<()> {
    for (more, merges) in [("", false), (REPORT, true)] {
        let world = World::start()?;
        let workspace = world.workspace(false, more)?;
        let shard = |number: u32| -> Result<PathBuf> {
            let part = format!("{number}/2");
            let output = run(&workspace, &["--shard", &part, "--runs", "shards", "--folder-file", "folder"])?;
            assert_eq!(code(&output)?, 0, "{}", stderr(&output));
            Ok(PathBuf::from(workspace.read("folder")?))
        };
        let first = shard(1)?;
        world.ail("g", 0, Fault::Model);
        let second = shard(2)?;
        let merge = || {
            let folders = [&first, &second].map(|folder| folder.display().to_string());
            workspace.churngate(&[
                "merge",
                "--runs",
                "merged",
                "--folder-file",
                "merged-folder",
                &folders[0],
                &folders[1],
            ])
        };
        let output = merge()?;
        if merges {
            assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
            let folder = PathBuf::from(workspace.read("merged-folder")?);
            assert_eq!(result(&folder)?["validity"]["changed_models"][0]["server"], "generator");
            verified(&workspace, &folder)?;
            continue;
        }
        let said = stderr(&output);
        assert!(
            code(&output)? == 4 && said.contains("changed the model") && said.contains("folder of each shard"),
            "{said}"
        );
        for ledger in spoiled(&said) {
            let _ = fs::remove_file(second.join(ledger));
        }
        world.ail("g", 0, Fault::None);
        shard(2)?;
        let output = merge()?;
        assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    }
    Ok(())
}
