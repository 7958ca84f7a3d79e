//! Labels by hand: what whoever labels is shown, and what the labels came to.
//!
//! What is shown before the end holds no snapshot, no label of the judge's and no hint of why a pair was chosen.

mod json;
mod sheet;
#[cfg(test)]
mod tests;
mod text;

pub use json::review_json;
pub use sheet::{COLUMNS, Row, SheetFormat, row, sheet};
pub use text::{opening, prompt, review_text};

use crate::analyze::agreement::Table;
use crate::analyze::review::{Confirmed, HandLabel, Labels, Pair, Stratum};
use crate::gate::Verdict;
use crate::model::{Digest, Fraction};

/// A review of one run by one person, as far as it has come.
#[derive(Clone, Debug)]
pub struct Review {
    /// The audit's name.
    pub name: String,
    /// The run's name: the digest of the protocol.
    pub protocol: Digest,
    /// The head of the judgments that are reviewed.
    pub judgments: Digest,
    /// The judge, in words.
    pub judge: String,
    /// The verdict, which no label moves.
    pub verdict: Verdict,
    /// Who labels.
    pub reviewer: String,
    /// Where the labels are kept.
    pub labels_file: String,
    /// All judged pairs of distinct answers of old and new.
    pub judged: u64,
    /// Stable flips of the audit.
    pub flips: u64,
    /// Those that are reviewed, worst first.
    pub reviewed: u64,
    /// The pairs, in the order in which they are shown, and those that were labelled before and are no longer among them.
    pub pairs: Vec<Pair>,
    /// The labels.
    pub labels: Labels,
    /// The figures; absent while pairs are left and nobody asked for them.
    pub figures: Option<ReviewFigures>,
}

/// What the labels came to.
#[derive(Clone, Debug)]
pub struct ReviewFigures {
    /// The blind sample: what estimates the judge's agreement.
    pub sample: Stratum,
    /// The pairs of the flips, which the judge's own labels chose.
    pub flips: Stratum,
    /// The flips themselves.
    pub confirmed: Confirmed,
    /// The Wilson interval of the share of confirmed flips among those that are not open; absent where all are.
    pub confirmed_interval: Option<(f64, f64)>,
    /// Semantic D̂ as the judge's labels have it.
    pub churn: Fraction,
    /// The part of it that the refuted flips make up: each is one question of all.
    pub refuted: Fraction,
    /// Every two reviewers of this run who labelled a pair in common.
    pub between: Vec<Between>,
}

/// Two reviewers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// Their names.
    pub names: [String; 2],
    /// Their labels: the first's and the second's.
    pub table: Table,
}

impl Review {
    /// The pairs that are to be labelled.
    pub fn wanted(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.flip || pair.sampled)
    }

    /// Those of them without a label.
    #[must_use]
    pub fn left(&self) -> usize {
        self.wanted().filter(|pair| !self.labels.contains_key(&pair.id)).count()
    }

    /// Why there is nothing to label, where there is nothing.
    #[must_use]
    pub fn nothing(&self) -> Option<&'static str> {
        match self.wanted().next() {
            Some(_) => None,
            None if self.judged == 0 => Some("every two answers of old and new to one question are the same text"),
            None => Some("no stable flip is reviewed and the blind sample is empty"),
        }
    }

    /// Labelled pairs on which the judge and the person differ.
    fn disagreements(&self) -> impl Iterator<Item = (&Pair, HandLabel)> {
        let labelled = self.pairs.iter().filter_map(|pair| Some((pair, *self.labels.get(&pair.id)?)));
        labelled.filter(|(pair, hand)| hand.told().is_some_and(|hand| hand != pair.judge))
    }
}

/// A label as files and people spell it.
#[must_use]
pub const fn word(label: HandLabel) -> &'static str {
    match label {
        HandLabel::Same => "same",
        HandLabel::Different => "different",
        HandLabel::Unsure => "unsure",
    }
}

/// The verdict as files and people spell it.
const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Compatible => "compatible",
        Verdict::Incompatible => "incompatible",
        Verdict::Inconclusive => "inconclusive",
    }
}
