//! Percentage points and confidence levels as exact decimals.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// A number of percentage points, exact to a millionth: `3pp` is 3,000,000 units. From -100pp to 100pp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PercentagePoints(i64);

/// A confidence level in percent, exact to a millionth; above 50% and below 100%.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(PercentagePoints);

/// Why a text is not a percentage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PercentError {
    /// Not a plain decimal number with the expected unit.
    #[error("expected a decimal number followed by `{unit}`, such as `{example}`")]
    Malformed {
        /// The unit that is expected.
        unit: &'static str,
        /// A text that would do.
        example: &'static str,
    },
    /// A number that is not in the allowed range.
    #[error("expected a value {range}")]
    OutOfRange {
        /// The allowed range, in words.
        range: &'static str,
    },
}

impl PercentagePoints {
    /// How many units make 1 (that is, 100 percentage points).
    pub const UNITS_IN_ONE: i64 = 100_000_000;
    const UNITS_IN_PP: i64 = 1_000_000;

    /// From millionths of a percentage point.
    #[must_use]
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// In millionths of a percentage point.
    #[must_use]
    pub const fn units(self) -> i64 {
        self.0
    }

    /// The largest numerator over this denominator that is not above the limit.
    #[must_use]
    pub fn units_below(self, denominator: u64) -> i64 {
        let scaled = i128::from(self.0) * i128::from(denominator);
        i64::try_from(scaled.div_euclid(i128::from(Self::UNITS_IN_ONE))).unwrap_or(i64::MAX)
    }

    /// As a share of 1, the nearest `f64`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "at most 10^8, which is exact")]
    pub fn value(self) -> f64 {
        self.0 as f64 / Self::UNITS_IN_ONE as f64
    }
}

impl Confidence {
    /// The level as a share of 1: 0.95 for `95%`.
    #[must_use]
    pub fn level(self) -> f64 {
        self.0.value()
    }

    /// One minus the level: 0.05 for `95%`. Computed in integers first, so that it is the nearest `f64` of 0.05.
    #[must_use]
    pub fn alpha(self) -> f64 {
        PercentagePoints(PercentagePoints::UNITS_IN_ONE - self.0.units()).value()
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self(PercentagePoints(95 * PercentagePoints::UNITS_IN_PP))
    }
}

/// Reads a decimal with at most six fractional digits into millionths; no exponent, no NaN, no infinity.
fn parse_millionths(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || whole.len() > 9 || fraction.len() > 6 {
        return None;
    }
    let scale = 10_i64.pow(6 - u32::try_from(fraction.len()).ok()?);
    let units = whole.parse::<i64>().ok()? * PercentagePoints::UNITS_IN_PP + fraction.parse::<i64>().ok()? * scale;
    Some(if negative { -units } else { units })
}

fn write_millionths(f: &mut fmt::Formatter<'_>, units: i64) -> fmt::Result {
    let sign = if units < 0 { "-" } else { "" };
    let whole = units.unsigned_abs() / 1_000_000;
    let fraction = format!("{:06}", units.unsigned_abs() % 1_000_000);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
}

impl FromStr for PercentagePoints {
    type Err = PercentError;

    fn from_str(text: &str) -> Result<Self, PercentError> {
        let malformed = PercentError::Malformed { unit: "pp", example: "3pp" };
        let number = text.trim().strip_suffix("pp").ok_or_else(|| malformed.clone())?;
        let units = parse_millionths(number.trim_end()).ok_or(malformed)?;
        if units.abs() > Self::UNITS_IN_ONE {
            return Err(PercentError::OutOfRange { range: "from -100pp to 100pp" });
        }
        Ok(Self(units))
    }
}

impl FromStr for Confidence {
    type Err = PercentError;

    /// Reads `95%` or `95`.
    fn from_str(text: &str) -> Result<Self, PercentError> {
        let trimmed = text.trim();
        let number = trimmed.strip_suffix('%').unwrap_or(trimmed).trim_end();
        let malformed = PercentError::Malformed { unit: "%", example: "95%" };
        let units = parse_millionths(number).ok_or(malformed)?;
        let (low, high) = (50 * PercentagePoints::UNITS_IN_PP, PercentagePoints::UNITS_IN_ONE);
        if units <= low || units >= high {
            return Err(PercentError::OutOfRange { range: "above 50% and below 100%" });
        }
        Ok(Self(PercentagePoints(units)))
    }
}

impl fmt::Display for PercentagePoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_millionths(f, self.0)?;
        f.write_str("pp")
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_millionths(f, self.0.units())?;
        f.write_str("%")
    }
}

macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

as_text!(PercentagePoints);
as_text!(Confidence);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentage_points_read_and_print_exactly() {
        for text in ["3pp", "0pp", "-2.5pp", "0.000001pp", "100pp"] {
            assert_eq!(text.parse::<PercentagePoints>().map(|pp| pp.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_not_a_decimal_with_its_unit_is_refused() {
        for text in ["3", "3%", "NaNpp", "infpp", "1e3pp", "pp", "-pp", ".5pp", "3.pp", "0.0000001pp", "101pp", "٣pp"]
        {
            assert!(text.parse::<PercentagePoints>().is_err(), "{text}");
        }
    }

    #[test]
    fn alpha_is_the_nearest_float() {
        assert_eq!(Confidence::default().alpha().to_bits(), 0.05_f64.to_bits());
        assert!("100%".parse::<Confidence>().is_err());
        assert!("50".parse::<Confidence>().is_err());
        assert_eq!("95".parse(), Ok(Confidence::default()));
    }
}
