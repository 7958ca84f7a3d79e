//! Figures that are no fractions are kept to ten significant digits.
//!
//! The last digits of sines and logarithms differ between systems; rounded, a figure recomputed elsewhere is the same text.

/// Significant digits that are kept.
const DIGITS: usize = 10;

/// The nearest value of ten significant decimal digits.
///
/// ```
/// assert_eq!(churngate::analyze::significant(2.0 / 3.0), 0.666_666_666_7);
/// ```
#[must_use]
pub fn significant(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}
