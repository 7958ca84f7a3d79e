//! Fits the logistic model: penalised maximum likelihood by Newton's method (iteratively reweighted least squares).
//!
//! Deterministic: no randomness, a fixed start, a fixed number of steps.

use super::features::COUNT;
use super::model::{Weights, probability, score};

/// One labelled pair.
pub type Example = ([f64; COUNT], bool);

/// Newton steps; the likelihood is concave and has settled to the last digits long before.
const STEPS: usize = 60;

/// The weights that maximise the log-likelihood of the examples minus `penalty / 2` times the squared weights (the
/// first, which belongs to the constant feature, is free). `penalty` must be positive.
#[must_use]
pub fn fit(examples: &[Example], penalty: f64) -> Weights {
    let mut weights = [0.0; COUNT];
    for _ in 0..STEPS {
        let (gradient, hessian) = derivatives(examples, &weights, penalty);
        let step = solve(hessian, gradient);
        for (weight, step) in weights.iter_mut().zip(step) {
            *weight += step;
        }
    }
    weights
}

type Matrix = [[f64; COUNT]; COUNT];

/// The gradient of the penalised log-likelihood and the negative of its Hessian.
fn derivatives(examples: &[Example], weights: &Weights, penalty: f64) -> (Weights, Matrix) {
    let mut gradient = [0.0; COUNT];
    let mut hessian = [[0.0; COUNT]; COUNT];
    for (features, same) in examples {
        let expected = probability(score(weights, features));
        let residual = f64::from(u8::from(*same)) - expected;
        for row in 0..COUNT {
            gradient[row] += residual * features[row];
            for column in 0..COUNT {
                hessian[row][column] += expected * (1.0 - expected) * features[row] * features[column];
            }
        }
    }
    for index in 0..COUNT {
        let pull = if index == 0 { 1e-6 } else { penalty };
        gradient[index] -= pull * weights[index];
        hessian[index][index] += pull;
    }
    (gradient, hessian)
}

/// Solves a symmetric positive definite system by Gaussian elimination; pivots are positive there.
fn solve(mut matrix: Matrix, mut right: Weights) -> Weights {
    for pivot in 0..COUNT {
        let pivot_row = matrix[pivot];
        for row in pivot + 1..COUNT {
            let factor = matrix[row][pivot] / pivot_row[pivot];
            for (entry, above) in matrix[row].iter_mut().zip(pivot_row).skip(pivot) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = [0.0; COUNT];
    for row in (0..COUNT).rev() {
        let known: f64 = (row + 1..COUNT).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    solution
}
