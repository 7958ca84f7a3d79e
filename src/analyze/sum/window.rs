//! The law of a sum on a window about its mean, by one fast Fourier transform of its characteristic function.
//!
//! The characteristic function is taken about the mean, and its logarithm through `ln_1p`, so that raising it to the
//! N-th power does not multiply rounding errors by N where it matters. What falls outside the window wraps round; the
//! window is wide enough for that to be below 1e-17.

use super::dense::Dense;
use super::pmf::{Pmf, to_float};
use rayon::prelude::*;
use rustfft::{FftPlannerScalar, num_complex::Complex64};
use std::f64::consts::TAU;

/// Standard deviations that a window is wide. Chernoff's bound for 20 of them on either side is far below 1e-17 where
/// the sum is nearly normal; the added spans (see [`size`]) cover sums of a few large values.
const WIDTH: f64 = 40.0;
/// Spans of the widest group that are added to a window.
const SPANS: u64 = 32;
/// Below `exp(-FLOOR)` a value of the characteristic function adds nothing to a sum of order 1.
const FLOOR: f64 = 80.0;

/// The law of a sum of independent values, group by group, near its mean.
pub(super) fn near_mean(groups: &[(Pmf, u64)]) -> Dense {
    let (mean, variance) = moments(groups);
    let centre = mean.round();
    let length = size(groups, variance);
    let mut spectrum = spectrum(groups, centre - mean, length);
    // Scalar code on purpose: vectorised transforms round differently from machine to machine.
    FftPlannerScalar::new().plan_fft_forward(length).process(&mut spectrum);
    let half = length / 2;
    let scale = to_float(length.try_into().unwrap_or(i64::MAX)).recip();
    let mass = (0..length).map(|i| (spectrum[(i + half) % length].re * scale).max(0.0)).collect();
    Dense { start: to_integer(centre) - half.try_into().unwrap_or(0), mass }
}

/// Mean and variance of the sum.
pub(super) fn moments(groups: &[(Pmf, u64)]) -> (f64, f64) {
    groups.iter().fold((0.0, 0.0), |(mean, variance), (pmf, times)| {
        let (one_mean, one_variance) = pmf.moments();
        let times = to_float(times.cast_signed());
        (mean + times * one_mean, variance + times * one_variance)
    })
}

/// A power of two: wide enough about the mean, and no wider than the whole support needs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "standard deviations of lattice sums are small"
)]
fn size(groups: &[(Pmf, u64)], variance: f64) -> usize {
    let widest = groups.iter().map(|(pmf, _)| pmf.span()).max().unwrap_or(0);
    let support: u64 = groups.iter().map(|(pmf, times)| pmf.span().saturating_mul(*times)).fold(2, u64::saturating_add);
    let window = (WIDTH * variance.sqrt()).ceil() as u64 + SPANS * widest;
    // Twice the support, because the window lies about the mean, which may stand at either end of the support.
    usize::try_from(window.min(support.saturating_mul(2)).max(16)).unwrap_or(usize::MAX / 2).next_power_of_two()
}

/// The characteristic function of the sum minus its rounded mean, at all frequencies of a window.
fn spectrum(groups: &[(Pmf, u64)], shift: f64, length: usize) -> Vec<Complex64> {
    let centred: Vec<Centred> = groups.iter().map(|(pmf, times)| Centred::new(pmf, *times)).collect();
    let at = |k: usize| {
        let frequency = TAU * to_float(k.try_into().unwrap_or(0)) / to_float(length.try_into().unwrap_or(1));
        power(&centred, shift, frequency)
    };
    let half: Vec<Complex64> = (0..=length / 2).into_par_iter().map(at).collect();
    let mirrored = (1..length / 2).rev().map(|k| half[k].conj());
    half.iter().copied().chain(mirrored).collect()
}

/// One group's values about their mean.
struct Centred {
    terms: Vec<(f64, f64)>,
    times: f64,
}

impl Centred {
    fn new(pmf: &Pmf, times: u64) -> Self {
        let (mean, _) = pmf.moments();
        let terms = pmf.iter().map(|(value, mass)| (to_float(value) - mean, mass)).collect();
        Self { terms, times: to_float(times.cast_signed()) }
    }

    /// `times * ln E exp(i u (V - mean))`, as real and imaginary part.
    fn log(&self, frequency: f64) -> (f64, f64) {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (value, mass) in &self.terms {
            let (sine, half_sine) = ((frequency * value).sin(), (frequency * value / 2.0).sin());
            real -= 2.0 * mass * half_sine * half_sine;
            imaginary += mass * sine;
        }
        let modulus = (2.0 * real + real * real + imaginary * imaginary).max(-1.0).ln_1p() / 2.0;
        (self.times * modulus, self.times * imaginary.atan2(1.0 + real))
    }
}

fn power(groups: &[Centred], shift: f64, frequency: f64) -> Complex64 {
    let (mut modulus, mut angle) = (0.0, -shift * frequency);
    for group in groups {
        let (real, imaginary) = group.log(frequency);
        modulus += real;
        angle += imaginary;
    }
    if modulus < -FLOOR { Complex64::ZERO } else { Complex64::from_polar(modulus.exp(), angle) }
}

#[expect(clippy::cast_possible_truncation, reason = "means of lattice sums are far below 2^53")]
const fn to_integer(value: f64) -> i64 {
    value as i64
}
