//! Stable flips along a ladder of snapshots.

use super::AnalyzeError;
use super::alignment::{Agreeing, agreeing, alignment};
use super::comparison::{Comparison, find};
use super::figures::Trajectories;
use super::scoring::Scoring;
use super::settings::Settings;
use crate::model::{Observation, QuestionId};
use std::collections::BTreeSet;

/// The flips at every adjacent step, joined by question; absent where nothing stands between old and new.
///
/// `ends` is the comparison of old and new.
///
/// # Errors
/// Those of [`Comparison::build`] for any adjacent pair, and a missing judgment of two snapshots two steps apart.
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
pub fn trajectories(
    observations: &[Observation],
    ends: &Comparison<'_>,
    settings: &Settings,
    scoring: Scoring<'_>,
) -> Result<Option<Trajectories>, AnalyzeError> {
    if settings.between.is_empty() {
        return Ok(None);
    }
    let steps = flips_by_step(observations, settings, scoring)?;
    let flips = |observation: &Observation| steps.iter().filter(|step| step.contains(&observation.id)).count();
    let asked = || observations.iter().filter(|observation| !observation.unchanged);
    let mut returns = 0;
    for observation in asked() {
        returns += u64::from(comes_back(observation, &steps, settings)?);
    }
    let middles = settings.between.iter().map(|rung| Ok((rung.clone(), alignment(ends, rung)?)));
    Ok(Some(Trajectories {
        any_step: asked().filter(|observation| flips(observation) >= 1).count() as u64,
        several_steps: asked().filter(|observation| flips(observation) >= 2).count() as u64,
        returns,
        middles: middles.collect::<Result<Vec<_>, AnalyzeError>>()?,
    }))
}

type Flipped<'a> = BTreeSet<&'a QuestionId>;

fn flips_by_step<'a>(
    observations: &'a [Observation],
    settings: &Settings,
    scoring: Scoring<'a>,
) -> Result<Vec<Flipped<'a>>, AnalyzeError> {
    let snapshots = settings.steps();
    let pairs = snapshots.iter().zip(snapshots.iter().skip(1));
    pairs
        .map(|(from, to)| {
            let comparison = Comparison::build(observations, from, to, scoring)?;
            let flips = comparison.asked.iter().filter(|asked| asked.is_flip());
            Ok(flips.map(|asked| &asked.observation.id).collect())
        })
        .collect()
}

/// Whether the question flips at two consecutive steps and ends where it began.
fn comes_back(observation: &Observation, steps: &[Flipped<'_>], settings: &Settings) -> Result<bool, AnalyzeError> {
    let snapshots = settings.steps();
    for (place, pair) in steps.windows(2).enumerate() {
        if !pair.iter().all(|step| step.contains(&observation.id)) {
            continue;
        }
        let (before, after) = (find(observation, snapshots[place])?, find(observation, snapshots[place + 2])?);
        if agreeing(observation, before, after)? == Agreeing::All {
            return Ok(true);
        }
    }
    Ok(false)
}
