//! Random audits recomputed by an independent program in Python (numpy, scipy, statsmodels).
//!
//! `CHURNGATE_PYTHON` names the interpreter, `python3` otherwise. Where its modules are missing the test is skipped with a message,
//! unless `CHURNGATE_REQUIRE_ALL=1`.
#![expect(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

#[path = "oracle/audits.rs"]
mod audits;

use churngate::analyze::{Analysis, Flows, KernelFigures, Settings, analyze};
use churngate::model::{Confidence, Normalisation, SnapshotName};
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

fn ours(text: &str) -> Analysis {
    let settings = Settings {
        old: SnapshotName::old(),
        new: SnapshotName::new_snapshot(),
        between: Vec::new(),
        closed_book: false,
        normalisation: Normalisation::Nq,
        confidence: Confidence::default(),
        draws: 1_000,
        bootstrap_key: [2; 32],
    };
    let observations = churngate::run::outside::parse(text, "audit").expect("questions");
    analyze(&observations, &settings).expect("an analysis")
}

fn same(ours: f64, theirs: &Value, tolerance: f64, what: &str) {
    let expected = theirs.as_f64().unwrap_or_else(|| panic!("{what} is missing"));
    assert!((ours - expected).abs() <= tolerance * expected.abs().max(1.0), "{what}: {ours} here, {expected} there");
}

fn compare_kernel(ours: &KernelFigures, theirs: &Value) {
    let fractions =
        [(ours.churn, "churn"), (ours.lower_bound, "lower"), (ours.interval.0, "low"), (ours.interval.1, "high")];
    for (fraction, key) in fractions {
        same(fraction.value(), &theirs[key], EXACT, key);
    }
    if let Some(agreement) = &ours.agreement {
        same(agreement.within_old.value(), &theirs["within_old"], EXACT, "within old");
        same(agreement.within_new.value(), &theirs["within_new"], EXACT, "within new");
        same(agreement.cross.value(), &theirs["cross"], EXACT, "cross");
    }
    same(ours.spread, &theirs["spread"], EXACT, "spread");
    same(ours.share_at_or_below_zero, &theirs["at_or_below_zero"], EXACT, "share at or below zero");
    same(ours.randomisation_p, &theirs["p"], EXACT, "randomisation p");
    same(ours.upper_bound, &theirs["upper"], BOUND, "upper bound");
    assert_eq!(Some(ours.stable_flips), theirs["flips"].as_u64(), "flips");
    assert_eq!(ours.clusters.is_some(), theirs.get("clusters").is_some(), "clusters");
    if let Some(clusters) = &ours.clusters {
        let theirs = &theirs["clusters"];
        same(clusters.lower_bound.value(), &theirs["lower"], EXACT, "lower bound over clusters");
        same(clusters.interval.0.value(), &theirs["low"], EXACT, "interval over clusters");
        same(clusters.interval.1.value(), &theirs["high"], EXACT, "interval over clusters");
        same(clusters.upper_bound, &theirs["upper"], BOUND, "upper bound over clusters");
    }
}

fn compare_correctness(ours: &Analysis, theirs: &Value) {
    let Some(correctness) = &ours.correctness else {
        assert!(theirs.is_null(), "correctness");
        return;
    };
    same(correctness.exact_match.0.value(), &theirs["em"][0], EXACT, "old exact match");
    same(correctness.exact_match.1.value(), &theirs["em"][1], EXACT, "new exact match");
    same(correctness.f1.0, &theirs["f1"][0], EXACT, "old F1");
    same(correctness.f1.1, &theirs["f1"][1], EXACT, "new F1");
    let flows = [("same", correctness.flows_same_meaning), ("changed", correctness.flows_changed_meaning)];
    for (meaning, Flows { kept, lost, gained, wrong }) in flows {
        for (key, count) in [("11", kept), ("10", lost), ("01", gained), ("00", wrong)] {
            let theirs = theirs["flows"].get(format!("{meaning} {key}")).map_or(Some(0), Value::as_u64);
            assert_eq!(Some(count), theirs, "flow {meaning} {key}");
        }
    }
}

fn compare_overlap(ours: &Analysis, theirs: &Value) {
    let Some(overlap) = &ours.overlap else {
        assert!(theirs.is_null(), "overlap");
        return;
    };
    same(overlap.by_id.mean_shared, &theirs["mean"], EXACT, "mean overlap");
    same(overlap.flips.fisher_p, &theirs["fisher"], EXACT, "Fisher's p");
    assert_eq!(Some(overlap.by_id.none), theirs["none"].as_u64(), "no overlap");
    assert_eq!(Some(overlap.by_id.same_set), theirs["same_set"].as_u64(), "same set");
}

fn compare_subgroups(ours: &Analysis, theirs: &Value) {
    let theirs = theirs.as_array().expect("a list");
    assert_eq!(ours.subgroups.len(), theirs.len(), "subgroups");
    for (subgroup, theirs) in ours.subgroups.iter().zip(theirs) {
        assert_eq!(Some(subgroup.tag.as_str()), theirs[0].as_str(), "tag");
        same(subgroup.churn.value(), &theirs[1], EXACT, "subgroup's churn");
        same(subgroup.adjusted_p, &theirs[2], EXACT, "subgroup's p");
    }
}

#[test]
fn an_independent_program_finds_the_same_figures() {
    if !has_modules() {
        let required = std::env::var("CHURNGATE_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "`{}` lacks numpy, scipy or statsmodels", python());
        println!("skipped: `{}` lacks numpy, scipy or statsmodels", python());
        return;
    }
    let audits: Vec<String> = (0..AUDITS).map(audits::random).collect();
    let theirs = recompute(&audits);
    assert_eq!(theirs.len(), audits.len());
    for (text, theirs) in audits.iter().zip(&theirs) {
        let ours = ours(text);
        for (kernel, theirs) in ours.kernels.iter().zip(theirs["kernels"].as_array().expect("kernels")) {
            compare_kernel(kernel, theirs);
        }
        compare_correctness(&ours, &theirs["correctness"]);
        compare_overlap(&ours, &theirs["overlap"]);
        compare_subgroups(&ours, &theirs["subgroups"]);
        let triples = json!([ours.transitivity.triples, ours.transitivity.broken]);
        assert_eq!(triples, theirs["transitivity"], "triples");
    }
}
