//! The fitted logistic model: the probability that two answers mean the same, where no rule decides.

use super::features::COUNT;

/// Weights of the features, in their order.
pub type Weights = [f64; COUNT];

/// The linear score of these features.
#[must_use]
pub fn score(weights: &Weights, features: &[f64; COUNT]) -> f64 {
    weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
}

/// 1 / (1 + e^-score).
#[must_use]
pub fn probability(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}
