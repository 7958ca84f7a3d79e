//! An exact binomial sampler. Frozen: a change of any bit here changes preregistered streams.
//!
//! Small means are drawn by inversion, adding up probabilities from 0. Larger ones by transformed rejection with squeeze
//! (algorithm BTRS: W. Hörmann, The generation of binomial random variates, 1993), which needs about 1.2 tries whatever n is.
//! Only operations that IEEE 754 rounds exactly are used, and the logarithm of [`super::elementary`], so that every machine
//! draws the same numbers.

use super::elementary::{ln, stirling};
use super::uniform::Uniform;

/// Below this mean inversion is cheaper, and the constants of the rejection do not hold.
const SMALL_MEAN: f64 = 10.0;
/// Half of the spacing of uniform numbers: a smaller probability cannot be told from zero.
const NOTHING: f64 = f64::EPSILON / 4.0;

/// A draw from Bin(n, k / of): how many of n fall into a class that holds k of `of`. `k <= of`, `of > 0`.
pub(super) fn draw(uniform: &mut Uniform, n: u64, k: u64, of: u64) -> u64 {
    if n == 0 || k == 0 {
        return 0;
    }
    if k >= of {
        return n;
    }
    if 2 * k > of {
        return n - draw_up_to_half(uniform, n, ratio(of - k, of));
    }
    draw_up_to_half(uniform, n, ratio(k, of))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
fn ratio(k: u64, of: u64) -> f64 {
    k as f64 / of as f64
}

#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
fn draw_up_to_half(uniform: &mut Uniform, n: u64, p: f64) -> u64 {
    if n as f64 * p < SMALL_MEAN { invert(uniform, n, p) } else { reject(uniform, n, p) }
}

/// The smallest k with P(X <= k) >= u.
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
fn invert(uniform: &mut Uniform, n: u64, p: f64) -> u64 {
    let odds = p / (1.0 - p);
    let mut left = uniform.next();
    let mut mass = power(1.0 - p, n);
    for k in 0..n {
        if left <= mass {
            return k;
        }
        left -= mass;
        mass *= odds * (n - k) as f64 / (k + 1) as f64;
        // What is left beyond here is rounding, not probability.
        if mass < NOTHING && k as f64 > n as f64 * p {
            return k;
        }
    }
    n
}

/// `base^exponent` by repeated squaring.
fn power(base: f64, mut exponent: u64) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    result
}

/// Hörmann's BTRS, for p <= 1/2 and a mean of at least 10. The names are the paper's.
#[expect(clippy::many_single_char_names, reason = "the names of the published algorithm")]
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "k is a whole number from 0 to n")]
fn reject(uniform: &mut Uniform, n: u64, p: f64) -> u64 {
    let n = n as f64;
    let spread = (n * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * spread;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let c = n * p + 0.5;
    let squeeze = 0.92 - 4.2 / b;
    let alpha = (2.83 + 5.1 / b) * spread;
    let mode = ((n + 1.0) * p).floor();
    loop {
        let u = uniform.next() - 0.5;
        let v = uniform.next();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + c).floor();
        if us >= 0.07 && v <= squeeze {
            return k as u64;
        }
        if k < 0.0 || k > n {
            continue;
        }
        let height = ln(v * alpha / (a / (us * us) + b));
        if height <= log_ratio(n, p / (1.0 - p), mode, k) {
            return k as u64;
        }
    }
}

/// `ln P(X = k) - ln P(X = mode)`.
fn log_ratio(n: f64, odds: f64, mode: f64, k: f64) -> f64 {
    (mode + 0.5) * ln((mode + 1.0) / (odds * (n - mode + 1.0)))
        + (n + 1.0) * ln((n - mode + 1.0) / (n - k + 1.0))
        + (k + 0.5) * ln(odds * (n - k + 1.0) / (k + 1.0))
        + (stirling(mode) + stirling(n - mode))
        - (stirling(k) + stirling(n - k))
}
