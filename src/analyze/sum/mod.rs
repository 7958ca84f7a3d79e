//! The exact law of a sum of independent lattice values, in groups of equal laws.
//!
//! The infinite-draw bootstrap of a mean is the N-fold convolution of one law (Clark and Warr, arXiv:2107.08019); the
//! randomisation test and stratified resampling are products of several. No randomness anywhere.

mod dense;
mod many;
mod pmf;
mod tail;
mod window;

pub use dense::Dense;
pub use pmf::Pmf;

use super::AnalyzeError;
use super::quantile::Level;

/// Up to this total span (values that the sum can take) the law is computed by plain convolution.
const DIRECT_SPAN: u64 = 6_000;

/// A sum of independent integer values.
#[derive(Clone, Debug)]
pub struct Sum {
    groups: Vec<(Pmf, u64)>,
    body: Dense,
    whole: bool,
}

impl Sum {
    /// The sum of `times` independent values of one law.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] as for [`Sum::of`].
    ///
    /// ```
    /// use churngate::analyze::sum::{Pmf, Sum};
    /// let coin = Pmf::from_counts(&[(0, 1), (1, 1)].into());
    /// let heads = Sum::repeated(coin, 3)?;
    /// assert_eq!(heads.at_most(0), 0.125);
    /// assert_eq!(heads.at_least(2), 0.5);
    /// # Ok::<(), churngate::analyze::AnalyzeError>(())
    /// ```
    pub fn repeated(pmf: Pmf, times: u64) -> Result<Self, AnalyzeError> {
        Self::of(vec![(pmf, times)])
    }

    /// The sum of several groups: `times` independent values of each law.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where forty standard deviations of the sum are more lattice units than fit memory
    /// (2^24); nothing is allocated before that is known.
    pub fn of(groups: Vec<(Pmf, u64)>) -> Result<Self, AnalyzeError> {
        let span = groups.iter().map(|(pmf, times)| pmf.span().saturating_mul(*times)).fold(0, u64::saturating_add);
        if span <= DIRECT_SPAN { Ok(Self::direct(groups)) } else { Self::windowed(groups) }
    }

    /// Computes the whole law by repeated squaring.
    pub(super) fn direct(groups: Vec<(Pmf, u64)>) -> Self {
        let powers = groups.iter().map(|(pmf, times)| Dense::from(pmf).power(*times));
        let body = powers.reduce(|one, other| one.convolve(&other)).unwrap_or_else(Dense::zero);
        Self { groups, body, whole: true }
    }

    /// Computes the law on a window about its mean by a transform; far tails are computed when asked for.
    pub(super) fn windowed(groups: Vec<(Pmf, u64)>) -> Result<Self, AnalyzeError> {
        let laws: Vec<window::Law> = groups.iter().map(window::Law::from).collect();
        let body = window::near_mean(&laws).ok_or(AnalyzeError::TooLarge)?;
        Ok(Self { groups, body, whole: false })
    }

    /// P(S <= t). The relative error is below 1e-12 in the farthest tail too; where a tail's own window would not fit
    /// memory, the absolute error is.
    #[must_use]
    pub fn at_most(&self, t: i64) -> f64 {
        let near = self.body.at_most(t);
        let far = if self.whole || near > tail::NEAR { None } else { tail::at_most(&self.groups, t) };
        far.unwrap_or(near)
    }

    /// P(S >= t), as exactly.
    #[must_use]
    pub fn at_least(&self, t: i64) -> f64 {
        let near = self.body.at_least(t);
        let far = if self.whole || near > tail::NEAR { None } else { tail::at_least(&self.groups, t) };
        far.unwrap_or(near)
    }

    /// The smallest t with P(S <= t) >= level: the inverted distribution function.
    #[must_use]
    pub fn quantile(&self, level: Level) -> i64 {
        self.body.first(|probability| level.is_reached(probability))
    }

    /// The probability of every value in the window that was computed.
    #[must_use]
    pub const fn body(&self) -> &Dense {
        &self.body
    }
}

#[cfg(test)]
mod tests;
