//! Fisher's exact test of two shares.

use statrs::function::factorial::ln_binomial;

/// Below this probability two shares differ beyond chance, wherever this program acts on it.
pub const CHANCE: f64 = 0.001;

/// More than these are not compared: they may come from a file, and each costs a step.
pub const MOST: u64 = 20_000_000;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that are counted.
    pub counted: u64,
    /// All of them; at least as many.
    pub of: u64,
}

/// Fisher's exact test, two-sided: the probability, with all margins fixed, of the tables that are at most as probable
/// as the one seen. Tables within one part in 10^7 count as equally probable, as in R. Counts that cannot be, or of more
/// than [`MOST`] in all, are not compared: 1.
#[must_use]
pub fn fisher(one: Share, other: Share) -> f64 {
    let (all, counted) = (one.of.saturating_add(other.of), one.counted.saturating_add(other.counted));
    if all > MOST || one.counted > one.of || other.counted > other.of {
        return 1.0;
    }
    let whole = ln_binomial(all, counted);
    let probability = |k: u64| (ln_binomial(one.of, k) + ln_binomial(other.of, counted - k) - whole).exp();
    let seen = probability(one.counted) * (1.0 + 1e-7);
    let least = counted.saturating_sub(other.of);
    let p: f64 = (least..=counted.min(one.of)).map(probability).filter(|each| *each <= seen).sum();
    p.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fisher_is_what_r_says() {
        // fisher.test(matrix(c(8, 2, 1, 5), 2))$p.value is 0.03496503; the others were summed in whole numbers.
        let p = |a, n, b, m| fisher(Share { counted: a, of: n }, Share { counted: b, of: m });
        assert!((p(8, 10, 1, 6) - 0.034_965_034_965).abs() < 1e-9);
        assert!((p(0, 400, 0, 400) - 1.0).abs() < 1e-12);
        assert!((p(3, 6, 3, 6) - 1.0).abs() < 1e-9);
        assert!((p(10, 800, 0, 800) - 0.001_898_639_352).abs() < 1e-9);
        assert!((p(2, 1000, 5, 1000) - 0.452_303_043_175).abs() < 1e-9);
        assert!((p(0, 0, 0, 0) - 1.0).abs() < 1e-12);
        for (a, n, b, m) in [(2, 1, 0, 1), (u64::MAX, u64::MAX, 0, u64::MAX), (0, MOST, 1, 1)] {
            assert!((p(a, n, b, m) - 1.0).abs() < 1e-12, "{a} {n} {b} {m}");
        }
    }
}
