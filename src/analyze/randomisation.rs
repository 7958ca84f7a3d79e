//! The exact randomisation test: under "the snapshot does not matter" the labels of a question's answers are exchangeable.
//!
//! Every way to split a question's pooled answers into as many old and new ones as there were is equally likely; the sum of the contrasts
//! over all questions is convolved exactly. For R = 2 and transitive labels this is
//! `P(2X + Y >= 2 FL + P)` with `X ~ Bin(FL + XX, 1/3)`, `Y ~ Bin(P + Q, 1/3)`. It assumes calls interleaved in time and no
//! cache of answers.

use super::AnalyzeError;
use super::edges::Edges;
use super::lattice::{Agreeing, Lattice};
use super::sum::{Pmf, Sum};
use crate::model::Kernel;
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
        let mut groups: BTreeMap<Vec<(i64, u64)>, u64> = BTreeMap::new();
        let mut add = |splits: Splits, times: u64| *groups.entry(splits.into_iter().collect()).or_default() += times;
        for (sizes, times) in &self.classes {
            add(by_classes(sizes, lattice)?, *times);
        }
        for (edges, times) in &self.others {
            add(splits(edges, lattice, kernel)?, *times);
        }
        let laws = groups.into_iter().map(|(splits, times)| (Pmf::from_counts(&splits.into_iter().collect()), times));
        Ok(Sum::of(laws.collect())?.at_least(self.observed))
    }
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
        None if answers > ENUMERABLE => Err(AnalyzeError::TooManyRepeats { kernel, answers, limit: ENUMERABLE }),
        None => Ok(by_enumeration(edges, lattice)),
    }
}

/// All subsets of as many answers as the old snapshot gave, as bit masks.
fn by_enumeration(edges: &Edges, lattice: Lattice) -> Splits {
    let mut counted = Splits::new();
    for subset in 0..1_u64 << edges.answers() {
        if subset.count_ones() == edges.repeats().old {
            let agreeing = edges.count(|answer| subset >> answer & 1 == 1);
            *counted.entry(lattice.contrast(agreeing)).or_default() += 1;
        }
    }
    counted
}

/// Splits of transitive labels: how many of each class of equal answers go to the old side, class by class. The state
/// is the number of old answers so far and the agreeing pairs so far.
fn by_classes(sizes: &[u32], lattice: Lattice) -> Result<Splits, AnalyzeError> {
    let repeats = lattice.repeats();
    let mut states: BTreeMap<(u32, i64), u64> = BTreeMap::from([((0, 0), 1)]);
    for size in sizes {
        let mut next = BTreeMap::new();
        for ((old, contrast), ways) in states {
            for taken in 0..=(*size).min(repeats.old - old) {
                let share = lattice.contrast(class(taken, size - taken));
                let more = choose(*size, taken).and_then(|ways_here| ways.checked_mul(ways_here));
                let sum: &mut u64 = next.entry((old + taken, contrast + share)).or_default();
                *sum = more.and_then(|more| sum.checked_add(more)).ok_or(AnalyzeError::TooLarge)?;
            }
        }
        states = next;
    }
    Ok(states.into_iter().filter(|((old, _), _)| *old == repeats.old).map(|((_, d), ways)| (d, ways)).collect())
}

/// The agreeing pairs within one class of which `old` answers are on the old side and `new` on the new side.
const fn class(old: u32, new: u32) -> Agreeing {
    Agreeing { old: old * old.saturating_sub(1) / 2, new: new * new.saturating_sub(1) / 2, cross: old * new }
}

fn choose(n: u32, k: u32) -> Option<u64> {
    (0..k).try_fold(1_u64, |ways, i| Some(ways.checked_mul(u64::from(n - i))? / u64::from(i + 1)))
}
