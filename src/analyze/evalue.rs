//! E-values: evidence that may be looked at after every batch of questions.
//!
//! Both are averages over a fixed grid of bets, so they do not depend on the order of questions and need no seed. Under the
//! hypothesis the expectation is at most 1 after any number of questions (Ville), so `E >= 1/alpha` rejects at any time.

use super::bootstrap::Contrasts;
use super::randomisation::Splits;

/// Bets of the betting mixture, geometric over two decades below the largest one.
const BETS: u32 = 24;
const DECADES: f64 = 0.01;
/// The largest bet as a share of the largest that cannot go bankrupt.
const CAUTION: f64 = 0.98;
/// Bets of the permutation mixture, geometric from 0.1 to 6.
const TILTS: u32 = 20;
const LEAST_TILT: f64 = 0.1;
const MOST_TILT: f64 = 6.0;

/// A hypothesis about the true D, as a share of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hypothesis {
    /// D is at most this.
    AtMost(f64),
    /// D is at least this.
    AtLeast(f64),
}

/// `ln E` of betting against a hypothesis: `E = mean_g prod_i (1 + lambda_g (d_i - m))` with
/// `lambda_g = 0.98 lambda_max 0.01^(1 - g/23)`, where `lambda_max = 1 / (m - lo)`, or `1 / (hi - m)` with the sign turned.
///
/// `units` is how many lattice units make 1; contrasts lie in `[lo, hi]`, as shares of 1 (`-1/R` and 1, or -1 and 1 where labels
/// may not be transitive).
///
/// ```
/// use churngate::analyze::evalue::{Hypothesis, betting};
/// let nothing_changed = betting(&[(0, 100)].into(), 4, (-0.5, 1.0), Hypothesis::AtLeast(0.05));
/// assert!((nothing_changed - 2.557577).abs() < 1e-6);
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
pub fn betting(contrasts: &Contrasts, units: u64, (low, high): (f64, f64), hypothesis: Hypothesis) -> f64 {
    let (mean, largest, sign) = match hypothesis {
        Hypothesis::AtMost(mean) => (mean, (mean - low).recip(), 1.0),
        Hypothesis::AtLeast(mean) => (mean, (high - mean).recip(), -1.0),
    };
    let wealth = |bet: u32| {
        let share = DECADES.powf(1.0 - f64::from(bet) / f64::from(BETS - 1));
        let lambda = sign * CAUTION * largest * share;
        let each = contrasts.iter().map(|(value, count)| {
            let distance = *value as f64 / units as f64 - mean;
            *count as f64 * (lambda * distance).ln_1p()
        });
        each.sum::<f64>()
    };
    log_mean(&(0..BETS).map(wealth).collect::<Vec<f64>>())
}

/// `ln E` against "the snapshot does not matter": `E = mean_g prod_i exp(lambda_g d_i) / M_i(lambda_g)`, where `M_i` is the mean of
/// `exp(lambda_g d)` over all splits of question i. Groups of questions with equal contrast and equal splits come with
/// their number.
///
/// ```
/// let flip = ((4, [(4, 1), (-2, 2)].into()), 5);
/// assert!(churngate::analyze::evalue::permutation(&[flip], 4) > 1.0);
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
pub fn permutation(groups: &[((i64, Splits), u64)], units: u64) -> f64 {
    let share = |value: i64| value as f64 / units as f64;
    let wealth = |bet: u32| {
        let tilt = LEAST_TILT * (MOST_TILT / LEAST_TILT).powf(f64::from(bet) / f64::from(TILTS - 1));
        let each = groups.iter().map(|((contrast, splits), times)| {
            let ways: u64 = splits.values().sum();
            let mean: f64 =
                splits.iter().map(|(value, count)| *count as f64 * (tilt * share(*value)).exp()).sum::<f64>()
                    / ways as f64;
            *times as f64 * (tilt * share(*contrast) - mean.ln())
        });
        each.sum::<f64>()
    };
    log_mean(&(0..TILTS).map(wealth).collect::<Vec<f64>>())
}

/// `ln mean exp(x)` without overflow.
#[expect(clippy::cast_precision_loss, reason = "a few dozen values")]
fn log_mean(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + (logs.iter().map(|log| (log - largest).exp()).sum::<f64>() / logs.len() as f64).ln()
}
