//! How often each bound misses the true D, by simulation of whole audits.

use churngate::analyze::bootstrap::{Bootstrap, Contrasts};
use churngate::analyze::dirichlet;
use churngate::analyze::quantile::Level;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use std::collections::BTreeMap;

const SCENARIOS: &str = include_str!("../../tests/fixtures/stats/scenarios.json");
/// Lattice units that make 1, for two repeats.
const UNITS: u64 = 4;
/// The nominal one-sided error.
const ALPHA: f64 = 0.05;

/// The law of a semantic contrast: probability of every value, in quarters.
type Law = BTreeMap<i64, f64>;

/// Answers of one sort: the law where nothing changed, and the law where every meaning did.
pub struct Scenario {
    pub name: String,
    same: Law,
    changed: Law,
}

/// How many of the simulated audits a bound missed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Misses {
    pub audits: u32,
    /// The percentile lower bound exceeds the true D.
    pub block_percentile: u32,
    /// The percentile upper bound falls below it.
    pub pass_percentile: u32,
    /// The Dirichlet upper bound falls below it.
    pub pass_dirichlet: u32,
}

/// The four scenarios of the fixtures, in their order.
pub fn scenarios() -> Vec<Scenario> {
    let read: Value = serde_json::from_str(SCENARIOS).expect("scenarios");
    let quarters: Vec<i64> = serde_json::from_value(read["d_quarters"].clone()).expect("contrasts");
    let law = |table: &Value| {
        let rows: Vec<Vec<f64>> = serde_json::from_value(table.clone()).expect("a table");
        let mut law = Law::new();
        for (column, value) in quarters.iter().enumerate() {
            *law.entry(*value).or_default() += rows.iter().map(|row| row[column]).sum::<f64>();
        }
        law
    };
    let of = |(name, tables): (&String, &Value)| Scenario {
        name: name.clone(),
        same: law(&tables["null"]),
        changed: law(&tables["semantic"]),
    };
    read["scenarios"].as_object().expect("scenarios").iter().map(of).collect()
}

impl Scenario {
    /// The law at a true D: a question's meaning changed with probability `D / E[d | changed]`.
    #[expect(clippy::cast_precision_loss, reason = "small values")]
    fn at(&self, churn: f64) -> Law {
        let full: f64 = self.changed.iter().map(|(value, mass)| *value as f64 / UNITS as f64 * mass).sum();
        let weight = churn / full;
        self.same.iter().map(|(value, mass)| (*value, weight * self.changed[value] + (1.0 - weight) * mass)).collect()
    }

    /// Simulates audits of `questions` questions at a true D. The same arguments give the same counts.
    pub fn misses(&self, churn: f64, questions: u64, audits: u32) -> Misses {
        let law = self.at(churn);
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&questions.to_le_bytes());
        seed[8..16].copy_from_slice(&churn.to_bits().to_le_bytes());
        seed[16..16 + self.name.len().min(16)].copy_from_slice(&self.name.as_bytes()[..self.name.len().min(16)]);
        let mut cipher = ChaCha20Rng::from_seed(seed);
        let mut known: BTreeMap<Contrasts, [bool; 3]> = BTreeMap::new();
        let mut misses = Misses { audits, ..Misses::default() };
        for _ in 0..audits {
            let audit = audit(&law, questions, &mut cipher);
            let [block, percentile, dirichlet] = *known.entry(audit).or_insert_with_key(|audit| missed(audit, churn));
            misses.block_percentile += u32::from(block);
            misses.pass_percentile += u32::from(percentile);
            misses.pass_dirichlet += u32::from(dirichlet);
        }
        misses
    }
}

/// One audit: how many questions have each contrast.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn audit(law: &Law, questions: u64, cipher: &mut ChaCha20Rng) -> Contrasts {
    let mut counted = Contrasts::new();
    for _ in 0..questions {
        let mut left = (cipher.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let drawn = law.iter().find(|(_, mass)| {
            left -= *mass;
            left < 0.0
        });
        *counted.entry(drawn.map_or(0, |(value, _)| *value)).or_default() += 1;
    }
    counted
}

/// Which of the three bounds miss the true D.
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn missed(audit: &Contrasts, churn: f64) -> [bool; 3] {
    let questions: u64 = audit.values().sum();
    let bootstrap = Bootstrap::new(audit, UNITS).expect("questions");
    let quantile = |units| bootstrap.quantile(Level::from_units(units)) as f64 / (UNITS * questions) as f64;
    let values: Vec<(f64, u64)> = audit.iter().map(|(value, count)| (*value as f64 / UNITS as f64, *count)).collect();
    // Bounds that equal the true value up to rounding do not miss it.
    let (above, below) = (churn + 1e-12, churn - 1e-12);
    let (lower, upper) = (quantile(10_000_000), quantile(190_000_000));
    [lower > above, upper < below, dirichlet::upper(&values, 1.0, ALPHA) < below]
}

/// Percent with one decimal.
pub fn percent(missed: u32, audits: u32) -> String {
    format!("{:.1}", 100.0 * f64::from(missed) / f64::from(audits))
}
