//! What is said before a report: what its verdict must be read beside.

use super::draws::Draw;
use super::history::Unread;

/// What is wrong where another spec has the name.
pub(super) fn two_specs(name: &str) -> String {
    format!("two specs are called `{name}`")
}

/// What to do about it.
pub(super) const TWO_SPECS: &str = "Each needs a `name` of its own, which counts once the base branch has it. Where the spec was only moved, the audit of the next commit \
     takes the place of this one.";

/// What is wrong where another base branch's rule holds the commit up.
pub(super) const ELSEWHERE: &str = "at this commit an audit for another base branch did not pass, and its mark stands";

/// The same, said before anything else.
pub(super) const OTHER_BASE: &str = "> **Held.** At this commit an audit for another base branch did not pass, and its mark stands: a mark belongs to the \
     commit, whatever it is merged into. What follows is by the rule of this pull request's own base branch.\n\n";

/// What to do about it.
pub(super) const NEW_COMMIT: &str =
    "let that audit pass, or give this pull request a commit of its own, an empty one if need be";

/// Said where an earlier verdict is the one that counts.
pub(super) fn stands(Draw { audited, verdict, .. }: &Draw) -> String {
    format!(
        "## ⛔ Incompatible: the verdict of an earlier draw stands\n\n\
         On this pull request or commit the same audit (`{audited}`: one content, one rule) came to **incompatible** \
         before. Drawn again it is **{verdict}**, as the report below says. The rule's error rates hold for one draw, so the earlier \
         verdict counts. To go on, change what is audited. A job can be run again without drawing anew where runs are kept (see \
         docs/github-action.md). Where nobody should be held to the earlier draw, whoever may write to the repository deletes \
         this comment and those of earlier commits on this audit, hidden ones too, and the next commit is drawn anew: the marks of \
         this one stay.\n\n---\n\n"
    )
}

/// Said where it is not known what an audit was drawn as before.
pub(super) fn unknown(Unread { refusal, .. }: Unread) -> String {
    format!(
        "> **History unknown.** What the same audit was drawn as before could not be read ({refusal}), so nobody knows whether an \
         earlier verdict stands. This is not told as a pass. To go on, publish this run again (`churngate publish FOLDER`); a new \
         run would be a new draw.\n\n"
    )
}

/// Said where an audit was drawn before.
pub(super) fn drawn_before(Draw { audited, .. }: &Draw, verdicts: &str) -> String {
    format!(
        "> **Drawn before.** On this pull request or commit the same audit (`{audited}`) was drawn before: {verdicts}. The rule's \
         error rates hold for one draw.\n\n"
    )
}
