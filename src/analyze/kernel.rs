//! Every figure of one kernel.

use super::AnalyzeError;
use super::bootstrap::{Bootstrap, Contrasts};
use super::comparison::Comparison;
use super::edges::Edges;
use super::figures::{Agreement, KernelFigures};
use super::lattice::{Lattice, fraction};
use super::power::Moments;
use super::randomisation::Patterns;
use super::round::significant;
use super::settings::Settings;
use super::{dirichlet, flips};
use crate::model::{Fraction, Kernel};

/// Within agreement below this share leaves nothing for churn to be seen in.
const DEGENERATE_PERCENT: i128 = 10;

/// What is counted of one kernel over the asked questions: distinct values and sums, nothing by question.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    contrasts: Contrasts,
    agreeing: [i64; 3],
    within: i64,
    patterns: Patterns,
    /// Stable flips.
    pub flips: u64,
    /// Questions `ab|ab`: no agreement within either snapshot, and each old answer agrees with one new answer of its own.
    pub swaps: u64,
}

impl Counts {
    /// Takes one asked question.
    pub fn take(&mut self, edges: &Edges, lattice: Lattice) {
        let agreeing = edges.agreeing();
        *self.contrasts.entry(lattice.contrast(agreeing)).or_default() += 1;
        for (sum, count) in self.agreeing.iter_mut().zip([agreeing.old, agreeing.new, agreeing.cross]) {
            *sum += i64::from(count);
        }
        self.within += lattice.within(agreeing);
        self.patterns.take(edges, lattice);
        self.flips += u64::from(edges.is_stable_flip());
        self.swaps += u64::from(edges.is_swap());
    }

    /// Questions by contrast, in lattice units, unchanged ones counting with zero.
    #[must_use]
    pub fn contrasts(&self, unchanged: u64) -> Contrasts {
        let mut counted = self.contrasts.clone();
        if unchanged > 0 {
            *counted.entry(0).or_default() += unchanged;
        }
        counted
    }

    /// T: the sum of all contrasts, in lattice units.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.contrasts.iter().map(|(value, count)| value * count.cast_signed()).sum()
    }
}

/// The figures of one kernel, without those over clusters; `draws` are the sorted totals of the preregistered stream.
///
/// # Errors
/// Those of [`Patterns::p_value`] and [`Bootstrap::new`].
pub fn figures(
    counts: &Counts,
    comparison: &Comparison,
    kernel: Kernel,
    draws: &[i64],
    settings: &Settings,
) -> Result<KernelFigures, AnalyzeError> {
    let contrasts = counts.contrasts(comparison.unchanged);
    let units = comparison.units();
    let bootstrap = Bootstrap::new(&contrasts, units)?;
    let bounds = bootstrap.bounds(settings.confidence)?;
    let agreement = agreement(counts, comparison)?;
    let degenerate = agreement.as_ref().is_some_and(|agreement| is_degenerate(&agreement.within));
    let (sum, asked) = (counts.total(), comparison.asked);
    Ok(KernelFigures {
        kernel,
        degenerate,
        agreement,
        lattice: units,
        churn: fraction(sum, units, comparison.questions())?,
        churn_asked: if asked == 0 { None } else { Some(fraction(sum, units, asked)?) },
        spread: significant(moments(&contrasts, units).variance.sqrt()),
        lower_bound: bounds.lower,
        interval: bounds.interval,
        upper_bound: significant(upper_bound(counts, comparison, degenerate, settings.confidence.alpha())),
        share_at_or_below_zero: significant(bootstrap.at_or_below_zero()),
        randomisation_p: significant(randomisation_p(counts, comparison, kernel)?),
        stream: bootstrap.check(draws, settings.confidence)?,
        stable_flips: counts.flips,
        corrected_flips: flips::corrected(counts, comparison),
        clusters: None,
    })
}

fn agreement(counts: &Counts, comparison: &Comparison) -> Result<Option<Agreement>, AnalyzeError> {
    let Some(lattice) = comparison.lattice else { return Ok(None) };
    let asked = comparison.asked;
    let (old, new, across) = lattice.pair_counts();
    let [agreeing_old, agreeing_new, agreeing_across] = counts.agreeing;
    Ok(Some(Agreement {
        within_old: fraction(agreeing_old, old, asked)?,
        within_new: fraction(agreeing_new, new, asked)?,
        within: lattice.mean(counts.within, asked)?,
        cross: fraction(agreeing_across, across, asked)?,
    }))
}

/// Whether within agreement over the asked questions is so low that this kernel sees no churn in them.
fn is_degenerate(within: &Fraction) -> bool {
    i128::from(within.numerator) * 100 < DEGENERATE_PERCENT * i128::from(within.denominator)
}

/// Mean and variance of the contrasts over all questions, as shares of 1. Computed from integer sums, so that equal
/// contrasts have a variance of exactly zero.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nearest values are what is asked for")]
pub fn moments(contrasts: &Contrasts, units: u64) -> Moments {
    let (mut questions, mut sum, mut squares) = (0_i128, 0_i128, 0_i128);
    for (value, count) in contrasts {
        let (value, count) = (i128::from(*value), i128::from(*count));
        questions += count;
        sum += value * count;
        squares += value * value * count;
    }
    let scale = units as f64 * questions as f64;
    Moments {
        questions: u64::try_from(questions).unwrap_or(0),
        mean: sum as f64 / scale,
        variance: (squares * questions - sum * sum) as f64 / (scale * scale),
    }
}

/// The Dirichlet bound. A contrast is never above 1: what a question counts with in which nothing could be seen.
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
fn upper_bound(counts: &Counts, comparison: &Comparison, is_blind: bool, alpha: f64) -> f64 {
    let (seen, unseen) = if is_blind { (Contrasts::new(), comparison.asked) } else { (counts.contrasts.clone(), 0) };
    let seen = seen.into_iter().map(|(value, count)| (value as f64 / comparison.units() as f64, count));
    let values: Vec<(f64, u64)> =
        seen.chain([(0.0, comparison.unchanged), (1.0, unseen + comparison.left_out)]).collect();
    dirichlet::upper(&values, 1.0, alpha)
}

fn randomisation_p(counts: &Counts, comparison: &Comparison, kernel: Kernel) -> Result<f64, AnalyzeError> {
    comparison.lattice.map_or(Ok(1.0), |lattice| counts.patterns.p_value(lattice, kernel))
}
