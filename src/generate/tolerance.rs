//! How many cells may lack an answer before the audit cannot stand. Pure.

use crate::model::PercentagePoints;
use statrs::function::factorial::ln_binomial;

/// Below this probability two snapshots' shares of missing cells differ beyond chance.
const CHANCE: f64 = 0.001;

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
    let uneven = pairs.into_iter().find(|(one, other)| fisher(one, other) < CHANCE);
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

/// Fisher's exact test, two-sided: the probability, with all margins fixed, of the tables that are at most as probable
/// as the one seen. Tables within one part in 10^7 count as equally probable, as in R.
fn fisher(one: &Missing, other: &Missing) -> f64 {
    let (asked, missing) = (one.asked + other.asked, one.lacking + other.lacking);
    let whole = ln_binomial(asked, missing);
    let probability = |k: u64| (ln_binomial(one.asked, k) + ln_binomial(other.asked, missing - k) - whole).exp();
    let seen = probability(one.lacking) * (1.0 + 1e-7);
    let least = missing.saturating_sub(other.asked);
    (least..=missing.min(one.asked)).map(probability).filter(|each| *each <= seen).sum()
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
    fn fisher_is_what_r_says() {
        // fisher.test(matrix(c(8, 2, 1, 5), 2))$p.value is 0.03496503; the others were summed in whole numbers.
        let p = |a, n, b, m| fisher(&snapshot("a", a, n), &snapshot("b", b, m));
        assert!((p(8, 10, 1, 6) - 0.034_965_034_965).abs() < 1e-9);
        assert!((p(0, 400, 0, 400) - 1.0).abs() < 1e-12);
        assert!((p(3, 6, 3, 6) - 1.0).abs() < 1e-9);
        assert!((p(10, 800, 0, 800) - 0.001_898_639_352).abs() < 1e-9);
        assert!((p(2, 1000, 5, 1000) - 0.452_303_043_175).abs() < 1e-9);
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
