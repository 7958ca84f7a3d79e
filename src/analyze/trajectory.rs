//! Stable flips along a ladder of snapshots.

use super::AnalyzeError;
use super::alignment::{Agreeing, agreeing};
use super::comparison::{Asked, find};
use super::figures::{Alignment, Trajectories};
use super::settings::Settings;
use crate::model::Observation;

impl Trajectories {
    /// Nothing is counted yet; absent where nothing stands between old and new.
    #[must_use]
    pub fn new(settings: &Settings) -> Option<Self> {
        let middles = settings.between.iter().map(|rung| (rung.clone(), Alignment::default()));
        let none = Self { any_step: 0, several_steps: 0, returns: 0, middles: middles.collect() };
        (!settings.between.is_empty()).then_some(none)
    }

    /// Takes an asked question: the comparison of its ends, and at which steps it is a stable flip.
    ///
    /// # Errors
    /// A missing judgment of two snapshots two steps apart, or of a rung and an end where the ends flip.
    ///
    /// ```
    /// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
    /// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "mid": ["y", "y"], "new": ["x", "x"]}, "labels": [["x", "y", "different"]]}"#;
    /// let between = vec![churngate::model::SnapshotName("mid".to_owned())];
    /// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings { between, ..Settings::default() })?;
    /// let trajectories = analysis.trajectories.unwrap();
    /// assert_eq!((trajectories.several_steps, trajectories.returns), (1, 1)); // there and back
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take(&mut self, ends: &Asked<'_>, steps: &[bool], settings: &Settings) -> Result<(), AnalyzeError> {
        let flips = steps.iter().filter(|flip| **flip).count();
        self.any_step += u64::from(flips >= 1);
        self.several_steps += u64::from(flips >= 2);
        self.returns += u64::from(comes_back(ends.observation, steps, settings)?);
        if ends.is_flip() {
            for (rung, alignment) in &mut self.middles {
                alignment.count(ends, rung)?;
            }
        }
        Ok(())
    }
}

/// Whether the question flips at two consecutive steps and ends where it began.
fn comes_back(observation: &Observation, steps: &[bool], settings: &Settings) -> Result<bool, AnalyzeError> {
    let snapshots = settings.steps();
    for (place, pair) in steps.windows(2).enumerate() {
        if !pair.iter().all(|flip| *flip) {
            continue;
        }
        let (before, after) = (find(observation, snapshots[place])?, find(observation, snapshots[place + 2])?);
        if agreeing(observation, before, after)? == Agreeing::All {
            return Ok(true);
        }
    }
    Ok(false)
}
