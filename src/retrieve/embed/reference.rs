//! Which embedder a folder's questions were embedded by, as far as the reference text shows it.

use super::kept::Kept;
use super::line::Line;
use crate::model::{Failure, FailureClass};
use camino::Utf8Path;

/// What an embedder made of the reference text.
#[derive(Debug)]
pub struct Reference(Line);

impl Reference {
    /// What tells another embedder from this one; nothing where they are one.
    #[must_use]
    pub fn unlike(&self, other: &Self) -> Option<String> {
        self.0.unlike_of_one_text(&other.0)
    }
}

/// The first one of a folder, whose questions are embedded.
///
/// # Errors
/// The ledger of vectors is missing or damaged, or has none: class [`FailureClass::Evidence`].
pub fn reference(folder: &Utf8Path) -> Result<Reference, Failure> {
    let kept = Kept::read(folder, None)?;
    let none = || Failure::new(FailureClass::Evidence, format!("`{folder}`: `vectors.jsonl` has no reference text"));
    kept.first().cloned().map(Reference).ok_or_else(none)
}
