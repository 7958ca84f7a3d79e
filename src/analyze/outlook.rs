//! What further audits like the one that was seen would show: audits of more questions, or clusters of them, drawn from the
//! frequencies that were seen.
//!
//! Nothing is drawn. The total of such an audit is a sum of independent values, whose law is known; of it one quantile is taken, on
//! the side of bad luck. The audit that stands there is the one whose rows were tilted exponentially until their mean is that total
//! (what is to be expected of the rows, given the total), and the gate's own bounds are computed of it.

use super::AnalyzeError;
use super::cluster::ClusterRows;
use super::dirichlet::{self, Weighted};
use super::power::z;
use super::quantile::{Level, Levels};
use super::sum::{Pmf, Sum};
use crate::model::{Confidence, Kernel, PercentagePoints};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Rows as far from the mean as the farthest, so many of which have a total that is as good as normal: the quantiles of its law
/// differ from those of the normal one by less than a fiftieth of a standard deviation.
const MANY: f64 = 400.0;
/// Steps of the lattice on which values are kept, at most.
const WIDEST: i128 = 512;
/// Values that a total can take, up to which its law is computed by sums of products.
const SMALL: u64 = 256;
/// Frequencies are kept as parts of 2^40.
const PARTS: f64 = 1_099_511_627_776.0;
/// Tilts beyond this per step of the lattice change nothing in 64 bits.
const STEEPEST: f64 = 60.0;

/// The distinct rows of one kernel, and how often each was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// The kernel.
    pub kernel: Kernel,
    /// How many lattice units make 1.
    pub units: u64,
    /// What is resampled: questions, and clusters of them where those count.
    pub by: Vec<Resampled>,
}

/// Rows of one sort: the sum of their contrasts in lattice units and their questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resampled {
    /// As they were seen.
    pub seen: ClusterRows,
    /// The same, a question that was left out counting as wholly changed: what the upper bound is over.
    pub worst: ClusterRows,
}

/// What a line of a rule claims of D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// D̂ is the limit or more.
    AtLeast,
    /// D̂ is less than the limit.
    Below,
    /// The lower bound is above the limit.
    LowerBoundAbove,
    /// The upper bound is below the limit.
    UpperBoundBelow,
}

impl Claim {
    const fn is_upward(self) -> bool {
        matches!(self, Self::AtLeast | Self::LowerBoundAbove)
    }
}

/// The rows of one audit, each by how far it lies beyond a limit, `S_g - limit n_g`.
#[derive(Clone, Debug)]
pub struct Outlook {
    rows: Vec<Row>,
    limit: f64,
    /// At the limit the sum of values is this times the rows, as a fraction.
    at_limit: (i128, i128),
}

/// Rows that are alike.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// How far it lies beyond the limit, in steps of a lattice.
    value: i64,
    /// What it adds to the sum of contrasts, over the questions of the largest row.
    sum: f64,
    /// Its questions, over those of the largest row.
    weight: f64,
    /// Its share of all rows.
    share: f64,
}

impl Outlook {
    /// The rows beside a limit; `None` where there are none, or beyond 128 bits.
    #[must_use]
    pub fn new(rows: &ClusterRows, units: u64, limit: PercentagePoints) -> Option<Self> {
        let (total, largest) = (rows.values().sum::<u64>(), rows.keys().map(|(_, questions)| *questions).max()?);
        let beyond = |(sum, questions): (i64, i64)| {
            let one = i128::from(PercentagePoints::UNITS_IN_ONE);
            let limit = i128::from(limit.units()).checked_mul(i128::from(units))?;
            i128::from(sum).checked_mul(one)?.checked_sub(limit.checked_mul(i128::from(questions))?)
        };
        let each = rows.keys().map(|row| beyond(*row)).collect::<Option<Vec<i128>>>()?;
        let least = *each.iter().min()?;
        let step = each.iter().fold(0, |step, value| gcd(step, value - least)).max(1);
        let widest = each.iter().map(|value| (value - least) / step).max()?;
        // Where the lattice is too fine, values are rounded down, and the limit by what that takes away in the mean.
        let step = step.checked_mul((widest / WIDEST + 1).max(1))?;
        let cut = each.iter().zip(rows.values()).try_fold(0_i128, |cut, (value, count)| {
            cut.checked_add(((value - least) % step).checked_mul(i128::from(*count))?)
        })?;
        let at_limit = (-least.checked_mul(i128::from(total))?.checked_add(cut)?, step.checked_mul(i128::from(total))?);
        let rows = rows.iter().zip(&each).map(|(((sum, questions), count), value)| {
            Some(Row {
                value: i64::try_from((value - least) / step).ok()?,
                sum: float(*sum) / wide(units) / float(largest),
                weight: float(*questions) / float(largest),
                share: wide(*count) / wide(total),
            })
        });
        Some(Self { rows: rows.collect::<Option<Vec<Row>>>()?, limit: limit.value(), at_limit })
    }

    /// Whether a claim holds in this share of audits or more that draw so many rows.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where a law does not fit memory.
    ///
    /// ```
    /// use churngate::analyze::outlook::{Claim, Outlook};
    /// // One flip in sixty questions: 125 of such are below 5 pp in 65% of audits, 208 in 86%.
    /// let seen = [((4, 1), 1), ((0, 1), 59)].into();
    /// let outlook = Outlook::new(&seen, 4, "5pp".parse()?).unwrap();
    /// let proves = |questions| outlook.holds(Claim::UpperBoundBelow, questions, 0.8, "95%".parse().unwrap());
    /// assert!(!proves(125)? && proves(208)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn holds(&self, claim: Claim, draws: u64, share: f64, confidence: Confidence) -> Result<bool, AnalyzeError> {
        let mean = self.mean();
        let limit = self.limit_total(1);
        let leans = mean.partial_cmp(&limit).unwrap_or(Ordering::Equal);
        match claim {
            Claim::AtLeast if leans == Ordering::Less => return Ok(false),
            Claim::LowerBoundAbove if leans != Ordering::Greater => return Ok(false),
            Claim::Below | Claim::UpperBoundBelow if leans != Ordering::Less => return Ok(false),
            _ => {}
        }
        let spread = self.variance(mean);
        let farthest = self.rows.iter().map(|row| (float(row.value) - mean).abs()).fold(0.0, f64::max);
        if spread > 0.0 && wide(draws) * spread >= MANY * farthest * farthest {
            let bound = matches!(claim, Claim::LowerBoundAbove | Claim::UpperBoundBelow);
            let reach = z(share) + if bound { z(1.0 - confidence.alpha()) } else { 0.0 };
            return Ok((mean - limit).abs() * wide(draws).sqrt() >= reach * spread.sqrt());
        }
        let law = law(pmf(self.rows.iter().map(|row| (row.value, row.share))), draws)?;
        let total = law.quantile(level(if claim.is_upward() { 1.0 - share } else { share }));
        let at_limit = i128::from(total) * self.at_limit.1;
        let beyond = at_limit.cmp(&self.at_limit.0.saturating_mul(i128::from(draws)));
        match claim {
            Claim::AtLeast => Ok(beyond != Ordering::Less),
            Claim::Below => Ok(beyond == Ordering::Less),
            Claim::LowerBoundAbove if beyond != Ordering::Greater => Ok(false),
            Claim::LowerBoundAbove => self.lies_above(&self.tilted(draws, total), draws, confidence),
            Claim::UpperBoundBelow => {
                Ok(beyond == Ordering::Less && self.lies_below(&self.tilted(draws, total), draws, confidence))
            }
        }
    }

    /// Whether the lower bound of an audit of these shares lies above the limit.
    fn lies_above(&self, shares: &[f64], draws: u64, confidence: Confidence) -> Result<bool, AnalyzeError> {
        let pmf = pmf(self.rows.iter().zip(shares).map(|(row, share)| (row.value, *share)));
        let limit = self.at_limit.0.saturating_mul(i128::from(draws)).div_euclid(self.at_limit.1);
        let limit = i64::try_from(limit).map_err(|_| AnalyzeError::TooLarge)?;
        let level = Levels::of(confidence).lower;
        Ok(pmf.chernoff(draws, limit) < level.value() || !level.is_reached(law(pmf, draws)?.body().at_most(limit)))
    }

    /// Whether the upper bound of an audit of these shares lies below the limit.
    fn lies_below(&self, shares: &[f64], draws: u64, confidence: Confidence) -> bool {
        let weighted =
            |(row, share): (&Row, &f64)| Weighted { sum: row.sum, weight: row.weight, count: share * wide(draws) };
        let rows: Vec<Weighted> = self.rows.iter().zip(shares).map(weighted).collect();
        dirichlet::is_ratio_below(&rows, 1.0, confidence.alpha(), self.limit)
    }

    /// The shares of the rows that are to be expected where so many draws have this total.
    fn tilted(&self, draws: u64, total: i64) -> Vec<f64> {
        let wanted = float(total) / wide(draws);
        let (mut low, mut high) = (-STEEPEST, STEEPEST);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let shares = self.at_tilt(middle);
            let mean: f64 = self.rows.iter().zip(&shares).map(|(row, share)| float(row.value) * share).sum();
            if mean < wanted { low = middle } else { high = middle }
        }
        self.at_tilt(f64::midpoint(low, high))
    }

    fn at_tilt(&self, tilt: f64) -> Vec<f64> {
        let logs: Vec<f64> = self.rows.iter().map(|row| row.share.ln() + tilt * float(row.value)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let all: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / all).collect()
    }

    fn mean(&self) -> f64 {
        self.rows.iter().map(|row| float(row.value) * row.share).sum()
    }

    fn variance(&self, mean: f64) -> f64 {
        self.rows.iter().map(|row| (float(row.value) - mean).powi(2) * row.share).sum()
    }

    /// The sum of values at the limit.
    #[expect(clippy::cast_precision_loss, reason = "nearest values are what is asked for")]
    fn limit_total(&self, draws: u64) -> f64 {
        self.at_limit.0 as f64 / self.at_limit.1 as f64 * wide(draws)
    }
}

/// The law of the total of so many rows, to the precision of a transform but for the smallest: a number that is told with `about`
/// needs no far tails, and is looked for in many laws.
fn law(pmf: Pmf, draws: u64) -> Result<Sum, AnalyzeError> {
    let is_small = pmf.span().saturating_mul(draws) <= SMALL;
    if is_small { Sum::repeated(pmf, draws) } else { Sum::windowed(vec![(pmf, draws)]) }
}

/// Frequencies as parts of 2^40; a value that was seen keeps one part.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of 2^40")]
fn pmf(values: impl Iterator<Item = (i64, f64)>) -> Pmf {
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    for (value, share) in values {
        *counts.entry(value).or_default() += ((share * PARTS).round() as u64).max(1);
    }
    Pmf::from_counts(&counts)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 200 millions")]
fn level(share: f64) -> Level {
    Level::from_units((share * 2e8).round() as u64)
}

const fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
const fn float(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
const fn wide(value: u64) -> f64 {
    value as f64
}
