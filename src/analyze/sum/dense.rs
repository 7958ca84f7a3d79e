//! A law on consecutive integers, and convolution by plain sums of products.
//!
//! Every term is positive, so the relative error stays near the machine's in the farthest tail, and the same bits come
//! out on every machine.

use super::pmf::Pmf;

/// Probabilities of `start`, `start + 1`, ...
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// The value of the first entry.
    pub start: i64,
    /// One probability a value; at least one entry.
    pub mass: Vec<f64>,
}

impl Dense {
    /// The constant 0.
    #[must_use]
    pub fn zero() -> Self {
        Self { start: 0, mass: vec![1.0] }
    }

    /// The law of a sum of two independent values.
    #[must_use]
    pub fn convolve(&self, other: &Self) -> Self {
        let mut mass = vec![0.0; self.mass.len() + other.mass.len() - 1];
        for (offset, one) in self.mass.iter().enumerate().filter(|(_, one)| **one > 0.0) {
            for (sum, two) in mass[offset..].iter_mut().zip(&other.mass) {
                *sum += one * two;
            }
        }
        Self { start: self.start + other.start, mass }
    }

    /// The law of the sum of `times` independent values, by repeated squaring.
    #[must_use]
    pub fn power(&self, mut times: u64) -> Self {
        let (mut result, mut square) = (Self::zero(), self.clone());
        while times > 0 {
            if times & 1 == 1 {
                result = result.convolve(&square);
            }
            times >>= 1;
            if times > 0 {
                square = square.convolve(&square);
            }
        }
        result
    }

    /// P(X <= t), summed from the small end of the tail inwards.
    #[must_use]
    pub fn at_most(&self, t: i64) -> f64 {
        let count = usize::try_from(t.saturating_sub(self.start).saturating_add(1)).unwrap_or(0);
        self.mass.iter().take(count).sum::<f64>().min(1.0)
    }

    /// P(X >= t), summed from the small end of the tail inwards.
    #[must_use]
    pub fn at_least(&self, t: i64) -> f64 {
        let skipped = usize::try_from(t.saturating_sub(self.start)).unwrap_or(0);
        self.mass.iter().skip(skipped).rev().sum::<f64>().min(1.0)
    }

    /// The smallest t with P(X <= t) reached.
    #[must_use]
    pub fn first(&self, reached: impl Fn(f64) -> bool) -> i64 {
        let mut sum = 0.0;
        let mut value = self.start;
        for mass in &self.mass {
            sum += mass;
            if reached(sum) {
                return value;
            }
            value += 1;
        }
        value - 1
    }
}

impl From<&Pmf> for Dense {
    fn from(pmf: &Pmf) -> Self {
        let mut mass = vec![0.0; usize::try_from(pmf.span()).unwrap_or(0) + 1];
        for (value, probability) in pmf.iter() {
            if let Some(entry) = mass.get_mut(usize::try_from(value - pmf.min()).unwrap_or(usize::MAX)) {
                *entry = probability;
            }
        }
        Self { start: pmf.min(), mass }
    }
}
