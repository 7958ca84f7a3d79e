//! Audits of 300 questions, generator and judge behind servers of which every third request fails: 20 % are refused for their
//! rate (some with a long Retry-After), 5 % break, 3 % hang, 3 % are cut, 3 % are no JSON and 2 % are empty. Once the
//! servers are ours, once they are `llmock`.
//!
//! The second needs `llmock` beside the tests' Python (`CHURNGATE_PYTHON`): it fails without it where `CHURNGATE_REQUIRE_ALL`
//! is set, and says elsewhere that it was skipped.

#![expect(clippy::print_stdout, reason = "says what was skipped, and shows the counts with --nocapture")]

#[path = "../harness/mod.rs"]
mod harness;

mod llmock;
mod own;
mod shares;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, figures, stderr};
use llmock::Llmock;
use serde_json::Value;
use shares::{Fault, Faults};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const QUESTIONS: usize = 300;
/// Every other question has other evidence in the new snapshot and is asked: two snapshots, two repeats.
const CELLS: usize = QUESTIONS / 2 * 4;
/// What the spec gives a call: long enough for every answer on a busy machine.
const TIMEOUT_SECONDS: u64 = 2;
/// How long a server says nothing.
const HANG: Duration = Duration::from_secs(TIMEOUT_SECONDS + 2);

/// The header that tells a client to wait; the long one in whole seconds, as most servers have it.
fn wait_header(fault: Fault) -> Vec<(&'static str, String)> {
    match fault.wait() {
        Some(wait) if wait.as_secs() > 0 => vec![("retry-after", wait.as_secs().to_string())],
        Some(wait) => vec![("retry-after-ms", wait.as_millis().to_string())],
        None => Vec::new(),
    }
}

/// Questions each with a word and a document of its own.
fn workspace(generator: &str, judge: &str, structured: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let (mut asked, mut old, mut new) = (String::new(), String::new(), String::new());
    for number in 0..QUESTIONS {
        writeln!(asked, r#"{{"id":"q{number}","question":"What does gadget{number} carry?"}}"#)?;
        writeln!(old, r#"{{"id":"d{number}","text":"gadget{number} carries {number} stones."}}"#)?;
        let thing = if number % 2 == 0 { "stones" } else { "shells" };
        writeln!(new, r#"{{"id":"d{number}","text":"gadget{number} carries {number} {thing}."}}"#)?;
    }
    let server = |url: &str, structured: &str| {
        format!(
            "openai: {{ model: m-1, base_url: \"{url}/v1\", structured: {structured}, timeout_seconds: {TIMEOUT_SECONDS} }}"
        )
    };
    let (generator, judge) = (server(generator, structured), server(judge, "json_schema"));
    workspace.write("questions.jsonl", asked)?;
    workspace.write("old.jsonl", old)?;
    workspace.write("new.jsonl", new)?;
    workspace.write(
        "churngate.yaml",
        format!(
            "version: 1\nname: faults\nquestions: {{ file: questions.jsonl }}\n\
             snapshots:\n  old: {{ path: old.jsonl }}\n  new: {{ path: new.jsonl }}\n\
             retrieve: {{ bm25: {{}}, top_k: 1 }}\n\
             generate:\n  {generator}\n  repeats: 2\n  concurrency: 32\n\
             judge:\n  {judge}\n  concurrency: 32\n"
        ),
    )?;
    Ok(workspace)
}

/// An audit whose run is kept in this folder.
fn audit(workspace: &Workspace, runs: &str) -> Result<PathBuf> {
    let output = workspace.churngate(&["run", "--quiet", "--runs", runs, "churngate.yaml"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let folder = fs::read_dir(workspace.path(runs))?.next().context("a run")??.path();
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    Ok(folder)
}

/// What the servers counted is what the run has on record and what its report says.
fn counted_alike(folder: &std::path::Path, servers: &[&Faults]) -> Result<()> {
    let mut met: BTreeMap<String, u64> = BTreeMap::new();
    for (fault, count) in servers.iter().flat_map(|faults| faults.met()) {
        *met.entry(fault.code().to_owned()).or_default() += count;
    }
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    let recorded: Vec<(String, u64)> = serde_json::from_value(result["record"]["retries"].clone())?;
    assert_eq!(recorded.into_iter().collect::<BTreeMap<_, _>>(), met, "every retry is on record, under its reason");
    let report = fs::read_to_string(folder.join("report.md"))?;
    for (reason, count) in &met {
        let line = format!("{count} attempts not accepted: `{reason}`");
        assert!(report.contains(&line), "`{line}` is missing in:\n{report}");
    }
    Ok(())
}

/// Each kind has its part of all requests, within two and a half points.
fn has_the_shares(faults: &Faults) {
    let met = faults.met();
    let asked = faults.answered().iter().sum::<usize>() as u64 + met.values().sum::<u64>();
    println!("{asked} requests: {met:?}");
    let busy = [Fault::Busy, Fault::BusyForLong].iter().filter_map(|fault| met.get(fault)).sum::<u64>();
    let others = [(Fault::Broken, 5), (Fault::Hang, 3), (Fault::Cut, 3), (Fault::HalfJson, 3), (Fault::Empty, 2)];
    for (count, percent) in others.map(|(fault, percent)| (met[&fault], percent)).into_iter().chain([(busy, 20)]) {
        assert!((100 * count).abs_diff(percent * asked) < 5 * asked / 2, "{count} of {asked}: {met:?}");
    }
    assert!(met.contains_key(&Fault::BusyForLong), "{met:?}");
}

/// The audit with faults and the one without, both of the same protocol, and what must hold between them. What the servers
/// say of the first is looked at by `between`.
fn faults_change_nothing(
    workspace: &Workspace,
    [generator, judge]: [&Faults; 2],
    between: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let with = audit(workspace, "with")?;
    counted_alike(&with, &[generator, judge])?;
    has_the_shares(generator);
    let answered = generator.answered();
    assert_eq!(answered.iter().sum::<usize>(), CELLS);
    assert!(answered.iter().all(|answers| *answers == 2), "a prompt was asked for again after both of its answers");
    let judged = judge.answered();
    assert!(judged.len() > 30, "only {} packets", judged.len());
    assert!(judged.iter().all(|answers| *answers == 1), "a packet was judged twice");
    assert_eq!(judge.too_early(), 0, "a packet came again before the time that its server had asked for");
    between()?;
    generator.end();
    judge.end();
    let without = audit(workspace, "without")?;
    counted_alike(&without, &[generator, judge])?;
    assert_eq!((generator.answered(), judge.answered()), (answered, judged), "the same cells and packets");
    assert_eq!(figures(&with)?, figures(&without)?);
    Ok(())
}

#[test]
fn an_audit_by_faulty_servers_is_the_one_by_sound_servers() -> Result<()> {
    let [generates, judges] = [Arc::new(Faults::on()), Arc::new(Faults::on())];
    let generator = own::start(Arc::clone(&generates), own::answer)?;
    let judge = own::start(Arc::clone(&judges), own::labels)?;
    let workspace = workspace(&generator.host, &judge.host, "json_schema")?;
    faults_change_nothing(&workspace, [&generates, &judges], || Ok(()))
}

#[test]
fn so_it_is_with_faulty_servers_that_others_wrote() -> Result<()> {
    let Some(program) = llmock::program()? else {
        println!("skipped: CHURNGATE_PYTHON names no Python with llmock");
        return Ok(());
    };
    let [generates, judges] = [Arc::new(Faults::on()), Arc::new(Faults::on())];
    let [(_first, generator), (_second, judge)] = [Llmock::start(&program)?, Llmock::start(&program)?];
    let (before_generator, before_judge) =
        (generator.behind(Arc::clone(&generates))?, judge.behind(Arc::clone(&judges))?);
    // In plain text its answers follow from the prompt; under a schema they would all be one.
    let workspace = workspace(&before_generator.host, &before_judge.host, "plain")?;
    faults_change_nothing(&workspace, [&generates, &judges], || {
        for (server, faults) in [(&generator, &generates), (&judge, &judges)] {
            journal_agrees(server, faults)?;
        }
        assert_eq!(judge.errors()?, [""; 0], "llmock finds fault with its client");
        // Both repeats of a cell send one body, and its verdict takes the one that is in flight for a hasty retry of the other.
        let findings = generator.errors()?;
        assert!(findings.iter().all(|code| code == "retry_after_ignored"), "{findings:?}");
        Ok(())
    })
}

/// Its journal has each refusal and each breakdown once, and all else as answered: what was damaged was damaged on the way.
fn journal_agrees(server: &Llmock, faults: &Faults) -> Result<()> {
    let (statuses, met) = (server.journal()?, faults.met());
    let with = |status: u64| statuses.iter().filter(|found| **found == status).count() as u64;
    assert_eq!(with(429), met[&Fault::Busy] + met.get(&Fault::BusyForLong).copied().unwrap_or(0));
    assert_eq!(with(500), met[&Fault::Broken]);
    let damaged: u64 =
        [Fault::Hang, Fault::Cut, Fault::HalfJson, Fault::Empty].iter().filter_map(|fault| met.get(fault)).sum();
    assert_eq!(with(200), faults.answered().iter().sum::<usize>() as u64 + damaged);
    Ok(())
}
