//! How many cells may lack an answer before the audit cannot stand. Pure.

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

/// Why the missing cells are too many, if they are.
#[must_use]
pub fn intolerable(snapshots: &[Missing], tolerance: PercentagePoints) -> Option<String> {
    let too_many = snapshots.iter().find(|snapshot| exceeds(snapshot, tolerance));
    if let Some(Missing { snapshot, asked, lacking }) = too_many {
        return Some(format!(
            "{lacking} of {asked} cells of snapshot `{snapshot}` hold no answer, more than is tolerated"
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

fn exceeds(snapshot: &Missing, tolerance: PercentagePoints) -> bool {
    let share = i128::from(snapshot.lacking) * i128::from(PercentagePoints::UNITS_IN_ONE);
    share > i128::from(tolerance.units()) * i128::from(snapshot.asked)
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

    #[test]
    fn shares_are_compared_exactly() {
        let two_percent = points(2_000_000);
        assert_eq!(intolerable(&[snapshot("old", 2, 100), snapshot("new", 2, 100)], two_percent), None);
        let said = intolerable(&[snapshot("old", 0, 100), snapshot("new", 3, 100)], two_percent).unwrap();
        assert!(said.starts_with("3 of 100 cells of snapshot `new`"), "{said}");
        assert_eq!(intolerable(&[snapshot("old", 0, 0), snapshot("new", 0, 0)], points(0)), None);
    }

    #[test]
    fn uneven_shares_cannot_stand_even_where_each_is_tolerated() {
        let said = intolerable(&[snapshot("old", 0, 1000), snapshot("new", 20, 1000)], points(5_000_000)).unwrap();
        assert!(said.ends_with("a difference beyond chance"), "{said}");
        assert_eq!(intolerable(&[snapshot("old", 2, 1000), snapshot("new", 5, 1000)], points(5_000_000)), None);
    }
}
