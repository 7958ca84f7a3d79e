//! The law of two sums at once, on a window of the plane, by a two-dimensional Fourier transform.

use super::cluster::ClusterRows;
use super::line::power;
use rayon::prelude::*;
use rustfft::{FftPlannerScalar, num_complex::Complex64};
use std::f64::consts::TAU;

/// Cells of a plane at most: 16 bytes each.
const MOST_CELLS: usize = 1 << 21;
/// Standard deviations that a window is wide, where that is less than the support.
const WIDTH: f64 = 20.0;
/// Spans of one cluster that are added to a window.
const SPANS: i64 = 16;
/// Probabilities below this are rounding.
const NOTHING: f64 = 1e-18;

/// Probabilities of pairs of sums.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    mass: Vec<f64>,
    first: Axis,
    second: Axis,
}

/// One of the two sums: a window of `length` values from `start`.
#[derive(Clone, Copy, Debug)]
struct Axis {
    start: i64,
    length: usize,
}

impl Plane {
    /// The law of both sums over as many clusters as there are, drawn with replacement; `None` where the window would
    /// not fit.
    pub(super) fn resample(rows: &ClusterRows) -> Option<Self> {
        let (first, second) = (axis(rows, |row| row.0)?, axis(rows, |row| row.1)?);
        if first.length.checked_mul(second.length)? > MOST_CELLS {
            return None;
        }
        let mut cells = spectrum(rows, first, second);
        transform(&mut cells, second.length);
        let mut turned = transpose(&cells, second.length);
        transform(&mut turned, first.length);
        let scale = (float(first.length) * float(second.length)).recip();
        // Turned, a row is one value of the second sum.
        Some(Self { mass: turned.iter().map(|cell| (cell.re * scale).max(0.0)).collect(), first, second })
    }

    /// Every pair of sums of more than negligible probability.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = ((i64, i64), f64)> {
        let likely = self.mass.iter().enumerate().filter(|(_, mass)| **mass > NOTHING);
        likely.map(|(cell, mass)| {
            let (second, first) = (cell / self.first.length, cell % self.first.length);
            ((self.first.value(first), self.second.value(second)), *mass)
        })
    }
}

impl Axis {
    /// The value that stands at a residue of the transform.
    fn value(&self, residue: usize) -> i64 {
        let length = self.length.try_into().unwrap_or(i64::MAX);
        let residue: i64 = residue.try_into().unwrap_or(0);
        self.start + (residue - self.start).rem_euclid(length)
    }
}

/// The window of one sum: its whole support, or some forty standard deviations about its mean.
#[expect(clippy::cast_possible_truncation, reason = "sums of lattice values are far below 2^53")]
fn axis(rows: &ClusterRows, value: impl Fn(&(i64, i64)) -> i64) -> Option<Axis> {
    let clusters: u64 = rows.values().sum();
    let values = || rows.iter().map(|(row, count)| (value(row), wide(*count)));
    let (low, high) = (values().map(|(value, _)| value).min()?, values().map(|(value, _)| value).max()?);
    let times = i64::try_from(clusters).ok()?;
    let mean = values().map(|(value, count)| signed(value) * count).sum::<f64>() / wide(clusters);
    let variance = values().map(|(value, count)| (signed(value) - mean).powi(2) * count).sum::<f64>();
    let half = ((WIDTH / 2.0 * variance.sqrt()).ceil() as i64).saturating_add(SPANS * (high - low));
    let centre = (mean * signed(times)).round() as i64;
    let start = low.checked_mul(times)?.max(centre.saturating_sub(half));
    let end = high.checked_mul(times)?.min(centre.saturating_add(half));
    Some(Axis { start, length: usize::try_from(end - start).ok()?.checked_add(1)?.checked_next_power_of_two()? })
}

/// The characteristic function of the pair of sums, row by row of the first one's frequencies.
fn spectrum(rows: &ClusterRows, first: Axis, second: Axis) -> Vec<Complex64> {
    let clusters: u64 = rows.values().sum();
    let laws: Vec<(f64, f64, f64)> = rows
        .iter()
        .map(|((sum, questions), count)| (signed(*sum), signed(*questions), wide(*count) / wide(clusters)))
        .collect();
    let one = |cell: usize| {
        let u = TAU * float(cell / second.length) / float(first.length);
        let v = TAU * float(cell % second.length) / float(second.length);
        let phi: Complex64 =
            laws.iter().map(|(sum, questions, mass)| Complex64::from_polar(*mass, u * sum + v * questions)).sum();
        power(phi, clusters)
    };
    (0..first.length * second.length).into_par_iter().map(one).collect()
}

/// Transforms every row of this length.
fn transform(cells: &mut [Complex64], length: usize) {
    FftPlannerScalar::new().plan_fft_forward(length).process(cells);
}

fn transpose(cells: &[Complex64], length: usize) -> Vec<Complex64> {
    let rows = cells.len() / length;
    (0..cells.len()).map(|cell| cells[cell % rows * length + cell / rows]).collect()
}

#[expect(clippy::cast_precision_loss, reason = "lengths are at most 2^21")]
const fn float(value: usize) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "sums of lattice values are far below 2^53")]
const fn signed(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "numbers of clusters are far below 2^53")]
const fn wide(value: u64) -> f64 {
    value as f64
}
