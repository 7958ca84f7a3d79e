//! Fisher's exact test of a two-by-two table.

use statrs::function::factorial::ln_binomial;

/// Tables whose probability exceeds the observed one's by no more than this share count as equally likely: equal
/// probabilities come out slightly different in 64 bits.
const TIE: f64 = 1e-7;

/// The two-sided p-value: the sum of the probabilities of all tables with the same margins that are no more likely than
/// the observed one. Equals `scipy.stats.fisher_exact` and `fisher.test` of R. An empty table gives 1.
///
/// ```
/// let p = churngate::analyze::fisher::two_sided([[3, 1], [1, 3]]);
/// assert!((p - 0.485714).abs() < 1e-6);
/// ```
#[must_use]
pub fn two_sided(table: [[u64; 2]; 2]) -> f64 {
    let [[a, b], [c, d]] = table;
    let (row, column, total) = (a + b, a + c, a + b + c + d);
    let least = column.saturating_sub(c + d);
    let log = |a: u64| ln_binomial(row, a) + ln_binomial(total - row, column - a) - ln_binomial(total, column);
    let observed = log(a).exp() * (1.0 + TIE);
    let sum: f64 = (least..=row.min(column)).map(|a| log(a).exp()).filter(|p| *p <= observed).sum();
    sum.min(1.0)
}
