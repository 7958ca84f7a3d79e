//! A smaller run of the calibration study stays near the table of docs/statistics.md.

#[path = "../../examples/calibration/gate.rs"]
mod gate;
#[path = "../../examples/calibration/study.rs"]
mod study;

use churngate::analyze::analyze;
use churngate::analyze::planning::Scenario;
use churngate::analyze::rehearsal::{self, Joint, audits};
use churngate::gate::{decide, rehearse};
use churngate::model::Confidence;
use churngate::spec::GateSpec;
use gate::{CHANGES, Change, Study, studies};
use std::collections::BTreeMap;
use study::scenarios;

const DOCUMENT: &str = include_str!("../../docs/statistics.md");
const AUDITS: u32 = 200;
/// Audits behind a cell of the table of bounds, and of that of verdicts.
const DOCUMENTED: f64 = 5_000.0;
const DOCUMENTED_VERDICTS: f64 = 1_000.0;
/// Audits that go through the whole analysis here, and those that are rehearsed.
const REAL: u32 = 60;
const REHEARSED: u32 = 400;

/// The documented shares of one row for N = 50 and 100: block percentile, pass percentile, pass Dirichlet.
fn documented(scenario: &str, churn: &str) -> [[f64; 2]; 3] {
    let start = format!("| {scenario} | {churn} |");
    let row = DOCUMENT.lines().find(|line| line.starts_with(&start)).expect("a row");
    let cells: Vec<&str> = row.trim_matches('|').split('|').skip(2).collect();
    let parse = |cell: &str| -> Vec<f64> {
        cell.split('/').map(|share| share.trim().parse::<f64>().expect("a percentage") / 100.0).collect()
    };
    [0, 1, 2].map(|column| {
        let shares = parse(cells[column]);
        [shares[0], shares[1]]
    })
}

fn near(missed: u32, expected: f64, what: &str) {
    near_of((missed, AUDITS), (expected, DOCUMENTED), what);
}

fn near_of((missed, audits): (u32, u32), (expected, documented): (f64, f64), what: &str) {
    let share = f64::from(missed) / f64::from(audits);
    let floor = expected.clamp(0.01, 0.99);
    let error = (floor * (1.0 - floor) * (1.0 / f64::from(audits) + 1.0 / documented)).sqrt();
    assert!((share - expected).abs() < 4.0 * error, "{what}: {share} here, {expected} in the table");
}

#[test]
fn a_smaller_run_stays_near_the_table() {
    for scenario in scenarios().iter().filter(|scenario| scenario.name != "HI") {
        for (churn, written) in [(0.0, "0"), (0.03, "3")] {
            let [block, percentile, dirichlet] = documented(&scenario.name, written);
            for (place, questions) in [50, 100].into_iter().enumerate() {
                let misses = scenario.misses(churn, questions, AUDITS);
                assert_eq!(misses.audits, AUDITS);
                let what = format!("{} at {written} pp, {questions} questions", scenario.name);
                near(misses.block_percentile, block[place], &what);
                near(misses.pass_percentile, percentile[place], &what);
                near(misses.pass_dirichlet, dirichlet[place], &what);
            }
        }
    }
}

#[test]
fn percentages_of_the_table_have_one_decimal() {
    assert_eq!(study::percent(7, 200), "3.5");
}

/// The documented shares of one row of the gate's table at N = 50: blocks by the published rule, by the semantic one, passes.
fn documented_verdicts(scenario: &str, change: Change) -> [f64; 3] {
    let start = format!("| {scenario} | {} |", change.name());
    let row = DOCUMENT.lines().find(|line| line.starts_with(&start)).expect("a row");
    let cells: Vec<&str> = row.trim_matches('|').split('|').skip(2).collect();
    [0, 1, 2].map(|column| {
        cells[column].split('/').next().expect("a cell").trim().parse::<f64>().expect("a percentage") / 100.0
    })
}

#[test]
fn a_smaller_run_of_the_whole_gate_stays_near_the_table() {
    for study in studies() {
        for change in CHANGES {
            let [block, semantic, pass] = documented_verdicts(&study.name, change);
            let verdicts = study.verdicts(change, 50, REAL);
            assert_eq!(verdicts.audits, REAL);
            let what = format!("{} under {}", study.name, change.name());
            near_of((verdicts.blocked, REAL), (block, DOCUMENTED_VERDICTS), &what);
            near_of((verdicts.blocked_semantic, REAL), (semantic, DOCUMENTED_VERDICTS), &what);
            near_of((verdicts.passed, REAL), (pass, DOCUMENTED_VERDICTS), &what);
        }
    }
}

#[test]
fn no_false_verdict_of_the_table_is_above_five_percent_by_more_than_its_error() {
    let table = DOCUMENT.split("| blocks: published rule |").nth(1).expect("a table");
    let mut rows = 0;
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let shares = |cell: &str| {
            cell.split('/').map(|share| share.trim().parse::<f64>().expect("a percentage")).collect::<Vec<f64>>()
        };
        // To pass is false at the limit, to block where no meaning changed.
        let wrong =
            if cells[1] == "D = 5 pp" { shares(cells[4]) } else { [shares(cells[2]), shares(cells[3])].concat() };
        let error = 100.0 * (0.05_f64 * 0.95 / DOCUMENTED_VERDICTS).sqrt();
        assert!(wrong.iter().all(|share| *share <= 5.0 + 2.0 * error), "{row}");
        rows += 1;
    }
    assert_eq!(rows, 12);
}

/// The law of the contrasts of a question of the study.
fn joint(study: &Study, change: Change) -> Vec<Joint> {
    let mut law: BTreeMap<(i64, i64), f64> = BTreeMap::new();
    for ((exact, semantic), mass) in study.law(change) {
        *law.entry((study.quarters[exact], study.quarters[semantic])).or_default() += mass;
    }
    law.into_iter().collect()
}

#[test]
fn what_is_rehearsed_before_an_audit_is_what_the_gate_decides() {
    let (rule, confidence) = (GateSpec::published(), Confidence::default());
    for study in studies() {
        for change in CHANGES {
            let found = study.verdicts(change, 60, REAL);
            let law = joint(&study, change);
            let rehearsed = rehearse(&rule, confidence, 60, &law, REHEARSED).expect("a rehearsal");
            for (found, rehearsed) in [(found.blocked, rehearsed.blocked), (found.passed, rehearsed.passed)] {
                let (found, rehearsed) =
                    (f64::from(found) / f64::from(REAL), f64::from(rehearsed) / f64::from(REHEARSED));
                let error = (rehearsed.clamp(0.02, 0.98)
                    * (1.0 - rehearsed.clamp(0.02, 0.98))
                    * (1.0 / f64::from(REAL) + 1.0 / f64::from(REHEARSED)))
                .sqrt();
                // What the blocking rule blocks is never passed there, and counted as passing here.
                assert!((found - rehearsed).abs() < 4.0 * error, "{} {change:?}: {found} {rehearsed}", study.name);
            }
        }
    }
}

#[test]
fn the_laws_of_the_program_are_those_of_the_scenarios() {
    let studies = studies();
    for (scenario, name) in [(Scenario::NaturalQuestionsLike, "NQ"), (Scenario::TriviaQaLike, "TQA")] {
        let study = studies.iter().find(|study| study.name == name).expect("a study");
        for (change, kind) in [
            (rehearsal::Change::Nothing, Change::Nothing),
            (rehearsal::Change::Wording, Change::Wording),
            (rehearsal::Change::Meaning(0.05), Change::AtTheLimit),
        ] {
            let mut ours: BTreeMap<(i64, i64), f64> = BTreeMap::new();
            for (row, mass) in scenario.joint(change) {
                *ours.entry(row).or_default() += mass;
            }
            let theirs: BTreeMap<_, _> = joint(study, kind).into_iter().collect();
            assert!(ours.keys().eq(theirs.keys()), "{name} {change:?}");
            assert!(
                ours.values().zip(theirs.values()).all(|(one, other)| (one - other).abs() < 1e-9),
                "{name} {change:?}"
            );
        }
    }
}

/// One question of every pair of cells.
fn every_cell(study: &Study) -> BTreeMap<(usize, usize), u64> {
    study.tables.values().flatten().map(|(cells, _)| (*cells, 1)).collect()
}

#[test]
fn every_pair_of_cells_has_answers_with_these_contrasts() {
    for study in studies() {
        let cells = every_cell(&study);
        let analysis = analyze(&study.observations(&cells), &gate::settings()).expect("an analysis");
        let expected =
            |of: fn(&(usize, usize)) -> usize| cells.keys().map(|cell| study.quarters[of(cell)]).sum::<i64>();
        let found = [0, 1].map(|kernel| analysis.kernels[kernel].churn.numerator);
        assert_eq!(found, [expected(|cell| cell.0), expected(|cell| cell.1)], "{}", study.name);
    }
}

#[test]
fn rehearsed_audits_are_decided_as_the_real_gate_decides_them() {
    let study = &studies()[0];
    let cells: Vec<(usize, usize)> = every_cell(study).into_keys().collect();
    // One audit at a time, drawn from a law of its own: all mass on what was drawn.
    for (number, audit) in audits(&[((0, 0), 0.8), ((4, 4), 0.1), ((2, 0), 0.1)], 60, 12).into_iter().enumerate() {
        let cell = |row: (i64, i64)| {
            *cells.iter().find(|cell| (study.quarters[cell.0], study.quarters[cell.1]) == row).expect("a cell")
        };
        let flips = audit.semantic.get(&4).copied().unwrap_or(0);
        let counted = BTreeMap::from([
            (cell((4, 4)), flips),
            (cell((2, 0)), audit.exact.get(&2).copied().unwrap_or(0)),
            (cell((0, 0)), audit.exact.get(&0).copied().unwrap_or(0)),
        ]);
        let analysis = analyze(&study.observations(&counted), &gate::settings()).expect("an analysis");
        let decision = decide(&analysis, &GateSpec::published());
        let bound =
            churngate::analyze::bootstrap::lies_above(&audit.semantic, 0, Confidence::default()).expect("questions");
        assert_eq!(decision.incompatible_when[2].figure_pp > 0.0, bound, "audit {number}");
    }
}
