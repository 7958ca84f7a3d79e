//! Stable flips: questions whose repeats agree within each snapshot and disagree in every cross pair.

use super::comparison::{Asked, Comparison};
use super::figures::Flip;
use super::kernel::Counts;
use super::lattice::Repeats;
use super::overlap;
use crate::model::Answer;

/// The count corrected for noise, `n_FL - n_XX / 2`, for two repeats on both sides.
///
/// Under no change and transitive labels a question `ab|ab` (no pair within, both matched or both crossed pairs across) is
/// twice as likely as a question `aa|bb`, so the expectation is zero.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// assert_eq!(analysis.flips[0].question.to_string(), "q1");
/// assert_eq!(analysis.kernels[1].corrected_flips, Some(1.0)); // no `ab|ab` to subtract
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
pub fn corrected(counts: &Counts, comparison: &Comparison) -> Option<f64> {
    let two_each = comparison.lattice?.repeats() == Repeats { old: 2, new: 2 };
    two_each.then(|| counts.flips as f64 - counts.swaps as f64 / 2.0)
}

/// Puts stable flips of the semantic kernel in order, worst first: right answers lost, then wrong to differently wrong and
/// those without gold, then right answers gained; by id among equals.
pub fn sort(flips: &mut [Flip]) {
    flips.sort_by(|one, other| (severity(one), &one.question).cmp(&(severity(other), &other.question)));
}

/// What is told of a question that flipped; nothing where it has no answers.
#[must_use]
pub fn describe(asked: &Asked<'_>) -> Option<Flip> {
    let gold = asked.scoring.marks(asked.observation);
    let any_right = |answers: &[Answer]| gold.as_ref().map(|gold| answers.iter().any(|answer| gold.matches(answer)));
    Some(Flip {
        question: asked.observation.id.clone(),
        old: asked.old.answers.first()?.clone(),
        new: asked.new.answers.first()?.clone(),
        old_correct: any_right(&asked.old.answers),
        new_correct: any_right(&asked.new.answers),
        shared_documents: overlap::shared_contents(asked.old, asked.new),
    })
}

/// The smaller, the worse.
const fn severity(flip: &Flip) -> u8 {
    match (flip.old_correct, flip.new_correct) {
        (Some(true), Some(false)) => 0,
        (Some(false), Some(false)) | (None, _) | (_, None) => 1,
        (Some(true), Some(true)) => 2,
        (Some(false), Some(true)) => 3,
    }
}
