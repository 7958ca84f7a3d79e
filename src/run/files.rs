//! Where the files of a rule are read from: the working tree, a change that nobody has agreed to, or a commit.

use crate::git::{self, BlobReader, CommitId, GitError, Located};
use crate::model::{Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};
use std::io::{self, Read as _};

/// What the spec is called where it cannot be read.
pub(super) const SPEC: &str = "the spec";
/// What a file of answers made elsewhere is called where it cannot be read.
pub(super) const ANSWERS: &str = "the answers";

/// What a file of labels by hand is called where it cannot be read.
pub(super) const LABELS: &str = "the labels";

/// What is wrong with a path of a change that leads out of the repository.
pub(super) const OUTSIDE: &str = "it lies outside of the repository, and nobody has agreed to this change yet";

/// The largest spec, prompt, list of excluded ids or the like that is read, in bytes.
pub(super) const MAX_SMALL_BYTES: u64 = 16 << 20;

/// The files beside a spec, by paths relative to its folder.
#[derive(Clone, Copy, Debug)]
pub(super) enum Files<'a> {
    /// As they lie in the folder.
    Tree(&'a Utf8Path),
    /// As they lie in the folder, where a change may have put them: none through a symbolic link, none outside of the
    /// repository.
    Change(&'a Utf8Path),
    /// As a commit has them; the folder says where in the repository.
    Commit(&'a Utf8Path, &'a CommitId),
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not there.
    Missing,
    /// It cannot be used; the reason follows `failed to read ...:`.
    Unusable(String),
    /// It is there, and may not be read.
    Forbidden,
    /// This part of the way to it is a symbolic link.
    Linked(Utf8PathBuf),
    /// Git cannot say.
    Git(GitError),
}

impl Files<'_> {
    /// Reads a whole file of at most `limit` bytes.
    pub(super) fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Unread> {
        match self {
            Self::Tree(folder) => from_tree(&folder.join(path), limit),
            Self::Change(folder) => from_change(folder, path, limit),
            Self::Commit(folder, commit) => from_commit(folder, commit, path, limit),
        }
    }

    /// Reads a file that has to be there.
    pub(super) fn require(&self, what: &str, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Failure> {
        self.read(path, limit).map_err(|unread| self.failure(what, path, unread))
    }

    /// The failure of a file that is not read, as it is told to people.
    pub(super) fn failure(&self, what: &str, path: &Utf8Path, unread: Unread) -> Failure {
        let (is_linked, is_forbidden) = (matches!(unread, Unread::Linked(_)), matches!(unread, Unread::Forbidden));
        let why = match unread {
            Unread::Git(error) => return error.into(),
            Unread::Missing => "it does not exist".to_owned(),
            Unread::Linked(link) => format!("`{link}` is a symbolic link"),
            Unread::Unusable(why) => why,
            Unread::Forbidden => "permission denied".to_owned(),
        };
        let shown = match self {
            Self::Tree(folder) | Self::Change(folder) if *folder == "." => path.to_string(),
            Self::Tree(folder) | Self::Change(folder) => folder.join(path).to_string(),
            Self::Commit(_, commit) => format!("{commit}:{path}"),
        };
        // These are named on the command line; a spec names all others.
        let hint = match what {
            _ if is_linked => "put the file itself there: with `--base`, no symbolic link is followed",
            _ if is_forbidden => "let the user that runs this read it, or name another file",
            SPEC | ANSWERS | LABELS => "check the path",
            _ => "check the path; paths in a spec are relative to the spec's own folder",
        };
        Failure::new(FailureClass::Usage, format!("failed to read {what} `{shown}`: {why}")).with_hint(hint)
    }
}

fn from_change(folder: &Utf8Path, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Unread> {
    if let Some(link) = git::link_on_the_way(folder, path) {
        return Err(Unread::Linked(link));
    }
    if git::leads_out(folder, path) {
        return Err(Unread::Unusable(OUTSIDE.to_owned()));
    }
    from_tree(&folder.join(path), limit)
}

fn from_tree(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Unread> {
    // Looked at before it is opened: opening a pipe waits for somebody to write into it.
    let kind = fs_err::metadata(path).map_err(|error| unread(&error))?;
    if kind.is_dir() {
        return Err(Unread::Unusable("it is a folder".to_owned()));
    }
    if !kind.is_file() {
        return Err(Unread::Unusable("it is no regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = fs_err::File::open(path).map_err(|error| unread(&error))?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

fn too_large(limit: u64) -> Unread {
    Unread::Unusable(format!("it has more than the {limit} bytes that are accepted"))
}

fn unread(error: &io::Error) -> Unread {
    match error.kind() {
        io::ErrorKind::NotFound => Unread::Missing,
        io::ErrorKind::PermissionDenied => Unread::Forbidden,
        kind => Unread::Unusable(kind.to_string()),
    }
}

fn from_commit(folder: &Utf8Path, commit: &CommitId, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Unread> {
    if let Some(link) = git::link_at(folder, commit, path).map_err(Unread::Git)? {
        return Err(Unread::Linked(link));
    }
    match git::locate(folder, commit, path) {
        Ok(Located::Blob { bytes, .. }) if bytes > limit => Err(too_large(limit)),
        Ok(Located::Blob { object, .. }) => {
            BlobReader::start(folder).and_then(|mut reader| reader.read(&object, limit)).map_err(Unread::Git)
        }
        Ok(Located::Tree(_)) => Err(Unread::Unusable("it is a folder".to_owned())),
        Err(GitError::NoSuchPath { .. }) => Err(Unread::Missing),
        Err(error) => Err(Unread::Git(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_not_be_read_is_not_taken_for_a_wrong_path() {
        let forbidden = || unread(&io::Error::from(io::ErrorKind::PermissionDenied));
        let told = |what| Files::Tree(Utf8Path::new(".")).failure(what, Utf8Path::new("q.jsonl"), forbidden());
        for what in [SPEC, ANSWERS, "the questions"] {
            let failure = told(what);
            assert_eq!(failure.message, format!("failed to read {what} `q.jsonl`: permission denied"));
            assert_eq!(failure.hint.as_deref(), Some("let the user that runs this read it, or name another file"));
        }
    }
}
