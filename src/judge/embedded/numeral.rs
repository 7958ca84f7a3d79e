//! Numbers: words and digits to values, units to a common base, and when two quantities are the same.

/// What a unit measures; quantities of two dimensions are never the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Metres.
    Length,
    /// Kilograms.
    Mass,
    /// Seconds; calendar months and years by their mean length.
    Time,
    /// Bytes.
    Data,
    /// Metres a second.
    Speed,
    /// Percent.
    Share,
    /// US dollars.
    Dollars,
    /// Euros.
    Euros,
    /// Pounds sterling.
    Pounds,
    /// Litres.
    Volume,
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
}

/// A unit: what it measures, and how many of the base unit one of it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// Base units in one.
    pub factor: f64,
}

/// A number as said, perhaps with a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The value in its own unit.
    pub value: f64,
    /// The place value of its last written digit: 1 for `12`, 0.1 for `12.5`, 1e8 for `1.4 billion`.
    pub grain: f64,
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
        Self { value, grain, unit: None, ordinal: false, decade: false }
    }

    /// Whether both say the same amount: equal values; equal after conversion within half a percent where the units
    /// differ; or one is the other rounded to a scale word (`1.38 billion`, `1.4 billion`).
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        if self.decade != other.decade {
            return false;
        }
        match (self.unit, other.unit) {
            (Some(one), Some(two)) if one.dimension != two.dimension => false,
            (Some(one), Some(two)) if !near(one.factor, two.factor, 1e-9) => {
                near(self.value * one.factor, other.value * two.factor, 0.005)
            }
            _ => near(self.value, other.value, 1e-9) || self.rounds_to(other) || other.rounds_to(self),
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

/// The value of a Roman numeral of at least two letters, as it stands in names (`Henry VIII`).
#[must_use]
pub fn roman(word: &str) -> Option<f64> {
    const NUMERALS: &[(&str, f64)] = &[
        ("II", 2.0),
        ("III", 3.0),
        ("IV", 4.0),
        ("VI", 6.0),
        ("VII", 7.0),
        ("VIII", 8.0),
        ("IX", 9.0),
        ("XI", 11.0),
        ("XII", 12.0),
        ("XIII", 13.0),
        ("XIV", 14.0),
        ("XV", 15.0),
        ("XVI", 16.0),
        ("XVII", 17.0),
        ("XVIII", 18.0),
        ("XIX", 19.0),
        ("XX", 20.0),
        ("XXI", 21.0),
        ("XXIII", 23.0),
    ];
    NUMERALS.iter().find(|(numeral, _)| word.eq_ignore_ascii_case(numeral)).map(|(_, value)| *value)
}

/// The unit of this name, in lower case.
#[must_use]
pub fn unit(word: &str) -> Option<Unit> {
    use Dimension::{Celsius, Data, Dollars, Euros, Fahrenheit, Length, Mass, Pounds, Share, Speed, Time, Volume};
    let (dimension, factor) = match word {
        "m" | "metre" | "metres" | "meter" | "meters" => (Length, 1.0),
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => (Length, 1e3),
        "cm" | "centimetre" | "centimetres" | "centimeter" | "centimeters" => (Length, 1e-2),
        "mm" | "millimetre" | "millimetres" | "millimeter" | "millimeters" => (Length, 1e-3),
        "ft" | "foot" | "feet" => (Length, 0.3048),
        "inch" | "inches" => (Length, 0.0254),
        "yd" | "yds" | "yard" | "yards" => (Length, 0.9144),
        "mi" | "mile" | "miles" => (Length, 1609.344),
        "kg" | "kilo" | "kilos" | "kilogram" | "kilograms" => (Mass, 1.0),
        "g" | "gram" | "grams" => (Mass, 1e-3),
        "mg" | "milligram" | "milligrams" => (Mass, 1e-6),
        "lb" | "lbs" => (Mass, 0.453_592_37),
        "oz" | "ounce" | "ounces" => (Mass, 0.028_349_523_125),
        "ms" | "millisecond" | "milliseconds" => (Time, 1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => (Time, 1.0),
        "min" | "mins" | "minute" | "minutes" => (Time, 60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => (Time, 3600.0),
        "day" | "days" => (Time, 86_400.0),
        "week" | "weeks" => (Time, 604_800.0),
        "month" | "months" => (Time, 2_629_746.0),
        "year" | "years" | "yr" | "yrs" => (Time, 31_556_952.0),
        "decade" | "decades" => (Time, 315_569_520.0),
        "century" | "centuries" => (Time, 3_155_695_200.0),
        "byte" | "bytes" => (Data, 1.0),
        "kb" | "kilobyte" | "kilobytes" => (Data, 1e3),
        "mb" | "megabyte" | "megabytes" => (Data, 1e6),
        "gb" | "gigabyte" | "gigabytes" => (Data, 1e9),
        "tb" | "terabyte" | "terabytes" => (Data, 1e12),
        "mph" => (Speed, 0.447_04),
        "kmh" | "kph" => (Speed, 1.0 / 3.6),
        "percent" | "pct" => (Share, 1.0),
        "usd" => (Dollars, 1.0),
        "eur" => (Euros, 1.0),
        "gbp" => (Pounds, 1.0),
        "l" | "litre" | "litres" | "liter" | "liters" => (Volume, 1.0),
        "ml" | "millilitre" | "millilitres" | "milliliter" | "milliliters" => (Volume, 1e-3),
        "celsius" => (Celsius, 1.0),
        "fahrenheit" => (Fahrenheit, 1.0),
        _ => return None,
    };
    Some(Unit { dimension, factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: f64, name: &str) -> Quantity {
        Quantity { unit: unit(name), ..Quantity::bare(value, 1.0) }
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
