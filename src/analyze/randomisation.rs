//! The exact randomisation test: under "the snapshot does not matter" the labels of a question's answers are exchangeable.
//!
//! Every way to split a question's pooled answers into as many old and new ones as there were is equally likely; the sum of the contrasts
//! over all questions is convolved exactly. For R = 2 and transitive labels this is
//! `P(2X + Y >= 2 FL + P)` with `X ~ Bin(FL + XX, 1/3)`, `Y ~ Bin(P + Q, 1/3)`. It assumes calls interleaved in time and no
//! cache of answers.

use super::AnalyzeError;
use super::edges::Edges;
use super::lattice::{Lattice, gcd};
use super::splits::{by_classes, by_enumeration};
use super::sum::{Pmf, Sum};
use crate::model::{Kernel, QuestionId};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Answers of both snapshots whose splits are enumerated where labels are not transitive: C(22, 11) is 705,432.
pub const ENUMERABLE: usize = 22;

/// How often each contrast comes up among all splits of one question, in lattice units.
pub type Splits = BTreeMap<i64, u64>;

/// Questions by what decides their splits.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// Transitive labels: the sizes of the classes of agreeing answers, in ascending order.
    classes: BTreeMap<Vec<u32>, u64>,
    /// Labels that are not.
    others: BTreeMap<Edges, u64>,
    /// The sum of the contrasts, in lattice units.
    observed: i64,
}

impl Patterns {
    /// Takes one question.
    pub fn take(&mut self, edges: &Edges, lattice: Lattice) {
        self.observed += lattice.contrast(edges.agreeing());
        match edges.classes() {
            Some(mut sizes) => {
                sizes.sort_unstable();
                *self.classes.entry(sizes).or_default() += 1;
            }
            None => *self.others.entry(edges.clone()).or_default() += 1,
        }
    }

    /// The one-sided p-value: the probability under random splits of a total at least as large as the observed one.
    ///
    /// # Errors
    /// [`AnalyzeError::TooManyRepeats`] where labels are not transitive among more than [`ENUMERABLE`] answers,
    /// [`AnalyzeError::TooLarge`] where the law of the sum does not fit memory.
    pub fn p_value(&self, lattice: Lattice, kernel: Kernel) -> Result<f64, AnalyzeError> {
        let classes = self.classes.par_iter().map(|(sizes, times)| Ok((by_classes(sizes, lattice)?, *times)));
        let others = self.others.par_iter().map(|(edges, times)| Ok((splits(edges, lattice, kernel)?, *times)));
        let counted: Vec<(Splits, u64)> = classes.chain(others).collect::<Result<_, AnalyzeError>>()?;
        let mut groups: BTreeMap<Vec<(i64, u64)>, u64> = BTreeMap::new();
        for (splits, times) in counted {
            *groups.entry(splits.into_iter().collect()).or_default() += times;
        }
        let (groups, observed) = on_their_own_lattice(groups, self.observed);
        let laws = groups.into_iter().map(|(splits, times)| (Pmf::from_counts(&splits), times));
        Ok(Sum::of(laws.collect())?.at_least(observed))
    }
}

/// The splits and the observed total in steps from the least total, a step being what all splits of one question differ by: with
/// R repeats on both sides `2 R - 1` units. The law is the same, on a lattice that much coarser.
fn on_their_own_lattice(groups: BTreeMap<Vec<(i64, u64)>, u64>, observed: i64) -> (Vec<(Splits, u64)>, i64) {
    let least = |splits: &[(i64, u64)]| splits.first().map_or(0, |(value, _)| *value);
    let distances = groups.keys().flat_map(|splits| splits.iter().map(|(value, _)| value.abs_diff(least(splits))));
    let step = i64::try_from(distances.fold(0, gcd)).unwrap_or(1).max(1);
    let lowest = groups.iter().map(|(splits, times)| least(splits).saturating_mul(times.cast_signed()));
    let above = observed.saturating_sub(lowest.fold(0, i64::saturating_add));
    let stepped = |splits: Vec<(i64, u64)>| {
        let from = least(&splits);
        splits.into_iter().map(|(value, ways)| ((value - from) / step, ways)).collect()
    };
    // The observed total is that of one of the splits, so nothing is left over.
    (groups.into_iter().map(|(splits, times)| (stepped(splits), times)).collect(), above / step)
}

/// Refuses a question whose splits cannot be enumerated, before anything is computed of the others.
///
/// # Errors
/// [`AnalyzeError::TooManyRepeats`] with the question's name.
pub fn testable(edges: &Edges, kernel: Kernel, question: &QuestionId) -> Result<(), AnalyzeError> {
    let answers = edges.answers();
    if answers <= ENUMERABLE || edges.classes().is_some() {
        return Ok(());
    }
    Err(AnalyzeError::TooManyRepeats { question: Some(question.clone()), kernel, answers, limit: ENUMERABLE })
}

/// The contrast of every split of one question's answers, counted. Their mean is zero.
///
/// # Errors
/// [`AnalyzeError::TooManyRepeats`] as for [`Patterns::p_value`].
///
/// ```
/// use churngate::analyze::{edges::Edges, lattice::{Lattice, Repeats}, randomisation::splits};
/// let repeats = Repeats { old: 2, new: 2 };
/// let answers = ["x", "x", "y", "y"];
/// let edges = Edges::build(repeats, |i, j| Ok::<_, churngate::analyze::AnalyzeError>(answers[i] == answers[j]))?;
/// let splits = splits(&edges, Lattice::new(repeats)?, churngate::model::Kernel::Exact)?;
/// assert_eq!(splits, [(4, 2), (-2, 4)].into()); // one split in three is the flip itself
/// # Ok::<(), churngate::analyze::AnalyzeError>(())
/// ```
pub fn splits(edges: &Edges, lattice: Lattice, kernel: Kernel) -> Result<Splits, AnalyzeError> {
    let answers = edges.answers();
    match edges.classes() {
        Some(sizes) => by_classes(&sizes, lattice),
        None if answers > ENUMERABLE => {
            Err(AnalyzeError::TooManyRepeats { question: None, kernel, answers, limit: ENUMERABLE })
        }
        None => Ok(by_enumeration(edges, lattice)),
    }
}
