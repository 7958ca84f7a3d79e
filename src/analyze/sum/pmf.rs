//! A probability mass function on integers.

use std::collections::BTreeMap;

/// Finitely many integer values with their probabilities, ascending and all positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmf {
    values: Vec<i64>,
    masses: Vec<f64>,
}

impl Pmf {
    /// The relative frequencies of counted values. Values counted zero times are left out; nothing counted at all is
    /// the constant 0.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn from_counts(counts: &BTreeMap<i64, u64>) -> Self {
        let total: u64 = counts.values().sum();
        if total == 0 {
            return Self { values: vec![0], masses: vec![1.0] };
        }
        let kept = counts.iter().filter(|(_, count)| **count > 0);
        let (values, masses) = kept.map(|(value, count)| (*value, *count as f64 / total as f64)).unzip();
        Self { values, masses }
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
        Self { values, masses: self.masses.iter().rev().copied().collect() }
    }

    /// The law with mass proportional to `p(v) exp(theta v)`, and `ln E exp(theta V)`.
    #[must_use]
    pub(super) fn tilted(&self, theta: f64) -> (Self, f64) {
        let anchor = if theta > 0.0 { self.max() } else { self.min() };
        let weights: Vec<f64> =
            self.iter().map(|(value, mass)| mass * (theta * to_float(value - anchor)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let masses = weights.iter().map(|weight| weight / total).collect();
        let log = self.log_near_one(theta).unwrap_or_else(|| total.ln() + theta * to_float(anchor));
        (Self { values: self.values.clone(), masses }, log)
    }

    /// `ln E exp(theta V)` without cancellation, where all exponents are small.
    fn log_near_one(&self, theta: f64) -> Option<f64> {
        let largest = theta * to_float(self.max().abs().max(self.min().abs()));
        let excess = || self.iter().map(|(value, mass)| mass * (theta * to_float(value)).exp_m1()).sum::<f64>();
        (largest.abs() < 0.5).then(|| excess().ln_1p())
    }

    /// Mean and variance.
    #[must_use]
    pub fn moments(&self) -> (f64, f64) {
        let mean: f64 = self.iter().map(|(value, mass)| to_float(value) * mass).sum();
        let variance = self.iter().map(|(value, mass)| (to_float(value) - mean).powi(2) * mass).sum();
        (mean, variance)
    }
}

/// Lattice values stay far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
pub(super) const fn to_float(value: i64) -> f64 {
    value as f64
}
