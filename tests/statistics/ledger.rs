//! The reconstructed ledgers of the two studies, as observations.

use churngate::analyze::Settings;
use churngate::model::{
    Answer, Confidence, Digest, EvidenceKeys, Label, Normalisation, Observation, QuestionId, SnapshotAnswers,
    SnapshotName,
};
use serde::Deserialize;
use std::collections::BTreeMap;

const NQ: &str = include_str!("../fixtures/stats/ledger_nq.json");
const TQA: &str = include_str!("../fixtures/stats/ledger_tqa.json");

#[derive(Deserialize)]
struct Ledger {
    states: Vec<String>,
    repeats: usize,
    questions: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    sem: Vec<u32>,
    str: Vec<u32>,
    em: Vec<u8>,
    unk: Vec<u8>,
    text: BTreeMap<String, String>,
    sem_pair_overrides: Vec<(usize, usize, u8)>,
    overlap_n1_n7: usize,
}

pub fn nq() -> Vec<Observation> {
    read(NQ)
}

pub fn tqa() -> Vec<Observation> {
    read(TQA)
}

/// From n1 to n7 with n3 between and n0 as the closed book.
pub fn settings() -> Settings {
    Settings {
        old: SnapshotName("n1".into()),
        new: SnapshotName("n7".into()),
        between: vec![SnapshotName("n3".into())],
        placebo: false,
        closed_book: false,
        normalisation: Normalisation::Nq,
        confidence: Confidence::default(),
        draws: 50_000,
        bootstrap_key: [1; 32],
    }
}

fn read(text: &str) -> Vec<Observation> {
    let ledger: Ledger = serde_json::from_str(text).expect("a ledger");
    ledger.questions.iter().map(|record| observation(&ledger, record)).collect()
}

fn observation(ledger: &Ledger, record: &Record) -> Observation {
    let texts: Vec<Answer> = (0..record.str.len()).map(|i| answer(record, i)).collect();
    let mut judgments = BTreeMap::new();
    for i in 0..texts.len() {
        for j in i + 1..texts.len() {
            let key = if texts[i] < texts[j] { (i, j) } else { (j, i) };
            if texts[i] != texts[j] {
                judgments.insert((texts[key.0].clone(), texts[key.1].clone()), label(record, i, j));
            }
        }
    }
    let gold = (0..texts.len()).filter(|i| record.em[*i] == 1).map(|i| texts[i].as_str().to_owned());
    let gold: Vec<String> = gold.chain(["none of these".to_owned()]).collect();
    let snapshots = ledger.states.iter().enumerate().map(|(state, name)| SnapshotAnswers {
        snapshot: SnapshotName(name.clone()),
        answers: texts[state * ledger.repeats..(state + 1) * ledger.repeats].to_vec(),
        evidence: evidence(name, record.overlap_n1_n7),
        cited: Vec::new(),
    });
    Observation {
        id: QuestionId(record.id.clone()),
        cluster: None,
        tags: Vec::new(),
        snapshots: snapshots.collect(),
        judgments,
        similarities: BTreeMap::new(),
        gold,
        unchanged: false,
    }
}

/// Equal classes give equal texts; in the two questions whose labels differ between equal normalised texts, they differ in
/// the punctuation that normalisation deletes.
fn answer(record: &Record, i: usize) -> Answer {
    let dots = if record.sem_pair_overrides.is_empty() { String::new() } else { ".".repeat(i) };
    let shown = record.text.get(&record.str[i].to_string()).cloned();
    let made_up = || format!("answer {}{dots}", record.str[i]);
    let text = if record.unk[i] == 1 { "UNKNOWN".to_owned() } else { shown.unwrap_or_else(made_up) };
    Answer::parse(&text, 512).expect("an answer")
}

fn label(record: &Record, i: usize, j: usize) -> Label {
    let overridden = record.sem_pair_overrides.iter().find(|(a, b, _)| (*a, *b) == (i, j));
    let same = overridden.map_or(record.sem[i] == record.sem[j], |(_, _, same)| *same == 1);
    if same { Label::Same } else { Label::Different }
}

/// Eight documents of which n1 and n7 share as many as the record says.
fn evidence(name: &str, shared: usize) -> Option<EvidenceKeys> {
    let ids = |first: usize| (first..first + 8).map(|i| format!("d{i}")).collect::<Vec<String>>();
    let ids = match name {
        "n1" => ids(0),
        "n7" => ids(8 - shared),
        _ => return None,
    };
    let contents = ids.iter().map(|id| Digest::of(id.as_bytes())).collect();
    Some(EvidenceKeys { urls: vec![None; ids.len()], ids, contents })
}
