//! How many cells may lack an answer, and how many questions be left out for them, before the audit cannot stand. Pure.

use crate::model::PercentagePoints;
use crate::model::fisher::{CHANCE, Share, fisher};

/// The asked and the missing cells of one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The snapshot's name.
    pub snapshot: String,
    /// Cells that were to be filled.
    pub asked: u64,
    /// Those of them that hold no answer.
    pub lacking: u64,
}

impl Missing {
    /// A snapshot of which nothing is counted yet.
    #[must_use]
    pub const fn none(snapshot: String) -> Self {
        Self { snapshot, asked: 0, lacking: 0 }
    }

    const fn share(&self) -> Share {
        Share { counted: self.lacking, of: self.asked }
    }
}

/// Why the missing cells are too many, if they are. `left_out` are the questions of which any cell is missing, of all: one
/// cell takes a whole question away, so that a share of the cells says little about the share of the questions.
#[must_use]
pub fn intolerable(snapshots: &[Missing], left_out: Share, tolerance: PercentagePoints) -> Option<String> {
    let too_many = snapshots.iter().find(|snapshot| exceeds(snapshot.share(), tolerance));
    if let Some(Missing { snapshot, asked, lacking }) = too_many {
        return Some(format!(
            "{lacking} of {asked} cells of snapshot `{snapshot}` hold no answer, more than is tolerated"
        ));
    }
    // One of them is more than a small share of few questions; in the bounds it counts as wholly changed all the same.
    if left_out.counted > 1 && exceeds(left_out, tolerance) {
        let Share { counted, of } = left_out;
        return Some(format!(
            "{counted} of {of} questions would be left out for want of an answer, more than is tolerated"
        ));
    }
    let pairs =
        snapshots.iter().enumerate().flat_map(|(at, one)| snapshots[at + 1..].iter().map(move |other| (one, other)));
    let uneven = pairs.into_iter().find(|(one, other)| fisher(one.share(), other.share()) < CHANCE);
    uneven.map(|(one, other)| {
        format!(
            "{} of {} cells of snapshot `{}` hold no answer, but {} of {} of `{}`: a difference beyond chance",
            one.lacking, one.asked, one.snapshot, other.lacking, other.asked, other.snapshot
        )
    })
}

fn exceeds(Share { counted, of }: Share, tolerance: PercentagePoints) -> bool {
    i128::from(counted) * i128::from(PercentagePoints::UNITS_IN_ONE) > i128::from(tolerance.units()) * i128::from(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(name: &str, missing: u64, asked: u64) -> Missing {
        Missing { snapshot: name.into(), asked, lacking: missing }
    }

    fn points(units: i64) -> PercentagePoints {
        PercentagePoints::from_units(units)
    }

    const NONE: Share = Share { counted: 0, of: 50 };

    #[test]
    fn shares_are_compared_exactly() {
        let two_percent = points(2_000_000);
        assert_eq!(intolerable(&[snapshot("old", 2, 100), snapshot("new", 2, 100)], NONE, two_percent), None);
        let said = intolerable(&[snapshot("old", 0, 100), snapshot("new", 3, 100)], NONE, two_percent).unwrap();
        assert!(said.starts_with("3 of 100 cells of snapshot `new`"), "{said}");
        assert_eq!(intolerable(&[snapshot("old", 0, 0), snapshot("new", 0, 0)], Share::default(), points(0)), None);
    }

    #[test]
    fn one_repeat_each_of_many_questions_is_weighed_by_the_questions_it_takes_away() {
        let (one_percent, cells) = (points(1_000_000), [snapshot("old", 0, 200), snapshot("new", 2, 200)]);
        let left_out = |counted| Share { counted, of: 100 };
        assert_eq!(intolerable(&cells, left_out(1), one_percent), None, "both cells are of one question");
        let said = intolerable(&cells, left_out(2), one_percent).unwrap();
        assert!(said.starts_with("2 of 100 questions would be left out"), "{said}");
        let (one, few) = ([snapshot("old", 0, 16), snapshot("new", 1, 240)], Share { counted: 1, of: 8 });
        assert_eq!(intolerable(&one, few, one_percent), None, "one question is no sign of anything");
        assert!(intolerable(&one, Share { counted: 2, ..few }, one_percent).is_some());
    }

    #[test]
    fn uneven_shares_cannot_stand_even_where_each_is_tolerated() {
        let said =
            intolerable(&[snapshot("old", 0, 1000), snapshot("new", 20, 1000)], NONE, points(5_000_000)).unwrap();
        assert!(said.ends_with("a difference beyond chance"), "{said}");
        assert_eq!(intolerable(&[snapshot("old", 2, 1000), snapshot("new", 5, 1000)], NONE, points(5_000_000)), None);
    }
}
