//! The embedded search against two programs of others, over documents of a public data set: tantivy by its Python package,
//! and bm25s by Lucene's formula. All three get the same terms, so that what is compared is the ranking.
//!
//! `CHURNGATE_PYTHON` names a Python with `tantivy` and `bm25s`: skipped without it unless `CHURNGATE_REQUIRE_ALL` is set.
//! `CHURNGATE_COMPAT` names a folder that `examples/browser-compat/build.py full` made, for the whole data set in place of the
//! part that is committed.

#![expect(clippy::print_stdout, reason = "measured figures are shown with --nocapture")]

mod harness;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8PathBuf;
use churngate::retrieve::bm25::analyse::{Terms, is_stop_word};
use churngate::retrieve::bm25::{Bm25Index, IndexSettings};
use churngate::retrieve::corpus::{Corpus, CorpusDocument};
use churngate::spec::SnapshotSource;
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const TOP: usize = 10;

#[derive(Deserialize)]
struct Ranked {
    tantivy: Vec<(String, f64)>,
    lucene: Vec<(String, f64)>,
}

fn folder() -> Utf8PathBuf {
    let built = std::env::var("CHURNGATE_COMPAT").map(Utf8PathBuf::from);
    built.unwrap_or_else(|_| Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart"))
}

fn documents() -> Result<Vec<CorpusDocument>> {
    let corpus = Corpus::open(&SnapshotSource::Path("new.jsonl".into()), &folder())?;
    let documents = corpus.documents()?.collect::<Result<_, _>>();
    Ok(documents?)
}

fn questions() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(folder().join("questions.jsonl"))?;
    let question = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line)?;
        Ok(row["question"].as_str().context("no question")?.to_owned())
    };
    text.lines().map(question).collect()
}

fn ranked(python: PathBuf, documents: &[CorpusDocument], questions: &[String]) -> Result<Vec<Ranked>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/search.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    let terms = |text: &str| Terms::of(text).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = documents
        .iter()
        .map(|document| json!({"id": document.id, "terms": terms(&document.text)}).to_string())
        .collect();
    lines.extend(questions.iter().map(|question| {
        let distinct: BTreeSet<String> = Terms::of(question).filter(|term| !is_stop_word(term)).collect();
        json!({"asked": distinct.into_iter().collect::<Vec<_>>().join(" ")}).to_string()
    }));
    let writing = std::thread::spawn(move || lines.iter().try_for_each(|line| writeln!(input, "{line}")));
    let output = child.wait_with_output()?;
    writing.join().ok().context("the writer failed")??;
    ensure!(output.status.success(), "the script failed");
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// How many of ours another ranking has among its first ten, and how many more are tied with its tenth.
fn agreement(ours: &[String], theirs: &[(String, f64)], tie: f64) -> (usize, usize) {
    let first: BTreeSet<&String> = theirs.iter().take(TOP).map(|(id, _)| id).collect();
    let scores: BTreeMap<&String, f64> = theirs.iter().map(|(id, score)| (id, *score)).collect();
    let last = theirs.get(..TOP).unwrap_or(theirs).last().map_or(0.0, |(_, score)| *score);
    let same = ours.iter().filter(|id| first.contains(id)).count();
    let tied = ours
        .iter()
        .filter(|id| !first.contains(id) && scores.get(id).is_some_and(|score| *score >= last * (1.0 - tie)));
    (same, tied.count())
}

#[test]
fn the_first_ten_are_those_of_tantivy_and_nearly_those_of_lucene_with_exact_lengths() -> Result<()> {
    let Some(python) = harness::python("bm25s, tantivy")? else {
        println!("skipped: CHURNGATE_PYTHON names no Python with bm25s and tantivy");
        return Ok(());
    };
    let (documents, questions) = (documents()?, questions()?);
    let settings = IndexSettings { chunk_chars: None, max_chars: 1200, in_memory: true };
    let index = Bm25Index::build(documents.iter().cloned().map(Ok), settings)?.index;
    let (mut asked, mut engine, mut engine_tied, mut lucene) = (0, 0, 0, 0);
    for (question, theirs) in questions.iter().zip(ranked(python, &documents, &questions)?) {
        let found = index.search(question, TOP)?;
        let ours: Vec<String> = found.documents.into_iter().map(|document| document.id).collect();
        // Single precision there, double here: what differs by less than its rounding is a tie.
        let (same, tied) = agreement(&ours, &theirs.tantivy, 1e-5);
        assert_eq!(same + tied, ours.len(), "{question}: {ours:?} against {:?}", theirs.tantivy);
        (asked, engine, engine_tied) = (asked + ours.len(), engine + same, engine_tied + tied);
        lucene += agreement(&ours, &theirs.lucene, 0.0).0;
    }
    println!(
        "{} documents, {} questions, {asked} places: tantivy has {engine} of them and {engine_tied} tied with its tenth; \
         bm25s (lucene, exact lengths) has {lucene}",
        documents.len(),
        questions.len()
    );
    // Lucene and tantivy keep lengths in eight bits, bm25s keeps them whole.
    assert!(lucene * 100 >= asked * 90, "{lucene} of {asked}");
    Ok(())
}
