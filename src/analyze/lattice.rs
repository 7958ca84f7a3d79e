//! The lattice of the contrast: every d of an audit is an integer number of units of `1 / q`.
//!
//! With `R_L` and `R_H` repeats, `q = lcm(2 C(R_L, 2), 2 C(R_H, 2), R_L R_H)`: 4, 18, 48, 100 for R = 2..5. Sums of
//! contrasts are kept as integers, so that limits are compared exactly.

use super::AnalyzeError;
use crate::model::Fraction;

/// How many answers each snapshot gives to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repeats {
    /// Of the old snapshot.
    pub old: u32,
    /// Of the new one.
    pub new: u32,
}

/// The lattice of a pair of repeat numbers, both at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lattice {
    repeats: Repeats,
    units: u64,
}

/// Agreeing pairs among the answers of one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Agreeing {
    /// Of the `C(R_L, 2)` pairs within the old snapshot.
    pub old: u32,
    /// Of the `C(R_H, 2)` pairs within the new snapshot.
    pub new: u32,
    /// Of the `R_L R_H` pairs across.
    pub cross: u32,
}

/// The finest lattice, in units that make 1: that of a hundred repeats on either side. Finer ones (97 against 89 repeats make nine
/// millions) have laws that fit no memory, and are refused before any pair of answers is looked at.
const FINEST: u64 = 1 << 20;

/// Unordered pairs of this many things.
const fn pairs(of: u32) -> u64 {
    of as u64 * (of as u64).saturating_sub(1) / 2
}

pub(super) const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    a.checked_div(gcd(a, b))?.checked_mul(b)
}

impl Lattice {
    /// The lattice of an audit.
    ///
    /// # Errors
    /// [`AnalyzeError::TooFine`] where a snapshot has fewer than two repeats, or more than 2^20 units make 1: many repeats,
    /// or numbers of repeats without common factors.
    ///
    /// ```
    /// use churngate::analyze::lattice::{Lattice, Repeats};
    /// let units = |old, new| Lattice::new(Repeats { old, new }).map(|lattice| lattice.units());
    /// assert_eq!([units(2, 2), units(3, 3), units(4, 4), units(5, 5)], [Ok(4), Ok(18), Ok(48), Ok(100)]);
    /// assert_eq!(units(2, 3), Ok(6));
    /// assert!(units(100, 100).is_ok() && units(97, 89).is_err());
    /// ```
    pub fn new(repeats: Repeats) -> Result<Self, AnalyzeError> {
        let within = lcm(2 * pairs(repeats.old), 2 * pairs(repeats.new));
        let units = within.and_then(|within| lcm(within, u64::from(repeats.old) * u64::from(repeats.new)));
        match units {
            Some(units) if units > 0 && units <= FINEST => Ok(Self { repeats, units }),
            _ => Err(AnalyzeError::TooFine { old: repeats.old, new: repeats.new }),
        }
    }

    /// The repeats it belongs to.
    #[must_use]
    pub const fn repeats(&self) -> Repeats {
        self.repeats
    }

    /// How many units make 1.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// Pairs of answers within old, within new, and across.
    #[must_use]
    pub const fn pair_counts(&self) -> (u64, u64, u64) {
        (pairs(self.repeats.old), pairs(self.repeats.new), self.repeats.old as u64 * self.repeats.new as u64)
    }

    /// Within agreement w in units: the mean of both snapshots with equal weights, whatever their repeats.
    #[must_use]
    pub fn within(&self, agreeing: Agreeing) -> i64 {
        let (old, new, _) = self.pair_counts();
        let weigh = |count: u32, of: u64| u64::from(count) * (self.units / (2 * of));
        (weigh(agreeing.old, old) + weigh(agreeing.new, new)).cast_signed()
    }

    /// Cross agreement c in units.
    #[must_use]
    pub fn cross(&self, agreeing: Agreeing) -> i64 {
        let (_, _, across) = self.pair_counts();
        (u64::from(agreeing.cross) * (self.units / across)).cast_signed()
    }

    /// The contrast d = w - c in units. `2 d` is the unbiased squared maximum mean discrepancy of the two answer
    /// distributions (Gretton et al. 2012, Lemma 6).
    ///
    /// ```
    /// use churngate::analyze::lattice::{Agreeing, Lattice, Repeats};
    /// let lattice = Lattice::new(Repeats { old: 2, new: 2 })?;
    /// // Repeats agree within both snapshots and never across: a stable flip, d = 1.
    /// assert_eq!(lattice.contrast(Agreeing { old: 1, new: 1, cross: 0 }), 4);
    /// # Ok::<(), churngate::analyze::AnalyzeError>(())
    /// ```
    #[must_use]
    pub fn contrast(&self, agreeing: Agreeing) -> i64 {
        self.within(agreeing) - self.cross(agreeing)
    }

    /// A sum of units as a mean over this many questions.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where the denominator does not fit 63 bits.
    pub fn mean(&self, sum: i64, questions: u64) -> Result<Fraction, AnalyzeError> {
        fraction(sum, self.units, questions)
    }
}

/// The coarsest lattice on which both lie, in units that make 1.
///
/// # Errors
/// [`AnalyzeError::TooFine`] where more than 2^20 units make 1.
pub(super) fn common(one: Lattice, other: Lattice) -> Result<u64, AnalyzeError> {
    let units = lcm(one.units, other.units).filter(|units| *units <= FINEST);
    units.ok_or(AnalyzeError::TooFine { old: one.repeats.new, new: other.repeats.new })
}

/// `sum / (per_question * questions)`, checked.
pub(super) fn fraction(sum: i64, per_question: u64, questions: u64) -> Result<Fraction, AnalyzeError> {
    match per_question.checked_mul(questions) {
        Some(denominator) if i64::try_from(denominator).is_ok() && denominator > 0 => {
            Ok(Fraction { numerator: sum, denominator })
        }
        _ => Err(AnalyzeError::TooLarge),
    }
}
