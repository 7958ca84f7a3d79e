//! What is known of an audit's earlier draws. What cannot be read is not taken for nothing: a verdict may stand there.

use super::draws::Draws;
use super::refusal::{Permission, Refusal};

/// What could be read, and what could not.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The draws that comments tell, the oldest first.
    pub draws: Draws,
    /// The draws that marks of the commit tell.
    pub marks: Draws,
    /// Why there may be others.
    pub unread: Option<Unread>,
}

/// Why something was not read, and the grant that reading it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unread {
    pub refusal: Refusal,
    pub needed: Permission,
}

impl History {
    /// What was read in comments and marks. `marking` is the grant that marks take.
    pub(super) fn new(comments: Result<Draws, Refusal>, marks: Result<Draws, Refusal>, marking: Permission) -> Self {
        let unread = |refused: Option<&Refusal>, needed| refused.map(|refusal| Unread { refusal: *refusal, needed });
        let of_comments = unread(comments.as_ref().err(), Permission::PullRequests);
        Self {
            unread: of_comments.or_else(|| unread(marks.as_ref().err(), marking)),
            draws: comments.unwrap_or_default(),
            marks: marks.unwrap_or_default(),
        }
    }
}
