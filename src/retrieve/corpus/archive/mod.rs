//! A corpus in one packed file, such as a release artifact: read as a stream, never unpacked to disk.
//!
//! An archive is untrusted: its names never become paths of this machine, its links are never followed, and what it
//! unpacks to is bounded before it is believed.

mod guard;
mod kind;
mod stream;
mod tar;
mod zip;

pub(super) use guard::{Found, bounded};
pub(super) use kind::{Kind, Packing, packing, split, unpacked};
pub(super) use stream::documents;

use super::{CorpusDocument, CorpusError};
use guard::Guard;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::ControlFlow;

/// An archive that can be read any number of times.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    /// Its path as the spec has it, for messages.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The folder within it that is the corpus, without slashes around it; empty for the whole.
    pub inner: String,
    /// How many bytes the packed file has.
    pub packed: u64,
}

/// Is given each document; a break ends the reading.
type Visit<'a> = dyn FnMut(CorpusDocument) -> ControlFlow<()> + 'a;

/// Bytes of an archive, from the working tree or from a commit.
pub(super) enum Bytes {
    /// They can be read from any place on.
    File(File),
    /// They come once, in order.
    Stream(Box<dyn Read + Send>),
}

impl Archive {
    /// Shows every document in the order of the archive, and says what else it found.
    ///
    /// # Errors
    /// The archive is damaged or hostile, a document is none, or reading fails.
    pub(super) fn each(&self, bytes: Bytes, visit: &mut Visit<'_>) -> Result<Found, CorpusError> {
        let guard = Guard::new(self);
        match self.kind {
            Kind::Tar(packing) => tar::each(bytes.in_order(), packing, guard, visit),
            Kind::Zip => zip::each(bytes.seekable().map_err(|error| self.failed(error))?, guard, visit),
        }
    }

    /// What an error of reading says: packed bytes that do not fit are the archive's fault, all else is the machine's.
    fn failed(&self, error: io::Error) -> CorpusError {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        match error.kind() {
            InvalidData | InvalidInput | Other | UnexpectedEof => CorpusError::Damaged(self.name.clone()),
            _ => CorpusError::Io { path: self.name.clone(), error },
        }
    }
}

impl Bytes {
    fn in_order(self) -> Box<dyn Read + Send> {
        match self {
            Self::File(file) => Box::new(file),
            Self::Stream(bytes) => bytes,
        }
    }

    /// A `.zip` has its table of contents at its end, so that a stream is put into an unnamed file first.
    fn seekable(self) -> io::Result<File> {
        match self {
            Self::File(file) => Ok(file),
            Self::Stream(mut bytes) => {
                let mut file = tempfile::tempfile()?;
                io::copy(&mut bytes, &mut file)?;
                file.rewind()?;
                Ok(file)
            }
        }
    }
}
