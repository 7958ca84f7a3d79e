//! What is wanted of a publication.

use super::comment::Outdated;
use super::{Disclosure, Lines, Pace};

/// When a comment is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommentMode {
    /// For every result.
    Always,
    /// Where the verdict is not `compatible`, or not the one that the comment there tells.
    #[default]
    OnChange,
    /// Never.
    Never,
}

/// How the commit is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkKind {
    /// By a commit status.
    #[default]
    Status,
    /// By a check run.
    Check,
    /// Not at all.
    None,
}

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// When a comment is written.
    pub comment: CommentMode,
    /// What becomes of the comment about an earlier commit.
    pub outdated: Outdated,
    /// How the commit is marked.
    pub mark: MarkKind,
    /// What may be shown.
    pub disclosure: Disclosure,
    /// Whether the rule is the pull request's own, because the base has none yet: then the mark is neutral.
    pub exploratory: bool,
    /// Whether the run came in an artifact that somebody else filled: it marks nothing, and has a comment of its own.
    pub artifact: bool,
    /// Where the rule and the questions stand, for a check run's remarks.
    pub lines: Lines,
    /// The run's folder, for the outputs.
    pub run_folder: String,
    /// The pace of calls.
    pub pace: Pace,
}
