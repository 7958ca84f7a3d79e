//! The same audit with a second generator or a second judge, question by question.

use super::AnalyzeError;
use super::bootstrap::{Bootstrap, Contrasts};

/// The exact bootstrap of the mean difference `e_i = d_i(A) - d_i(B)`, from both contrasts of every question in the same
/// lattice units.
///
/// # Errors
/// [`AnalyzeError::NoQuestions`] without questions.
///
/// ```
/// use churngate::analyze::replication::paired;
/// // Both generators flip the same question; one of them flips another.
/// let pairs: Vec<(i64, i64)> = [(4, 4), (4, 0)].into_iter().chain([(0, 0); 48]).collect();
/// let bounds = paired(&pairs, 4)?.bounds("95%".parse().unwrap())?;
/// assert_eq!(bounds.interval.0.to_pp(0), "0");
/// assert_eq!(bounds.interval.1.to_pp(0), "6");
/// # Ok::<(), churngate::analyze::AnalyzeError>(())
/// ```
pub fn paired(contrasts: &[(i64, i64)], units: u64) -> Result<Bootstrap, AnalyzeError> {
    let mut differences = Contrasts::new();
    for (one, other) in contrasts {
        *differences.entry(one - other).or_default() += 1;
    }
    Bootstrap::new(&differences, units)
}
