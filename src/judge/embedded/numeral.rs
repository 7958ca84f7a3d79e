//! Numbers: words and digits to values, and when two quantities are the same.

use super::unit::Unit;

/// A number as said, perhaps with a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The value in its own unit.
    pub value: f64,
    /// The place value of its last written digit: 1 for `12`, 0.1 for `12.5`, 1e8 for `1.4 billion`.
    pub grain: f64,
    /// What a fraction is divided by: `2/4` is not said for `3/6`.
    pub below: Option<f64>,
    /// Its unit, where one follows.
    pub unit: Option<Unit>,
    /// Whether it was written as an ordinal.
    pub ordinal: bool,
    /// Whether it names a decade (`1980s`).
    pub decade: bool,
}

impl Quantity {
    /// A bare number.
    #[must_use]
    pub const fn bare(value: f64, grain: f64) -> Self {
        Self { value, grain, below: None, unit: None, ordinal: false, decade: false }
    }

    /// Whether both say the same amount: equal values; equal after conversion within half a percent where the units
    /// differ; or one is the other rounded to a scale word (`1.38 billion`, `1.4 billion`). A bare number may be a version,
    /// so that `1.1` and `1.10` are not the same.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        if self.decade != other.decade {
            return false;
        }
        match (self.unit, other.unit) {
            (Some(one), Some(two)) => match one.common(two) {
                None => false,
                Some((first, second)) if near(first, second, 1e-9) => self.near(other),
                Some((first, second)) => near(self.value * first, other.value * second, 0.005),
            },
            (None, None) => self.near(other) && self.decimals_agree(other),
            _ => self.near(other),
        }
    }

    fn near(&self, other: &Self) -> bool {
        near(self.value, other.value, 1e-9) || self.rounds_to(other) || other.rounds_to(self)
    }

    /// Whether both are written to the same place, or to no place after the point, or one of them as a fraction.
    fn decimals_agree(&self, other: &Self) -> bool {
        match (self.below, other.below) {
            (Some(one), Some(two)) => near(one, two, 1e-9),
            (None, None) => {
                let whole = self.value.fract() == 0.0 || other.value.fract() == 0.0;
                whole || near(self.grain, other.grain, 1e-9)
            }
            _ => true,
        }
    }

    /// Whether `coarse`, written with a scale word and at least two digits, is this value rounded.
    fn rounds_to(&self, coarse: &Self) -> bool {
        coarse.grain >= 1e4
            && coarse.grain > self.grain
            && coarse.value.abs() >= 10.0 * coarse.grain
            && (self.value - coarse.value).abs() <= 0.5 * coarse.grain
    }
}

fn near(one: f64, two: f64, tolerance: f64) -> bool {
    (one - two).abs() <= tolerance * one.abs().max(two.abs())
}

/// The value of a word below a hundred.
#[must_use]
pub fn small(word: &str) -> Option<(f64, bool)> {
    const CARDINALS: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const ORDINALS: &[&str] = &[
        "zeroth",
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
    ];
    const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    const TENTHS: &[&str] =
        &["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"];
    let find = |list: &[&str]| list.iter().position(|entry| *entry == word).map(index);
    find(CARDINALS)
        .map(|value| (value, false))
        .or_else(|| find(ORDINALS).map(|value| (value, true)))
        .or_else(|| find(TENS).map(|place| (20.0 + 10.0 * place, false)))
        .or_else(|| find(TENTHS).map(|place| (20.0 + 10.0 * place, true)))
}

fn index(position: usize) -> f64 {
    u32::try_from(position).map_or(0.0, f64::from)
}

/// The factor of a scale word.
#[must_use]
pub fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" => 1e2,
        "thousand" => 1e3,
        "million" | "millions" | "mn" => 1e6,
        "billion" | "billions" | "bn" => 1e9,
        "trillion" | "trillions" => 1e12,
        "dozen" => 12.0,
        "lakh" => 1e5,
        "crore" => 1e7,
        _ => return None,
    })
}

/// The value of a Roman numeral as it stands in names (`Henry VIII`), in capitals or all in lower case, up to 89. Larger
/// ones and `XL` are more often something else (`DC`, `MD`).
#[must_use]
pub fn roman(word: &str) -> Option<f64> {
    let upper = word.to_uppercase();
    let value = (1..90).find(|value| canonical(*value) == upper)?;
    (upper != "XL").then(|| f64::from(value))
}

/// The usual way to write a value below 90.
fn canonical(value: u32) -> String {
    const TENS: [&str; 9] = ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX"];
    const ONES: [&str; 10] = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"];
    let place = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
    let tens = TENS.get(place(value / 10)).copied().unwrap_or_default();
    format!("{tens}{}", ONES.get(place(value % 10)).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: f64, name: &str) -> Quantity {
        Quantity { unit: super::super::unit::named(name), ..Quantity::bare(value, 1.0) }
    }

    #[test]
    fn units_convert() {
        assert!(with(8848.0, "m").same(&with(29_029.0, "ft")));
        assert!(with(2.0, "hours").same(&with(120.0, "minutes")));
        assert!(!with(8848.0, "m").same(&with(8850.0, "m")));
        assert!(!with(5.0, "kg").same(&with(5.0, "km")));
    }

    #[test]
    fn rounding_counts_only_with_a_scale_word() {
        assert!(Quantity::bare(1.38e9, 1e7).same(&Quantity::bare(1.4e9, 1e8)));
        assert!(!Quantity::bare(1.38e9, 1e7).same(&Quantity::bare(1e9, 1e9)));
        assert!(!Quantity::bare(1.4e6, 1e5).same(&Quantity::bare(1.4e9, 1e8)));
        assert!(!Quantity::bare(1984.0, 1.0).same(&Quantity::bare(1985.0, 1.0)));
    }
}
