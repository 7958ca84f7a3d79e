//! A smaller run of the calibration study stays near the table of docs/statistics.md.

#[path = "../../examples/calibration/study.rs"]
mod study;

use study::scenarios;

const DOCUMENT: &str = include_str!("../../docs/statistics.md");
const AUDITS: u32 = 200;
/// Audits behind a cell of the table.
const DOCUMENTED: f64 = 5_000.0;

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
    let share = f64::from(missed) / f64::from(AUDITS);
    let floor = expected.clamp(0.01, 0.99);
    let error = (floor * (1.0 - floor) * (1.0 / f64::from(AUDITS) + 1.0 / DOCUMENTED)).sqrt();
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
