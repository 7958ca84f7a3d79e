//! How much durability costs, how fast a run is verified, and how much memory both take. Prints figures;
//! docs/reliability.md keeps some.
//!
//! `cargo bench --bench ledger -- [GROUP...]`, where a group is `server`, `append`, `verify` or `memory` (default: all), with
//! `LEDGER_BENCH_FOLDER` naming a folder on the disk in question (default: the build folder), `LEDGER_BENCH_UNITS` the
//! number of units of work (default: 20,000) and `LEDGER_BENCH_QUESTIONS` the number of questions that are asked of the local
//! server in a round, four calls each (default: 1,000).

#![expect(clippy::expect_used, clippy::panic, reason = "a measurement that cannot go on says so and stops")]
#![expect(clippy::print_stdout, reason = "prints what it measured")]

mod memory;
mod server;

use camino::{Utf8Path, Utf8PathBuf};
use churngate::ledger::record::{AcceptedAnswer, Attempt, Outcome, Record, Verdict};
use churngate::ledger::stage::{Answers, Evidence, Judgments};
use churngate::ledger::{BlobCheck, Durability, Lock, Opened, Recorded, RunFolder, Writer, verify};
use churngate::model::{Cell, Digest, QuestionId, SnapshotName};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const APPENDERS: u32 = 64;
const ROUNDS: usize = 5;

fn writer<S: Recorded>(folder: &RunFolder, before: &Lock<S::Before>) -> Writer<S> {
    match churngate::ledger::open::<S>(folder, before).expect("the ledger opens") {
        Opened::Open(writer) => writer,
        Opened::Sealed(_) => panic!("the ledger is sealed"),
    }
}

/// What one unit leaves: the answer's text and the raw body around it.
fn unit(task: u32, number: u32) -> (Cell, Vec<u8>, Vec<u8>) {
    let cell = Cell {
        question: QuestionId(format!("question-{task}-{number}")),
        snapshot: SnapshotName::old(),
        repeat: number % 2,
    };
    let answer = format!("answer {task} {number}").into_bytes();
    let body = format!(r#"{{"id":"{task}-{number}","text":"answer {task} {number}","more":"{}"}}"#, "x".repeat(400));
    (cell, answer, body.into_bytes())
}

async fn do_unit(writer: &Writer<Answers>, task: u32, number: u32, with_blobs: bool) {
    let (cell, answer, body) = unit(task, number);
    let request = Digest::of(&body);
    let attempt = Record::Attempt(Attempt { of: cell.clone(), request, at_ms: 1_700_000_000_000 });
    let seq = writer.append(&attempt).await.expect("the attempt is recorded");
    let accepted = AcceptedAnswer { answer: Digest::of(&answer), bytes: answer.len() as u64, citations: None };
    let outcome = Record::Outcome(Outcome {
        attempt: seq,
        of: cell,
        verdict: Verdict::Accepted(accepted),
        status: Some(200),
        served_model: Some("model-2026-01".to_owned()),
        fingerprint: None,
        response_id: Some(format!("response-{seq}")),
        usage: None,
        latency_ms: 0,
        body: with_blobs.then_some(request),
    });
    let blobs = if with_blobs { vec![answer, body] } else { Vec::new() };
    writer.append_journaled(&outcome, blobs).await.expect("the outcome is recorded");
}

/// Records `units` attempts with their outcomes from 64 tasks, and returns the time from the first to the seal.
fn record(path: &Utf8Path, durability: Durability, units: u32, with_blobs: bool) -> Duration {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = RunFolder::open_with(path, durability).expect("the folder opens");
        let protocol = folder.freeze(b"{}").expect("the protocol freezes");
        let evidence = writer::<Evidence>(&folder, &protocol).seal().await.expect("the evidence seals");
        let open = Arc::new(writer::<Answers>(&folder, &evidence));
        let begun = Instant::now();
        let tasks: Vec<_> = (0..APPENDERS)
            .map(|task| {
                let open = Arc::clone(&open);
                tokio::spawn(async move {
                    for number in 0..units / APPENDERS {
                        do_unit(&open, task, number, with_blobs).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the task ends");
        }
        let open = Arc::into_inner(open).expect("no task is left");
        let answers = open.seal().await.expect("the answers seal");
        let taken = begun.elapsed();
        writer::<Judgments>(&folder, &answers).seal().await.expect("the judgments seal");
        taken
    })
}

fn fresh(root: &Utf8Path, name: &str) -> Utf8PathBuf {
    let path = root.join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the old run is removed");
    }
    path
}

/// What earlier rounds left to be written is written before the clock starts: the next flush would pay for it.
fn settle() {
    assert!(Command::new("sync").status().expect("`sync` starts").success());
}

/// Measures both settings, each first in every other round: the first one meets another disk than the second.
fn in_turn(round: usize, mut measure: impl FnMut(Durability) -> f64) -> (f64, f64) {
    if round.is_multiple_of(2) {
        let durable = measure(Durability::Full);
        return (durable, measure(Durability::Off));
    }
    let fast = measure(Durability::Off);
    (measure(Durability::Full), fast)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Alternates both settings, so that whatever else the machine does meets both.
fn durability(root: &Utf8Path, units: u32, with_blobs: bool) {
    let mut ratios = Vec::new();
    let (mut full, mut off) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let rate = |name: &str, durability| {
            let path = fresh(root, &format!("append-{with_blobs}-{name}-{round}"));
            settle();
            f64::from(units) / record(&path, durability, units, with_blobs).as_secs_f64()
        };
        let (durable, fast) = in_turn(round, |durability| match durability {
            Durability::Full => rate("full", durability),
            Durability::Off => rate("off", durability),
        });
        ratios.push(durable / fast);
        full.push(durable);
        off.push(fast);
    }
    let blobs = if with_blobs { "two blobs each" } else { "no blobs" };
    println!(
        "{units} attempts with outcomes, {blobs}, {APPENDERS} tasks: durable {:.0}/s, not durable {:.0}/s, ratio {:.2} \
         (medians of {ROUNDS}; ratios {ratios:.2?})",
        median(full),
        median(off),
        median(ratios.clone())
    );
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
fn megabytes_a_second(bytes: u64, taken: Duration) -> f64 {
    bytes as f64 / 1e6 / taken.as_secs_f64()
}

fn verification(root: &Utf8Path, units: u32) {
    let path = fresh(root, "verify");
    record(&path, Durability::Off, units, true);
    let ledger = path.join("answers.jsonl");
    let bytes = std::fs::metadata(&ledger).expect("the ledger is there").len();
    let (mut ours, mut theirs, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (check, rates) in [(BlobCheck::Absent, &mut ours), (BlobCheck::Present, &mut whole)] {
            let begun = Instant::now();
            let report = verify(&path, check).expect("the run is verified");
            assert!(report.difference.is_none(), "{:?}", report.difference);
            rates.push(megabytes_a_second(bytes, begun.elapsed()));
        }
        let begun = Instant::now();
        if Command::new("sha256sum").arg(&ledger).output().is_ok_and(|output| output.status.success()) {
            theirs.push(megabytes_a_second(bytes, begun.elapsed()));
        }
    }
    println!("a ledger of {} kB, verified at {:.0} MB/s", bytes / 1000, median(ours));
    println!("  with {} blobs read and compared: {:.0} MB/s of ledger", units * 2, median(whole));
    if theirs.is_empty() {
        println!("  sha256sum is not there to compare with");
    } else {
        println!("  sha256sum of the same file: {:.0} MB/s", median(theirs));
    }
}

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|units| units.parse().ok()).unwrap_or(default)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `cargo test --benches` builds and starts benches with this argument: nothing is measured then.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--serve"] => return server::serve(),
        ["--memory", what, folder, records] => return memory::measure(what, Utf8Path::new(folder), records),
        _ => {}
    }
    let chosen = |group: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == group);
    let root = std::env::var("LEDGER_BENCH_FOLDER").unwrap_or_else(|_| env!("CARGO_TARGET_TMPDIR").to_owned());
    let root = Utf8PathBuf::from(root).join("ledger-bench");
    std::fs::create_dir_all(&root).expect("a folder to measure in");
    let units = number("LEDGER_BENCH_UNITS", 20_000);
    if chosen("server") {
        server::attempts(&root, number("LEDGER_BENCH_QUESTIONS", 1_000));
    }
    if chosen("append") {
        durability(&root, units, false);
        durability(&root, units, true);
    }
    if chosen("verify") {
        verification(&root, units * 5);
    }
    if chosen("memory") {
        memory::table(&root);
    }
    std::fs::remove_dir_all(&root).expect("the measured runs are removed");
}
