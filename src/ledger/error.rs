//! What can go wrong with a run folder, and which exit code follows.

use super::{FormatVersion, Stage};
use crate::model::{Digest, Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};
use std::io;

/// Why a run folder, a ledger or a blob cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// There is no run folder at this place.
    #[error("`{path}` is not a run folder")]
    NoRun {
        /// The place.
        path: Utf8PathBuf,
    },
    /// Another process writes this run.
    #[error("the run in `{path}` is in use by {}", holder(*.pid))]
    Held {
        /// The run folder.
        path: Utf8PathBuf,
        /// The other process, where it could be read.
        pid: Option<u32>,
    },
    /// This process has the same ledger open already.
    #[error("`{file}` is already open for writing in this process")]
    Busy {
        /// The ledger's name.
        file: &'static str,
    },
    /// A symbolic link, or something else that is not a plain file or folder, in the run folder.
    #[error("`{path}` is not a plain file or folder; a run folder holds nothing else")]
    NotPlain {
        /// The offending path.
        path: Utf8PathBuf,
    },
    /// A file that must be there is not.
    #[error("`{path}` is missing")]
    Missing {
        /// Its path.
        path: Utf8PathBuf,
    },
    /// A ledger of a later major format.
    #[error("`{path}` has format {found}; this program reads formats up to {}", FormatVersion::CURRENT)]
    NewerFormat {
        /// The ledger.
        path: Utf8PathBuf,
        /// Its format.
        found: FormatVersion,
    },
    /// A line of a ledger is not what the writer wrote.
    #[error("`{path}` line {line}: {damage}")]
    Damaged {
        /// The ledger.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A ledger that is empty, gone or cut although something was made from it.
    #[error("`{path}` {what}: {why}")]
    Lost {
        /// The ledger that is lost.
        path: Utf8PathBuf,
        /// Whether all of it is lost, or its end.
        what: &'static str,
        /// What shows it.
        why: String,
    },
    /// A ledger without a seal beside a file that a finished run has, and that does not say of which ledgers it was made.
    #[error(
        "`{path}` has no seal, but the run may have been finished: `{beside}` lies there and cannot be read as its own"
    )]
    Unclear {
        /// The ledger.
        path: Utf8PathBuf,
        /// The file.
        beside: &'static str,
    },
    /// A sealed ledger that is not the one that the run's conclusion was made from.
    #[error("`{path}` is not the ledger that `{beside}` was made from")]
    Another {
        /// The ledger.
        path: Utf8PathBuf,
        /// The file that names another head.
        beside: &'static str,
    },
    /// A ledger without a seal where a sealed one is needed.
    #[error("`{path}` is not sealed")]
    Unsealed {
        /// The ledger.
        path: Utf8PathBuf,
    },
    /// The protocol in the folder is not the one that is being frozen.
    #[error("`{path}` holds another protocol: {found}, not {expected}", found = .found.short(), expected = .expected.short())]
    OtherProtocol {
        /// The protocol lock.
        path: Utf8PathBuf,
        /// The digest of what is there.
        found: Digest,
        /// The digest of what was to be frozen.
        expected: Digest,
    },
    /// Replies that were read from a recording beside replies of servers.
    #[error("`{path}` holds replies {}", whence(*.replayed))]
    OtherReplies {
        /// The ledger.
        path: Utf8PathBuf,
        /// Whether those in it were read from a recording.
        replayed: bool,
    },
    /// A lock of another run.
    #[error("the lock belongs to the run in `{lock}`, not to `{folder}`")]
    OtherRun {
        /// The run of the lock.
        lock: Utf8PathBuf,
        /// The run it was used with.
        folder: Utf8PathBuf,
    },
    /// A blob whose bytes do not match its name.
    #[error("blob `{digest}` does not hold the bytes it is named for")]
    BlobDamaged {
        /// Its name.
        digest: Digest,
    },
    /// A file among the blobs that is not named by a digest.
    #[error("`{path}` is no blob")]
    Stray {
        /// The offending path.
        path: Utf8PathBuf,
    },
    /// More bytes than a blob or a line may have.
    #[error("{what} of {bytes} bytes; at most {limit} are stored")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A record that does not serialise to a JSON object.
    #[error("the record cannot be written as a JSON object")]
    NotAnObject,
    /// The file system refused.
    #[error("failed to {action} `{path}`: {source}")]
    Io {
        /// What was attempted: `read`, `write`, ...
        action: &'static str,
        /// On what.
        path: Utf8PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// A blob could not be stored.
    #[error("failed to store a blob: {cause}")]
    NotStored {
        /// The first failure.
        cause: String,
    },
    /// A write failed, so nothing more is recorded in this ledger by this process.
    #[error("nothing more is recorded in `{file}`: {cause}")]
    Stopped {
        /// The ledger's name.
        file: &'static str,
        /// The first failure.
        cause: String,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Not the layout of a header.
    #[error("not the header of a ledger")]
    Header,
    /// A header of another stage.
    #[error("the header is not that of the stage `{expected}`")]
    Stage {
        /// The stage that is expected.
        expected: &'static str,
    },
    /// The header names another ledger before it.
    #[error("the header continues {found}, but the ledger before it is {expected}", found = .found.short(), expected = .expected.short())]
    Before {
        /// The head of the ledger before it.
        expected: Digest,
        /// What the header says.
        found: Digest,
    },
    /// Not the layout of a record or a seal.
    #[error("neither a record nor a seal")]
    Layout,
    /// More bytes than a line may have.
    #[error("longer than {} bytes", super::MAX_LINE_BYTES)]
    TooLong,
    /// `prev` is not the digest of the line before.
    #[error("does not continue the line before it: that line or this one was changed")]
    Chain,
    /// `seq` does not count on.
    #[error("has the number {found}, expected {expected}")]
    Sequence {
        /// The number that is expected.
        expected: u64,
        /// The number that is there.
        found: u64,
    },
    /// The seal counts other records than there are.
    #[error("the seal counts {found} records, but there are {expected}")]
    SealCount {
        /// How many there are.
        expected: u64,
        /// What the seal says.
        found: u64,
    },
    /// Something after the seal.
    #[error("stands after the seal")]
    AfterSeal,
    /// An outcome that names no attempt of the same unit that is still open.
    #[error("an outcome of attempt {attempt}, which is no open attempt of the same unit of work")]
    NoAttempt {
        /// The number that it names.
        attempt: u64,
    },
    /// An attempt for a unit of work that is done.
    #[error("an attempt for a unit of work that is already accepted")]
    AttemptAfterAccepted,
    /// A second accepted outcome of one unit of work.
    #[error("a second accepted outcome of one unit of work")]
    AcceptedTwice,
    /// An attempt for a question that was noted as unchanged.
    #[error("an attempt for a question that is noted as unchanged")]
    AttemptForUnchanged,
    /// A second note about the same thing.
    #[error("a second note about the same thing")]
    NotedTwice,
    /// A pass note that the accepted passes before it do not bear out.
    #[error("a note on the passes, which the accepted passes do not bear out")]
    Passes,
    /// A judge's attempt without the packet before it.
    #[error("an attempt for a question whose packet is not recorded before it")]
    NoPacket,
    /// A packet that does not hold the accepted answers of the cells it names.
    #[error("a packet that does not hold the accepted answers of the cells it names")]
    Packet,
    /// A judgment that labels no pair, a pair that the packet does not have, or one that has its label already.
    #[error(
        "a judgment that labels no pair, or one that is not among the packet's {pairs} pairs or has its label already"
    )]
    Pairs {
        /// How many pairs the packet has.
        pairs: u64,
    },
    /// A blob that the record names is not there.
    #[error("names blob `{digest}`, which is missing")]
    NoBlob {
        /// Its name.
        digest: Digest,
    },
    /// A blob that the record names has another length than the record says.
    #[error("says that blob `{digest}` has {expected} bytes, but it has {found}")]
    BlobLength {
        /// Its name.
        digest: Digest,
        /// What the record says.
        expected: u64,
        /// How many it has.
        found: u64,
    },
    /// The chain holds, but the record is none of this stage.
    #[error("not a record of this stage, at column {column}")]
    Record {
        /// Where reading it failed, in bytes from 1 within the record's own fields.
        column: usize,
    },
}

const fn whence(replayed: bool) -> &'static str {
    if replayed { "that were read from a recording, not from servers" } else { "of servers, not of a recording" }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// What is said of a record whose chain holds, but which does not follow from what stands before it.
#[must_use]
pub fn unfit<S: Stage>(seq: u64, what: &str) -> Failure {
    // The header is the first line, record 0 the second.
    let line = seq.saturating_add(2);
    Failure::new(FailureClass::Evidence, format!("`{}` line {line}: {what}", S::FILE))
        .with_hint("restore the run folder from a copy, or delete it and run again")
}

/// What is said of a ledger that is sealed although an audit under way would have stopped at what is in it. It is whole, and
/// nobody need have touched it, so that the class stays the same.
#[must_use]
pub fn cannot_stand<S: Stage>(why: Failure) -> Failure {
    let message = format!("the {} ledger is sealed, but cannot stand: {}", S::NAME, why.message);
    let again = "a sealed ledger is not gone on with: mend what is wrong, remove the run folder, and run again";
    Failure { message, hint: why.hint.or_else(|| Some(again.to_owned())), ..why }
}

impl LedgerError {
    /// An error of the file system.
    pub(super) fn io(action: &'static str, path: &Utf8Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// What kind of failure it is.
    #[must_use]
    pub const fn class(&self) -> FailureClass {
        match self {
            Self::NoRun { .. } | Self::Held { .. } | Self::Busy { .. } | Self::OtherRun { .. } => FailureClass::Usage,
            Self::TooLarge { .. }
            | Self::NotAnObject
            | Self::Io { .. }
            | Self::NotStored { .. }
            | Self::Stopped { .. } => FailureClass::Incomplete,
            Self::NotPlain { .. }
            | Self::Missing { .. }
            | Self::NewerFormat { .. }
            | Self::Damaged { .. }
            | Self::Lost { .. }
            | Self::Unclear { .. }
            | Self::Another { .. }
            | Self::Unsealed { .. }
            | Self::OtherProtocol { .. }
            | Self::OtherReplies { .. }
            | Self::BlobDamaged { .. }
            | Self::Stray { .. } => FailureClass::Evidence,
        }
    }

    /// Whether the process, or the system, has as many files open as it may.
    fn lacks_descriptors(&self) -> bool {
        let text = self.to_string();
        cfg!(unix) && ["(os error 23)", "(os error 24)"].iter().any(|code| text.ends_with(code))
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io { .. } | Self::NotStored { .. } | Self::Stopped { .. } if self.lacks_descriptors() => Some(
                "let the process open more files (`ulimit -n`), or lower `concurrency`; then run the same command again to go on",
            ),
            Self::NoRun { .. } => Some("name the folder of a run: `.churngate/<digest>` beside its spec"),
            Self::Held { .. } => Some("wait until it ends, or stop it; two processes never write one run"),
            Self::OtherReplies { .. } => Some(
                "a replay has a run folder of its own, whose name ends in `.replay`; neither goes on with the other",
            ),
            Self::NewerFormat { .. } => Some("use the version of the program that wrote this run"),
            Self::Unsealed { .. } => Some("the run is not finished: `churngate run` with its spec goes on with it"),
            Self::Damaged { .. } | Self::BlobDamaged { .. } | Self::Missing { .. } | Self::Lost { .. } => {
                Some("restore the run folder from a copy, or delete it and run again")
            }
            Self::Unclear { .. } => Some(
                "restore the run folder from a copy; where no audit was ever finished in it, remove that file and run again",
            ),
            Self::Another { .. } => Some(
                "restore the run folder from a copy; to trust the ledgers that stand there, remove that file and run again, which \
                 writes it anew from them and asks nothing",
            ),
            Self::NotPlain { .. } => Some("put the file or the folder itself there: no link is followed"),
            Self::Io { .. } | Self::NotStored { .. } | Self::Stopped { .. } => {
                Some("mend the disk (space, rights) and run the same command again to go on")
            }
            _ => None,
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let failure = Self::new(error.class(), error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
