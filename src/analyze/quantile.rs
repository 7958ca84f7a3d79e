//! Inverted-CDF quantiles: the smallest t with P(T <= t) >= level (`inverted_cdf` of numpy, type 1 of R).

use crate::model::Confidence;

/// Units of a [`Level`] that make 1: half millionths of a percentage point, so that half an alpha is exact.
const UNITS_IN_ONE: u64 = 200_000_000;
/// A probability computed in 64 bits counts as reaching a level that it misses by less than this share of it:
/// probabilities that are exactly the level in rational arithmetic come out a few units in the last place off.
const TIE: f64 = 1e-12;

/// A probability at which a quantile is taken, exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u64);

/// The three levels of an audit: 5%, 2.5% and 97.5% where the confidence is 95%.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Of the one-sided lower bound.
    pub lower: Level,
    /// Of the lower end of the two-sided interval.
    pub low: Level,
    /// Of its upper end.
    pub high: Level,
}

impl Level {
    /// A level in parts of 200 millions, from 1 to 200 millions.
    #[must_use]
    pub const fn from_units(units: u64) -> Self {
        Self(if units == 0 {
            1
        } else if units > UNITS_IN_ONE {
            UNITS_IN_ONE
        } else {
            units
        })
    }

    /// The nearest `f64`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "at most 2 * 10^8")]
    pub fn value(self) -> f64 {
        self.0 as f64 / UNITS_IN_ONE as f64
    }

    /// Whether a computed probability reaches it.
    #[must_use]
    pub fn is_reached(self, probability: f64) -> bool {
        probability >= self.value() * (1.0 - TIE)
    }

    /// The place (from 0) of the quantile among this many sorted draws: the first whose rank over `draws` reaches it.
    #[must_use]
    pub fn place(self, draws: u32) -> usize {
        let rank = (u64::from(draws) * self.0).div_ceil(UNITS_IN_ONE).max(1);
        usize::try_from(rank - 1).unwrap_or(usize::MAX)
    }
}

impl Levels {
    /// The levels that belong to a confidence level.
    ///
    /// ```
    /// use churngate::analyze::quantile::Levels;
    /// let levels = Levels::of("95%".parse()?);
    /// assert_eq!([levels.lower, levels.low, levels.high].map(|level| level.value()), [0.05, 0.025, 0.975]);
    /// # Ok::<(), churngate::model::percent::PercentError>(())
    /// ```
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "alpha is between 0 and 1/2")]
    pub fn of(confidence: Confidence) -> Self {
        // Alpha is a whole number of 1e-8, two of our units.
        let alpha = (confidence.alpha() * 1e8).round() as u64;
        Self {
            lower: Level::from_units(2 * alpha),
            low: Level::from_units(alpha),
            high: Level::from_units(UNITS_IN_ONE - alpha),
        }
    }
}
