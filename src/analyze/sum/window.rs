//! The law of a sum on a window about its mean, by one fast Fourier transform of its characteristic function.
//!
//! Raising the characteristic function to the N-th power multiplies the rounding error of its phase by N. So phases are
//! counted in turns: those of the values are integers modulo the window, exact; their mean is taken out, multiplied by N and
//! reduced without rounding; and only the small rest goes through sines and a logarithm by `ln_1p`. This holds at every frequency
//! where the function is not negligible, those of values that share a factor included. What falls outside the
//! window wraps round; the window is wide enough for that to be below 1e-17.

use super::dense::Dense;
use super::many;
use super::pmf::{Pmf, to_float};
use rayon::prelude::*;
use rustfft::{FftPlannerScalar, num_complex::Complex64};
use std::f64::consts::{PI, TAU};

/// Standard deviations that a window is wide. Chernoff's bound for 20 of them on either side is far below 1e-17 where
/// the sum is nearly normal; the added spans (see [`size`]) cover sums of a few large values.
const WIDTH: f64 = 40.0;
/// Spans of the widest group that are added to a window.
const SPANS: u64 = 32;
/// The longest window: a quarter of a gigabyte of complex numbers, and as much again for what is made of them.
const MOST: usize = 1 << 24;
/// Below `exp(-FLOOR)` a value of the characteristic function adds nothing to a sum of order 1.
pub(super) const FLOOR: f64 = 80.0;

/// Independent values of one law: the values with their probabilities, and how many there are.
pub(super) struct Law {
    pub terms: Vec<(i64, f64)>,
    pub times: u64,
}

impl From<&(Pmf, u64)> for Law {
    fn from((pmf, times): &(Pmf, u64)) -> Self {
        Self { terms: pmf.iter().collect(), times: *times }
    }
}

impl Law {
    /// Mean and variance of one value.
    fn moments(&self) -> (f64, f64) {
        let mean: f64 = self.terms.iter().map(|(value, mass)| to_float(*value) * mass).sum();
        let variance = self.terms.iter().map(|(value, mass)| (to_float(*value) - mean).powi(2) * mass).sum();
        (mean, variance)
    }

    fn span(&self) -> u64 {
        let ends = (self.terms.first(), self.terms.last());
        if let (Some(first), Some(last)) = ends { last.0.abs_diff(first.0) } else { 0 }
    }
}

/// The law of a sum of independent values, group by group, near its mean; `None` where its window would be longer than
/// [`MOST`], which is known before anything is allocated.
pub(super) fn near_mean(groups: &[Law]) -> Option<Dense> {
    let (mean, variance) = moments(groups);
    let centre = mean.round();
    let length = size(groups, variance).filter(|length| *length <= MOST)?;
    let mut spectrum = spectrum(groups, to_integer(centre), length);
    // Scalar code on purpose: vectorised transforms round differently from machine to machine.
    FftPlannerScalar::new().plan_fft_forward(length).process(&mut spectrum);
    let half = length / 2;
    let scale = to_float(length.try_into().unwrap_or(i64::MAX)).recip();
    let mass = (0..length).map(|i| (spectrum[(i + half) % length].re * scale).max(0.0)).collect();
    Some(Dense { start: to_integer(centre) - half.try_into().unwrap_or(0), mass })
}

/// Mean and variance of the sum.
pub(super) fn moments(groups: &[Law]) -> (f64, f64) {
    groups.iter().fold((0.0, 0.0), |(mean, variance), law| {
        let (one_mean, one_variance) = law.moments();
        let times = to_float(law.times.cast_signed());
        (mean + times * one_mean, variance + times * one_variance)
    })
}

/// A power of two: wide enough about the mean, and no wider than the whole support needs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "standard deviations of lattice sums are small, and a cast saturates"
)]
fn size(groups: &[Law], variance: f64) -> Option<usize> {
    let widest = groups.iter().map(Law::span).max().unwrap_or(0);
    let support = groups.iter().map(|law| law.span().saturating_mul(law.times)).fold(2, u64::saturating_add);
    let window = ((WIDTH * variance.sqrt()).ceil() as u64).saturating_add(widest.saturating_mul(SPANS));
    // Twice the support, because the window lies about the mean, which may stand at either end of the support.
    usize::try_from(window.min(support.saturating_mul(2)).max(16)).ok()?.checked_next_power_of_two()
}

/// The characteristic function of the sum minus an integer near its mean, at all frequencies of a window.
fn spectrum(groups: &[Law], centre: i64, window: usize) -> Vec<Complex64> {
    let length = window.try_into().unwrap_or(i64::MAX);
    let all: Vec<Turning> = groups.iter().map(Turning::new).collect();
    let shift = all.iter().fold(centre, |left, group| left.wrapping_sub(group.likeliest.wrapping_mul(group.times)));
    let (many, turning): (Vec<_>, Vec<_>) = groups.iter().zip(all).partition(|(law, _)| many::is_one(law, window));
    let turning: Vec<Turning> = turning.into_iter().map(|(_, group)| group).collect();
    let at = |k: i64| power(&turning, Frequency { k, length }, shift);
    let mut half: Vec<Complex64> = (0..=length / 2).into_par_iter().map(at).collect();
    for (law, group) in many {
        many::multiply(&mut half, law, group.likeliest, window);
    }
    let mirrored = half.iter().skip(1).rev().skip(1).map(Complex64::conj);
    half.iter().copied().chain(mirrored).collect()
}

/// `k` turns a window of `length`, a power of two.
#[derive(Clone, Copy)]
struct Frequency {
    k: i64,
    length: i64,
}

impl Frequency {
    /// The phase of a value in turns, between -1/2 and 1/2, exactly: products may wrap, since the length divides 2^64.
    fn turns(self, value: i64) -> f64 {
        let turned = self.k.wrapping_mul(value) & (self.length - 1);
        let signed = if turned > self.length / 2 { turned - self.length } else { turned };
        to_float(signed) / to_float(self.length)
    }
}

/// One group's values about its likeliest one.
struct Turning {
    terms: Vec<(i64, f64)>,
    likeliest: i64,
    times: i64,
}

impl Turning {
    fn new(law: &Law) -> Self {
        let likeliest = law.terms.iter().copied().reduce(|best, term| if term.1 > best.1 { term } else { best });
        let likeliest = likeliest.map_or(0, |(value, _)| value);
        let terms = law.terms.iter().map(|(value, mass)| (value.wrapping_sub(likeliest), *mass)).collect();
        Self { terms, likeliest, times: law.times.cast_signed() }
    }

    /// `times * ln E exp(i u (V - likeliest))`: the real part, and the imaginary one but for whole turns.
    fn log(&self, at: Frequency) -> (f64, f64) {
        let mean: f64 = self.terms.iter().map(|(value, mass)| mass * at.turns(*value)).sum();
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (value, mass) in &self.terms {
            let (sine, cosine) = (PI * (at.turns(*value) - mean)).sin_cos();
            real -= 2.0 * mass * sine * sine;
            imaginary += 2.0 * mass * sine * cosine;
        }
        let times = to_float(self.times);
        let modulus = (2.0 * real + real * real + imaginary * imaginary).max(-1.0).ln_1p() / 2.0;
        (times * modulus, times * imaginary.atan2(1.0 + real) + TAU * part_of_turn(times, mean))
    }
}

/// `times * turns` but for whole turns, without rounding before the whole ones are gone.
fn part_of_turn(times: f64, turns: f64) -> f64 {
    let product = times * turns;
    (product - product.round()) + times.mul_add(turns, -product)
}

fn power(groups: &[Turning], at: Frequency, shift: i64) -> Complex64 {
    let (mut modulus, mut angle) = (0.0, -TAU * at.turns(shift));
    for group in groups {
        let (real, imaginary) = group.log(at);
        modulus += real;
        angle += imaginary;
    }
    if modulus < -FLOOR { Complex64::ZERO } else { Complex64::from_polar(modulus.exp(), angle) }
}

#[expect(clippy::cast_possible_truncation, reason = "means of lattice sums are far below 2^53")]
const fn to_integer(value: f64) -> i64 {
    value as i64
}
