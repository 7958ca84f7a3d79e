//! The calibration study: prints the table of docs/statistics.md.
//!
//!     cargo run --release --example calibration [AUDITS]
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::expect_used, reason = "a study that cannot go on stops")]

mod study;

use rayon::prelude::*;
use study::{Misses, Scenario, percent, scenarios};

const CHURNS: [f64; 4] = [0.0, 0.03, 0.05, 0.10];
const QUESTIONS: [u64; 4] = [50, 100, 200, 400];

fn row(scenario: &Scenario, churn: f64, audits: u32) -> String {
    let misses: Vec<Misses> =
        QUESTIONS.par_iter().map(|questions| scenario.misses(churn, *questions, audits)).collect();
    let cells = |count: fn(&Misses) -> u32| {
        misses.iter().map(|misses| percent(count(misses), misses.audits)).collect::<Vec<String>>().join(" / ")
    };
    let columns =
        [cells(|it| it.block_percentile), cells(|it| it.pass_percentile), cells(|it| it.pass_dirichlet)].join(" | ");
    format!("| {} | {} | {columns} |", scenario.name, churn * 100.0)
}

fn main() {
    let audits = std::env::args().nth(1).map_or(2_000, |text| text.parse().expect("a number of audits"));
    let all = scenarios();
    let cells: Vec<(&Scenario, f64)> = all.iter().flat_map(|it| CHURNS.map(|churn| (it, churn))).collect();
    println!("{audits} audits a cell; a cell is N = 50 / 100 / 200 / 400");
    println!("| scenario | D (pp) | block: percentile | pass: percentile | pass: Dirichlet |\n|---|---|---|---|---|");
    for (scenario, churn) in cells {
        println!("{}", row(scenario, churn, audits));
    }
}
