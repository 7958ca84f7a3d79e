//! The same figures for every adjacent pair of snapshots, where there are rungs between old and new.

use super::AnalyzeError;
use super::comparison::Comparison;
use super::figures::Rung;
use super::flips;
use super::kernel::total;
use super::lattice::fraction;
use super::scoring::Scoring;
use super::settings::Settings;
use crate::model::{Fraction, Kernel, Observation};

/// One entry for every adjacent pair, in order; none where nothing stands between old and new.
///
/// # Errors
/// Those of [`Comparison::build`], for any adjacent pair.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "mid": ["y", "y"], "new": ["x", "x"]}, "labels": [["x", "y", "different"]]}"#;
/// let between = vec![churngate::model::SnapshotName("mid".to_owned())];
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings { between, ..Settings::default() })?;
/// assert_eq!(analysis.ladder.iter().map(|rung| rung.stable_flips).collect::<Vec<u64>>(), [1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ladder(
    observations: &[Observation],
    settings: &Settings,
    scoring: Scoring<'_>,
) -> Result<Vec<Rung>, AnalyzeError> {
    if settings.between.is_empty() {
        return Ok(Vec::new());
    }
    let steps = settings.steps();
    let pairs = steps.iter().zip(steps.iter().skip(1));
    pairs
        .map(|(from, to)| {
            let comparison = Comparison::build(observations, from, to, scoring)?;
            Ok(Rung {
                from: (*from).clone(),
                to: (*to).clone(),
                exact: churn(&comparison, Kernel::Exact)?,
                semantic: churn(&comparison, Kernel::Semantic)?,
                stable_flips: flips::count(&comparison, Kernel::Semantic),
            })
        })
        .collect()
}

fn churn(comparison: &Comparison<'_>, kernel: Kernel) -> Result<Fraction, AnalyzeError> {
    let units = comparison.lattice.map_or(1, |lattice| lattice.units());
    fraction(total(comparison, kernel), units, comparison.questions())
}
