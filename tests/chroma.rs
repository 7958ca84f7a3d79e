//! The preset `chroma` against a real server: two collections, a run that is killed and goes on, names that are swapped,
//! and an embedder that is swapped.
//!
//! Needs Python with `chromadb` (`CHURNGATE_PYTHON`): fails without it where `CHURNGATE_REQUIRE_ALL` is set, and says
//! elsewhere that it was skipped.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

mod harness;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use churngate::ledger::record::{PassRecord, Record, Verdict};
use churngate::ledger::{self, BlobReader, stage};
use churngate::model::Evidence;
use harness::{Workspace, code, root, stderr};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const TOP_K: usize = 4;
const QUESTIONS: usize = 30;

/// A server in a folder of its own; ends with the test.
struct Chroma {
    python: PathBuf,
    url: String,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Chroma {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Chroma {
    fn start(python: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let program = python.parent().context("no folder")?.join("chroma");
        let child = Command::new(program)
            .args(["run", "--host", "127.0.0.1", "--port", &port.to_string(), "--path"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let url = format!("http://127.0.0.1:{port}");
        let server = Self { python, url, child, _folder: folder };
        server.script(&["wait", &server.url], "")?;
        Ok(server)
    }

    fn script(&self, arguments: &[&str], input: &str) -> Result<Value> {
        let mut child = Command::new(&self.python)
            .arg(script())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "{arguments:?} failed");
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    fn build(&self, name: &str, variant: &str, documents: &[(String, String)]) -> Result<()> {
        let lines: String =
            documents.iter().map(|(id, text)| json!({"id": id, "text": text}).to_string() + "\n").collect();
        self.script(&["build", &self.url, name, variant], &lines).map(|_| ())
    }

    /// The vectors of these texts.
    fn embedded(&self, texts: &[String]) -> Result<Vec<Vec<f64>>> {
        let reply = self.script(&[], &json!({ "texts": texts }).to_string())?;
        Ok(serde_json::from_value(reply["vectors"].clone())?)
    }

    /// Whether these are the documents nearest to each question, in order, by looking at every document. Which of two
    /// comes first that are equally near, to the precision of the server, is for the server to say.
    fn assert_nearest(&self, documents: &[(String, String)], found: &[Vec<String>]) -> Result<()> {
        let texts: Vec<String> = documents.iter().map(|(_, text)| text.clone()).collect();
        let (stored, asked) = (self.embedded(&texts)?, self.embedded(&questions())?);
        let distance = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        for (question, ids) in asked.iter().zip(found) {
            let of = |place: usize| distance(question, &stored[place]);
            let mut nearest: Vec<f64> = (0..documents.len()).map(of).collect();
            let place = |id: &String| documents.iter().position(|(known, _)| known == id).context("no such document");
            let places = ids.iter().map(place).collect::<Result<Vec<_>>>()?;
            nearest.sort_by(f64::total_cmp);
            assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), TOP_K, "{ids:?}");
            for (rank, place) in places.into_iter().enumerate() {
                assert!((of(place) - nearest[rank]).abs() < 1e-5, "{ids:?} at rank {rank}");
            }
        }
        Ok(())
    }
}

fn script() -> PathBuf {
    root().join("tests/chroma/index.py")
}

/// Documents of two releases: every third fact differs, a few went, a few came.
fn documents(release: usize) -> Vec<(String, String)> {
    let places = if release == 1 { 0..60 } else { 5..70 };
    let fact = |place: usize| {
        let version = if place.is_multiple_of(3) { place + release } else { place };
        let names = ["anchor", "kettle", "lantern", "bridge", "harbour", "meadow", "violin"];
        let (one, other) = (names[place % 7], names[place / 7 % 7]);
        (
            format!("d{place}"),
            format!("Part {place} the {one} of the {other} has size {version} and colour c{}", place * place),
        )
    };
    places.map(fact).collect()
}

fn questions() -> Vec<String> {
    (0..QUESTIONS)
        .map(|place| format!("What size has part {} with colour c{}?", place * 2, place * place * 4))
        .collect()
}

fn workspace(server: &Chroma, new: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let (python, script) = (server.python.display().to_string(), script().display().to_string());
    let spec = json!({
        "version": 1, "name": "chroma", "questions": {"file": "q.jsonl"},
        "snapshots": {"old": {"collection": "docs_1"}, "new": {"collection": new}},
        "retrieve": {
            "preset": "chroma", "base_url": server.url, "top_k": TOP_K,
            "embed": {"command": {"argv": [python, script]}},
        },
        "generate": {"reader": {}}, "judge": {"embedded": {}},
    });
    workspace.write("churngate.yaml", spec.to_string())?;
    let line =
        |(number, text): (usize, &String)| json!({"id": format!("q{number}"), "question": text}).to_string() + "\n";
    workspace.write("q.jsonl", questions().iter().enumerate().map(line).collect::<String>())?;
    Ok(workspace)
}

/// The ids that each question retrieved, in the order of questions, by snapshot.
type Locked = BTreeMap<String, Vec<Vec<String>>>;

/// The locked evidence, and whether each unit was accepted once.
fn locked(folder: &Path) -> Result<(Locked, bool)> {
    let folder = Utf8Path::from_path(folder).context("a path that is no text")?;
    let blobs = BlobReader::at(folder);
    let (mut found, mut units, mut once) = (BTreeMap::new(), BTreeSet::new(), true);
    for record in ledger::read::<stage::Evidence>(folder).map_err(anyhow::Error::msg)? {
        match record.map_err(anyhow::Error::msg)?.1 {
            Record::Note(PassRecord { question, snapshot, evidence, .. }) => {
                let evidence: Evidence = serde_json::from_slice(&blobs.get(&evidence).map_err(anyhow::Error::msg)?)?;
                let ids = evidence.documents.into_iter().map(|document| document.id).collect::<Vec<_>>();
                found.entry(snapshot.0).or_insert_with(BTreeMap::new).insert(question.0, ids);
            }
            Record::Outcome(outcome) if matches!(outcome.verdict, Verdict::Accepted(_)) => {
                once &= units.insert(outcome.of);
            }
            _ => {}
        }
    }
    let ordered = |by_id: BTreeMap<String, Vec<String>>| {
        (0..QUESTIONS).map(|number| by_id.get(&format!("q{number}")).cloned().unwrap_or_default()).collect()
    };
    Ok((found.into_iter().map(|(snapshot, by_id)| (snapshot, ordered(by_id))).collect(), once))
}

#[test]
fn two_collections_are_audited_killed_resumed_and_swapped() -> Result<()> {
    let Some(python) = harness::python("chromadb")? else {
        println!("skipped: CHURNGATE_PYTHON names no Python with chromadb");
        return Ok(());
    };
    let server = Chroma::start(python)?;
    let (old, new) = (documents(1), documents(2));
    server.build("docs_1", "0", &old)?;
    server.build("docs_2", "0", &new)?;
    server.build("docs_3", "0", &new[..40])?;
    server.build("docs_swapped", "1", &new)?;

    let workspace = workspace(&server, "docs_2")?;
    let folder = harness::killed(workspace.command(), &workspace)?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let (evidence, once) = locked(&folder)?;
    assert!(once, "a unit that was accepted was retrieved again");
    server.assert_nearest(&old, &evidence["old"])?;
    server.assert_nearest(&new, &evidence["new"])?;
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    let result = harness::figures(&folder)?;
    assert_eq!((&result["snapshots"][0]["documents"], &result["snapshots"][1]["documents"]), (&json!(60), &json!(65)));
    let physical = result["snapshots"][1]["physical"].as_str().context("no name")?;
    assert!(
        physical.starts_with("collection=docs_2 (") && physical.len() == "collection=docs_2 ()".len() + 36,
        "{physical}"
    );

    // The same name for another collection is another run.
    server.script(&["rename", &server.url, "docs_2", "docs_2_before"], "")?;
    server.script(&["rename", &server.url, "docs_3", "docs_2"], "")?;
    let output = workspace.churngate(&["diff", "--quiet", "--format", "json", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    let swapped: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(swapped["snapshots"][1]["documents"], 40);
    assert_ne!(swapped["protocol"], result["protocol"]);
    embedder_is_named(&server)
}

fn embedder_is_named(server: &Chroma) -> Result<()> {
    let workspace = workspace(server, "docs_swapped")?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the vectors in the snapshot `new` are of another embedder than the questions'"), "{said}");
    Ok(())
}
