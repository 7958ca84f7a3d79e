//! What labels by hand come to, beside the judge's.

use super::Pair;
use crate::analyze::agreement::Table;
use crate::analyze::{proportion, significant};
use crate::model::{Digest, Label};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a person says of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandLabel {
    /// Both answers mean the same as answers to the question.
    Same,
    /// They do not.
    Different,
    /// It cannot be told: no label, and counted apart.
    Unsure,
}

/// Labels by the names of their pairs.
pub type Labels = BTreeMap<Digest, HandLabel>;

/// How the judge and a person label the pairs of one stratum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stratum {
    /// Pairs in it.
    pub pairs: u64,
    /// Those of which the person cannot tell.
    pub unsure: u64,
    /// Those with a label of both: the judge is the first, the person the second.
    pub table: Table,
    /// The share of equal labels; absent without a label.
    pub agreement: Option<f64>,
    /// Its Wilson interval, which takes pairs as independent; absent likewise.
    pub interval: Option<(f64, f64)>,
    /// Cohen's kappa; absent where both give one and the same label throughout.
    pub kappa: Option<f64>,
}

/// Stable flips by what their pairs were labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// Every pair has the judge's label: by hand it is a stable flip as well.
    pub confirmed: u64,
    /// A pair has another label: by hand it is none.
    pub refuted: u64,
    /// Neither is known yet: a pair has no label, or it cannot be told.
    pub open: u64,
}

impl HandLabel {
    /// The label, where there is one.
    #[must_use]
    pub const fn told(self) -> Option<Label> {
        match self {
            Self::Same => Some(Label::Same),
            Self::Different => Some(Label::Different),
            Self::Unsure => None,
        }
    }
}

impl Stratum {
    /// The figures of some pairs; `alpha` is the two-sided error of the interval.
    ///
    /// ```
    /// use churngate::analyze::review::{Labels, Stratum};
    /// assert_eq!(Stratum::of([], &Labels::new(), 0.05), Stratum::default());
    /// ```
    #[must_use]
    pub fn of<'a>(pairs: impl IntoIterator<Item = &'a Pair>, labels: &Labels, alpha: f64) -> Self {
        let mut stratum = Self::default();
        for pair in pairs {
            stratum.pairs += 1;
            match labels.get(&pair.id).map(|label| label.told()) {
                Some(Some(hand)) => stratum.table.count(pair.judge, hand),
                Some(None) => stratum.unsure += 1,
                None => {}
            }
        }
        let Self { table, .. } = stratum;
        stratum.agreement = table.agreement().map(significant);
        stratum.interval = interval(table.alike(), table.pairs(), alpha);
        stratum.kappa = table.kappa().map(significant);
        stratum
    }
}

impl Confirmed {
    /// The Wilson interval, with two-sided error `alpha`, of the share of confirmed flips among those that are not open; absent
    /// where all are.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        interval(self.confirmed, self.confirmed + self.refuted, alpha)
    }
}

fn interval(part: u64, whole: u64, alpha: f64) -> Option<(f64, f64)> {
    let (low, high) = (whole > 0).then(|| proportion::wilson(part, whole, alpha))?;
    Some((significant(low), significant(high)))
}

/// What a person says of the stable flips among these pairs, which must hold every pair of each. The judge calls all pairs of such a
/// question within a snapshot the same and all across different; so whoever agrees on every pair sees a stable flip too.
#[must_use]
pub fn confirmed<'a>(pairs: impl IntoIterator<Item = &'a Pair>, labels: &Labels) -> Confirmed {
    let mut flips = BTreeMap::new();
    for pair in pairs.into_iter().filter(|pair| pair.flip) {
        let hand = labels.get(&pair.id).and_then(|label| label.told());
        let (refuted, open) = flips.entry(&pair.question).or_insert((false, false));
        *refuted |= hand.is_some_and(|hand| hand != pair.judge);
        *open |= hand.is_none();
    }
    let mut counted = Confirmed::default();
    for state in flips.values() {
        *match state {
            (true, _) => &mut counted.refuted,
            (false, true) => &mut counted.open,
            (false, false) => &mut counted.confirmed,
        } += 1;
    }
    counted
}

/// How two people label the pairs that both of them could tell.
#[must_use]
pub fn between(one: &Labels, other: &Labels) -> Table {
    let mut table = Table::default();
    for (id, first) in one {
        let second = other.get(id).and_then(|label| label.told());
        if let (Some(first), Some(second)) = (first.told(), second) {
            table.count(first, second);
        }
    }
    table
}
