//! The characteristic function of a law with many values, at all frequencies of a window at once, by a transform of its own.
//!
//! Value by value it costs as many sines as there are values and frequencies: minutes, where many repeats give each of some
//! hundred questions a contrast of its own. The transform errs by some 1e-16 of 1, and raising it to a power multiplies the
//! error of its phase; so it is used for few enough independent values alone.

use super::pmf::to_float;
use super::window::{FLOOR, Law};
use rustfft::{FftPlannerScalar, num_complex::Complex64};

/// Values from which on the transform is the cheaper way.
const VALUES: usize = 32;
/// The longest window in which the exact phases of as many values cost nothing to speak of.
const SHORT: usize = 1 << 14;
/// Independent values of one law at most: the error of the phase stays below 1e-12.
const TIMES: u64 = 4096;

/// Whether this law's characteristic function is transformed in a window of this length.
pub(super) fn is_one(law: &Law, length: usize) -> bool {
    law.terms.len() >= VALUES && length >= SHORT && law.times <= TIMES
}

/// Multiplies the first frequencies of a window by those of a sum of this law's values, taken about `likeliest`.
pub(super) fn multiply(half: &mut [Complex64], law: &Law, likeliest: i64, length: usize) {
    let window = length.try_into().unwrap_or(i64::MAX);
    let mut masses = vec![Complex64::ZERO; length];
    for (value, mass) in &law.terms {
        let place = usize::try_from(value.wrapping_sub(likeliest).rem_euclid(window)).unwrap_or(0);
        if let Some(entry) = masses.get_mut(place) {
            entry.re += mass;
        }
    }
    // Scalar code and this direction of time, as in the window itself.
    FftPlannerScalar::new().plan_fft_inverse(length).process(&mut masses);
    let times = law.times.cast_signed();
    for (product, one) in half.iter_mut().zip(&masses) {
        *product *= power(*one, to_float(times));
    }
}

/// A value of a characteristic function to the power of `times`.
fn power(one: Complex64, times: f64) -> Complex64 {
    let beyond = one.re - 1.0;
    let modulus = (2.0 * beyond + beyond * beyond + one.im * one.im).max(-1.0).ln_1p() / 2.0;
    if times * modulus < -FLOOR {
        return Complex64::ZERO;
    }
    Complex64::from_polar((times * modulus).exp(), times * one.im.atan2(one.re))
}
