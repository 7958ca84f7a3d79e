//! Far tails by exponential tilting: the law is tilted so that its mean stands at the tail's edge, computed there by a
//! transform, and tilted back. The error is relative to the tail's own size.

use super::pmf::{Pmf, to_float};
use super::window::{self, Law};

/// Above this probability the untilted window is exact enough.
pub(super) const NEAR: f64 = 0.1;
/// Tilts beyond this per unit change nothing in 64 bits.
const STEEPEST: f64 = 700.0;

/// P(S <= t) for t below the mean; `None` where the tilted window would not fit memory.
pub(super) fn at_most(groups: &[(Pmf, u64)], t: i64) -> Option<f64> {
    at_least(&mirrored(groups), t.saturating_neg())
}

/// P(S >= t) for t above the mean.
pub(super) fn at_least(groups: &[(Pmf, u64)], t: i64) -> Option<f64> {
    let most = groups.iter().map(|(pmf, times)| pmf.max().saturating_mul(times.cast_signed()));
    match t.cmp(&most.fold(0, i64::saturating_add)) {
        std::cmp::Ordering::Greater => Some(0.0),
        std::cmp::Ordering::Equal => Some(at_the_end(groups)),
        std::cmp::Ordering::Less => tilted_back(groups, t),
    }
}

/// The probability of the largest value.
fn at_the_end(groups: &[(Pmf, u64)]) -> f64 {
    let log = |(pmf, times): &(Pmf, u64)| pmf.log_about_most(f64::INFINITY) * to_float(times.cast_signed());
    groups.iter().map(log).sum::<f64>().exp()
}

fn tilted_back(groups: &[(Pmf, u64)], t: i64) -> Option<f64> {
    let theta = tilt_to(groups, t);
    let law = window::near_mean(&tilt(groups, theta))?;
    let first = usize::try_from(t.saturating_sub(law.start)).unwrap_or(0);
    let offset = to_float((law.start - t).max(0));
    let weights = (0..).map(|step| (-theta * (offset + f64::from(step))).exp());
    let sum: f64 = law.mass.iter().skip(first).zip(weights).map(|(mass, weight)| mass * weight).sum();
    Some(log_weight(groups, theta, t).exp() * sum)
}

/// `ln E exp(theta S) - theta t`. Both parts are huge and nearly cancel, so every group is taken about a point of its own,
/// its mean or, for a steep tilt, its largest value, and the points are subtracted from t as integers.
fn log_weight(groups: &[(Pmf, u64)], theta: f64, t: i64) -> f64 {
    let (mut log, mut whole, mut remainder) = (0.0, t, 0.0);
    for (pmf, times) in groups {
        let (mean, rest) = pmf.mean_times(1);
        let steep = theta * (to_float(pmf.max() - mean) - rest) > 1.0;
        let (one, point) = if steep {
            (pmf.log_about_most(theta), (pmf.max().saturating_mul(times.cast_signed()), 0.0))
        } else {
            (pmf.log_about_mean(theta), pmf.mean_times(*times))
        };
        log += to_float(times.cast_signed()) * one;
        whole = whole.saturating_sub(point.0);
        remainder += point.1;
    }
    log - theta * (to_float(whole) - remainder)
}

/// The tilt that moves the mean to t, by bisection; not below zero.
fn tilt_to(groups: &[(Pmf, u64)], t: i64) -> f64 {
    let (mut low, mut high) = (0.0, STEEPEST);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        let (mean, _) = window::moments(&tilt(groups, middle));
        if mean < to_float(t) { low = middle } else { high = middle }
    }
    low
}

fn tilt(groups: &[(Pmf, u64)], theta: f64) -> Vec<Law> {
    groups.iter().map(|(pmf, times)| Law { terms: pmf.tilted(theta), times: *times }).collect()
}

fn mirrored(groups: &[(Pmf, u64)]) -> Vec<(Pmf, u64)> {
    groups.iter().map(|(pmf, times)| (pmf.mirrored(), *times)).collect()
}
