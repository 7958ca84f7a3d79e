//! The order in which cells are filled: balanced over snapshots, repeats reversed.
//!
//! Questions take the rows of a Williams design over the snapshots in turn, in selection order, so that every snapshot
//! stands equally often at every place and follows every other one equally often. Each further repeat reverses the one
//! before it, which cancels a drift that is linear in time. Source: Williams, E. J. (1949), Australian Journal of
//! Scientific Research A 2, 149-168.

use super::Protocol;
use crate::model::{Cell, Question, SnapshotName};

/// Every cell of the audit in its order.
#[must_use]
pub fn cells(protocol: &Protocol) -> Vec<Cell> {
    iter(protocol).collect()
}

/// The same, one cell at a time: nothing grows with the number of cells.
pub fn iter(protocol: &Protocol) -> impl Iterator<Item = Cell> {
    let names: Vec<&SnapshotName> = protocol.snapshots.iter().map(|snapshot| &snapshot.name).collect();
    let rows = design(names.len());
    let repeats = protocol.spec.generate.repeats;
    protocol.questions.iter().enumerate().flat_map(move |(index, question)| {
        let row = rows.get(index % rows.len().max(1)).cloned().unwrap_or_default();
        of_question(question, &row, &names, repeats)
    })
}

fn of_question(question: &Question, row: &[usize], names: &[&SnapshotName], repeats: u32) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(row.len() * repeats as usize);
    for repeat in 0..repeats {
        let cell = |place: &usize| {
            names.get(*place).map(|name| Cell { question: question.id.clone(), snapshot: (*name).clone(), repeat })
        };
        if repeat % 2 == 0 {
            cells.extend(row.iter().filter_map(cell));
        } else {
            cells.extend(row.iter().rev().filter_map(cell));
        }
    }
    cells
}

/// The rows of a Williams design over `n` treatments: `n` rows for an even number, `2n` for an odd one.
#[must_use]
pub fn design(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return Vec::new();
    }
    let first: Vec<usize> =
        (0..n).map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (n - place / 2) % n }).collect();
    let square: Vec<Vec<usize>> =
        (0..n).map(|shift| first.iter().map(|treatment| (treatment + shift) % n).collect()).collect();
    if n.is_multiple_of(2) || n == 1 {
        return square;
    }
    let mirrored: Vec<Vec<usize>> = square.iter().map(|row| row.iter().rev().copied().collect()).collect();
    square.into_iter().chain(mirrored).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn counts<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
        let mut counts = BTreeMap::new();
        for item in items {
            *counts.entry(item).or_insert(0) += 1;
        }
        counts
    }

    proptest::proptest! {
        #[test]
        fn every_treatment_stands_everywhere_and_follows_every_other_equally_often(n in 2_usize..20) {
            let rows = design(n);
            let each = rows.len() / n;
            assert_eq!(rows.len(), if n % 2 == 0 { n } else { 2 * n });
            let places = counts(rows.iter().flat_map(|row| row.iter().copied().enumerate()));
            assert_eq!(places.len(), n * n);
            assert!(places.values().all(|count| *count == each));
            let pairs = counts(rows.iter().flat_map(|row| row.windows(2).map(|pair| (pair[0], pair[1]))));
            assert_eq!(pairs.len(), n * (n - 1));
            assert!(pairs.values().all(|count| *count == each));
        }
    }

    #[test]
    fn two_snapshots_alternate_and_none_give_nothing() {
        assert_eq!(design(2), [[0, 1], [1, 0]]);
        assert_eq!(design(1), [[0]]);
        assert!(design(0).is_empty());
    }
}
