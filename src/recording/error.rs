//! What can be wrong with a recording.

use crate::ledger::LedgerError;
use crate::model::{Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordingError {
    /// There is none.
    #[error("there is no recording in `{0}`")]
    Absent(Utf8PathBuf),
    /// A link, a folder or the like in its place.
    #[error("`{0}` is not a plain file")]
    NotPlain(Utf8PathBuf),
    /// Another process has it.
    #[error("the recording in `{0}` is in use by another process")]
    Held(Utf8PathBuf),
    /// A line that no recorder wrote.
    #[error("`{path}` line {line}: {what}")]
    Damaged {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The file system refuses.
    #[error("failed to {action} `{path}`: {cause}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: Utf8PathBuf,
        /// Why not, without a text from outside.
        cause: std::io::ErrorKind,
    },
}

impl RecordingError {
    /// An error of the file system.
    pub(super) fn io(action: &'static str, path: &Utf8Path, error: &std::io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), cause: error.kind() }
    }

    /// What opening a file came to.
    pub(super) fn of_opening(error: LedgerError, folder: &Utf8Path, path: &Utf8Path) -> Self {
        match error {
            LedgerError::Missing { .. } => Self::Absent(folder.to_owned()),
            LedgerError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Self::Absent(folder.to_owned())
            }
            LedgerError::Io { action, source, .. } => Self::io(action, path, &source),
            _ => Self::NotPlain(path.to_owned()),
        }
    }

    const fn class(&self) -> FailureClass {
        match self {
            Self::Absent(_) | Self::Held(_) | Self::Io { .. } => FailureClass::Usage,
            Self::NotPlain(_) | Self::Damaged { .. } => FailureClass::Evidence,
        }
    }

    const fn hint(&self) -> &'static str {
        match self {
            Self::Absent(_) => "name the folder that `--record` was given",
            Self::NotPlain(_) => "a recording is one plain file in a folder; no link is followed",
            Self::Held(_) => "wait until it ends, or name another folder; two processes never write one recording",
            Self::Damaged { .. } => "restore the recording from a copy, or record again into another folder",
            Self::Io { .. } => "make the folder readable and writable, or name another one",
        }
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        Self::new(error.class(), error.to_string()).with_hint(error.hint())
    }
}
