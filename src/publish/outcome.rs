//! What each part of a publication came to.

use super::history::Unread;
use super::refusal::{Permission, Refusal};

/// What one part came to. The words are ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, and what.
    Done(&'static str),
    /// Rightly not done, and why.
    Left(&'static str),
    /// Failed: what, and what to do about it.
    Failed {
        /// What failed.
        why: String,
        /// What the user can do.
        hint: Option<String>,
    },
}

/// What everything came to.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The comment.
    pub comment: Outcome,
    /// The comments about earlier commits.
    pub outdated: Outcome,
    /// The status or the check.
    pub mark: Outcome,
    /// The job's summary.
    pub summary: Outcome,
    /// The step's outputs.
    pub outputs: Outcome,
    /// The page of the comment.
    pub comment_url: Option<String>,
    /// Whether an earlier draw of the audit was incompatible, and that stands whatever this one came to.
    pub stands: bool,
}

impl Publication {
    /// Each part with its name.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, &Outcome); 5] {
        let Self { comment, outdated, mark, summary, outputs, comment_url: _, stands: _ } = self;
        [
            ("comment", comment),
            ("hiding of outdated comments", outdated),
            ("mark", mark),
            ("summary", summary),
            ("outputs", outputs),
        ]
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.parts().iter().any(|(_, outcome)| outcome.has_failed())
    }

    /// A sentence for each part that failed.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.parts().into_iter().filter_map(|(part, outcome)| outcome.warning(part)).collect()
    }
}

impl Outcome {
    /// The failure of a part that needs this grant.
    pub(super) fn refused(refusal: Refusal, needed: Permission) -> Self {
        Self::Failed { why: refusal.to_string(), hint: refusal.hint(needed) }
    }

    /// The mark of what is not told as a pass, since it cannot be read what was drawn before.
    pub(super) fn unread(Unread { refusal, needed }: Unread) -> Self {
        let why =
            format!("what the audit was drawn as before cannot be read ({refusal}), so that it is not told as a pass");
        Self::Failed { why, hint: refusal.hint(needed) }
    }

    pub(super) const fn has_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// A sentence about it, where it failed.
    pub(super) fn warning(&self, part: &str) -> Option<String> {
        match self {
            Self::Failed { why, hint: Some(hint) } => Some(format!("the {part} was not published: {why}; {hint}")),
            Self::Failed { why, hint: None } => Some(format!("the {part} was not published: {why}")),
            Self::Done(_) | Self::Left(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_a_sentence() {
        let publication = Publication {
            comment: Outcome::refused(Refusal::ReadOnly, Permission::PullRequests),
            outdated: Outcome::Left("not wanted"),
            mark: Outcome::Done("status"),
            summary: Outcome::Left("there is no file for it here"),
            outputs: Outcome::Done("written"),
            comment_url: None,
            stands: false,
        };
        assert!(!publication.is_complete());
        insta::assert_snapshot!(publication.warnings().join("\n"), @r"
        the comment was not published: the token may not write; add these lines to the job, or, for pull requests from forks, publish from a second workflow:
          permissions:
            pull-requests: write
        ");
    }
}
