//! Single proportions: exact and Wilson intervals, and the exact test of `McNemar`.

use super::dirichlet;
use statrs::distribution::{Binomial, ContinuousCDF as _, DiscreteCDF as _, Normal};

/// The Clopper-Pearson interval of k successes in n, with two-sided error `alpha`. Equals `proportion_confint(method="beta")`
/// of statsmodels. `(0, 1)` where n is 0; k beyond n counts as n.
///
/// ```
/// let (low, high) = churngate::analyze::proportion::clopper_pearson(40, 400, 0.05);
/// assert!((low - 0.072406).abs() < 1e-6 && (high - 0.133678).abs() < 1e-6);
/// ```
#[must_use]
pub fn clopper_pearson(k: u64, n: u64, alpha: f64) -> (f64, f64) {
    let values = [(1.0, k.min(n)), (0.0, n.saturating_sub(k))];
    // With k = 0 the lower bound is 0 by definition, and with k = n the upper bound is 1.
    let low = if k == 0 || n == 0 { 0.0 } else { dirichlet::lower(&values, 0.0, alpha / 2.0) };
    let high = if k >= n { 1.0 } else { dirichlet::upper(&values, 1.0, alpha / 2.0) };
    (low, high)
}

/// The Wilson interval of k successes in n, with two-sided error `alpha`. `(0, 1)` where n is 0; k beyond n counts as n.
///
/// ```
/// let (low, high) = churngate::analyze::proportion::wilson(40, 400, 0.05);
/// assert!((low - 0.074299).abs() < 1e-6 && (high - 0.133311).abs() < 1e-6);
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn wilson(k: u64, n: u64, alpha: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (n as f64, k.min(n) as f64 / n as f64);
    let square = Normal::standard().inverse_cdf(1.0 - alpha / 2.0).powi(2);
    let centre = share + square / (2.0 * n);
    let half = (square * (share * (1.0 - share) / n + square / (4.0 * n * n))).sqrt();
    let scale = 1.0 + square / n;
    (((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0))
}

/// The two-sided p-value of `McNemar`'s exact test for this many answers lost and gained: twice `P(Bin(lost + gained, 1/2) <= smaller)`, at
/// most 1. It takes matched repeats as independent, so it describes and does not decide.
///
/// ```
/// assert!((churngate::analyze::proportion::mcnemar(46, 34) - 0.218518).abs() < 1e-6);
/// assert_eq!(churngate::analyze::proportion::mcnemar(0, 0), 1.0);
/// ```
#[must_use]
pub fn mcnemar(lost: u64, gained: u64) -> f64 {
    let tail = |law: Binomial| (2.0 * law.cdf(lost.min(gained))).min(1.0);
    Binomial::new(0.5, lost + gained).map_or(1.0, tail)
}
