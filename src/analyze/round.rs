//! Figures that are no fractions are kept to ten significant digits.
//!
//! The last digits of sines and logarithms differ between systems; rounded, a figure recomputed elsewhere is the same text.

/// Significant digits that are kept.
const DIGITS: usize = 10;

/// The nearest value of ten significant decimal digits.
#[must_use]
pub(super) fn significant(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}
