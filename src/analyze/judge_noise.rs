//! What a noisy judge does to D̂, and two ways to correct for it. Neither moves the gate.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// The Rogan-Gladen correction: a judge with this sensitivity and specificity, errors alike in all pairs, shows
/// `E[D_obs] = (Se + Sp - 1) D`. `None` where `Se + Sp` is at most 1: such a judge shows nothing.
///
/// ```
/// use churngate::analyze::judge_noise::rogan_gladen;
/// assert!((rogan_gladen(0.095, 0.97, 0.93).unwrap() - 0.105556).abs() < 1e-6);
/// assert_eq!(rogan_gladen(0.1, 0.6, 0.4), None);
/// ```
#[must_use]
pub fn rogan_gladen(observed: f64, sensitivity: f64, specificity: f64) -> Option<f64> {
    let youden = sensitivity + specificity - 1.0;
    (youden > 0.0).then(|| observed / youden)
}

/// A prediction-powered estimate of the mean contrast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionPowered {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
}

/// Contrasts of hand-labelled questions beside those of the judge, and the judge's contrasts of all other questions.
///
/// `lambda` weighs the judge: 1 is the plain estimate (Angelopoulos et al. 2023), `mean(judge on the rest) + mean(hand - judge)`.
/// Equals `ppi_mean_pointestimate(lam=1)` of ppi-python. `None` where either group is empty or the first two lists differ in
/// length. At least 100 hand-labelled questions are advised.
///
/// ```
/// let estimate = churngate::analyze::judge_noise::prediction_powered(&[1.0, 0.0], &[0.5, 0.0], &[0.0, 0.5], 1.0);
/// assert_eq!(estimate.map(|it| it.estimate), Some(0.5));
/// ```
#[must_use]
pub fn prediction_powered(hand: &[f64], judge: &[f64], rest: &[f64], lambda: f64) -> Option<PredictionPowered> {
    if hand.len() != judge.len() || hand.is_empty() || rest.is_empty() {
        return None;
    }
    let differences: Vec<f64> = hand.iter().zip(judge).map(|(hand, judge)| hand - lambda * judge).collect();
    let predicted: Vec<f64> = rest.iter().map(|judge| lambda * judge).collect();
    let ((correction, noise), (mean, spread)) = (mean_and_error(&differences), mean_and_error(&predicted));
    Some(PredictionPowered { estimate: mean + correction, error: noise.hypot(spread) })
}

impl PredictionPowered {
    /// The two-sided normal interval with this error.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let reach = Normal::standard().inverse_cdf(1.0 - alpha / 2.0) * self.error;
        (self.estimate - reach, self.estimate + reach)
    }
}

/// The mean and its standard error with divisor N.
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, (variance / count).sqrt())
}
