//! The ratio of two resampled sums where the plane of both does not fit memory: one sum at a time.
//!
//! `P(sum S_g / (units sum n_g) <= t) = P(sum (S_g - units t n_g) <= 0)`, and for a t that is a fraction the sum on the right has
//! integer values, so its law is one convolution by a transform. The quantile is the smallest t on a grid of hundredths of a percentage
//! point whose probability reaches the level, found by bisection.
//!
//! Where the sum has too many possible values, contributions are rounded down to multiples of a power of two and the sum of
//! what was cut off, known for the sample, is put back into the limit. That is exact in the mean and adds less than a
//! thousandth of a standard error besides.

use super::cluster::ClusterRows;
use super::quantile::Level;
use crate::model::Fraction;
use rustfft::{FftPlannerScalar, num_complex::Complex64};

/// Steps of the grid that 1 is divided into.
const STEPS: i64 = 10_000;
/// Values of a sum at most. Twenty standard deviations stand on them, so that one value is less than a thousandth of one.
const MOST: i64 = 1 << 15;
/// Standard deviations that a window is wide on either side of the mean.
const REACH: f64 = 10.0;
/// Spans of one cluster that are added to a window on either side.
const SPANS: i64 = 8;
/// Probabilities below this share of all are rounding.
const NOTHING: f64 = 1e-18;

/// How many clusters have this integer contribution.
type Contributions = Vec<(i64, u64)>;

/// The smallest t on the grid with `P(D* <= t) >= level`.
pub(super) fn quantile(rows: &ClusterRows, units: i64, level: Level) -> Fraction {
    // No contrast lies outside -1 to 1, so nothing is ever reached below that.
    let (mut low, mut high) = (-STEPS - 1, STEPS);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let reached = level.is_reached(at_most(rows, units, middle));
        if reached { high = middle } else { low = middle }
    }
    Fraction { numerator: high, denominator: STEPS.unsigned_abs() }
}

/// P(D* <= steps / STEPS).
fn at_most(rows: &ClusterRows, units: i64, steps: i64) -> f64 {
    let Some(each) = contributions(rows, units, steps) else { return 1.0 };
    for unit in (0..62).map(|doubled| 1_i64 << doubled) {
        let cut: Contributions = each.iter().map(|(value, count)| (value.div_euclid(unit), *count)).collect();
        if let Some((start, length)) = window(&cut) {
            let left: i128 =
                each.iter().map(|(value, count)| i128::from(value.rem_euclid(unit)) * i128::from(*count)).sum();
            let limit = i64::try_from(-(left / i128::from(unit))).unwrap_or(i64::MIN);
            return law_at_most(&cut, (start, length), limit);
        }
    }
    1.0
}

/// `S_g STEPS - steps units n_g` of every cluster, without common factors; `None` beyond 64 bits.
fn contributions(rows: &ClusterRows, units: i64, steps: i64) -> Option<Contributions> {
    let one = |((sum, questions), count): (&(i64, i64), &u64)| {
        let value = sum.checked_mul(STEPS)?.checked_sub(steps.checked_mul(units)?.checked_mul(*questions)?)?;
        Some((value, *count))
    };
    let each = rows.iter().map(one).collect::<Option<Contributions>>()?;
    let common = each.iter().fold(0, |common, (value, _)| gcd(common, value.unsigned_abs())).max(1);
    let common = i64::try_from(common).ok()?;
    Some(each.into_iter().map(|(value, count)| (value / common, count)).collect())
}

const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The first value and the number of values that the sum can have, or those near its mean; `None` beyond [`MOST`].
#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and a window as wide is refused")]
fn window(each: &Contributions) -> Option<(i64, usize)> {
    let clusters = i64::try_from(each.iter().map(|(_, count)| count).sum::<u64>()).ok()?;
    let values = || each.iter().map(|(value, _)| *value);
    let (low, high) = (values().min()?, values().max()?);
    let weighed =
        |of: &dyn Fn(f64) -> f64| each.iter().map(|(value, count)| of(float(*value)) * wide(*count)).sum::<f64>();
    let sum = weighed(&|value| value);
    let mean = sum / float(clusters);
    let deviation = weighed(&|value| (value - mean).powi(2)).sqrt();
    let half = ((REACH * deviation).ceil() as i64).saturating_add(high.saturating_sub(low).saturating_mul(SPANS));
    let centre = sum.round() as i64;
    let start = low.saturating_mul(clusters).max(centre.saturating_sub(half));
    let end = high.saturating_mul(clusters).min(centre.saturating_add(half));
    let length = end.saturating_sub(start).saturating_add(1);
    (length <= MOST).then(|| (start, usize::try_from(length).unwrap_or(1).next_power_of_two()))
}

/// The probability that the sum is at most `limit`.
fn law_at_most(each: &Contributions, (start, length): (i64, usize), limit: i64) -> f64 {
    let clusters = each.iter().map(|(_, count)| count).sum::<u64>();
    let modulus = i64::try_from(length).unwrap_or(i64::MAX);
    let place = |value: i64| usize::try_from(value.rem_euclid(modulus)).unwrap_or(0);
    let mut cells = vec![Complex64::ZERO; length];
    for (value, count) in each {
        cells[place(*value)] += wide(*count) / wide(clusters);
    }
    let mut planner = FftPlannerScalar::new();
    planner.plan_fft_forward(length).process(&mut cells);
    for cell in &mut cells {
        *cell = power(*cell, clusters);
    }
    planner.plan_fft_inverse(length).process(&mut cells);
    let scale = float(modulus).recip();
    let mass = |value: i64| cells[place(value)].re * scale;
    let (mut below, mut all) = (0.0, 0.0);
    for value in start..start.saturating_add(modulus) {
        let mass = Some(mass(value)).filter(|mass| *mass > NOTHING).unwrap_or(0.0);
        all += mass;
        below += if value <= limit { mass } else { 0.0 };
    }
    below / all
}

/// `phi^times` by repeated squaring.
pub(super) fn power(phi: Complex64, mut times: u64) -> Complex64 {
    let (mut result, mut square) = (Complex64::ONE, phi);
    while times > 0 {
        if times & 1 == 1 {
            result *= square;
        }
        square *= square;
        times >>= 1;
    }
    result
}

#[expect(clippy::cast_precision_loss, reason = "nearest values are what is asked for")]
const fn float(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "numbers of clusters are far below 2^53")]
const fn wide(value: u64) -> f64 {
    value as f64
}
