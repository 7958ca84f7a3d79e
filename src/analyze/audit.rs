//! The room's entry: observations in, every figure out.

use super::AnalyzeError;
use super::accumulator::Accumulator;
use super::figures::Analysis;
use super::scoring::Scores;
use super::settings::Settings;
use crate::model::Observation;
use std::collections::BTreeSet;

/// Computes every figure of an audit. The same observations and settings give the same figures, in any order of threads.
///
/// # Errors
/// Observations that do not make an audit: none at all, an id twice, unequal repeats, a missing snapshot or judgment.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let semantic = &analysis.kernels[1];
/// assert_eq!((semantic.churn.value(), semantic.stable_flips), (1.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn analyze(observations: &[Observation], settings: &Settings) -> Result<Analysis, AnalyzeError> {
    accumulate(observations, settings)?.finish()
}

/// Counts all that the figures of an audit need.
///
/// # Errors
/// As [`analyze`], but for what no sum can tell.
pub fn accumulate<'s>(observations: &[Observation], settings: &'s Settings) -> Result<Accumulator<'s>, AnalyzeError> {
    let mut accumulator = Accumulator::new(settings)?;
    check_ids(observations)?;
    for observation in observations {
        accumulator.take(observation)?;
    }
    Ok(accumulator)
}

/// The same from recorded scores in place of texts: the answers of the observations are names, and their gold is not read.
///
/// # Errors
/// As [`analyze`], or an answer that has no score.
pub fn analyze_recorded(
    observations: &[Observation],
    settings: &Settings,
    scores: &Scores,
) -> Result<Analysis, AnalyzeError> {
    let mut accumulator = Accumulator::new(settings)?;
    check_ids(observations)?;
    for observation in observations {
        let scores = scores.get(&observation.id).ok_or_else(|| AnalyzeError::Unscored(observation.id.clone()))?;
        accumulator.take_recorded(observation, scores)?;
    }
    accumulator.finish()
}

fn check_ids(observations: &[Observation]) -> Result<(), AnalyzeError> {
    let mut seen = BTreeSet::new();
    match observations.iter().find(|observation| !seen.insert(&observation.id)) {
        Some(twice) => Err(AnalyzeError::DuplicateQuestion(twice.id.clone())),
        None => Ok(()),
    }
}
