//! The preregistered stream of bootstrap draws: a cross-check of the exact distribution, never an input of the gate.
//!
//! A draw resamples N whole questions. Questions with the same contrasts are interchangeable, so a draw is one
//! multinomial over the K distinct rows, K - 1 binomials, and costs the same for 400 questions as for a million. Draws come
//! in blocks of [`BLOCK`]; block i reads stream i of ChaCha20 under the key of the protocol lock, so that the draws do not
//! depend on the number of threads.
//!
//! Everything here is frozen: the order of rows, the size of a block, the sampler and its arithmetic.

mod binomial;
mod elementary;
mod uniform;

use rayon::prelude::*;
use std::collections::BTreeMap;
use uniform::Uniform;

/// Draws that share one stream of the cipher.
pub const BLOCK: u32 = 1_000;

/// The contrasts of one question under the exact and the semantic kernel, in lattice units.
pub type Row = (i64, i64);

/// How many questions have each row, in ascending order of rows.
pub type Rows = BTreeMap<Row, u64>;

/// The totals of every draw, sorted, for each kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draws {
    /// Under the exact kernel.
    pub exact: Vec<i64>,
    /// Under the semantic kernel.
    pub semantic: Vec<i64>,
}

/// Draws the stream of this key.
///
/// ```
/// use churngate::analyze::stream::{Rows, draw};
/// let rows = Rows::from([((0, 0), 49), ((0, 4), 1)]);
/// let draws = draw(&rows, 2_000, [7; 32]);
/// assert_eq!(draws.exact, vec![0; 2_000]);
/// let without = draws.semantic.iter().filter(|total| **total == 0).count();
/// assert!((without as f64 / 2_000.0 - 0.98_f64.powi(50)).abs() < 0.05);
/// ```
#[must_use]
pub fn draw(rows: &Rows, draws: u32, key: [u8; 32]) -> Draws {
    let counts: Vec<u64> = rows.values().copied().collect();
    let total = |drawn: &[u64]| {
        rows.keys().zip(drawn).fold((0, 0), |sum, (row, times)| {
            let times = times.cast_signed();
            (sum.0 + row.0 * times, sum.1 + row.1 * times)
        })
    };
    let (mut exact, mut semantic): (Vec<i64>, Vec<i64>) = map(&counts, draws, key, total).into_iter().unzip();
    exact.sort_unstable();
    semantic.sort_unstable();
    Draws { exact, semantic }
}

/// A statistic of every draw, in the order of draws: it is given how often each distinct row was drawn.
///
/// `counts` is how many questions have each row.
///
/// ```
/// let drawn = churngate::analyze::stream::map(&[3, 4], 10, [0; 32], |drawn| drawn.iter().sum::<u64>());
/// assert_eq!(drawn, [7; 10]);
/// ```
pub fn map<T: Send>(counts: &[u64], draws: u32, key: [u8; 32], statistic: impl Fn(&[u64]) -> T + Sync) -> Vec<T> {
    sample(counts, counts.iter().sum(), draws, key, statistic)
}

/// The same for samples of another size than the counts add up to.
///
/// ```
/// let drawn = churngate::analyze::stream::sample(&[3, 4], 100, 10, [0; 32], |drawn| drawn.iter().sum::<u64>());
/// assert_eq!(drawn, [100; 10]);
/// ```
pub fn sample<T: Send>(
    counts: &[u64],
    size: u64,
    draws: u32,
    key: [u8; 32],
    statistic: impl Fn(&[u64]) -> T + Sync,
) -> Vec<T> {
    let in_block = |block: u32| {
        let mut uniform = Uniform::new(key, u64::from(block));
        let mut times = vec![0; counts.len()];
        let count = BLOCK.min(draws - block * BLOCK);
        let one = |_| {
            multinomial(&mut uniform, counts, size, &mut times);
            statistic(&times)
        };
        (0..count).map(one).collect::<Vec<T>>()
    };
    (0..draws.div_ceil(BLOCK)).into_par_iter().flat_map_iter(in_block).collect()
}

/// So many questions, resampled with replacement: one binomial after the other.
fn multinomial(uniform: &mut Uniform, counts: &[u64], size: u64, drawn: &mut [u64]) {
    let mut of: u64 = counts.iter().sum();
    let mut left = size;
    for (count, drawn) in counts.iter().zip(drawn) {
        *drawn = binomial::draw(uniform, left, *count, of);
        left -= *drawn;
        of -= count;
    }
}

#[cfg(test)]
mod tests;
