//! A snapshot that answers every question with nothing. An index that is empty, or asked in a way that it never matches,
//! looks like one from which everything was lost; and where both sides are so, like one in which nothing changed.

use super::limits::ANSWERED;
use super::progress::Progress;
use crate::http::Context;
use crate::model::{Event, Failure, FailureClass, SnapshotName};
use camino::Utf8Path;

/// What is wrong, where a snapshot gave no document for any of the questions.
pub(super) fn named(progress: &Progress) -> Option<String> {
    told(progress.questions(), progress.barren())
}

fn told<'n>(questions: usize, names: impl IntoIterator<Item = &'n SnapshotName>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("none of the {questions} questions got a document from {}", names.join(", ")))
}

/// Why evidence of so many questions cannot stand, where these snapshots gave no document for any of them: what stops the stage
/// is asked again of whatever is verified or merged.
#[must_use]
pub fn intolerable<'n>(questions: u64, barren: impl IntoIterator<Item = &'n SnapshotName>) -> Option<String> {
    let questions = usize::try_from(questions).unwrap_or(usize::MAX);
    told(questions, barren).filter(|_| questions >= ANSWERED)
}

/// Whether there are too many questions for this to be by chance.
pub(super) const fn stops(progress: &Progress) -> bool {
    progress.questions() >= ANSWERED
}

/// Stops where a snapshot answers nothing at all; says so where there are too few questions to tell.
///
/// # Errors
/// A snapshot gave no document for any of at least [`ANSWERED`] questions.
pub(super) fn judge(progress: &Progress, folder: &Utf8Path, context: &Context) -> Result<(), Failure> {
    let Some(message) = named(progress) else { return Ok(()) };
    if !stops(progress) {
        context.observer.observe(Event::Note(format!("{message}: check that it is filled, and how it is asked")));
        return Ok(());
    }
    Err(Failure::new(FailureClass::Incomplete, message).with_hint(format!(
        "fill it, or mend how it is asked; then remove the run folder `{folder}`, which keeps what was retrieved, and run \
         again"
    )))
}
