//! Which questions are asked, and in which order they are counted: by SHA-256 of `"{seed}:{id}"`, ascending.
//!
//! Nothing else decides: no filter by answerability, topic, retrieval or outcome.

use super::FreezeError;
use super::ids::Ids;
use crate::model::{Digest, Question, QuestionId};

/// What decides the place of a question.
fn draw(seed: u64, id: &QuestionId) -> Digest {
    Digest::of(format!("{seed}:{id}").as_bytes())
}

/// A question's rank: ascending ranks are the selection order.
pub(super) fn rank(seed: u64, id: &QuestionId) -> u128 {
    let digest = draw(seed, id);
    // No two texts are known whose digests begin alike for so long.
    digest.as_bytes().first_chunk().map_or(0, |first| u128::from_be_bytes(*first))
}

/// The first `count` questions (all where absent) of those that the lists of ids allow, in selection order.
///
/// # Errors
/// No question is left, or fewer than `count`.
pub(super) fn select(
    all: Vec<Question>,
    ids: &Ids,
    seed: u64,
    count: Option<u32>,
    file: &str,
) -> Result<Vec<Question>, FreezeError> {
    if !all.iter().any(|question| ids.allow(question)) {
        return Err(ids.none_left(&all, file));
    }
    let found = all.len();
    let excluded = all.iter().filter(|question| ids.excludes(question)).count();
    let mut keyed: Vec<(Digest, Question)> = all
        .into_iter()
        .filter(|question| ids.allow(question))
        .map(|question| (draw(seed, &question.id), question))
        .collect();
    let available = keyed.len();
    let wanted = count.map_or(Ok(available), usize::try_from).unwrap_or(usize::MAX);
    if wanted > available {
        let unlisted = found - excluded - available;
        return Err(FreezeError::TooFew { wanted: count.unwrap_or(u32::MAX), available, excluded, unlisted });
    }
    keyed.sort_by(|one, other| (one.0, &one.1.id).cmp(&(other.0, &other.1.id)));
    keyed.truncate(wanted);
    Ok(keyed.into_iter().map(|(_, question)| question).collect())
}
