//! Holm's correction for several tests.

/// The adjusted p-values, in the order given: the i-th smallest of m (from 0) times `m - i`, made monotone, at most 1.
/// Equals `multipletests(method="holm")` of statsmodels and `p.adjust` of R.
///
/// ```
/// let adjusted = churngate::analyze::holm::adjust(&[0.01, 0.04, 0.03, 0.005]);
/// assert_eq!(adjusted, [0.03, 0.06, 0.06, 0.02]);
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "numbers of tests are far below 2^53")]
pub fn adjust(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, test) in order.into_iter().enumerate() {
        largest = largest.max(p[test] * (p.len() - rank) as f64).min(1.0);
        adjusted[test] = largest;
    }
    adjusted
}
