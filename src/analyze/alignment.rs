//! What a third snapshot says about a stable flip: whether its answers side with the old one, the new one, or neither.

use super::AnalyzeError;
use super::comparison::{Asked, find, missing_between};
use super::figures::Alignment;
use crate::model::{Label, Observation, SnapshotAnswers, SnapshotName};

/// Where the third snapshot's answers to one flipped question stand. Every flip has exactly one place; none is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its own repeats do not all agree.
    RepeatsDisagree,
    /// Every pair with an old answer agrees, and none with a new one.
    Old,
    /// Every pair with a new answer agrees, and none with an old one.
    New,
    /// No pair agrees with either.
    Third,
    /// Anything else: only labels that are not transitive lead here.
    Mixed,
}

impl Alignment {
    /// Counts one stable flip by where the third snapshot stands to it.
    ///
    /// # Errors
    /// The question lacks that snapshot or a judgment of its answers.
    ///
    /// ```
    /// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
    /// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"], "closed_book": ["y", "y"]}, "labels": [["x", "y", "different"]]}"#;
    /// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings { closed_book: true, ..Settings::default() })?;
    /// assert_eq!(analysis.closed_book.map(|anchor| (anchor.old, anchor.new)), Some((0, 1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn count(&mut self, flip: &Asked<'_>, third: &SnapshotName) -> Result<(), AnalyzeError> {
        match side(flip, find(flip.observation, third)?)? {
            Side::RepeatsDisagree => self.repeats_disagree += 1,
            Side::Old => self.old += 1,
            Side::New => self.new += 1,
            Side::Third => self.third += 1,
            Side::Mixed => self.mixed += 1,
        }
        Ok(())
    }
}

/// The place of one question.
///
/// # Errors
/// [`AnalyzeError::MissingJudgment`] where two answers were never judged.
pub fn side(asked: &Asked<'_>, third: &SnapshotAnswers) -> Result<Side, AnalyzeError> {
    if third.answers.is_empty() {
        let (question, snapshot) = (asked.observation.id.clone(), third.snapshot.clone());
        return Err(AnalyzeError::TooFewRepeats { question, snapshot, found: 0 });
    }
    let within = agreeing(asked.observation, third, third)?;
    let (old, new) = (agreeing(asked.observation, asked.old, third)?, agreeing(asked.observation, asked.new, third)?);
    Ok(match (within, old, new) {
        (Agreeing::Some | Agreeing::None, ..) => Side::RepeatsDisagree,
        (_, Agreeing::All, Agreeing::None) => Side::Old,
        (_, Agreeing::None, Agreeing::All) => Side::New,
        (_, Agreeing::None, Agreeing::None) => Side::Third,
        _ => Side::Mixed,
    })
}

/// How many pairs agree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreeing {
    All,
    Some,
    None,
}

/// The pairs of one answer of each snapshot; an answer agrees with itself.
pub(super) fn agreeing(
    observation: &Observation,
    one: &SnapshotAnswers,
    other: &SnapshotAnswers,
) -> Result<Agreeing, AnalyzeError> {
    let (mut same, mut different) = (false, false);
    for (i, left) in one.answers.iter().enumerate() {
        for (j, right) in other.answers.iter().enumerate() {
            match observation.label(left, right) {
                Some(Label::Same) => same = true,
                Some(Label::Different) => different = true,
                None => return Err(missing_between(observation, (one, i), (other, j))),
            }
        }
    }
    Ok(match (same, different) {
        (_, false) => Agreeing::All,
        (true, true) => Agreeing::Some,
        (false, true) => Agreeing::None,
    })
}
