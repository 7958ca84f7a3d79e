//! What is known of an answer besides judgments: which other answers it equals after normalisation, and how it stands to
//! gold. Computed from the texts, or as somebody recorded it who had them; the figures are the same either way.

use super::AnalyzeError;
use super::score::GoldAnswers;
use crate::model::{Answer, Normalisation, Observation, QuestionId};
use std::collections::BTreeMap;

/// Where it is known from, for one question.
#[derive(Clone, Copy, Debug)]
pub enum Scoring<'a> {
    /// From the texts of the answers and of gold.
    Texts(Normalisation),
    /// As recorded; an answer's text is then a name that stands for it, and gold is not needed.
    Recorded(&'a QuestionScores),
}

/// Scores by question.
pub type Scores = BTreeMap<QuestionId, QuestionScores>;

/// The scores of one question's answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionScores {
    /// Whether the question has gold.
    pub gold: bool,
    /// Its distinct answers.
    pub answers: BTreeMap<Answer, Score>,
}

/// What is known of one answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Answers of one question with the same class are equal after normalisation.
    pub class: u32,
    /// Whether it is exactly `UNKNOWN`.
    pub unknown: bool,
    /// Whether it equals a gold answer after normalisation; without gold it does not.
    pub right: bool,
    /// Its largest token F1 over the gold answers, from 0 to 1; 0 without gold.
    pub f1: f64,
}

impl<'a> Scoring<'a> {
    /// Whether every answer of the question is scored.
    ///
    /// # Errors
    /// One is not.
    pub(super) fn check(&self, observation: &Observation) -> Result<(), AnalyzeError> {
        let Self::Recorded(scores) = self else { return Ok(()) };
        let mut answers = observation.snapshots.iter().flat_map(|snapshot| &snapshot.answers);
        let known = answers.all(|answer| scores.answers.contains_key(answer));
        if known { Ok(()) } else { Err(AnalyzeError::Unscored(observation.id.clone())) }
    }

    /// For each of these answers the first of them that it equals after normalisation.
    pub(super) fn classes(&self, answers: &[&Answer]) -> Vec<usize> {
        match self {
            Self::Texts(normalisation) => {
                let texts: Vec<String> = answers.iter().map(|answer| normalisation.apply(answer.as_str())).collect();
                firsts(&texts)
            }
            Self::Recorded(scores) => {
                let of = |answer: &&Answer| scores.answers.get(*answer).map(|score| score.class);
                firsts(&answers.iter().map(of).collect::<Vec<_>>())
            }
        }
    }

    /// How answers to this question are marked; absent where it has no gold.
    pub(super) fn marks(&self, observation: &Observation) -> Option<Marks<'a>> {
        match self {
            Self::Texts(normalisation) => GoldAnswers::new(&observation.gold, *normalisation).map(Marks::Texts),
            Self::Recorded(scores) => scores.gold.then_some(Marks::Recorded(scores)),
        }
    }

    /// Whether the answer is exactly `UNKNOWN`.
    pub(super) fn is_unknown(&self, answer: &Answer) -> bool {
        match self {
            Self::Texts(_) => answer.is_unknown(),
            Self::Recorded(scores) => scores.answers.get(answer).is_some_and(|score| score.unknown),
        }
    }
}

/// For each value the place of the first one that equals it.
fn firsts<T: PartialEq>(values: &[T]) -> Vec<usize> {
    let first = |value: &T| values.iter().position(|other| other == value).unwrap_or_default();
    values.iter().map(first).collect()
}

/// How the answers to one question with gold are marked.
pub(super) enum Marks<'a> {
    Texts(GoldAnswers),
    Recorded(&'a QuestionScores),
}

impl Marks<'_> {
    /// Whether the answer equals a gold answer after normalisation.
    pub(super) fn matches(&self, answer: &Answer) -> bool {
        match self {
            Self::Texts(gold) => gold.matches(answer),
            Self::Recorded(scores) => scores.answers.get(answer).is_some_and(|score| score.right),
        }
    }

    /// Its largest token F1.
    pub(super) fn f1(&self, answer: &Answer) -> f64 {
        match self {
            Self::Texts(gold) => gold.f1(answer),
            Self::Recorded(scores) => scores.answers.get(answer).map_or(0.0, |score| score.f1),
        }
    }
}

/// Scores the answers to one question, in the order in which they are given; equal texts are one answer.
///
/// ```
/// use churngate::{analyze::scoring::score, model::{Answer, Normalisation}};
/// let answers = ["The Executor", "executor", "UNKNOWN"].map(|text| Answer::parse(text, 512).unwrap());
/// let scores = score(&answers, &["Executor".to_owned()], Normalisation::Nq);
/// assert_eq!([scores[0].1.class, scores[1].1.class, scores[2].1.class], [0, 0, 1]);
/// assert!(scores[1].1.right && scores[2].1.unknown);
/// ```
#[must_use]
pub fn score<'a>(
    answers: impl IntoIterator<Item = &'a Answer>,
    gold: &[String],
    normalisation: Normalisation,
) -> Vec<(&'a Answer, Score)> {
    let gold = GoldAnswers::new(gold, normalisation);
    let mut normal: Vec<String> = Vec::new();
    let mut scores: Vec<(&Answer, Score)> = Vec::new();
    for answer in answers {
        if scores.iter().any(|(known, _)| *known == answer) {
            continue;
        }
        let text = normalisation.apply(answer.as_str());
        let class = normal.iter().position(|known| *known == text).unwrap_or_else(|| {
            normal.push(text);
            normal.len() - 1
        });
        let score = Score {
            class: u32::try_from(class).unwrap_or(u32::MAX),
            unknown: answer.is_unknown(),
            right: gold.as_ref().is_some_and(|gold| gold.matches(answer)),
            f1: gold.as_ref().map_or(0.0, |gold| gold.f1(answer)),
        };
        scores.push((answer, score));
    }
    scores
}
