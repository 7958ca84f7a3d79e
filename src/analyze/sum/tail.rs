//! Far tails by exponential tilting: the law is tilted so that its mean stands at the tail's edge, computed there by a
//! transform, and tilted back. The error is relative to the tail's own size.

use super::pmf::{Pmf, to_float};
use super::window;

/// Above this probability the untilted window is exact enough.
pub(super) const NEAR: f64 = 0.1;
/// Tilts beyond this per unit change nothing in 64 bits.
const STEEPEST: f64 = 700.0;

/// P(S <= t) for t below the mean.
pub(super) fn at_most(groups: &[(Pmf, u64)], t: i64) -> f64 {
    at_least(&mirrored(groups), t.saturating_neg())
}

/// P(S >= t) for t above the mean.
pub(super) fn at_least(groups: &[(Pmf, u64)], t: i64) -> f64 {
    let most = groups.iter().map(|(pmf, times)| pmf.max().saturating_mul(times.cast_signed()));
    match t.cmp(&most.fold(0, i64::saturating_add)) {
        std::cmp::Ordering::Greater => 0.0,
        std::cmp::Ordering::Equal => at_the_end(groups),
        std::cmp::Ordering::Less => tilted_back(groups, t),
    }
}

/// The probability of the largest value.
fn at_the_end(groups: &[(Pmf, u64)]) -> f64 {
    let log = |(pmf, times): &(Pmf, u64)| {
        pmf.iter().last().map_or(0.0, |(_, mass)| mass.ln() * to_float(times.cast_signed()))
    };
    groups.iter().map(log).sum::<f64>().exp()
}

fn tilted_back(groups: &[(Pmf, u64)], t: i64) -> f64 {
    let theta = tilt_to(groups, t);
    let (tilted, log) = tilt(groups, theta);
    let law = window::near_mean(&tilted);
    let first = usize::try_from(t.saturating_sub(law.start)).unwrap_or(0);
    let offset = to_float((law.start - t).max(0));
    let weights = (0..).map(|step| (-theta * (offset + f64::from(step))).exp());
    let sum: f64 = law.mass.iter().skip(first).zip(weights).map(|(mass, weight)| mass * weight).sum();
    (log - theta * to_float(t)).exp() * sum
}

/// The tilt that moves the mean to t, by bisection; not below zero.
fn tilt_to(groups: &[(Pmf, u64)], t: i64) -> f64 {
    let (mut low, mut high) = (0.0, STEEPEST);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        let (mean, _) = window::moments(&tilt(groups, middle).0);
        if mean < to_float(t) { low = middle } else { high = middle }
    }
    low
}

/// The tilted groups and `ln E exp(theta S)`.
fn tilt(groups: &[(Pmf, u64)], theta: f64) -> (Vec<(Pmf, u64)>, f64) {
    let mut log = 0.0;
    let tilted = groups.iter().map(|(pmf, times)| {
        let (tilted, one) = pmf.tilted(theta);
        log += to_float(times.cast_signed()) * one;
        (tilted, *times)
    });
    (tilted.collect(), log)
}

fn mirrored(groups: &[(Pmf, u64)]) -> Vec<(Pmf, u64)> {
    groups.iter().map(|(pmf, times)| (pmf.mirrored(), *times)).collect()
}
