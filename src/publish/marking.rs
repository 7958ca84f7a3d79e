//! The mark of the commit: whether it is given one, and what it must say beside those that it has.

use super::api::Api;
use super::event::Sha;
use super::marks::{self, Elsewhere, Marked, Marks};
use super::notice::Notice;
use super::options::{MarkKind, Options};
use super::outcome::Outcome;
use super::refusal::{Permission, Refusal};
use super::{Surroundings, check, preface, status};

const NEWER: &str = "a newer run has marked the commit";
const UNWANTED: &str = "not wanted";

/// The grant that marks take.
pub(super) const fn marking(kind: MarkKind) -> Permission {
    match kind {
        MarkKind::Check => Permission::Checks,
        MarkKind::Status | MarkKind::None => Permission::Statuses,
    }
}

const fn called(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Check => "check run",
        MarkKind::Status | MarkKind::None => "status",
    }
}

/// Marks the commit, unless a newer run has. Where another spec of the same name, or the rule of another base branch, has marked it
/// before, or meanwhile, the mark says that.
pub(super) async fn marked(
    notice: Notice,
    api: &Api<'_>,
    sha: &Sha,
    around: &Surroundings,
    options: &Options,
    before: &Marks,
) -> (Outcome, Notice) {
    let notice = match notice.held_by(before) {
        _ if before.are_of_two(notice.spec.as_deref()) => notice.twin(),
        Some(elsewhere) => notice.held(elsewhere),
        None => notice,
    };
    let notice = match mark(api, &notice, sha, around, options, before).await {
        Ok(outcome) if notice.is_twin || outcome != two_specs(&notice) => return (outcome, notice),
        Ok(_) => notice.twin(),
        Err(elsewhere) => notice.held(elsewhere),
    };
    let outcome = mark(api, &notice, sha, around, options, before).await;
    (outcome.unwrap_or_else(|_| elsewhere()), notice)
}

/// What a part came to that another spec of the same name has been told of.
pub(super) fn two_specs(notice: &Notice) -> Outcome {
    Outcome::Failed { why: preface::two_specs(&notice.name), hint: Some(preface::TWO_SPECS.to_owned()) }
}

/// What a mark came to that another base branch's stands in the place of.
fn elsewhere() -> Outcome {
    Outcome::Failed { why: preface::ELSEWHERE.to_owned(), hint: Some(preface::NEW_COMMIT.to_owned()) }
}

/// Whether no commit is marked.
pub(super) const fn is_unmarked(notice: &Notice, options: &Options) -> bool {
    matches!(options.mark, MarkKind::None) || notice.unmarked.is_some()
}

/// The marks that the commit has by the name of the one that it is given.
pub(super) async fn marks(
    api: &Api<'_>,
    sha: &Sha,
    notice: &Notice,
    around: &Surroundings,
    options: &Options,
) -> Result<Marks, Refusal> {
    match options.mark {
        _ if is_unmarked(notice, options) => Ok(Marks::default()),
        MarkKind::Check => marks::checks(api, sha, &notice.context).await,
        MarkKind::Status | MarkKind::None => {
            marks::statuses(api, sha, &status::context(notice), around.run_url().as_deref()).await
        }
    }
}

/// Marks the commit as the notice says, unless a newer run has.
///
/// # Errors
/// A mark by the rule of another base branch, which this one lets pass, holds the commit up.
async fn mark(
    api: &Api<'_>,
    notice: &Notice,
    sha: &Sha,
    around: &Surroundings,
    options: &Options,
    before: &Marks,
) -> Result<Outcome, Elsewhere> {
    if let Some(why) = notice.unmarked {
        return Ok(Outcome::Left(why));
    }
    let (page, run) = (around.run_url(), (around.run_id, around.run_attempt));
    // Where two specs have one name, neither mark of theirs may be better.
    let is_late = !notice.is_twin && notice.newer(before, run).is_some();
    let marked = match options.mark {
        MarkKind::None => return Ok(unread_or(notice, Outcome::Left(UNWANTED))),
        _ if is_late => Ok(Marked::Newer),
        MarkKind::Status => status::mark(api, sha, notice, run, page.as_deref()).await,
        MarkKind::Check => check::mark(api, notice, sha, run, page.as_deref()).await,
    };
    let marked = match marked {
        Err(refusal) => return Ok(Outcome::refused(refusal, marking(options.mark))),
        Ok(marked) => marked,
    };
    Ok(match marked {
        Marked::Elsewhere(found) => return Err(found),
        Marked::Twin => two_specs(notice),
        Marked::Whole | Marked::WithoutAllRemarks(_) if notice.is_held() => elsewhere(),
        Marked::Newer => unread_or(notice, Outcome::Left(NEWER)),
        Marked::Whole => unread_or(notice, Outcome::Done(called(options.mark))),
        Marked::WithoutAllRemarks(refusal) => {
            let why = format!("the check run stands, but some remarks at lines do not: {refusal}");
            unread_or(notice, Outcome::Failed { why, hint: None })
        }
    })
}

/// Marks the commit once more where it was found only later that another spec has the name.
pub(super) async fn marked_as_twin(
    notice: &Notice,
    api: &Api<'_>,
    sha: &Sha,
    around: &Surroundings,
    options: &Options,
) -> Outcome {
    mark(api, notice, sha, around, options, &Marks::default()).await.unwrap_or_else(|_| elsewhere())
}

/// What a part came to, unless nobody knows whether an earlier verdict stands.
fn unread_or(notice: &Notice, outcome: Outcome) -> Outcome {
    notice.unread.map_or(outcome, Outcome::unread)
}
