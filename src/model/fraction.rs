//! Exact values on the lattice of a statistic.

use super::PercentagePoints;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// An exact value `numerator / denominator`: a sum of lattice units over the number of units that make 1.
///
/// Limits are compared in integers, so that a D̂ of exactly 24/800 is 3.00 pp and never slightly less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fraction {
    /// The sum, in lattice units.
    pub numerator: i64,
    /// How many lattice units make 1; at least 1.
    pub denominator: u64,
}

impl Fraction {
    /// The nearest `f64`, as a share of 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a nearest value is what is asked for")]
    pub fn value(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The nearest `f64`, in percentage points.
    #[must_use]
    pub fn percentage_points(&self) -> f64 {
        self.value() * 100.0
    }

    /// Compares with a limit, exactly.
    #[must_use]
    pub fn compare(&self, limit: PercentagePoints) -> Ordering {
        let left = i128::from(self.numerator) * i128::from(PercentagePoints::UNITS_IN_ONE);
        let right = i128::from(limit.units()) * i128::from(self.denominator);
        left.cmp(&right)
    }

    /// Percentage points with this many decimals, rounded half up (4.5625 is printed as 4.563, -0.125 as -0.12).
    #[must_use]
    pub fn to_pp(&self, decimals: u32) -> String {
        let scale = 10_i128.pow(decimals);
        // A denominator of zero is no value; it must not stop a report all the same.
        let denominator = i128::from(self.denominator.max(1));
        let doubled = 2 * i128::from(self.numerator) * 100 * scale + denominator;
        let rounded = doubled.div_euclid(2 * denominator);
        let sign = if rounded < 0 { "-" } else { "" };
        let (whole, rest) = (rounded.abs() / scale, rounded.abs() % scale);
        if decimals == 0 {
            return format!("{sign}{whole}");
        }
        format!("{sign}{whole}.{rest:0width$}", width = decimals as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_percentage_points_are_exactly_three() {
        let churn = Fraction { numerator: 24, denominator: 800 };
        let limit = PercentagePoints::from_units(3_000_000);
        assert_eq!(churn.compare(limit), Ordering::Equal);
    }

    #[test]
    fn printing_rounds_half_up() {
        let fraction = |numerator, denominator| Fraction { numerator, denominator };
        assert_eq!(fraction(73, 1600).to_pp(3), "4.563");
        assert_eq!(fraction(-1, 800).to_pp(2), "-0.12");
        assert_eq!(fraction(-1, 80_000).to_pp(2), "0.00");
        assert_eq!(fraction(1, 1).to_pp(0), "100");
    }
}
