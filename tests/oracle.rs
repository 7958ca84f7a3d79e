//! Random audits recomputed by an independent program in Python (numpy, scipy, statsmodels).
//!
//! `CHURNGATE_PYTHON` names the interpreter, `python3` otherwise. Where its modules are missing the test is skipped with a message,
//! unless `CHURNGATE_REQUIRE_ALL=1`.
#![expect(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

#[path = "oracle/audits.rs"]
mod audits;

use camino::Utf8Path;
use churngate::model::{Confidence, Normalisation, SnapshotName};
use churngate::run::foreign::{self, Request};
use churngate::spec::GateSpec;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

const AUDITS: u64 = 50;
/// Bounds found by quadrature there, by a saddle point here.
const BOUND: f64 = 1e-7;
const EXACT: f64 = 1e-9;

fn python() -> String {
    std::env::var("CHURNGATE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn has_modules() -> bool {
    let tried = Command::new(python()).args(["-c", "import numpy, scipy, statsmodels"]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

fn recompute(audits: &[String]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/recompute.py");
    let mut child = Command::new(python())
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    let mut input = child.stdin.take().expect("a pipe");
    let lines: Vec<String> = audits.iter().map(|text| json!({ "answers": text }).to_string()).collect();
    let writer = std::thread::spawn(move || lines.iter().try_for_each(|line| writeln!(input, "{line}")));
    let output = child.wait_with_output().expect("the script ends");
    writer.join().expect("the writer ends").expect("the script reads everything");
    assert!(output.status.success(), "the script failed");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("figures")).collect()
}

/// The whole result as it is written to `result.json`.
fn ours(text: &str, folder: &Utf8Path) -> Value {
    let file = folder.join("answers.jsonl");
    std::fs::write(&file, text).expect("a file");
    let has = |snapshot: &str| text.contains(&format!("\"{snapshot}\":"));
    let request = Request {
        file,
        old: SnapshotName::old(),
        new: SnapshotName::new_snapshot(),
        between: if has("mid") { vec![SnapshotName("mid".to_owned())] } else { Vec::new() },
        placebo: has("placebo"),
        closed_book: has("closed_book"),
        normalisation: Normalisation::Nq,
        confidence: Confidence::default(),
        draws: 1_000,
        gate: GateSpec::published(),
        tool_version: "0.0.0",
    };
    let result = foreign::analyze(&request).expect("a result");
    serde_json::from_slice(&churngate::report::json(&result)).expect("JSON")
}

/// What the other program does not recompute, and why.
const NOT_RECOMPUTED: &[(&str, &str)] = &[
    ("/record", "heads, attempts, tokens and times of a run; there is none"),
    ("/validity", "counts of cells and packets of a run; there is none"),
    ("/snapshots", "names"),
    ("/machinery", "names"),
    ("/flips", "texts beside the flips, whose figures stand under `analysis`"),
    ("/decision/questions_to_decide", "held by audits that are drawn from what was seen (tests/statistics/needed.rs)"),
    ("/analysis/placebo/kernels/*/stream", "draws of the same cipher and sampler"),
    ("/analysis/kernels/*/stream", "draws of a frozen cipher and sampler; held by vectors and to the exact law"),
];

fn is_left_out(pointer: &str) -> bool {
    let general: String = pointer
        .split('/')
        .map(|part| if part.parse::<usize>().is_ok() { "*" } else { part })
        .collect::<Vec<_>>()
        .join("/");
    NOT_RECOMPUTED.iter().any(|(left_out, _)| general == *left_out || general.starts_with(&format!("{left_out}/")))
}

/// Compares every number, flag and text of ours with theirs; counts them.
fn compare(ours: &Value, theirs: &Value, pointer: &str, audit: usize) -> usize {
    let what = format!("audit {audit}, {pointer}");
    match (ours, theirs) {
        _ if is_left_out(pointer) => 0,
        (Value::Object(ours), theirs) if ours.contains_key("percentage_points") => {
            let value = |key: &str| ours[key].as_f64().unwrap_or_else(|| panic!("{what} has no {key}"));
            near(value("numerator") / value("denominator"), theirs, EXACT, &what);
            near(value("percentage_points") / 100.0, theirs, EXACT, &what);
            3
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let each = ours.iter().map(|(key, member)| {
                compare(member, theirs.get(key).unwrap_or(&Value::Null), &format!("{pointer}/{key}"), audit)
            });
            each.sum()
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            assert_eq!(ours.len(), theirs.len(), "{what}");
            let each = ours.iter().zip(theirs).enumerate();
            each.map(|(place, (one, other))| compare(one, other, &format!("{pointer}/{place}"), audit)).sum()
        }
        (Value::Number(number), theirs) => {
            let tolerance = if pointer.ends_with("upper_bound") || pointer.contains("_when/") { BOUND } else { EXACT };
            near(number.as_f64().expect("a number"), theirs, tolerance, &what);
            1
        }
        (ours, theirs) => {
            assert_eq!(ours, theirs, "{what}");
            1
        }
    }
}

fn near(ours: f64, theirs: &Value, tolerance: f64, what: &str) {
    let expected = theirs.as_f64().unwrap_or_else(|| panic!("{what}: {ours} here, {theirs} there"));
    assert!((ours - expected).abs() <= tolerance * expected.abs().max(1.0), "{what}: {ours} here, {expected} there");
}

#[test]
fn an_independent_program_finds_every_figure_of_the_result() {
    if !has_modules() {
        let required = std::env::var("CHURNGATE_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "`{}` lacks numpy, scipy or statsmodels", python());
        println!("skipped: `{}` lacks numpy, scipy or statsmodels", python());
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("a path in UTF-8");
    let audits: Vec<String> = (0..AUDITS).map(audits::random).collect();
    let theirs = recompute(&audits);
    assert_eq!(theirs.len(), audits.len());
    let mut figures = 0;
    for (audit, (text, theirs)) in audits.iter().zip(&theirs).enumerate() {
        let ours = ours(text, folder);
        // What names the format and the audit is no figure.
        for key in ours.as_object().expect("an object").keys() {
            assert!(
                ["format", "name", "protocol", "audited", "spec"].contains(&key.as_str())
                    || is_left_out(&format!("/{key}"))
                    || theirs.get(key).is_some(),
                "`{key}` is not recomputed"
            );
        }
        for key in ["decision", "analysis"] {
            figures += compare(&ours[key], &theirs[key], &format!("/{key}"), audit);
        }
    }
    println!("{figures} figures of {} audits agree", audits.len());
    assert!(figures > 150 * audits.len(), "{figures}");
}
