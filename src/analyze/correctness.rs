//! Correctness against gold, and how matched answers moved. It can neither rescue nor sink the gate.

use super::AnalyzeError;
use super::comparison::{Asked, Comparison};
use super::figures::{Correctness, Flows};
use super::lattice::fraction;
use super::scoring::{Marks, Scoring};
use crate::model::{Answer, Fraction, Label};

/// Sums over the answers of one snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    answers: u64,
    right: i64,
    f1: f64,
}

/// Correctness of both snapshots; absent where no asked question has gold. With equal repeats the net flow
/// (gained - lost) over the comparisons is exactly the change of exact match.
///
/// # Errors
/// [`AnalyzeError::TooLarge`] where a denominator does not fit.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]], "gold": ["x"]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let flows = analysis.correctness.unwrap().flows_changed_meaning;
/// assert_eq!((flows.kept, flows.lost, flows.gained, flows.wrong), (0, 2, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn correctness(comparison: &Comparison<'_>, scoring: Scoring<'_>) -> Result<Option<Correctness>, AnalyzeError> {
    let (mut old, mut new) = (Side::default(), Side::default());
    let (mut same, mut changed) = (Flows::default(), Flows::default());
    let (mut questions, mut comparisons) = (0, 0);
    for asked in &comparison.asked {
        let Some(gold) = scoring.marks(asked.observation) else { continue };
        questions += 1;
        let right_old = old.add(&asked.old.answers, &gold);
        let right_new = new.add(&asked.new.answers, &gold);
        for (repeat, (before, after)) in right_old.into_iter().zip(right_new).enumerate() {
            comparisons += 1;
            let flows = if keeps_meaning(asked, repeat) { &mut same } else { &mut changed };
            flows.count(before, after);
        }
    }
    if questions == 0 {
        return Ok(None);
    }
    Ok(Some(Correctness {
        questions,
        comparisons,
        exact_match: (old.exact_match()?, new.exact_match()?),
        f1: (old.mean_f1(), new.mean_f1()),
        unknown: unknown(comparison, scoring)?,
        flows_same_meaning: same,
        flows_changed_meaning: changed,
    }))
}

impl Side {
    /// Adds the answers of one question; says which of them are right.
    fn add(&mut self, answers: &[Answer], gold: &Marks<'_>) -> Vec<bool> {
        let right: Vec<bool> = answers.iter().map(|answer| gold.matches(answer)).collect();
        self.answers += answers.len() as u64;
        self.right += right.iter().map(|right| i64::from(*right)).sum::<i64>();
        self.f1 += answers.iter().map(|answer| gold.f1(answer)).sum::<f64>();
        right
    }

    fn exact_match(&self) -> Result<Fraction, AnalyzeError> {
        fraction(self.right, 1, self.answers)
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of answers are far below 2^53")]
    fn mean_f1(&self) -> f64 {
        self.f1 / self.answers as f64
    }
}

impl Flows {
    fn count(&mut self, before: bool, after: bool) {
        match (before, after) {
            (true, true) => self.kept += 1,
            (true, false) => self.lost += 1,
            (false, true) => self.gained += 1,
            (false, false) => self.wrong += 1,
        }
    }
}

/// Whether the judged meaning of this repeat's two answers is the same.
fn keeps_meaning(asked: &Asked<'_>, repeat: usize) -> bool {
    match (asked.old.answers.get(repeat), asked.new.answers.get(repeat)) {
        (Some(old), Some(new)) => asked.observation.label(old, new) == Some(Label::Same),
        _ => false,
    }
}

/// The shares of UNKNOWN among all answers to asked questions, old and new.
///
/// # Errors
/// [`AnalyzeError::TooLarge`] where no question was asked.
pub(super) fn unknown(comparison: &Comparison<'_>, scoring: Scoring<'_>) -> Result<(Fraction, Fraction), AnalyzeError> {
    let share = |answers: &dyn Fn(&Asked<'_>) -> Vec<bool>| {
        let said: Vec<bool> = comparison.asked.iter().flat_map(answers).collect();
        fraction(said.iter().map(|unknown| i64::from(*unknown)).sum(), 1, said.len() as u64)
    };
    let marks = |asked: &Asked<'_>, answers: &[Answer]| {
        answers.iter().map(|answer| scoring.is_unknown(asked.observation, answer)).collect()
    };
    Ok((share(&|asked| marks(asked, &asked.old.answers))?, share(&|asked| marks(asked, &asked.new.answers))?))
}
