//! Why a corpus cannot be read. Documents and lines are named, their text is never quoted.

use super::document::MAX_ID_BYTES;
use crate::git::GitError;
use crate::model::{Failure, FailureClass};
use camino::Utf8PathBuf;

/// What is wrong with a corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// Nothing is at the path.
    #[error("`{0}` does not exist")]
    Missing(Utf8PathBuf),
    /// It is neither a folder nor a regular file.
    #[error("`{0}` is neither a folder nor a file")]
    NoFile(Utf8PathBuf),
    /// A symbolic link on the way to it.
    #[error("`{0}` is a symbolic link, and none is followed")]
    Link(Utf8PathBuf),
    /// A snapshot that has no corpus, such as values of variables.
    #[error("it has no `path`")]
    NoPath,
    /// A document above the size limit.
    #[error("document `{document}` has more than {limit} bytes")]
    TooLarge {
        /// Its id or its file and line.
        document: String,
        /// The limit.
        limit: u64,
    },
    /// A document with NUL bytes.
    #[error("document `{0}` is no text: it contains NUL bytes")]
    Binary(String),
    /// A document in another encoding.
    #[error("document `{0}` is not UTF-8")]
    NotUtf8(String),
    /// A placeholder of Git LFS instead of the document.
    #[error("document `{0}` is a Git LFS pointer and not the document itself")]
    LfsPointer(String),
    /// A file whose name is not UTF-8, shown as far as it can be.
    #[error("the file name `{0}` is not UTF-8")]
    BadName(String),
    /// A line of a JSONL file that is no document.
    #[error("`{file}`, line {line}: {problem}")]
    BadLine {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A document whose id is its path, and longer than ids may be; its beginning is shown.
    #[error("document `{0}...` has an id of more than {max} bytes", max = MAX_ID_BYTES)]
    LongId(String),
    /// Two documents under one id.
    #[error("`{file}`, lines {first} and {second}: both documents have the id `{id}`")]
    Duplicate {
        /// The file.
        file: String,
        /// The line that has it first.
        first: u64,
        /// The line that has it again.
        second: u64,
        /// The id.
        id: String,
    },
    /// An archive whose packed bytes do not fit.
    #[error("the archive `{0}` is damaged or cut off")]
    Damaged(String),
    /// An archive that unpacks to far more than any text does.
    #[error("the archive `{0}` unpacks to more than an archive of its size may")]
    Bomb(String),
    /// An archive packed in another way than is read.
    #[error("the archive `{0}` is packed in a way that is not read")]
    UnknownPacking(String),
    /// An entry of an archive that is no document of a folder.
    #[error("`{archive}`, entry {entry}: `{name}` {problem}")]
    BadEntry {
        /// The archive.
        archive: String,
        /// Its entry, from 1.
        entry: u64,
        /// The entry's name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two documents of an archive under one name.
    #[error("`{archive}`, entries {first} and {second}: both are `{name}`")]
    PackedTwice {
        /// The archive.
        archive: String,
        /// The entry that has the name first.
        first: u64,
        /// The entry that has it again.
        second: u64,
        /// The name.
        name: String,
    },
    /// An id that a chunk of another document could have, while chunks are being made.
    #[error("document `{0}` is named like a chunk")]
    NamedLikeChunk(String),
    /// The reading was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// Git could not give it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// It could not be read.
    #[error("failed to read `{path}`: {error}")]
    Io {
        /// What was being read.
        path: String,
        /// Why it failed.
        error: std::io::Error,
    },
}

impl CorpusError {
    /// What the user can do, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Git(error) => return error.hint(),
            Self::Missing(_) | Self::NoFile(_) | Self::NoPath => {
                "the snapshot's `path` is a folder of text files, an archive of one, or one JSONL file, relative to the \
                 spec's folder"
            }
            Self::Link(_) => "name the folder or file that it leads to, or put the files themselves in its place",
            Self::TooLarge { .. } => "split the document, or leave it out of the corpus",
            Self::Binary(_) => "convert it to text, or leave it out of the corpus",
            Self::NotUtf8(_) | Self::BadName(_) => "convert it to UTF-8, or leave it out of the corpus",
            Self::LfsPointer(_) => {
                "run `git lfs pull`; a corpus under Git LFS can be read from the working tree alone, not at a commit"
            }
            Self::BadLine { .. } => {
                "each line is an object with an `id`, a `text` and, if there are any, a `title` and a `url`"
            }
            Self::LongId(_) => "give it a shorter path, or leave it out of the corpus",
            Self::Duplicate { .. } => "give every document an id of its own",
            Self::Damaged(_) => "download or pack it again",
            Self::Bomb(_) => "leave out what is no text, or name a folder or a JSONL file instead",
            Self::UnknownPacking(_) => "pack it as `.tar.zst`, `.tar.gz`, or a `.zip` that is stored or deflated",
            Self::BadEntry { .. } | Self::PackedTwice { .. } => {
                "pack the folder again, such as with `tar --hard-dereference -C docs -cf docs.tar .`"
            }
            Self::NamedLikeChunk(_) => "leave `bm25.chunk_chars` out: the corpus seems to be split already",
            Self::Interrupted => "run the same command again to go on",
            Self::Io { .. } if self.is_forbidden() => "let the user that runs this read it, or name another corpus",
            Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// The failure of the snapshot of this name.
    #[must_use]
    pub fn of_snapshot(self, snapshot: &crate::model::SnapshotName) -> Failure {
        let message = match &self {
            Self::Interrupted => "interrupted".to_owned(),
            _ => format!("failed to read the corpus of snapshot `{snapshot}`: {self}"),
        };
        let failure = Failure::new(self.class(), message);
        match self.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }

    /// Whose it is to mend.
    pub(in crate::retrieve) fn class(&self) -> FailureClass {
        match self {
            Self::Interrupted => FailureClass::Incomplete,
            Self::Io { .. } if !self.is_forbidden() => FailureClass::Incomplete,
            _ => FailureClass::Usage,
        }
    }

    /// Whether it is there, and may not be read.
    fn is_forbidden(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == std::io::ErrorKind::PermissionDenied)
    }
}
