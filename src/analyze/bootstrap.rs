//! The bootstrap over questions, with infinitely many draws: exact, deterministic, no randomness.

use super::AnalyzeError;
use super::figures::Stream;
use super::lattice::fraction;
use super::quantile::{Level, Levels};
use super::sum::{Pmf, Sum};
use crate::model::Fraction;
use std::collections::BTreeMap;

/// Monte-Carlo standard errors that a quantile of the stream may lie from the exact one: one in 370 lies farther.
const ERRORS: f64 = 3.0;

/// How many questions have each contrast, in lattice units.
pub type Contrasts = BTreeMap<i64, u64>;

/// The distribution of the resampled total T*: the N-fold convolution of the contrasts' frequencies.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    law: Sum,
    units: u64,
    questions: u64,
}

/// Exact bounds of D̂.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The one-sided lower bound.
    pub lower: Fraction,
    /// The two-sided interval.
    pub interval: (Fraction, Fraction),
}

impl Bootstrap {
    /// Resamples all questions with replacement.
    ///
    /// `units` is how many lattice units make 1.
    ///
    /// # Errors
    /// [`AnalyzeError::NoQuestions`] where nothing is counted, [`AnalyzeError::TooLarge`] where the law does not fit memory.
    ///
    /// ```
    /// use churngate::analyze::bootstrap::Bootstrap;
    /// // The NaturalQuestions study's semantic contrasts, in quarters.
    /// let contrasts = [(4, 40), (2, 11), (0, 339), (-1, 2), (-2, 8)].into();
    /// let bounds = Bootstrap::new(&contrasts, 4)?.bounds("95%".parse().unwrap())?;
    /// assert_eq!(bounds.lower.to_pp(3), "7.688");
    /// assert_eq!(bounds.interval.1.to_pp(3), "13.438");
    /// # Ok::<(), churngate::analyze::AnalyzeError>(())
    /// ```
    pub fn new(contrasts: &Contrasts, units: u64) -> Result<Self, AnalyzeError> {
        let questions = contrasts.values().sum();
        if questions == 0 {
            return Err(AnalyzeError::NoQuestions);
        }
        Ok(Self { law: Sum::repeated(Pmf::from_counts(contrasts), questions)?, units, questions })
    }

    /// Resamples within strata that were sampled with fixed numbers of questions: T* is the sum over strata.
    ///
    /// # Errors
    /// As for [`Bootstrap::new`].
    ///
    /// ```
    /// use churngate::analyze::bootstrap::Bootstrap;
    /// // A stratum that always flips and one that never does leave nothing to chance.
    /// let bounds = Bootstrap::stratified(&[[(4, 10)].into(), [(0, 30)].into()], 4)?.bounds("95%".parse().unwrap())?;
    /// assert_eq!((bounds.lower.value(), bounds.interval.1.value()), (0.25, 0.25));
    /// # Ok::<(), churngate::analyze::AnalyzeError>(())
    /// ```
    pub fn stratified(strata: &[Contrasts], units: u64) -> Result<Self, AnalyzeError> {
        let questions = strata.iter().flat_map(Contrasts::values).sum();
        if questions == 0 {
            return Err(AnalyzeError::NoQuestions);
        }
        let group = |stratum: &Contrasts| (Pmf::from_counts(stratum), stratum.values().sum());
        Ok(Self { law: Sum::of(strata.iter().map(group).collect())?, units, questions })
    }

    /// The percentile bounds at a confidence level: quantiles of D* = T* / (units N) by the inverted distribution
    /// function, which for a lower bound at 95% is the smallest t with P(D* <= t) >= 5%.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where the denominator does not fit.
    pub fn bounds(&self, confidence: crate::model::Confidence) -> Result<Bounds, AnalyzeError> {
        let levels = Levels::of(confidence);
        let at = |level| fraction(self.quantile(level), self.units, self.questions);
        Ok(Bounds { lower: at(levels.lower)?, interval: (at(levels.low)?, at(levels.high)?) })
    }

    /// A quantile of T*, in lattice units.
    #[must_use]
    pub fn quantile(&self, level: Level) -> i64 {
        self.law.quantile(level)
    }

    /// P(T* <= 0).
    #[must_use]
    pub fn at_or_below_zero(&self) -> f64 {
        self.law.at_most(0)
    }

    /// The law of T*.
    #[must_use]
    pub const fn law(&self) -> &Sum {
        &self.law
    }

    /// Quantiles of sorted draws, and whether they lie where they must.
    ///
    /// # Errors
    /// [`AnalyzeError::NoDraws`] without draws, [`AnalyzeError::TooLarge`] where a denominator does not fit.
    pub fn check(&self, sorted: &[i64], confidence: crate::model::Confidence) -> Result<Stream, AnalyzeError> {
        let draws = u32::try_from(sorted.len()).map_err(|_| AnalyzeError::TooLarge)?;
        let levels = Levels::of(confidence);
        let at = |level: Level| sorted.get(level.place(draws)).copied().ok_or(AnalyzeError::NoDraws);
        let as_fraction = |level| fraction(at(level)?, self.units, self.questions);
        let (mut widest, mut agrees) = (1, true);
        for level in [levels.lower, levels.low, levels.high] {
            let allowed = self.tolerance(level, draws);
            widest = widest.max(allowed);
            agrees &= at(level)?.abs_diff(self.quantile(level)) <= allowed;
        }
        let below = sorted.partition_point(|total| *total <= 0);
        Ok(Stream {
            draws,
            lower_bound: as_fraction(levels.lower)?,
            interval: (as_fraction(levels.low)?, as_fraction(levels.high)?),
            share_at_or_below_zero: share(below, sorted.len()),
            tolerance: widest,
            agrees,
        })
    }

    /// How far a quantile of this many draws may lie from the exact one, in lattice units: one, or as far as three
    /// standard errors of the share of draws below it reach.
    fn tolerance(&self, level: Level, draws: u32) -> u64 {
        let value = level.value();
        let error = ERRORS * (value * (1.0 - value) / f64::from(draws)).sqrt();
        let exact = self.quantile(level);
        let body = self.law.body();
        let low = body.first(|probability| probability >= value - error);
        let high = body.first(|probability| probability >= value + error);
        exact.abs_diff(low).max(exact.abs_diff(high)).max(1)
    }
}

/// Whether the lower bound at this confidence lies above a total of `t` lattice units, without computing the bound: Chernoff's
/// inequality tells most audits, and the exact law the others.
///
/// # Errors
/// As for [`Bootstrap::new`].
///
/// ```
/// use churngate::analyze::bootstrap::lies_above;
/// let contrasts = [(4, 40), (2, 11), (0, 339), (-1, 2), (-2, 8)].into();
/// let confidence = "95%".parse().unwrap();
/// assert!(lies_above(&contrasts, 122, confidence)? && !lies_above(&contrasts, 123, confidence)?); // 123 is the bound
/// # Ok::<(), churngate::analyze::AnalyzeError>(())
/// ```
pub fn lies_above(contrasts: &Contrasts, t: i64, confidence: crate::model::Confidence) -> Result<bool, AnalyzeError> {
    let questions = contrasts.values().sum();
    let total: i64 = contrasts.iter().map(|(value, count)| value.saturating_mul(count.cast_signed())).sum();
    if questions == 0 {
        return Err(AnalyzeError::NoQuestions);
    }
    if total <= t {
        // The law has more than a twentieth of its mass at or below its mean.
        return Ok(false);
    }
    let pmf = Pmf::from_counts(contrasts);
    let level = Levels::of(confidence).lower;
    if pmf.chernoff(questions, t) < level.value() {
        return Ok(true);
    }
    Ok(!level.is_reached(Sum::repeated(pmf, questions)?.at_most(t)))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of draws are far below 2^53")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
