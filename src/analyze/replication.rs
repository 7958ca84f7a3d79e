//! The same audit with a second generator or a second judge, question by question.

use super::AnalyzeError;
use super::bootstrap::{Bootstrap, Contrasts};
use super::comparison::Comparison;
use super::lattice::fraction;
use super::scoring::Scoring;
use super::settings::Settings;
use crate::model::{Fraction, Normalisation, Observation, QuestionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// D̂ twice over the same questions, and the paired difference. Intervals are two-sided and exact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedChurn {
    /// Questions in both.
    pub questions: u64,
    /// D̂ of the first.
    pub first: Churn,
    /// D̂ of the second.
    pub second: Churn,
    /// The mean of `d_i(first) - d_i(second)`.
    pub difference: Churn,
}

/// A mean over questions with its percentile interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Churn {
    /// The mean.
    pub mean: Fraction,
    /// The interval over resampled questions.
    pub interval: (Fraction, Fraction),
}

impl PairedChurn {
    /// The semantic kernel of the questions that stand on both sides.
    ///
    /// # Errors
    /// [`AnalyzeError::NoQuestions`] where none does; those of a comparison; unequal repeats of the two sides.
    pub fn semantic(one: &[Observation], other: &[Observation], settings: &Settings) -> Result<Self, AnalyzeError> {
        let (one, of_one) = contrasts(one, settings)?;
        let (other, of_other) = contrasts(other, settings)?;
        let units = match (of_one, of_other) {
            (Some(one), Some(other)) if one != other => return Err(AnalyzeError::TooLarge),
            (one, other) => one.or(other).unwrap_or(1),
        };
        let pairs: Vec<(i64, i64)> = one.iter().filter_map(|(id, one)| Some((*one, *other.get(id)?))).collect();
        let side =
            |of: fn(&(i64, i64)) -> (i64, i64)| Churn::of(&pairs.iter().map(of).collect::<Vec<_>>(), units, settings);
        Ok(Self {
            questions: pairs.len() as u64,
            first: side(|(one, _)| (*one, 0))?,
            second: side(|(_, other)| (*other, 0))?,
            difference: side(|pair| *pair)?,
        })
    }
}

impl Churn {
    fn of(pairs: &[(i64, i64)], units: u64, settings: &Settings) -> Result<Self, AnalyzeError> {
        let sum = pairs.iter().map(|(one, other)| one - other).sum();
        let interval = paired(pairs, units)?.bounds(settings.confidence)?.interval;
        Ok(Self { mean: fraction(sum, units, pairs.len() as u64)?, interval })
    }
}

/// The semantic contrast of each question, and how many units make 1, where any question was asked.
fn contrasts<'a>(
    observations: &'a [Observation],
    settings: &Settings,
) -> Result<(BTreeMap<&'a QuestionId, i64>, Option<u64>), AnalyzeError> {
    let mut comparison = Comparison::new(&settings.old, &settings.new);
    let mut contrasts = BTreeMap::new();
    for observation in observations {
        // The semantic kernel needs no normalisation.
        let asked = comparison.take(observation, Scoring::Texts(Normalisation::None))?;
        let contrast = asked.map_or(0, |(asked, lattice)| lattice.contrast(asked.semantic.agreeing()));
        contrasts.insert(&observation.id, contrast);
    }
    Ok((contrasts, comparison.lattice.map(|lattice| lattice.units())))
}
