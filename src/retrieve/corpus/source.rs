//! Where the documents of a snapshot are, and how they are read from there.

use super::archive::{self, Archive, Bytes, Packing};
use super::passed::Tally;
use super::{CorpusDocument, CorpusError, folder, jsonl, text};
use crate::git::{self, BlobReader, CommitId, Entry, EntryKind, Located, ObjectId};
use crate::model::PassedOver;
use crate::spec::SnapshotSource;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;

/// A corpus that was found; its documents can be read any number of times.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Its path as the spec has it, and the commit where there is one.
    pub physical: String,
    /// What of it is not read.
    pub passed_over: Option<PassedOver>,
    /// How many bytes its files have, as they lie there.
    pub bytes: u64,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    Folder { root: Utf8PathBuf, files: Vec<String> },
    File(Utf8PathBuf),
    Tree { repository: Utf8PathBuf, entries: Vec<(String, ObjectId)> },
    Blob { repository: Utf8PathBuf, name: String, object: ObjectId },
    Packed { archive: Archive, place: Place },
}

/// Where an archive lies.
#[derive(Clone, Debug)]
enum Place {
    File(Utf8PathBuf),
    Blob { repository: Utf8PathBuf, object: ObjectId },
}

/// The documents of a corpus, one after the other.
pub type Documents<'a> = Box<dyn Iterator<Item = Result<CorpusDocument, CorpusError>> + Send + 'a>;

impl Corpus {
    /// Finds the corpus of a snapshot. `base` is the spec's folder.
    ///
    /// # Errors
    /// Nothing is there, a symbolic link leads there, it has no path at all, or git cannot give it.
    pub fn open(source: &SnapshotSource, base: &Utf8Path) -> Result<Self, CorpusError> {
        match source {
            SnapshotSource::Path(path) => Self::in_working_tree(base, path),
            SnapshotSource::Git { revision, path } => Self::at_commit(base, &git::resolve(base, revision)?, path),
            SnapshotSource::Variables(_) | SnapshotSource::From(_) => Err(CorpusError::NoPath),
        }
    }

    fn in_working_tree(base: &Utf8Path, path: &Utf8Path) -> Result<Self, CorpusError> {
        if let Some(link) = git::link_on_the_way(base, path) {
            return Err(CorpusError::Link(link));
        }
        let place = base.join(path);
        if let Some((file, kind, inner)) = archive::split(path)
            && let Ok(found) = std::fs::metadata(base.join(&file))
            && found.is_file()
        {
            let archive = Archive { name: file.to_string(), kind, inner, packed: found.len() };
            return Self::packed(path.to_string(), archive, Place::File(base.join(file)));
        }
        let found = std::fs::metadata(&place).map_err(|error| not_found(error, path))?;
        let (origin, passed_over, bytes) = if found.is_dir() {
            let listing = folder::walk(&place)?;
            (Origin::Folder { root: place, files: listing.files }, listing.passed_over.finish(), listing.bytes)
        } else if found.is_file() {
            // Whether it may be read is told beside whatever else is wrong, and not only once it is its turn.
            drop(open(&place)?);
            (Origin::File(place), None, found.len())
        } else {
            return Err(CorpusError::NoFile(path.to_owned()));
        };
        Ok(Self { physical: path.to_string(), passed_over, bytes, origin })
    }

    fn at_commit(base: &Utf8Path, commit: &CommitId, path: &Utf8Path) -> Result<Self, CorpusError> {
        if let Some(link) = git::link_at(base, commit, path)? {
            return Err(CorpusError::Link(link));
        }
        let repository = base.to_owned();
        if let Some((file, kind, inner)) = archive::split(path)
            && let Located::Blob { object, bytes } = git::locate(base, commit, &file)?
        {
            let archive = Archive { name: file.to_string(), kind, inner, packed: bytes };
            return Self::packed(format!("{path} at {commit}"), archive, Place::Blob { repository, object });
        }
        let mut listing = Listing::default();
        let origin = match git::locate(base, commit, path)? {
            Located::Blob { object, bytes } => {
                listing.bytes = bytes;
                Origin::Blob { repository, name: path.to_string(), object }
            }
            Located::Tree(object) => {
                listing = documents_of(git::list(base, &object)?)?;
                Origin::Tree { repository, entries: std::mem::take(&mut listing.documents) }
            }
        };
        let passed_over = listing.passed_over.finish();
        Ok(Self { physical: format!("{path} at {commit}"), passed_over, bytes: listing.bytes, origin })
    }

    /// An archive is read once to know what is in it, before anything else relies on it.
    fn packed(physical: String, archive: Archive, place: Place) -> Result<Self, CorpusError> {
        let found = archive.each(place.bytes(&archive)?, &mut |_| ControlFlow::Continue(()))?;
        let origin = Origin::Packed { archive, place };
        Ok(Self { physical, passed_over: found.passed_over.finish(), bytes: found.bytes, origin })
    }

    /// Its documents: of a folder in the order of their paths, of a file in the order of its lines, of an archive in the
    /// order of its entries.
    ///
    /// # Errors
    /// The file cannot be opened, or git cannot be started. Each document has its own errors.
    pub fn documents(&self) -> Result<Documents<'_>, CorpusError> {
        Ok(match &self.origin {
            Origin::Folder { root, files } => Box::new(files.iter().map(move |file| read_file(root, file))),
            Origin::Tree { repository, entries } => {
                let mut blobs = BlobReader::start(repository)?;
                Box::new(entries.iter().map(move |(path, object)| read_blob(&mut blobs, path, object)))
            }
            Origin::Packed { archive, place } => Box::new(archive::documents(archive.clone(), place.bytes(archive)?)?),
            Origin::File(_) | Origin::Blob { .. } => {
                let (name, bytes) = self.bytes()?;
                Box::new(jsonl::Lines::new(name, BufReader::with_capacity(1 << 16, bytes)))
            }
        })
    }

    /// The bytes of a corpus that is one file, unpacked where its name ends in `.gz` or `.zst`, and the file's name.
    ///
    /// # Errors
    /// It is a folder, or it cannot be opened.
    pub fn bytes(&self) -> Result<(String, Box<dyn Read + Send>), CorpusError> {
        let (name, bytes): (String, Box<dyn Read + Send>) = match &self.origin {
            Origin::File(path) => (path.to_string(), Box::new(open(path)?)),
            Origin::Blob { repository, name, object } => (name.clone(), Box::new(git::stream(repository, object)?)),
            Origin::Folder { root, .. } => return Err(CorpusError::NoFile(root.clone())),
            Origin::Tree { .. } | Origin::Packed { .. } => {
                return Err(CorpusError::NoFile(Utf8PathBuf::from(&self.physical)));
            }
        };
        Ok(match archive::packing(&name) {
            Packing::None => (name, bytes),
            packing => (name, Box::new(archive::bounded(archive::unpacked(bytes, packing), self.bytes))),
        })
    }
}

/// The file that a path leads to: the archive, where the path goes on into one.
#[must_use]
pub fn file_of(path: &Utf8Path) -> Utf8PathBuf {
    archive::split(path).map_or_else(|| path.to_owned(), |(file, ..)| file)
}

impl Place {
    fn bytes(&self, archive: &Archive) -> Result<Bytes, CorpusError> {
        Ok(match self {
            Self::File(path) => Bytes::File(open(path).map_err(|error| match error {
                CorpusError::Io { error, .. } => CorpusError::Io { path: archive.name.clone(), error },
                other => other,
            })?),
            Self::Blob { repository, object } => Bytes::Stream(Box::new(git::stream(repository, object)?)),
        })
    }
}

fn not_found(error: io::Error, path: &Utf8Path) -> CorpusError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => CorpusError::Missing(path.to_owned()),
        _ => CorpusError::Io { path: path.to_string(), error },
    }
}

fn open(path: &Utf8Path) -> Result<File, CorpusError> {
    File::open(path).map_err(|error| CorpusError::Io { path: path.to_string(), error })
}

fn read_file(root: &Utf8Path, file: &str) -> Result<CorpusDocument, CorpusError> {
    let path = folder::place(root, file);
    whole(file, text::read(open(&path)?, file)?)
}

fn read_blob(blobs: &mut BlobReader, path: &str, object: &ObjectId) -> Result<CorpusDocument, CorpusError> {
    whole(path, blobs.read(object, super::document::MAX_DOCUMENT_BYTES)?)
}

fn whole(id: &str, bytes: Vec<u8>) -> Result<CorpusDocument, CorpusError> {
    Ok(CorpusDocument { id: id.to_owned(), url: None, text: text::decode(bytes, id)? })
}

/// The documents of a tree.
#[derive(Default)]
struct Listing {
    documents: Vec<(String, ObjectId)>,
    bytes: u64,
    passed_over: Tally,
}

/// The documents among the entries of a tree.
fn documents_of(entries: Vec<Entry>) -> Result<Listing, CorpusError> {
    let mut listing = Listing::default();
    for entry in entries {
        let shown = String::from_utf8_lossy(&entry.path);
        let Ok(path) = std::str::from_utf8(&entry.path) else {
            if folder::is_document(&shown) {
                return Err(CorpusError::BadName(shown.into_owned()));
            }
            listing.passed_over.file(&shown);
            continue;
        };
        match entry.kind {
            EntryKind::File(bytes) if folder::is_document(path) => {
                if bytes > super::document::MAX_DOCUMENT_BYTES {
                    return Err(text::too_large(path));
                }
                listing.bytes += bytes;
                listing.documents.push((path.to_owned(), entry.object));
            }
            EntryKind::File(_) => listing.passed_over.file(path),
            EntryKind::Link | EntryKind::Submodule => listing.passed_over.link(path),
            EntryKind::Folder => {}
        }
    }
    // Git sorts by the bytes of paths too, with the one exception of a folder next to a file of the same beginning.
    listing.documents.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(listing)
}
