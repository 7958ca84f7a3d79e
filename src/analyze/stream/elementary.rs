//! The natural logarithm from additions, multiplications and divisions alone.
//!
//! The system's logarithm differs in the last bit from machine to machine, and one bit can change an accepted draw. This one
//! is frozen with the stream. Its error is below 2 units in the last place over the range that the sampler uses.

/// Mantissa bits of an `f64`.
const MANTISSA: u32 = 52;
/// ln 2 in two parts, the first with trailing zeros so that a multiple of it is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// `ln x` for a positive, normal, finite x.
#[must_use]
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mantissa = bits & ((1 << MANTISSA) - 1);
    let mut exponent = f64::from(i32::try_from(bits >> MANTISSA).unwrap_or(0) - 1023);
    let mut m = f64::from_bits((1023 << MANTISSA) | mantissa);
    if m > std::f64::consts::SQRT_2 {
        m /= 2.0;
        exponent += 1.0;
    }
    let z = (m - 1.0) / (m + 1.0);
    exponent * LN_2_HIGH + (2.0 * z * series(z * z) + exponent * LN_2_LOW)
}

/// `atanh(z) / z = sum_k z^(2k) / (2k + 1)`. With |z| < 0.1716 the first term left out is below 1e-18.
fn series(square: f64) -> f64 {
    let mut sum = 0.0;
    for odd in (0..12).rev() {
        sum = sum * square + f64::from(2 * odd + 1).recip();
    }
    sum
}

/// The correction of Stirling's formula, `ln k! - ((k + 1/2) ln(k + 1) - (k + 1) + ln(2 pi) / 2)`, for a whole k >= 0.
#[must_use]
pub(super) fn stirling(k: f64) -> f64 {
    // The series below is good to 1e-16 from k = 15 on; smaller k come down to it by
    // tail(k) = tail(k + 1) + (k + 3/2) ln(1 + 1/(k + 1)) - 1.
    let mut sum = 0.0;
    let mut at = k;
    while at < 15.0 {
        sum += (at + 1.5) * (ln(at + 2.0) - ln(at + 1.0)) - 1.0;
        at += 1.0;
    }
    let x = at + 1.0;
    let square = x * x;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square;
    sum + (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_is_within_two_units_in_the_last_place() {
        let mut x = 1e-17_f64;
        while x < 1e17 {
            let (ours, theirs) = (ln(x), x.ln());
            assert!((ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs.abs().max(0.5), "ln {x}: {ours} {theirs}");
            x *= 1.007_31;
        }
        assert_eq!(ln(1.0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn stirlings_correction_gives_the_factorial() {
        let mut factorial = 0.0;
        for k in 0..60_u32 {
            let k = f64::from(k);
            factorial += if k > 0.0 { k.ln() } else { 0.0 };
            let formula = (k + 0.5) * (k + 1.0).ln() - (k + 1.0) + (2.0 * std::f64::consts::PI).ln() / 2.0;
            assert!((formula + stirling(k) - factorial).abs() < 1e-13, "{k}");
        }
    }
}
