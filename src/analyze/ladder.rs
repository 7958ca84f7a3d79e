//! The same figures for every adjacent pair of snapshots, where there are rungs between old and new.

use super::AnalyzeError;
use super::comparison::Comparison;
use super::figures::Rung;
use super::lattice::fraction;
use super::scoring::Scoring;
use super::settings::Settings;
use crate::model::{Fraction, Observation, SnapshotName};

/// What is counted of every adjacent pair, in order; nothing where nothing stands between old and new.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "mid": ["y", "y"], "new": ["x", "x"]}, "labels": [["x", "y", "different"]]}"#;
/// let between = vec![churngate::model::SnapshotName("mid".to_owned())];
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings { between, ..Settings::default() })?;
/// assert_eq!(analysis.ladder.iter().map(|rung| rung.stable_flips).collect::<Vec<u64>>(), [1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ladder(Vec<Step>);

/// One adjacent pair.
#[derive(Clone, Debug)]
struct Step {
    from: SnapshotName,
    to: SnapshotName,
    comparison: Comparison,
    /// Sums of contrasts, in lattice units.
    exact: i64,
    semantic: i64,
    flips: u64,
}

impl Ladder {
    /// Nothing is counted yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        if settings.between.is_empty() {
            return Self(Vec::new());
        }
        let steps = settings.steps();
        let step = |(from, to): (&&SnapshotName, &&SnapshotName)| Step {
            from: (*from).clone(),
            to: (*to).clone(),
            comparison: Comparison::new(from, to),
            exact: 0,
            semantic: 0,
            flips: 0,
        };
        Self(steps.iter().zip(steps.iter().skip(1)).map(step).collect())
    }

    /// Takes the next question; says at which steps it is a stable flip.
    ///
    /// # Errors
    /// Those of [`Comparison::take`], for any adjacent pair.
    pub fn take(&mut self, observation: &Observation, scoring: Scoring<'_>) -> Result<Vec<bool>, AnalyzeError> {
        self.0.iter_mut().map(|step| step.take(observation, scoring)).collect()
    }

    /// One entry for every adjacent pair, in order. Where a mean does not fit, it is absent, and it is told why: no rule reads it.
    #[must_use]
    pub fn finish(&self) -> Vec<Rung> {
        self.0.iter().map(Step::rung).collect()
    }
}

impl Step {
    fn take(&mut self, observation: &Observation, scoring: Scoring<'_>) -> Result<bool, AnalyzeError> {
        let Some((asked, lattice)) = self.comparison.take(observation, scoring)? else { return Ok(false) };
        self.exact += lattice.contrast(asked.exact.agreeing());
        self.semantic += lattice.contrast(asked.semantic.agreeing());
        self.flips += u64::from(asked.is_flip());
        Ok(asked.is_flip())
    }

    fn rung(&self) -> Rung {
        let (exact, semantic) = (self.churn(self.exact), self.churn(self.semantic));
        let why = exact.as_ref().err().or(semantic.as_ref().err()).map(ToString::to_string);
        Rung {
            from: self.from.clone(),
            to: self.to.clone(),
            exact: exact.ok(),
            semantic: semantic.ok(),
            stable_flips: self.flips,
            why,
        }
    }

    fn churn(&self, sum: i64) -> Result<Fraction, AnalyzeError> {
        fraction(sum, self.comparison.units(), self.comparison.questions())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_that_does_not_fit_is_absent_with_its_reason_and_the_other_steps_stand() {
        let between = vec![SnapshotName("mid".to_owned())];
        let mut ladder = Ladder::new(&Settings { between, ..Settings::default() });
        for (step, asked) in ladder.0.iter_mut().zip([u64::MAX, 4]) {
            (step.comparison.asked, step.exact, step.semantic, step.flips) = (asked, 1, 2, 3);
        }
        let [large, small] = &ladder.finish()[..] else { panic!("two steps") };
        assert_eq!((large.exact, large.semantic, large.stable_flips), (None, None, 3));
        assert_eq!(large.why, Some(AnalyzeError::TooLarge.to_string()));
        let of = |numerator| Some(Fraction { numerator, denominator: 4 });
        assert_eq!((small.exact, small.semantic, small.stable_flips, &small.why), (of(1), of(2), 3, &None));
    }
}
