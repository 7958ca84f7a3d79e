//! Observations -> the checked comparison of two snapshots, question by question.

use super::AnalyzeError;
use super::edges::Edges;
use super::lattice::{Lattice, Repeats};
use super::scoring::Scoring;
use super::splits;
use crate::model::{Answer, Label, Observation, SnapshotAnswers, SnapshotName};

/// One asked question: its answers from both snapshots, and which of them agree.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// Everything observed of it.
    pub observation: &'a Observation,
    /// What is known of its answers besides judgments.
    pub scoring: Scoring<'a>,
    /// What the old snapshot gave.
    pub old: &'a SnapshotAnswers,
    /// What the new one gave.
    pub new: &'a SnapshotAnswers,
    /// Agreement under the exact kernel.
    pub exact: Edges,
    /// Agreement under the semantic kernel.
    pub semantic: Edges,
}

/// The comparison of two snapshots, question by question: what it keeps does not grow with their number.
#[derive(Clone, Debug)]
pub struct Comparison {
    old: SnapshotName,
    new: SnapshotName,
    /// How many questions were asked.
    pub asked: u64,
    /// How many questions were left unasked because their prompts are identical.
    pub unchanged: u64,
    /// How many further questions lack an answer or a judgment: the upper bound alone knows of them.
    pub left_out: u64,
    /// The lattice of the contrasts; absent where no question was asked.
    pub lattice: Option<Lattice>,
}

impl Asked<'_> {
    /// Whether it is a stable flip under the semantic kernel.
    #[must_use]
    pub fn is_flip(&self) -> bool {
        self.semantic.is_stable_flip()
    }
}

impl Comparison {
    /// Compares two snapshots. Nothing is compared yet.
    #[must_use]
    pub fn new(old: &SnapshotName, new: &SnapshotName) -> Self {
        Self { old: old.clone(), new: new.clone(), asked: 0, unchanged: 0, left_out: 0, lattice: None }
    }

    /// Takes the next question; `None` where it was not asked. Pairs of answers that differ byte by byte must have a judgment.
    ///
    /// # Errors
    /// A missing snapshot or judgment, fewer than two or unequal repeats, answers to an unchanged question.
    pub fn take<'a>(
        &mut self,
        observation: &'a Observation,
        scoring: Scoring<'a>,
    ) -> Result<Option<(Asked<'a>, Lattice)>, AnalyzeError> {
        let pair = (find(observation, &self.old)?, find(observation, &self.new)?);
        if observation.unchanged {
            refuse_answers(observation, pair.0)?;
            refuse_answers(observation, pair.1)?;
            self.unchanged += 1;
            return Ok(None);
        }
        let lattice = self.lattice_for(observation, pair)?;
        self.asked += 1;
        Ok(Some((ask(observation, pair, lattice.repeats(), scoring)?, lattice)))
    }

    /// N: asked and unchanged questions.
    #[must_use]
    pub const fn questions(&self) -> u64 {
        self.asked + self.unchanged
    }

    /// How many lattice units make 1.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.lattice.map_or(1, |lattice| lattice.units())
    }

    /// The repeats, which the first asked question fixes.
    fn lattice_for(
        &mut self,
        observation: &Observation,
        (old, new): (&SnapshotAnswers, &SnapshotAnswers),
    ) -> Result<Lattice, AnalyzeError> {
        let expected = self.lattice.map(|lattice| lattice.repeats());
        let repeats = Repeats {
            old: count(observation, old, expected.map(|repeats| repeats.old))?,
            new: count(observation, new, expected.map(|repeats| repeats.new))?,
        };
        let lattice = self.lattice.map_or_else(|| lattice(repeats), Ok)?;
        self.lattice = Some(lattice);
        Ok(lattice)
    }
}

/// The lattice of repeats whose splits can be counted: more are refused before any answer is looked at.
fn lattice(repeats: Repeats) -> Result<Lattice, AnalyzeError> {
    let lattice = Lattice::new(repeats)?;
    let Repeats { old, new } = repeats;
    splits::choose(old + new, old).map(|_| lattice).ok_or(AnalyzeError::TooManySplits { old, new })
}

pub(super) fn find<'a>(observation: &'a Observation, name: &SnapshotName) -> Result<&'a SnapshotAnswers, AnalyzeError> {
    let mut named = observation.snapshots.iter().filter(|entry| entry.snapshot == *name);
    match (named.next(), named.next()) {
        (Some(answers), None) => Ok(answers),
        (Some(_), Some(_)) => Err(AnalyzeError::DuplicateSnapshot(name.clone())),
        (None, _) => Err(AnalyzeError::MissingSnapshot { question: observation.id.clone(), snapshot: name.clone() }),
    }
}

fn refuse_answers(observation: &Observation, entry: &SnapshotAnswers) -> Result<(), AnalyzeError> {
    if entry.answers.is_empty() {
        return Ok(());
    }
    Err(AnalyzeError::AnsweredUnchanged { question: observation.id.clone(), snapshot: entry.snapshot.clone() })
}

fn count(observation: &Observation, entry: &SnapshotAnswers, expected: Option<u32>) -> Result<u32, AnalyzeError> {
    let found = entry.answers.len();
    let (question, snapshot) = (observation.id.clone(), entry.snapshot.clone());
    match expected {
        _ if found < 2 => Err(AnalyzeError::TooFewRepeats { question, snapshot, found }),
        Some(expected) if expected as usize != found => {
            Err(AnalyzeError::UnequalRepeats { question, snapshot, found, expected: expected as usize })
        }
        _ => u32::try_from(found).map_err(|_| AnalyzeError::TooLarge),
    }
}

fn ask<'a>(
    observation: &'a Observation,
    (old, new): (&'a SnapshotAnswers, &'a SnapshotAnswers),
    repeats: Repeats,
    scoring: Scoring<'a>,
) -> Result<Asked<'a>, AnalyzeError> {
    let pooled: Vec<&Answer> = old.answers.iter().chain(&new.answers).collect();
    let classes = scoring.classes(&pooled);
    let exact = Edges::build(repeats, |i, j| Ok::<_, AnalyzeError>(classes[i] == classes[j]))?;
    let semantic = Edges::build(repeats, |i, j| match observation.label(pooled[i], pooled[j]) {
        Some(label) => Ok(label == Label::Same),
        None => Err(missing(observation, (old, new), i, j)),
    })?;
    Ok(Asked { observation, scoring, old, new, exact, semantic })
}

/// The pooled answers `i` and `j` as snapshot and repeat.
fn missing(observation: &Observation, sides: (&SnapshotAnswers, &SnapshotAnswers), i: usize, j: usize) -> AnalyzeError {
    let place = |answer: usize| match answer.checked_sub(sides.0.answers.len()) {
        None => (sides.0, answer),
        Some(of_new) => (sides.1, of_new),
    };
    missing_between(observation, place(i), place(j))
}

pub(super) fn missing_between(
    observation: &Observation,
    one: (&SnapshotAnswers, usize),
    other: (&SnapshotAnswers, usize),
) -> AnalyzeError {
    let named = |(entry, repeat): (&SnapshotAnswers, usize)| (entry.snapshot.clone(), repeat);
    AnalyzeError::MissingJudgment { question: observation.id.clone(), one: named(one), other: named(other) }
}
