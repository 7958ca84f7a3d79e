//! A probability mass function on integers.

use std::collections::BTreeMap;

/// Finitely many integer values with their probabilities, ascending and all positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmf {
    values: Vec<i64>,
    masses: Vec<f64>,
    /// The mean as a fraction: the sum of all counted values, and how many were counted.
    sum: i128,
    total: u64,
}

impl Pmf {
    /// The relative frequencies of counted values. Values counted zero times are left out; nothing counted at all is
    /// the constant 0.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn from_counts(counts: &BTreeMap<i64, u64>) -> Self {
        let total: u64 = counts.values().sum();
        if total == 0 {
            return Self { values: vec![0], masses: vec![1.0], sum: 0, total: 1 };
        }
        let sum = counts.iter().map(|(value, count)| i128::from(*value) * i128::from(*count)).sum();
        let kept = counts.iter().filter(|(_, count)| **count > 0);
        let (values, masses) = kept.map(|(value, count)| (*value, *count as f64 / total as f64)).unzip();
        Self { values, masses, sum, total }
    }

    /// The values with their probabilities, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (i64, f64)> {
        self.values.iter().copied().zip(self.masses.iter().copied())
    }

    /// The smallest value.
    #[must_use]
    pub fn min(&self) -> i64 {
        self.values.first().copied().unwrap_or(0)
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> i64 {
        self.values.last().copied().unwrap_or(0)
    }

    /// The distance from the smallest to the largest value.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.max().abs_diff(self.min())
    }

    /// The law of `-V`.
    pub(super) fn mirrored(&self) -> Self {
        let values = self.values.iter().rev().map(|value| -value).collect();
        Self { values, masses: self.masses.iter().rev().copied().collect(), sum: -self.sum, total: self.total }
    }

    /// `times` times the mean, as an integer and a remainder in [0, 1): an `f64` would lose the remainder of a large sum.
    pub(super) fn mean_times(&self, times: u64) -> (i64, f64) {
        let total = i128::from(self.total);
        let product = self.sum.saturating_mul(i128::from(times));
        let remainder = i64::try_from(product.rem_euclid(total)).unwrap_or(0);
        let whole = i64::try_from(product.div_euclid(total)).unwrap_or(i64::MAX);
        (whole, to_float(remainder) / to_float(self.total.cast_signed()))
    }

    /// The masses proportional to `p(v) exp(theta v)`, in the order of values.
    #[must_use]
    pub(super) fn tilted(&self, theta: f64) -> Vec<(i64, f64)> {
        let anchor = if theta > 0.0 { self.max() } else { self.min() };
        let weigh = |(value, mass): (i64, f64)| (value, mass * (theta * to_float(value - anchor)).exp());
        let weights: Vec<(i64, f64)> = self.iter().map(weigh).collect();
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.into_iter().map(|(value, weight)| (value, weight / total)).collect()
    }

    /// `ln E exp(theta (V - mean))`, without cancellation: the terms `exp(x) - 1 - x` are all positive, and those in x
    /// alone add up to zero.
    pub(super) fn log_about_mean(&self, theta: f64) -> f64 {
        let (whole, remainder) = self.mean_times(1);
        let from_mean = |value: i64| to_float(value - whole) - remainder;
        self.iter().map(|(value, mass)| mass * exp_beyond_linear(theta * from_mean(value))).sum::<f64>().ln_1p()
    }

    /// An upper limit of P(S <= t) for the sum of `times` values, t below its mean: `min exp(ln E exp(theta (S - t)))` over
    /// tilts theta below zero.
    pub(in crate::analyze) fn chernoff(&self, times: u64, t: i64) -> f64 {
        let (whole, remainder) = self.mean_times(times);
        let excess = to_float(whole.saturating_sub(t)) + remainder;
        let log = |theta: f64| to_float(times.cast_signed()) * self.log_about_mean(theta) + theta * excess;
        // Convex in theta, and zero at zero: the least value lies where thirds of a bracket stop to fall.
        let (mut low, mut high) = (-2.0, 0.0);
        for _ in 0..40 {
            let (one, other) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if log(one) < log(other) { high = other } else { low = one }
        }
        log(high).min(0.0).exp()
    }

    /// `ln E exp(theta (V - max))`, for tilts so steep that the largest value leads; at an infinite tilt, the logarithm of
    /// its probability.
    pub(super) fn log_about_most(&self, theta: f64) -> f64 {
        let below = |value: i64| if value == self.max() { 0.0 } else { theta * to_float(value - self.max()) };
        let short: f64 = self.iter().map(|(value, mass)| mass * below(value).exp_m1()).sum();
        if short > -0.5 {
            return short.ln_1p();
        }
        self.iter().map(|(value, mass)| mass * below(value).exp()).sum::<f64>().ln()
    }
}

/// `exp(x) - 1 - x`, to full precision near zero, where its series is short.
fn exp_beyond_linear(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return x.exp_m1() - x;
    }
    let term = |(term, sum): (f64, f64), k: u32| {
        let next = term * x / f64::from(k);
        (next, sum + next)
    };
    (3..=16).fold((x * x / 2.0, x * x / 2.0), term).1
}

/// Lattice values stay far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
pub(super) const fn to_float(value: i64) -> f64 {
    value as f64
}
