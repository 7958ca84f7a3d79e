//! Correctness against gold, and how matched answers moved. It can neither rescue nor sink the gate.

use super::AnalyzeError;
use super::comparison::Asked;
use super::figures::{Correctness, Flows};
use super::lattice::fraction;
use super::scoring::Marks;
use crate::model::{Answer, Fraction, Label};

/// Sums over the answers of one snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    answers: u64,
    right: i64,
    f1: f64,
}

/// What is counted of correctness over the asked questions.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]], "gold": ["x"]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let flows = analysis.correctness.unwrap().flows_changed_meaning;
/// assert_eq!((flows.kept, flows.lost, flows.gained, flows.wrong), (0, 2, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Marked {
    questions: u64,
    comparisons: u64,
    old: Side,
    new: Side,
    same: Flows,
    changed: Flows,
    unknown: [Said; 2],
}

/// Answers of one snapshot that are UNKNOWN, among all of them.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    unknown: i64,
    answers: u64,
}

impl Marked {
    /// Takes one asked question.
    pub fn take(&mut self, asked: &Asked<'_>) {
        for (said, side) in self.unknown.iter_mut().zip([asked.old, asked.new]) {
            let unknown = side.answers.iter().filter(|answer| asked.scoring.is_unknown(answer));
            said.unknown += unknown.map(|_| 1).sum::<i64>();
            said.answers += side.answers.len() as u64;
        }
        let Some(gold) = asked.scoring.marks(asked.observation) else { return };
        self.questions += 1;
        let right_old = self.old.add(&asked.old.answers, &gold);
        let right_new = self.new.add(&asked.new.answers, &gold);
        for (repeat, (before, after)) in right_old.into_iter().zip(right_new).enumerate() {
            self.comparisons += 1;
            let flows = if keeps_meaning(asked, repeat) { &mut self.same } else { &mut self.changed };
            flows.count(before, after);
        }
    }

    /// Correctness of both snapshots; absent where no asked question has gold. With equal repeats the net flow
    /// (gained - lost) over the comparisons is exactly the change of exact match.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where a denominator does not fit.
    pub fn finish(&self) -> Result<Option<Correctness>, AnalyzeError> {
        if self.questions == 0 {
            return Ok(None);
        }
        Ok(Some(Correctness {
            questions: self.questions,
            comparisons: self.comparisons,
            exact_match: (self.old.exact_match()?, self.new.exact_match()?),
            f1: (self.old.mean_f1(), self.new.mean_f1()),
            unknown: self.unknown()?,
            flows_same_meaning: self.same,
            flows_changed_meaning: self.changed,
        }))
    }

    /// The shares of UNKNOWN among all answers to asked questions, old and new.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where no question was asked.
    pub fn unknown(&self) -> Result<(Fraction, Fraction), AnalyzeError> {
        let [old, new] = self.unknown.map(|said| fraction(said.unknown, 1, said.answers));
        Ok((old?, new?))
    }
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
