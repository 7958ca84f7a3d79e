//! What a sample can detect, from the normal approximation.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// The power that planning aims at.
pub const POWER: f64 = 0.8;

/// The spread of the contrasts: moments over all N questions, as shares of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// N.
    pub questions: u64,
    /// The mean, D̂.
    pub mean: f64,
    /// The variance with divisor N.
    pub variance: f64,
}

/// The standard normal quantile.
pub(super) fn z(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// `z_(1 - alpha) + z_power`.
fn reach(alpha: f64) -> f64 {
    z(1.0 - alpha) + z(POWER)
}

/// How the questions of a cluster vary together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clustered {
    /// The size of the cluster that a question is in, in the mean over questions.
    pub size: f64,
    /// The variance with which questions independent of one another would have a mean that varies as much as that over clusters.
    pub variance: f64,
}

/// The smallest D that makes the one-sided lower bound exceed zero with 80% power, as a share of 1.
///
/// The variance at a true D is taken as what noise leaves, `V_0 = max(0, V - m D̂ (1 - D̂))`, plus what stable flips add,
/// `m D (1 - D)`, where m is 1, or the size of a cluster: its questions are taken to change together. The D sought solves
/// `D = (z_a + z_b) sqrt((V_0 + m D (1 - D)) / N)`, a quadratic equation. At most 1.
///
/// ```
/// use churngate::analyze::power::{Clustered, Moments, smallest_detectable};
/// let quiet = Moments { questions: 400, mean: 0.0, variance: 0.0 };
/// assert!((smallest_detectable(quiet, None, 0.05) - 0.015_22).abs() < 1e-4); // 2.4865^2 / (400 + 2.4865^2)
/// // Ten questions that change together count for one.
/// let (tens, fewer) = (Clustered { size: 10.0, variance: 0.0 }, Moments { questions: 40, ..quiet });
/// let [tens, fewer] = [(quiet, Some(tens)), (fewer, None)].map(|(of, in_tens)| smallest_detectable(of, in_tens, 0.05));
/// assert!((tens - fewer).abs() < 1e-12 && tens > 0.13);
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
pub fn smallest_detectable(moments: Moments, clustered: Option<Clustered>, alpha: f64) -> f64 {
    let size = clustered.map_or(1.0, |clustered| clustered.size);
    let alone = variance_at(moments, 0.0);
    let noise = clustered.map_or(alone, |Clustered { size, variance }| {
        // A variance of clusters of this size is that of one question in each.
        size * variance_at(Moments { variance: variance / size, ..moments }, 0.0)
    });
    let noise = noise.max(alone);
    let scale = moments.questions as f64 / reach(alpha).powi(2);
    let root = (size.powi(2) + 4.0 * (scale + size) * noise).sqrt();
    ((size + root) / (2.0 * (scale + size))).min(1.0)
}

/// The variance of the contrasts at a true D: what noise leaves of the observed one, plus what stable flips add.
#[must_use]
pub fn variance_at(observed: Moments, churn: f64) -> f64 {
    let flips = |share: f64| share.clamp(0.0, 1.0) * (1.0 - share.clamp(0.0, 1.0));
    (observed.variance - flips(observed.mean)).max(0.0) + flips(churn)
}

/// The questions that put a bound of D̂ on the far side of a limit with 80% power, `((z_a + z_b) sd / |D - m|)^2`; `None`
/// where D̂ is the limit.
///
/// ```
/// // Spread .2377 and D = 3 pp: the 388 questions of a study like NaturalQuestions.
/// let needed = churngate::analyze::power::questions_needed(0.2377, 0.03, 0.05);
/// assert_eq!(needed, Some(389));
/// ```
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against 2^53 before")]
pub fn questions_needed(spread: f64, distance: f64, alpha: f64) -> Option<u64> {
    let needed = (reach(alpha) * spread / distance.abs()).powi(2).ceil();
    (needed.is_finite() && needed < 9e15).then_some(needed as u64)
}

/// The fewest questions at which the Dirichlet upper bound can fall below a limit at all, `ln alpha / ln(1 - limit)`, as
/// where nothing changed: 59 for 5 pp at 95%. `None` where the limit is not above zero.
///
/// ```
/// use churngate::analyze::power::fewest_for_upper_bound;
/// assert_eq!(fewest_for_upper_bound(0.05, 0.05), Some(59));
/// assert_eq!(fewest_for_upper_bound(0.0, 0.05), None);
/// ```
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against 2^53 before")]
pub fn fewest_for_upper_bound(limit: f64, alpha: f64) -> Option<u64> {
    if limit <= 0.0 {
        return None;
    }
    if limit >= 1.0 {
        return Some(1);
    }
    let fewest = (alpha.ln() / (-limit).ln_1p()).ceil();
    (fewest.is_finite() && fewest < 9e15).then_some(fewest as u64)
}

/// The fewest questions at which a lower bound above a limit can mean anything: the more of `ln alpha / ln(1 / S)` with the S ways
/// to split a question's answers among the two snapshots, 3 for two repeats at 95%, and, of a limit above zero, of
/// `ln alpha / ln limit`. `u64::MAX` where no number is enough.
///
/// With fewer, a flip of every question comes with a probability above alpha though there is nothing to be shown: where nothing
/// changed, one split in S looks like a flip, and where D is the limit, so many questions may flip by chance. The bootstrap, which
/// has seen no variance, puts its bound at D̂ itself.
///
/// ```
/// use churngate::analyze::power::fewest_for_lower_bound;
/// assert_eq!(fewest_for_lower_bound((2, 2), 0.0, 0.05), 3);
/// assert_eq!(fewest_for_lower_bound((3, 3), 0.0, 0.05), 2);
/// assert_eq!(fewest_for_lower_bound((5, 5), 0.0, 0.05), 1);
/// assert_eq!(fewest_for_lower_bound((5, 5), 0.5, 0.05), 5); // five coins that all fall on one side
/// assert_eq!(fewest_for_lower_bound((5, 5), 1.0, 0.05), u64::MAX);
/// ```
#[must_use]
pub fn fewest_for_lower_bound(repeats: (u32, u32), limit: f64, alpha: f64) -> u64 {
    let (old, new) = repeats;
    let ways = (1..=new).fold(1.0, |ways, k| ways * f64::from(old + k) / f64::from(k));
    // Two snapshots with equal repeats may be swapped: each split is counted twice.
    let splits = if old == new { ways / 2.0 } else { ways };
    all_alike(splits.recip(), alpha).max(all_alike(limit, alpha))
}

/// The fewest questions that are all a flip with probability alpha at most, where each is one with this probability.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number, and a cast saturates")]
fn all_alike(probability: f64, alpha: f64) -> u64 {
    match probability {
        never if never <= 0.0 => 1,
        always if always >= 1.0 => u64::MAX,
        probability => (alpha.ln() / probability.ln()).ceil().max(1.0) as u64,
    }
}
