//! How many questions an audit needs, before anything is spent.
//!
//! Where no earlier run tells the spread, contrasts are taken from a study: a question's meaning changed with some
//! probability, else nothing changed and only noise is seen. The laws below are for two repeats, in quarters.

use super::power::{Moments, questions_needed, variance_at};

/// A sort of questions and answers whose noise is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Short answers that vary from repeat to repeat, as with Natural Questions: semantic agreement of repeats 89.6%.
    NaturalQuestionsLike,
    /// Short answers that hardly vary, as with `TriviaQA`: semantic agreement of repeats 97.7%.
    TriviaQaLike,
}

/// The law of the semantic contrast of one question, in quarters: -2, -1, 0, 2, 4.
type Law = [f64; 5];
const QUARTERS: Law = [-2.0, -1.0, 0.0, 2.0, 4.0];

// Question by question: four answers drawn independently from answer distributions whose entropies fit the studies'
// published agreement, tabulated over the agreement patterns of two repeats.
const NQ_SAME: Law = [0.036_264, 0.011_52, 0.928_324, 0.005_76, 0.018_132];
const NQ_CHANGED: Law = [0.0, 0.0, 0.047_784, 0.113_232, 0.838_984];
const TQA_SAME: Law = [0.009_096, 0.0, 0.986_356, 0.0, 0.004_548];
const TQA_CHANGED: Law = [0.0, 0.0, 0.009_096, 0.027_408, 0.963_496];

impl Scenario {
    /// The law where nothing changed, and where the new meanings are disjoint from the old ones.
    const fn laws(self) -> (Law, Law) {
        match self {
            Self::NaturalQuestionsLike => (NQ_SAME, NQ_CHANGED),
            Self::TriviaQaLike => (TQA_SAME, TQA_CHANGED),
        }
    }

    /// Mean and variance of the contrast at a true D, as shares of 1: the changed law with weight `D / E[d | changed]`.
    #[must_use]
    pub fn moments(self, churn: f64) -> (f64, f64) {
        let (same, changed) = self.laws();
        let mean = |law: Law| law.iter().zip(QUARTERS).map(|(mass, value)| mass * value / 4.0).sum::<f64>();
        let square = |law: Law| law.iter().zip(QUARTERS).map(|(mass, value)| mass * (value / 4.0).powi(2)).sum::<f64>();
        let weight = churn / mean(changed);
        let mixed = |of: &dyn Fn(Law) -> f64| weight * of(changed) + (1.0 - weight) * of(same);
        let expected = mixed(&mean);
        (expected, mixed(&square) - expected * expected)
    }

    /// The questions that make the lower bound exceed a limit with 80% power at a true D; `None` where D is the limit.
    ///
    /// ```
    /// use churngate::analyze::planning::Scenario;
    /// let needed = [0.03, 0.06, 0.10].map(|churn| Scenario::NaturalQuestionsLike.questions(churn, 0.0, 0.05));
    /// assert_eq!(needed, [Some(389), Some(141), Some(70)]);
    /// ```
    #[must_use]
    pub fn questions(self, churn: f64, limit: f64, alpha: f64) -> Option<u64> {
        let (mean, variance) = self.moments(churn);
        questions_needed(variance.max(0.0).sqrt(), mean - limit, alpha)
    }

    /// The smallest D whose lower bound exceeds zero with 80% power with this many questions, by bisection; 1 where there
    /// is none.
    ///
    /// ```
    /// use churngate::analyze::planning::Scenario;
    /// let smallest = Scenario::NaturalQuestionsLike.smallest(400, 0.05);
    /// assert!((smallest - 0.0295).abs() < 0.001);
    /// ```
    #[must_use]
    pub fn smallest(self, questions: u64, alpha: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let enough = self.questions(middle, 0.0, alpha).is_some_and(|needed| needed <= questions);
            if enough { high = middle } else { low = middle }
        }
        high
    }
}

/// The questions that make the lower bound exceed a limit with 80% power at a true D, with the noise of an earlier run.
///
/// ```
/// use churngate::analyze::{planning::from_earlier, power::Moments};
/// let earlier = Moments { questions: 400, mean: 0.1025, variance: 0.1017 };
/// assert!(from_earlier(earlier, 0.06, 0.0, 0.05).unwrap() < 141);
/// ```
#[must_use]
pub fn from_earlier(earlier: Moments, churn: f64, limit: f64, alpha: f64) -> Option<u64> {
    questions_needed(variance_at(earlier, churn).sqrt(), churn - limit, alpha)
}
