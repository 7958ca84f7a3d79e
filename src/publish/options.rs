//! What is wanted of a publication.

use super::comment::Outdated;
use super::event::Sha;
use super::{Disclosure, Lines, Pace};

/// When a comment is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommentMode {
    /// For every result.
    Always,
    /// Where the verdict is not `compatible`, or not the one that the comment there tells, or something else has to be known.
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

/// The commit that was checked out for an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its id.
    pub commit: String,
    /// Its parents, in order.
    pub parents: Vec<String>,
}

impl Checkout {
    /// Whether this commit is what was audited: it was checked out itself, or merged into its base, which is the first parent of
    /// such a merge.
    pub(super) fn holds(&self, sha: &Sha) -> bool {
        let merged = self.parents.iter().skip(1);
        std::iter::once(&self.commit).chain(merged).any(|commit| commit == sha.as_str())
    }
}

/// What was audited, and by whose rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// The commit that was checked out, where it is known: only what was audited is marked.
    pub checkout: Option<Checkout>,
    /// Whether no base was named, so that the rule is that of whatever was checked out. Then the mark is neutral as well, unless
    /// it is the default branch's own commit that is marked.
    pub own_rule: bool,
    /// Whether the change edits something that is read as the change has it though the rule relies on it.
    pub edits_inputs: bool,
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
    /// What was audited.
    pub audited: Audited,
    /// Whether the run came in an artifact that somebody else filled: it marks nothing, and has a comment of its own.
    pub artifact: bool,
    /// Whether the ledgers of the run were not there: then nothing vouches for the result.
    pub unverified: bool,
    /// Where the rule and the questions stand, for a check run's remarks.
    pub lines: Lines,
    /// The spec's path from the repository's top, where it is known: two specs of one name are told from one another by it.
    pub spec: Option<String>,
    /// The run's folder, for the outputs.
    pub run_folder: String,
    /// The pace of calls.
    pub pace: Pace,
}
