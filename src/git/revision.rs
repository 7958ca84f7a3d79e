//! Revisions to commits.

use super::{GitError, command};
use camino::Utf8Path;
use std::fmt;

/// The full hexadecimal id of a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(String);

impl CommitId {
    /// The id: 40 or 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The commit that a revision names, as seen from `folder`.
///
/// # Errors
/// Text that is no revision, no such commit, no repository, or git itself.
pub fn resolve(folder: &Utf8Path, revision: &str) -> Result<CommitId, GitError> {
    check(revision)?;
    let mut command = command::git(folder, "rev-parse");
    command.args(["--verify", "--quiet", "--end-of-options"]).arg(format!("{revision}^{{commit}}"));
    let output = command::run(&mut command)?;
    if output.status.success() {
        return commit_id(&command::line(folder, "rev-parse", &output)?);
    }
    // `--quiet` leaves the reason out, so the repository itself is asked for next.
    let shallow = is_shallow(folder)?;
    let remote = of_remote(folder, revision)?;
    Err(GitError::NoSuchRevision { revision: revision.to_owned(), remote, shallow })
}

/// The name under which the clone has a branch of its remote that it has no branch of its own for.
fn of_remote(folder: &Utf8Path, revision: &str) -> Result<Option<String>, GitError> {
    let name = format!("origin/{revision}");
    let mut command = command::git(folder, "rev-parse");
    command.args(["--verify", "--quiet", "--end-of-options"]).arg(format!("{name}^{{commit}}"));
    Ok(command::run(&mut command)?.status.success().then_some(name))
}

/// The best common ancestor of two commits.
///
/// # Errors
/// There is none in this clone, or git itself.
pub fn merge_base(folder: &Utf8Path, one: &CommitId, other: &CommitId) -> Result<CommitId, GitError> {
    let mut command = command::git(folder, "merge-base");
    command.arg("--end-of-options").arg(one.as_str()).arg(other.as_str());
    let output = command::run(&mut command)?;
    // Exit code 1 is git's answer that there is none; other codes are errors.
    if output.status.code() == Some(1) {
        let shallow = is_shallow(folder)?;
        return Err(GitError::NoMergeBase { one: one.0.clone(), other: other.0.clone(), shallow });
    }
    commit_id(&command::line(folder, "merge-base", &output)?)
}

/// The parents of a commit, as the commit itself names them: a shallow clone need not have them.
///
/// # Errors
/// Git itself.
pub fn parents(folder: &Utf8Path, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
    let mut command = command::git(folder, "cat-file");
    let output = command::run(command.arg("commit").arg(commit.as_str()))?;
    if !output.status.success() {
        return Err(command::failure(folder, "cat-file", &output));
    }
    let head = output.stdout.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    head.filter_map(|line| std::str::from_utf8(line).ok()?.strip_prefix("parent ")).map(commit_id).collect()
}

/// Whether the clone lacks a part of the history.
///
/// # Errors
/// No repository, or git itself.
pub fn is_shallow(folder: &Utf8Path) -> Result<bool, GitError> {
    let output = command::run(command::git(folder, "rev-parse").arg("--is-shallow-repository"))?;
    match command::line(folder, "rev-parse", &output)?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(GitError::Unreadable { command: "rev-parse" }),
    }
}

/// Refuses what git could take for an option or for several lines.
fn check(revision: &str) -> Result<(), GitError> {
    if revision.trim().is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
        return Err(GitError::BadRevision { revision: revision.escape_debug().to_string() });
    }
    Ok(())
}

fn commit_id(line: &str) -> Result<CommitId, GitError> {
    let hexadecimal = matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal { Ok(CommitId(line.to_owned())) } else { Err(GitError::Unreadable { command: "rev-parse" }) }
}
