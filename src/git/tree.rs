//! What lies at a path of a commit.

use super::{CommitId, GitError, command};
use camino::Utf8Path;
use std::fmt;
use std::io::{BufRead, BufReader};

/// The full hexadecimal id of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

impl ObjectId {
    /// The id: 40 or 64 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a commit has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// A folder.
    Tree(ObjectId),
    /// A file.
    Blob {
        /// Its object.
        object: ObjectId,
        /// Its size.
        bytes: u64,
    },
}

/// What kind of thing an entry of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file of this many bytes.
    File(u64),
    /// A symbolic link.
    Link,
    /// The commit of a submodule.
    Submodule,
    /// A folder, where what lies below it is not listed.
    Folder,
}

/// One entry below a tree, however deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path, relative to the tree that was listed, as the bytes git stores.
    pub path: Vec<u8>,
    /// Its object.
    pub object: ObjectId,
    /// What it is.
    pub kind: EntryKind,
}

/// What `commit` has at `path`, which is relative to `folder`.
///
/// # Errors
/// Nothing is there, it lies in a submodule, or git itself.
pub fn locate(folder: &Utf8Path, commit: &CommitId, path: &Utf8Path) -> Result<Located, GitError> {
    let missing = || GitError::NoSuchPath { commit: commit.as_str().to_owned(), path: path.to_string() };
    if path.is_absolute() || path.as_str().contains(char::is_control) {
        return Err(missing());
    }
    // The leading `./` makes git read the path from `folder` and not from the top of the repository.
    let name = format!("{commit}:./{}", command::from_there(folder, path));
    let mut command = command::git(folder, "rev-parse");
    let output = command::run(command.args(["--verify", "--quiet", "--end-of-options"]).arg(name))?;
    if !output.status.success() {
        return Err(outside(folder, commit, path)?.unwrap_or_else(missing));
    }
    let object = object_id(command::line(folder, "rev-parse", &output)?.as_bytes(), "rev-parse")?;
    // The commit of a submodule is in no repository but its own.
    let kind = match about(folder, &object, "-t") {
        Ok(kind) => kind,
        Err(error) => return Err(outside(folder, commit, path)?.unwrap_or(error)),
    };
    match kind.as_str() {
        "tree" => Ok(Located::Tree(object)),
        "blob" => {
            let size = about(folder, &object, "-s")?.parse();
            let bytes = size.map_err(|_| GitError::Unreadable { command: "cat-file" })?;
            Ok(Located::Blob { object, bytes })
        }
        _ => Err(outside(folder, commit, path)?.unwrap_or_else(missing)),
    }
}

/// The error of a path that is or lies in a submodule.
fn outside(folder: &Utf8Path, commit: &CommitId, path: &Utf8Path) -> Result<Option<GitError>, GitError> {
    let named = || GitError::InSubmodule { commit: commit.as_str().to_owned(), path: path.to_string() };
    Ok(submodule_of(folder, commit, path)?.map(|_| named()))
}

/// The type (`-t`) or size (`-s`) of an object.
fn about(folder: &Utf8Path, object: &ObjectId, what: &str) -> Result<String, GitError> {
    let output = command::run(command::git(folder, "cat-file").arg(what).arg(object.as_str()))?;
    command::line(folder, "cat-file", &output)
}

/// The commit of the submodule that `path`, relative to `folder`, is or lies in, as `commit` has it; nothing where git knows of
/// none. A commit knows no more than that of what a submodule holds.
///
/// # Errors
/// Git itself.
pub fn submodule_of(folder: &Utf8Path, commit: &CommitId, path: &Utf8Path) -> Result<Option<ObjectId>, GitError> {
    let mut entries = entries_on_the_way(folder, commit, path)?.into_iter();
    Ok(entries.find(|entry| entry.kind == EntryKind::Submodule).map(|entry| entry.object))
}

/// What a commit has at `path`, relative to `folder`, and at each part of the way there, as far as it has something; nothing
/// where git knows of no such path.
pub(super) fn entries_on_the_way(
    folder: &Utf8Path,
    commit: &CommitId,
    path: &Utf8Path,
) -> Result<Vec<Entry>, GitError> {
    let path = command::from_there(folder, path);
    let path = path.strip_prefix("./").unwrap_or(&path);
    if path.is_absolute() || path.as_str().contains(char::is_control) {
        return Ok(Vec::new());
    }
    let ways: Vec<&str> = path.ancestors().filter(|way| way.file_name().is_some()).map(Utf8Path::as_str).collect();
    let mut command = command::git(folder, "ls-tree");
    let output = command::run(command.args(["-z", "--long", commit.as_str(), "--"]).args(&ways))?;
    if !output.status.success() {
        return Ok(Vec::new());
    }
    // Git lists what a folder holds where the folder is the one it was started in.
    let asked = |entry: &Entry| ways.iter().any(|way| way.as_bytes() == entry.path);
    Ok(read_entries(output.stdout.as_slice())?.into_iter().filter(asked).collect())
}

/// Every entry below a tree, in git's order (by the bytes of the path).
///
/// # Errors
/// Git itself.
pub fn list(folder: &Utf8Path, tree: &ObjectId) -> Result<Vec<Entry>, GitError> {
    let mut command = command::git(folder, "ls-tree");
    command.args(["-r", "-z", "--long", "--full-tree", "--end-of-options"]).arg(tree.as_str());
    // Standard error goes nowhere, because a full pipe that nobody reads would stop git.
    let mut child = command.stderr(std::process::Stdio::null()).spawn().map_err(command::start_error)?;
    let entries = child.stdout.take().map(|stdout| read_entries(BufReader::new(stdout)));
    let status = child.wait()?;
    if !status.success() {
        return Err(GitError::Failed { command: "ls-tree", code: status.code().unwrap_or(-1) });
    }
    entries.unwrap_or(Err(GitError::Unreadable { command: "ls-tree" }))
}

/// Whether git tracks any file in a folder, of the repository that the folder lies in once every link is followed. A
/// folder in no repository has none.
///
/// # Errors
/// Git itself.
pub fn tracks_files_in(folder: &Utf8Path) -> Result<bool, GitError> {
    let output = command::run(command::git(folder, "ls-files").args(["-z", "--cached"]))?;
    if output.status.success() {
        return Ok(!output.stdout.is_empty());
    }
    match command::failure(folder, "ls-files", &output) {
        GitError::NotARepository { .. } => Ok(false),
        error => Err(error),
    }
}

fn read_entries(listing: impl BufRead) -> Result<Vec<Entry>, GitError> {
    listing.split(0).map(|entry| parse_entry(&entry?)).collect()
}

/// `MODE TYPE OBJECT SIZE<tab>PATH`, with the size padded by spaces and `-` where there is none.
fn parse_entry(line: &[u8]) -> Result<Entry, GitError> {
    let unreadable = || GitError::Unreadable { command: "ls-tree" };
    let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(unreadable)?;
    let (head, path) = (&line[..tab], line[tab + 1..].to_vec());
    let head = std::str::from_utf8(head).map_err(|_| unreadable())?;
    let fields: Vec<&str> = head.split_ascii_whitespace().collect();
    let [mode, _, object, size] = fields[..] else { return Err(unreadable()) };
    let kind = match mode {
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        "040000" => EntryKind::Folder,
        _ => EntryKind::File(size.parse().map_err(|_| unreadable())?),
    };
    Ok(Entry { path, object: object_id(object.as_bytes(), "ls-tree")?, kind })
}

fn object_id(text: &[u8], command: &'static str) -> Result<ObjectId, GitError> {
    let hexadecimal = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    match std::str::from_utf8(text) {
        Ok(text) if hexadecimal => Ok(ObjectId(text.to_owned())),
        _ => Err(GitError::Unreadable { command }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

    #[test]
    fn entries_of_every_kind_are_read_with_odd_paths() {
        let listing = format!(
            "100644 blob {OBJECT}      12\ta\tb\n.md\0120000 blob {OBJECT}       4\tl\0160000 commit {OBJECT}       -\ts\0"
        );
        let entries = read_entries(listing.as_bytes()).unwrap();
        let kinds: Vec<_> = entries.iter().map(|entry| (entry.path.as_slice(), entry.kind)).collect();
        let expected = [
            (b"a\tb\n.md".as_slice(), EntryKind::File(12)),
            (b"l".as_slice(), EntryKind::Link),
            (b"s".as_slice(), EntryKind::Submodule),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn a_line_that_is_no_entry_is_an_error() {
        for line in ["", "100644 blob xyz 1\tp", "100644 blob 1\tp", "no tab"] {
            assert!(parse_entry(line.as_bytes()).is_err(), "{line}");
        }
    }
}
