//! Rules, then model: the label of one pair.

use super::features::features;
use super::model::{probability, score};
use super::pair::Pair;
use super::reading::Reading;
use super::rules;
use super::weights::WEIGHTS;
use crate::model::Label;

/// The label of a pair, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Whether both mean the same.
    pub label: Label,
    /// What decided.
    pub reason: Reason,
}

/// What decided a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The rule of this name.
    Rule(&'static str),
    /// The fitted model, with this probability that both mean the same.
    Model(f64),
}

/// Judges two readings.
#[must_use]
pub fn decide(question: &Reading, one: &Reading, other: &Reading) -> Decision {
    let pair = Pair::of(question, one, other);
    if let Some((name, label)) = rules::decide(&pair) {
        return Decision { label, reason: Reason::Rule(name) };
    }
    let same = probability(score(&WEIGHTS, &features(&pair)));
    let label = if same >= 0.5 { Label::Same } else { Label::Different };
    Decision { label, reason: Reason::Model(same) }
}

/// Judges two answers to a question.
#[must_use]
pub fn judge(question: &str, one: &str, other: &str) -> Label {
    decide(&Reading::of(question), &Reading::of(one), &Reading::of(other)).label
}
