//! What can go wrong with git, each with what the user can do about it.

use crate::model::{Failure, FailureClass};
use camino::Utf8PathBuf;

/// Why git could not give what was asked. No variant carries git's own words.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No `git` on the path.
    #[error("failed to start `git`: it is not installed or not on the path")]
    Missing,
    /// The folder is in no repository.
    #[error("`{folder}` is not in a git repository")]
    NotARepository {
        /// The folder git was asked in.
        folder: Utf8PathBuf,
    },
    /// Git refuses a repository that another user owns.
    #[error("git does not trust the repository `{top}`, because another user owns it")]
    Untrusted {
        /// Its top, as a whole path.
        top: Utf8PathBuf,
    },
    /// Text that can be no revision: empty, beginning with `-`, or with a control character.
    #[error("`{revision}` is no git revision")]
    BadRevision {
        /// The text, with control characters escaped.
        revision: String,
    },
    /// The repository has no such commit.
    #[error("the repository has no commit `{revision}`")]
    NoSuchRevision {
        /// The revision that was asked for.
        revision: String,
        /// What the clone has the remote's branch of this name as, where it has one.
        remote: Option<String>,
        /// Whether the clone is shallow, which is the usual reason.
        shallow: bool,
    },
    /// The two commits have no common ancestor here.
    #[error("`{one}` and `{other}` have no common ancestor in this clone")]
    NoMergeBase {
        /// One commit.
        one: String,
        /// The other one.
        other: String,
        /// Whether the clone is shallow, which is the usual reason.
        shallow: bool,
    },
    /// The commit has nothing at this path.
    #[error("commit `{commit}` has no `{path}`")]
    NoSuchPath {
        /// The commit.
        commit: String,
        /// The path, relative to the folder git was asked in.
        path: String,
    },
    /// What is at this path lies in a submodule, of which a commit holds no file.
    #[error("commit `{commit}` has no file of `{path}`: it lies in a submodule, whose files a commit does not hold")]
    InSubmodule {
        /// The commit.
        commit: String,
        /// The path, relative to the folder git was asked in.
        path: String,
    },
    /// An object that the tree names is not there.
    #[error("object `{object}` is missing from the repository")]
    NoSuchObject {
        /// The object's id.
        object: String,
    },
    /// Git ended with an error that has no variant of its own.
    #[error("`git {command}` failed with exit code {code}")]
    Failed {
        /// The subcommand.
        command: &'static str,
        /// Its exit code; -1 where a signal ended it.
        code: i32,
    },
    /// Git printed what cannot be understood.
    #[error("`git {command}` printed what cannot be understood")]
    Unreadable {
        /// The subcommand.
        command: &'static str,
    },
    /// The pipe to or from git broke.
    #[error("failed to talk to `git`: {0}")]
    Io(#[from] std::io::Error),
}

impl GitError {
    /// What the user can do, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing => Some("install git, or name the snapshots by `path` alone".to_owned()),
            Self::NotARepository { .. } => {
                Some("run this in a checkout, or name the snapshots by `path` alone".to_owned())
            }
            Self::Untrusted { top } => Some(format!("git config --global --add safe.directory {top}")),
            Self::BadRevision { .. } => Some("name a commit, a tag or a branch".to_owned()),
            Self::NoSuchRevision { remote: Some(remote), .. } => Some(format!(
                "this clone has `{remote}` and no branch of its own: write `git: base` in the spec, which is the commit that a \
                 pull request starts from, or `{remote}`"
            )),
            Self::NoSuchRevision { shallow: true, .. } | Self::NoMergeBase { shallow: true, .. } => Some(
                "the clone is shallow: set `fetch-depth: 0` for actions/checkout, or run `git fetch --unshallow`"
                    .to_owned(),
            ),
            // Only a repository without any commit lacks this one.
            Self::NoSuchRevision { revision, .. } if revision == "HEAD" => {
                Some("commit something first: the old snapshot is read from a commit".to_owned())
            }
            Self::NoSuchRevision { .. } => Some("fetch it first, or mend the revision in the spec".to_owned()),
            Self::NoSuchPath { .. } => {
                Some("mend the snapshot's `path`: it is relative to the spec's folder".to_owned())
            }
            Self::InSubmodule { .. } => Some(
                "name it by `path` alone, with the submodule checked out, or keep the files in the repository itself"
                    .to_owned(),
            ),
            Self::NoSuchObject { .. } => Some("run `git fsck`, or clone again without a filter".to_owned()),
            Self::NoMergeBase { .. } | Self::Failed { .. } | Self::Unreadable { .. } | Self::Io(_) => None,
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let class = match error {
            GitError::Failed { .. } | GitError::Unreadable { .. } | GitError::Io(_) => FailureClass::Incomplete,
            _ => FailureClass::Usage,
        };
        let failure = Self::new(class, error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
