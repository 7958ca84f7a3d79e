//! The Dirichlet (Gaffke) confidence bound of the mean of a bounded variable.
//!
//! The upper bound is the t with `P(sum_k (v_k - t) G_k + (b - t) G_0 <= 0) = 1 - alpha`, where the value `v_k` was seen
//! `n_k` times, `G_k ~ Gamma(n_k, 1)`, `G_0 ~ Exp(1)` and b is the largest possible value. On 0/1 data it is the
//! Clopper-Pearson bound; where nothing but the value 0 was seen it is `b (1 - alpha^(1/N))`. It is valid for passing, where
//! the percentile bound is not: a sample without a single flip has no spread to resample.

use std::f64::consts::PI;

/// Step of the trapezoid rule after `y = s sinh(x)`. The integrand is analytic, so the error falls as
/// `exp(-2 pi d / step)` with d about one half: below 1e-20.
const STEP: f64 = 1.0 / 16.0;
/// Below this share of its peak the integrand is done.
const DONE: f64 = 1e-18;
/// Steps at most: `sinh(45)` is beyond 1e19, where the slowest integrand (cubic decay) is done.
const MOST_STEPS: u32 = 45 * 16;

/// A value and how often it was seen.
pub type Counted = (f64, u64);

/// Equal contributions to a ratio of two sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// What each adds to the numerator; at most the bound's `most` times the weight.
    pub sum: f64,
    /// What each adds to the denominator, at most 1.
    pub weight: f64,
    /// How many there are; no whole number where an audit is planned.
    pub count: f64,
}

/// The upper confidence bound of the mean, for values that never exceed `most`.
///
/// `alpha` is the one-sided error, such as 0.05. Without any value the bound is `most`.
///
/// ```
/// let bound = churngate::analyze::dirichlet::upper(&[(0.0, 59)], 1.0, 0.05);
/// assert!((bound - (1.0 - 0.05_f64.powf(1.0 / 59.0))).abs() < 1e-12);
/// ```
#[must_use]
pub fn upper(values: &[Counted], most: f64, alpha: f64) -> f64 {
    upper_ratio(&alike(values), most, alpha)
}

/// Whether the upper bound of [`upper`] lies below a limit: one integral instead of the fifty of a bisection.
///
/// ```
/// use churngate::analyze::dirichlet::is_below;
/// assert!(is_below(&[(0.0, 59)], 1.0, 0.05, 0.05) && !is_below(&[(0.0, 58)], 1.0, 0.05, 0.05));
/// ```
#[must_use]
pub fn is_below(values: &[Counted], most: f64, alpha: f64, limit: f64) -> bool {
    is_ratio_below(&alike(values), most, alpha, limit)
}

/// Whether the upper bound of [`upper_ratio`] lies below a limit.
#[must_use]
pub fn is_ratio_below(values: &[Weighted], most: f64, alpha: f64, limit: f64) -> bool {
    limit >= most || above(values, most, limit) < alpha
}

/// Values of a mean, each with the same weight.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn alike(values: &[Counted]) -> Vec<Weighted> {
    values.iter().map(|(value, count)| Weighted { sum: *value, weight: 1.0, count: *count as f64 }).collect()
}

/// The same for a ratio of sums, an unseen contribution being taken with weight 1 and the largest value.
#[must_use]
pub fn upper_ratio(values: &[Weighted], most: f64, alpha: f64) -> f64 {
    let seen = values.iter().filter(|value| value.count > 0.0 && value.weight > 0.0);
    let smallest = seen.map(|value| value.sum / value.weight).fold(most, f64::min);
    let (mut low, mut high) = (smallest, most);
    while let Some(middle) = between(low, high) {
        if above(values, most, middle) > alpha { low = middle } else { high = middle }
    }
    high
}

/// The lower confidence bound of the mean, for values that never fall below `least`.
///
/// ```
/// let bound = churngate::analyze::dirichlet::lower(&[(1.0, 40), (0.0, 360)], 0.0, 0.025);
/// assert!((bound - 0.072406).abs() < 1e-6); // Clopper-Pearson for 40 of 400
/// ```
#[must_use]
pub fn lower(values: &[Counted], least: f64, alpha: f64) -> f64 {
    let mirrored: Vec<Counted> = values.iter().map(|(value, count)| (-value, *count)).collect();
    -upper(&mirrored, -least, alpha)
}

/// The middle of an interval, until it is as short as `f64` allows.
fn between(low: f64, high: f64) -> Option<f64> {
    let middle = low + (high - low) / 2.0;
    (middle > low && middle < high && high - low > 1e-15).then_some(middle)
}

/// One term `a G` with `G ~ Gamma(n, 1)`, `a` not zero.
#[derive(Clone, Copy)]
struct Term {
    weight: f64,
    shape: f64,
}

/// `P(sum_k (v_k - t) G_k + (most - t) G_0 > 0)`.
fn above(values: &[Weighted], most: f64, t: f64) -> f64 {
    let seen = values.iter().map(|value| Term { weight: value.sum - t * value.weight, shape: value.count });
    let atom = Term { weight: most - t, shape: 1.0 };
    let terms: Vec<Term> = seen.chain([atom]).filter(|term| term.weight.abs() > 0.0 && term.shape > 0.0).collect();
    let any = |sign: f64| terms.iter().any(|term| term.weight * sign > 0.0);
    match (any(1.0), any(-1.0)) {
        (true, true) => inverted(&terms),
        (positive, _) => f64::from(u8::from(positive)),
    }
}

/// `P(Q > 0) = 1/pi Int_0^inf Re exp(L(c + iy)) dy` with `L(s) = ln E exp(s Q) - ln s`, on the vertical line through the
/// saddle point c, where the integrand is one smooth peak.
fn inverted(terms: &[Term]) -> f64 {
    let saddle = saddle(terms);
    let curvature: f64 = terms.iter().map(|term| term.shape * slope(term, saddle).powi(2)).sum();
    let scale = (curvature + saddle.powi(-2)).sqrt().recip();
    let height = terms.iter().map(|term| -term.shape * (-term.weight * saddle).ln_1p()).sum::<f64>() - saddle.ln();
    let mut sum = 0.5;
    for step in 1..=MOST_STEPS {
        let x = f64::from(step) * STEP;
        let (modulus, angle) = along(terms, saddle, scale * x.sinh());
        let size = modulus.exp() * x.cosh();
        sum += size * angle.cos();
        if size < DONE {
            break;
        }
    }
    (height.exp() * scale * STEP * sum / PI).clamp(0.0, 1.0)
}

/// `a / (1 - a s)`.
fn slope(term: &Term, s: f64) -> f64 {
    term.weight / (1.0 - term.weight * s)
}

/// The minimum of the convex function L on the interval from 0 to the first pole.
fn saddle(terms: &[Term]) -> f64 {
    let largest = terms.iter().map(|term| term.weight).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, largest.recip());
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        let rise = terms.iter().map(|term| term.shape * slope(term, middle)).sum::<f64>() - middle.recip();
        if rise < 0.0 { low = middle } else { high = middle }
    }
    // The end of the interval is a pole; the lower end of the bracket never is, unless it is still zero.
    if low > 0.0 { low } else { high / 2.0 }
}

/// `L(c + iy) - L(c)` as real and imaginary part.
fn along(terms: &[Term], saddle: f64, y: f64) -> (f64, f64) {
    let start = y / saddle;
    let (mut modulus, mut angle) = (-(start * start).ln_1p() / 2.0, -start.atan());
    for term in terms {
        let z = slope(term, saddle) * y;
        modulus -= term.shape * (z * z).ln_1p() / 2.0;
        angle += term.shape * z.atan();
    }
    (modulus, angle)
}
