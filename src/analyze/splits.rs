//! Every way to split the answers of one question into old and new ones, counted by contrast.
//!
//! Many repeats have more splits than can be listed one by one: what is alike is counted together. Within one question the
//! contrasts of all splits differ by multiples of one step, `2 R - 1` lattice units for R repeats on both sides, so that
//! they stand in short tables.

use super::AnalyzeError;
use super::edges::Edges;
use super::lattice::{Agreeing, Lattice, gcd};
use super::randomisation::Splits;
use std::collections::BTreeMap;

/// Entries of a table of contrasts at most; what needs more is kept by value.
const TABLE: usize = 1 << 20;

/// All subsets of as many answers as the old snapshot gave. Answers are put on either side one after the other; what
/// a side has already decides which pairs an answer adds to it.
pub(super) fn by_enumeration(edges: &Edges, lattice: Lattice) -> Splits {
    let answers = edges.answers();
    let before =
        |one: usize| (0..one).filter(|&other| edges.agree(one, other)).fold(0_u32, |bits, other| bits | 1 << other);
    let earlier: Vec<u32> = (0..answers).map(before).collect();
    let pairs = earlier.iter().map(|bits| bits.count_ones()).sum::<u32>();
    let side = pairs as usize + 1;
    let mut walk = Walk { earlier: &earlier, left: edges.repeats().old, counts: vec![0; side * side], side };
    walk.on(0, 0, [0, 0]);
    let mut counted = Splits::new();
    for (place, ways) in walk.counts.into_iter().enumerate().filter(|(_, ways)| *ways > 0) {
        let [old, new] = [place / side, place % side].map(|count| u32::try_from(count).unwrap_or(0));
        let agreeing = Agreeing { old, new, cross: pairs - old - new };
        *counted.entry(lattice.contrast(agreeing)).or_default() += ways;
    }
    counted
}

/// A walk through all subsets.
struct Walk<'a> {
    /// For each answer, those before it that it agrees with, as bits.
    earlier: &'a [u32],
    /// How many more answers are to become old ones.
    left: u32,
    /// Subsets by agreeing pairs of old answers, then of new ones.
    counts: Vec<u64>,
    side: usize,
}

impl Walk<'_> {
    fn on(&mut self, answer: usize, old: u32, [of_old, of_new]: [usize; 2]) {
        let rest = self.earlier.len() - answer;
        let Some(bits) = self.earlier.get(answer).copied() else {
            if let Some(count) = self.counts.get_mut(of_old * self.side + of_new) {
                *count += 1;
            }
            return;
        };
        if self.left > 0 {
            self.left -= 1;
            self.on(answer + 1, old | 1 << answer, [of_old + (bits & old).count_ones() as usize, of_new]);
            self.left += 1;
        }
        if rest > self.left as usize {
            self.on(answer + 1, old, [of_old, of_new + (bits & !old).count_ones() as usize]);
        }
    }
}

/// Splits of transitive labels: how many of each class of equal answers go to the old side, class by class. The state
/// is the number of old answers so far and the contrast of the agreeing pairs so far.
///
/// # Errors
/// [`AnalyzeError::TooLarge`] where a number of ways does not fit 64 bits.
pub(super) fn by_classes(sizes: &[u32], lattice: Lattice) -> Result<Splits, AnalyzeError> {
    let classes: Vec<Class> =
        sizes.iter().map(|size| Class::new(*size, lattice)).collect::<Option<_>>().ok_or(AnalyzeError::TooLarge)?;
    let step = classes.iter().map(Class::step).fold(0, gcd).max(1);
    let width = classes.iter().map(|class| class.span() / step).fold(1, u64::saturating_add);
    let old = lattice.repeats().old as usize;
    match usize::try_from(width).ok().filter(|width| width.saturating_mul(old + 1) <= TABLE) {
        Some(width) => in_table(&classes, old, step, width),
        None => by_value(&classes, old),
    }
    .ok_or(AnalyzeError::TooLarge)
}

/// One class: for each number of its answers on the old side, its part of the contrast and the ways to choose them.
struct Class(Vec<(i64, u64)>);

impl Class {
    fn new(size: u32, lattice: Lattice) -> Option<Self> {
        let old = lattice.repeats().old;
        let part = |taken| Some((lattice.contrast(agreeing(taken, size - taken)), choose(size, taken)?));
        (0..=size.min(old)).map(part).collect::<Option<Vec<_>>>().map(Self)
    }

    fn least(&self) -> i64 {
        self.0.iter().map(|(part, _)| *part).min().unwrap_or(0)
    }

    fn span(&self) -> u64 {
        self.0.iter().map(|(part, _)| *part).max().unwrap_or(0).abs_diff(self.least())
    }

    /// What all distances of its parts are multiples of.
    fn step(&self) -> u64 {
        self.0.iter().map(|(part, _)| part.abs_diff(self.least())).fold(0, gcd)
    }
}

/// Counts in a table: a row for each number of old answers, a column for each step of the contrast from the least.
fn in_table(classes: &[Class], old: usize, step: u64, width: usize) -> Option<Splits> {
    let mut states = vec![0_u64; (old + 1) * width];
    *states.first_mut()? = 1;
    for class in classes {
        let mut next = vec![0_u64; states.len()];
        for (taken, (part, ways)) in class.0.iter().enumerate() {
            let offset = usize::try_from(part.abs_diff(class.least()) / step).ok()?;
            for (row, before) in states.chunks(width).enumerate().take((old + 1).saturating_sub(taken)) {
                let place = (row + taken) * width;
                add(next.get_mut(place + offset..place + width)?, before, *ways)?;
            }
        }
        states = next;
    }
    let least: i64 = classes.iter().map(Class::least).sum();
    let row = states.chunks(width).nth(old)?.iter().enumerate().filter(|(_, ways)| **ways > 0);
    row.map(|(column, ways)| {
        let steps = i64::try_from(u64::try_from(column).ok()?.checked_mul(step)?).ok()?;
        Some((least.checked_add(steps)?, *ways))
    })
    .collect()
}

/// Adds so many times the row before to a row.
fn add(row: &mut [u64], before: &[u64], times: u64) -> Option<()> {
    for (sum, ways) in row.iter_mut().zip(before).filter(|(_, ways)| **ways > 0) {
        *sum = sum.checked_add(ways.checked_mul(times)?)?;
    }
    Some(())
}

/// The same for repeats without common factors, whose contrasts lie too far apart for a table.
fn by_value(classes: &[Class], old: usize) -> Option<Splits> {
    let mut states: BTreeMap<(usize, i64), u64> = BTreeMap::from([((0, 0), 1)]);
    for class in classes {
        let mut next = BTreeMap::new();
        for ((before, contrast), ways) in states {
            for (taken, (part, more)) in class.0.iter().enumerate().take(old + 1 - before) {
                let sum: &mut u64 = next.entry((before + taken, contrast + part)).or_default();
                *sum = sum.checked_add(ways.checked_mul(*more)?)?;
            }
        }
        states = next;
    }
    Some(states.into_iter().filter(|((before, _), _)| *before == old).map(|((_, d), ways)| (d, ways)).collect())
}

/// The agreeing pairs within one class of which `old` answers are on the old side and `new` on the new side.
const fn agreeing(old: u32, new: u32) -> Agreeing {
    Agreeing { old: old * old.saturating_sub(1) / 2, new: new * new.saturating_sub(1) / 2, cross: old * new }
}

/// How many ways there are to choose k of n, where that fits 64 bits.
pub(super) fn choose(n: u32, k: u32) -> Option<u64> {
    let ways = (0..k).try_fold(1_u128, |ways, i| Some(ways.checked_mul(u128::from(n - i))? / u128::from(i + 1)))?;
    u64::try_from(ways).ok()
}

#[cfg(test)]
mod tests {
    use super::super::lattice::Repeats;
    use super::*;
    use proptest::prelude::*;

    /// Every subset, pair by pair.
    fn plainly(edges: &Edges, lattice: Lattice) -> Splits {
        let mut counted = Splits::new();
        for subset in (0..1_u64 << edges.answers()).filter(|subset| subset.count_ones() == edges.repeats().old) {
            let agreeing = edges.count(|answer| subset >> answer & 1 == 1);
            *counted.entry(lattice.contrast(agreeing)).or_default() += 1;
        }
        counted
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_way_to_count_splits_gives_the_same(old in 2_u32..5, new in 2_u32..5, bits in any::<u64>(), classes in 1_u64..6) {
            let repeats = Repeats { old, new };
            let lattice = Lattice::new(repeats).unwrap();
            let any = Edges::build(repeats, |i, j| Ok::<_, ()>(bits >> ((i * 8 + j) % 64) & 1 == 1)).unwrap();
            prop_assert_eq!(by_enumeration(&any, lattice), plainly(&any, lattice));
            let class = |i: usize| (bits >> (6 * i)) % classes;
            let transitive = Edges::build(repeats, |i, j| Ok::<_, ()>(class(i) == class(j))).unwrap();
            let sizes = transitive.classes().unwrap();
            let expected = plainly(&transitive, lattice);
            prop_assert_eq!(&by_classes(&sizes, lattice).unwrap(), &expected);
            let parts: Vec<Class> = sizes.iter().map(|size| Class::new(*size, lattice).unwrap()).collect();
            prop_assert_eq!(by_value(&parts, old as usize), Some(expected.clone()));
            prop_assert_eq!(by_enumeration(&transitive, lattice), expected);
        }
    }

    #[test]
    fn ways_are_counted_up_to_the_last_that_fits() {
        assert_eq!(choose(66, 33), Some(7_219_428_434_016_265_740));
        assert_eq!(choose(68, 34), None);
        let lattice = Lattice::new(Repeats { old: 33, new: 33 }).unwrap();
        for sizes in [vec![66], vec![33, 33], vec![20, 20, 20, 6], vec![1; 66]] {
            let splits = by_classes(&sizes, lattice).unwrap();
            assert_eq!(splits.values().sum::<u64>(), 7_219_428_434_016_265_740);
        }
    }
}
