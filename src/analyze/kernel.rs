//! Every figure of one kernel.

use super::AnalyzeError;
use super::bootstrap::{Bootstrap, Contrasts};
use super::comparison::Comparison;
use super::figures::{Agreement, KernelFigures};
use super::lattice::{Agreeing, Lattice, fraction};
use super::power::Moments;
use super::round::significant;
use super::settings::Settings;
use super::{cluster, dirichlet, flips, randomisation};
use crate::model::{Fraction, Kernel, Observation};

/// Within agreement below this share leaves nothing for churn to be seen in.
const DEGENERATE_PERCENT: i128 = 10;

/// Questions by contrast, in lattice units, unchanged ones counting with zero.
#[must_use]
pub fn contrasts(comparison: &Comparison<'_>, kernel: Kernel) -> Contrasts {
    let mut counted = Contrasts::new();
    if let Some(lattice) = comparison.lattice {
        for asked in &comparison.asked {
            *counted.entry(lattice.contrast(asked.edges(kernel).agreeing())).or_default() += 1;
        }
    }
    if comparison.unchanged > 0 {
        *counted.entry(0).or_default() += comparison.unchanged;
    }
    counted
}

/// T: the sum of all contrasts, in lattice units.
#[must_use]
pub fn total(comparison: &Comparison<'_>, kernel: Kernel) -> i64 {
    contrasts(comparison, kernel).iter().map(|(value, count)| value * count.cast_signed()).sum()
}

/// The figures of one kernel; `draws` are the sorted totals of the preregistered stream.
///
/// # Errors
/// Those of [`randomisation::p_value`] and [`Bootstrap::new`].
pub fn figures(
    observations: &[Observation],
    comparison: &Comparison<'_>,
    kernel: Kernel,
    draws: &[i64],
    settings: &Settings,
) -> Result<KernelFigures, AnalyzeError> {
    let contrasts = contrasts(comparison, kernel);
    let units = comparison.lattice.map_or(1, |lattice| lattice.units());
    let bootstrap = Bootstrap::new(&contrasts, units)?;
    let bounds = bootstrap.bounds(settings.confidence)?;
    let agreement = agreement(comparison, kernel)?;
    let sum = total(comparison, kernel);
    let asked = comparison.asked.len() as u64;
    Ok(KernelFigures {
        kernel,
        degenerate: agreement.as_ref().is_some_and(|agreement| is_degenerate(&agreement.within)),
        agreement,
        lattice: units,
        churn: fraction(sum, units, comparison.questions())?,
        churn_asked: if asked == 0 { None } else { Some(fraction(sum, units, asked)?) },
        spread: significant(moments(&contrasts, units).variance.sqrt()),
        lower_bound: bounds.lower,
        interval: bounds.interval,
        upper_bound: significant(upper_bound(&contrasts, units, settings.confidence.alpha())),
        share_at_or_below_zero: significant(bootstrap.at_or_below_zero()),
        randomisation_p: significant(randomisation_p(comparison, kernel)?),
        stream: bootstrap.check(draws, settings.confidence)?,
        stable_flips: flips::count(comparison, kernel),
        corrected_flips: flips::corrected(comparison, kernel),
        clusters: cluster::bounds(observations, comparison, kernel, settings)?,
    })
}

fn agreement(comparison: &Comparison<'_>, kernel: Kernel) -> Result<Option<Agreement>, AnalyzeError> {
    let Some(lattice) = comparison.lattice else { return Ok(None) };
    let asked = comparison.asked.len() as u64;
    let observed: Vec<Agreeing> = comparison.asked.iter().map(|asked| asked.edges(kernel).agreeing()).collect();
    let sum = |value: &dyn Fn(&Agreeing) -> i64| observed.iter().map(value).sum::<i64>();
    let (old, new, across) = lattice.pair_counts();
    Ok(Some(Agreement {
        within_old: fraction(sum(&|agreeing| i64::from(agreeing.old)), old, asked)?,
        within_new: fraction(sum(&|agreeing| i64::from(agreeing.new)), new, asked)?,
        within: lattice.mean(sum(&|agreeing| Lattice::within(&lattice, *agreeing)), asked)?,
        cross: fraction(sum(&|agreeing| i64::from(agreeing.cross)), across, asked)?,
    }))
}

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

/// The Dirichlet bound; a contrast is never above 1.
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
fn upper_bound(contrasts: &Contrasts, units: u64, alpha: f64) -> f64 {
    let values: Vec<(f64, u64)> =
        contrasts.iter().map(|(value, count)| (*value as f64 / units as f64, *count)).collect();
    dirichlet::upper(&values, 1.0, alpha)
}

fn randomisation_p(comparison: &Comparison<'_>, kernel: Kernel) -> Result<f64, AnalyzeError> {
    match comparison.lattice {
        None => Ok(1.0),
        Some(lattice) => {
            randomisation::p_value(comparison.asked.iter().map(|asked| asked.edges(kernel)), lattice, kernel)
        }
    }
}
