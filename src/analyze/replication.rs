//! The same audit with a second generator or a second judge, question by question.

use super::AnalyzeError;
use super::bootstrap::{Bootstrap, Contrasts};
use super::comparison::Comparison;
use super::lattice::fraction;
use super::scoring::{Scores, Scoring};
use super::settings::Settings;
use crate::model::{Fraction, Kernel, Normalisation, Observation, QuestionId};
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
    /// One kernel of the questions that stand on both sides.
    ///
    /// # Errors
    /// [`AnalyzeError::NoQuestions`] where none does; those of a comparison; unequal repeats of the two sides; an answer without a
    /// score, where scores take the place of texts and the kernel needs them.
    pub fn of(kernel: Kernel, one: Side<'_>, other: Side<'_>, settings: &Settings) -> Result<Self, AnalyzeError> {
        let (one, of_one) = one.contrasts(kernel, settings)?;
        let (other, of_other) = other.contrasts(kernel, settings)?;
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

/// The observations of one side.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What was observed.
    pub observations: &'a [Observation],
    /// Which answers are equal after normalisation, where their texts are left out.
    pub scores: Option<&'a Scores>,
}

impl<'a> Side<'a> {
    /// Observations with their texts, or of which only judgments matter.
    #[must_use]
    pub const fn of(observations: &'a [Observation]) -> Self {
        Self { observations, scores: None }
    }

    /// The contrast of each question, and how many units make 1, where any question was asked.
    fn contrasts(
        self,
        kernel: Kernel,
        settings: &Settings,
    ) -> Result<(BTreeMap<&'a QuestionId, i64>, Option<u64>), AnalyzeError> {
        let mut comparison = Comparison::new(&settings.old, &settings.new);
        let mut contrasts = BTreeMap::new();
        for observation in self.observations {
            let scoring = self.scoring(kernel, &observation.id, settings)?;
            if kernel == Kernel::Exact {
                scoring.check(observation)?;
            }
            let asked = comparison.take(observation, scoring)?;
            let contrast = asked.map_or(0, |(asked, lattice)| {
                let edges = if kernel == Kernel::Exact { &asked.exact } else { &asked.semantic };
                lattice.contrast(edges.agreeing())
            });
            contrasts.insert(&observation.id, contrast);
        }
        Ok((contrasts, comparison.lattice.map(|lattice| lattice.units())))
    }

    fn scoring(&self, kernel: Kernel, id: &QuestionId, settings: &Settings) -> Result<Scoring<'a>, AnalyzeError> {
        match (kernel, self.scores) {
            // The semantic kernel needs no normalisation.
            (Kernel::Semantic, _) => Ok(Scoring::Texts(Normalisation::None)),
            (Kernel::Exact, None) => Ok(Scoring::Texts(settings.normalisation)),
            (Kernel::Exact, Some(scores)) => {
                scores.get(id).map(Scoring::Recorded).ok_or_else(|| AnalyzeError::Unscored(id.clone()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::{QuestionScores, Score};
    use crate::model::{Answer, Label, SnapshotAnswers, SnapshotName};

    fn answer(text: &str) -> Answer {
        Answer::parse(text, 512).unwrap()
    }

    /// One question, whose answers all mean the same.
    fn observation(old: [&str; 2], new: [&str; 2]) -> Observation {
        let side = |snapshot, answers: [&str; 2]| SnapshotAnswers {
            snapshot,
            answers: answers.map(answer).into(),
            evidence: None,
            cited: Vec::new(),
        };
        let texts: std::collections::BTreeSet<&str> = old.into_iter().chain(new).collect();
        let pairs =
            texts.iter().flat_map(|one| texts.iter().filter(move |other| one < *other).map(move |other| (one, other)));
        Observation {
            id: QuestionId("q".to_owned()),
            cluster: None,
            tags: Vec::new(),
            snapshots: vec![side(SnapshotName::old(), old), side(SnapshotName::new_snapshot(), new)],
            judgments: pairs.map(|(one, other)| ((answer(one), answer(other)), Label::Same)).collect(),
            similarities: BTreeMap::new(),
            gold: Vec::new(),
            unchanged: false,
        }
    }

    /// In percentage points: the first, the second, their difference.
    fn means(found: &PairedChurn) -> [String; 3] {
        [&found.first, &found.second, &found.difference].map(|churn| churn.mean.to_pp(0))
    }

    #[test]
    fn the_exact_kernel_follows_the_normalisation_and_the_semantic_one_the_labels() {
        let first = [observation(["92", "92."], ["93", "93"])];
        let second = [observation(["92", "92"], ["The 92", "93"])];
        let settings = Settings { normalisation: Normalisation::Nq, ..Settings::default() };
        let of = |kernel| PairedChurn::of(kernel, Side::of(&first), Side::of(&second), &settings).unwrap();
        assert_eq!(means(&of(Kernel::Semantic)), ["0"; 3]);
        // Within 1 and across 0; within (1 + 0) / 2 and across 1/2.
        assert_eq!(means(&of(Kernel::Exact)), ["100", "0", "100"]);
    }

    #[test]
    fn recorded_classes_come_to_the_same_and_an_answer_without_one_is_refused() {
        let observations = [observation(["a", "b"], ["c", "c"])];
        let score = |class| Score { class, unknown: false, right: false, f1: 0.0 };
        let scores = |classes: &[(&str, u32)]| {
            let answers = classes.iter().map(|(text, class)| (answer(text), score(*class))).collect();
            Scores::from([(QuestionId("q".to_owned()), QuestionScores { gold: false, answers })])
        };
        let settings = Settings::default();
        let of = |scores: &Scores| {
            let side = Side { observations: &observations, scores: Some(scores) };
            PairedChurn::of(Kernel::Exact, side, Side::of(&observations), &settings)
        };
        assert_eq!(means(&of(&scores(&[("a", 0), ("b", 0), ("c", 1)])).unwrap()), ["100", "50", "50"]);
        for lacking in [scores(&[("a", 0), ("c", 1)]), Scores::new()] {
            assert_eq!(of(&lacking), Err(AnalyzeError::Unscored(QuestionId("q".to_owned()))));
        }
    }
}
