//! An audit of an engine: its workspace, a run that is killed and goes on, and the evidence that it locked.

use crate::corpus::{self, Doc, TOP_K};
use crate::harness::{self, Workspace, code, stderr};
use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use churngate::ledger::record::{PassRecord, Record, Verdict};
use churngate::ledger::{self, BlobReader, stage};
use churngate::model::Evidence;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A workspace with a spec of these snapshots and this way to retrieve, and the first of the questions.
pub fn workspace(snapshots: &Value, retrieve: &Value, questions: usize) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    workspace.write("churngate.yaml", corpus::spec(snapshots, retrieve).to_string())?;
    workspace.write("q.jsonl", harness::questions_file(corpus::questions().iter().take(questions)))?;
    Ok(workspace)
}

/// Ids by snapshot, in the order of questions.
pub type Locked = BTreeMap<String, Vec<Vec<String>>>;

/// The ids of the locked evidence. No unit was accepted twice.
pub fn locked(folder: &Path) -> Result<Locked> {
    let folder = Utf8Path::from_path(folder).context("a path that is no text")?;
    let blobs = BlobReader::at(folder);
    let (mut found, mut units) = (BTreeMap::<String, BTreeMap<usize, Vec<String>>>::new(), BTreeSet::new());
    for record in ledger::read::<stage::Evidence>(folder).map_err(anyhow::Error::msg)? {
        match record.map_err(anyhow::Error::msg)?.1 {
            Record::Note(PassRecord { question, snapshot, evidence, .. }) => {
                let evidence: Evidence = serde_json::from_slice(&blobs.get(&evidence).map_err(anyhow::Error::msg)?)?;
                let ids = evidence.documents.into_iter().map(|document| document.id).collect();
                let number = question.0.strip_prefix('q').context("an id of another kind")?.parse()?;
                found.entry(snapshot.0).or_default().insert(number, ids);
            }
            Record::Outcome(outcome) if matches!(outcome.verdict, Verdict::Accepted(_)) => {
                ensure!(units.insert(outcome.of.clone()), "{:?} was retrieved again", outcome.of);
            }
            _ => {}
        }
    }
    Ok(found.into_iter().map(|(snapshot, by_number)| (snapshot, by_number.into_values().collect())).collect())
}

/// Kills a run, takes its vectors away for a while where it has some, goes on with it, verifies it, and gives back its folder
/// with the locked evidence.
pub fn audited(workspace: &Workspace, command: &dyn Fn() -> Command) -> Result<(PathBuf, Locked)> {
    let folder = harness::killed(command(), workspace)?;
    let vectors = folder.join("vectors.jsonl");
    if let Ok(kept) = std::fs::read(&vectors) {
        std::fs::remove_file(&vectors)?;
        let output = command().args(["run", "--quiet", "churngate.yaml"]).output()?;
        ensure!(code(&output)? == 5 && stderr(&output).contains("already searched for"), "{}", stderr(&output));
        std::fs::write(&vectors, kept)?;
    }
    let output = command().args(["run", "--quiet", "churngate.yaml"]).output()?;
    ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    ensure!(code(&verified)? == 0, "{}", stderr(&verified));
    let evidence = locked(&folder)?;
    Ok((folder, evidence))
}

/// What `churngate diff` says, as JSON.
pub fn compared(mut command: Command) -> Result<Value> {
    let output = command.args(["diff", "--quiet", "--format", "json", "churngate.yaml"]).output()?;
    ensure!(code(&output)? == 0, "{}", stderr(&output));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Whether the result names both snapshots with their numbers of documents; and the second one's physical name.
pub fn counted(folder: &Path) -> Result<String> {
    let result = harness::figures(folder)?;
    let counts = [0, 1].map(|snapshot: usize| result["snapshots"][snapshot]["documents"].clone());
    assert_eq!(counts, corpus::COUNTS.map(|count| json!(count)));
    Ok(result["snapshots"][1]["physical"].as_str().context("no name")?.to_owned())
}

/// Whether these are the documents nearest to each question, in order, by looking at every document. Which of two comes
/// first that are equally near, to the precision of the engine, is for the engine to say.
pub fn assert_nearest(documents: &[Doc], stored: &[Vec<f64>], asked: &[Vec<f64>], found: &[Vec<String>]) -> Result<()> {
    let distance = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    assert_eq!(asked.len(), found.len());
    for (question, ids) in asked.iter().zip(found) {
        let of = |place: usize| distance(question, &stored[place]);
        let mut nearest: Vec<f64> = (0..documents.len()).map(of).collect();
        let place = |id: &String| documents.iter().position(|known| known.id == *id).context("no such document");
        let places = ids.iter().map(place).collect::<Result<Vec<_>>>()?;
        nearest.sort_by(f64::total_cmp);
        assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), TOP_K, "{ids:?}");
        for (rank, place) in places.into_iter().enumerate() {
            assert!((of(place) - nearest[rank]).abs() < 1e-5, "{ids:?} at rank {rank}");
        }
    }
    Ok(())
}
