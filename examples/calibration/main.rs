//! The calibration study: prints the tables of docs/statistics.md, of the gate as a whole and of each bound.
//!
//!     cargo run --release --example calibration [AUDITS]
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::expect_used, reason = "a study that cannot go on stops")]

mod gate;
mod study;

use gate::{CHANGES, Verdicts, studies};
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

/// The verdicts of the whole gate: one row a scenario and a change.
fn verdicts(audits: u32) {
    println!("| scenario | change | blocks: published rule | blocks: semantic alone | passes |\n|---|---|---|---|---|");
    for study in studies() {
        for change in CHANGES {
            let found: Vec<Verdicts> =
                QUESTIONS.par_iter().map(|questions| study.verdicts(change, *questions, audits)).collect();
            let cells = |count: fn(&Verdicts) -> u32| {
                let shares = found.iter().map(|verdicts| percent(count(verdicts), verdicts.audits));
                shares.collect::<Vec<String>>().join(" / ")
            };
            let columns = [cells(|it| it.blocked), cells(|it| it.blocked_semantic), cells(|it| it.passed)].join(" | ");
            println!("| {} | {} | {columns} |", study.name, change.name());
        }
    }
}

fn main() {
    let audits = std::env::args().nth(1).map_or(2_000, |text| text.parse().expect("a number of audits"));
    verdicts(audits);
    let all = scenarios();
    let cells: Vec<(&Scenario, f64)> = all.iter().flat_map(|it| CHURNS.map(|churn| (it, churn))).collect();
    println!("{audits} audits a cell; a cell is N = 50 / 100 / 200 / 400");
    println!("| scenario | D (pp) | block: percentile | pass: percentile | pass: Dirichlet |\n|---|---|---|---|---|");
    for (scenario, churn) in cells {
        println!("{}", row(scenario, churn, audits));
    }
}
