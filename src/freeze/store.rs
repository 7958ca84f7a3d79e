//! The protocol on disk: written once, read back with every digest derived again.

use super::document::{Document, Questions as Digests};
use super::ids::Ids;
use super::plan::{Templates, assemble};
use super::protocol::{Origin, Sources};
use super::selection::Selection;
use super::{FreezeError, Frozen, Protocol, Samples, compare, seeds};
use crate::ledger::stage::Protocol as ProtocolStage;
use crate::ledger::{BlobReader, RunFolder, Stage};
use crate::model::{Digest, Failure, FailureClass, Question};
use crate::spec::{self, Mode};
use camino::{Utf8Path, Utf8PathBuf};

/// The most bytes of a protocol lock.
const MAX_LOCK_BYTES: u64 = 16 << 20;

/// Writes the protocol and what it names into the run folder, or finds the same one there.
///
/// # Errors
/// The folder holds another protocol (the failure names what changed), or the file system refuses.
pub fn freeze(folder: &RunFolder, protocol: Protocol) -> Result<Frozen, Failure> {
    let path = folder.path().join(ProtocolStage::FILE);
    if let Some(locked) = read_lock(&path)? {
        compare(&locked, &protocol)?;
    }
    let blobs = folder.blobs();
    blobs.put_sync(&protocol.origin.sources.questions)?;
    for ids in [&protocol.origin.sources.exclude, &protocol.origin.sources.only].into_iter().flatten() {
        blobs.put_sync(ids)?;
    }
    blobs.put_sync(protocol.answer_prompt.as_bytes())?;
    blobs.put_sync(protocol.judge_prompt.as_bytes())?;
    let lock = folder.freeze(protocol.lock_bytes())?;
    Ok(Frozen { lock, protocol })
}

/// Whether these bytes of a lock come back as they are: what could not be read back would be spent for nothing.
///
/// # Errors
/// They do not.
pub(super) fn comes_back(bytes: &[u8]) -> Result<(), FreezeError> {
    match written_again(bytes) {
        Ok(again) if again == bytes => Ok(()),
        Ok(_) => Err(FreezeError::NotReadBack("it comes out as another one".to_owned())),
        Err(why) => Err(FreezeError::NotReadBack(why)),
    }
}

fn written_again(bytes: &[u8]) -> Result<Vec<u8>, String> {
    if bytes.len() as u64 > MAX_LOCK_BYTES {
        return Err(format!("its protocol has more than {MAX_LOCK_BYTES} bytes"));
    }
    let document = Document::read(bytes)?;
    let (spec, snapshots) = (spec::read_back(&document.spec)?, document.resolved());
    let Document { tool_version, questions, prompts, .. } = document;
    let again = Document::new(&tool_version, spec.canonical(), questions, &snapshots, prompts);
    again.bytes().map_err(|error| error.to_string())
}

/// Reads the protocol of a run back and derives every digest in it again. Needs neither the network nor the corpus.
///
/// # Errors
/// There is no lock, it is of a later version, a blob is missing or damaged, or a digest does not come out as locked.
pub fn load(folder_path: &Utf8Path) -> Result<Protocol, Failure> {
    let Opened { path, locked, document, spec } = Opened::read(folder_path)?;
    let blobs = BlobReader::at(folder_path);
    let sources = Sources {
        questions: blobs.get(&document.questions.file)?,
        exclude: document.questions.exclude.map(|digest| blobs.get(&digest)).transpose()?,
        only: document.questions.only.map(|digest| blobs.get(&digest)).transpose()?,
    };
    let templates =
        Templates { answer: text(&blobs, &document.prompts.answer)?, judge: text(&blobs, &document.prompts.judge)? };
    let name = spec.questions.file.to_string();
    let snapshots = document.resolved();
    let base = Utf8PathBuf::new();
    let protocol = assemble(spec, base, &name, sources, templates, snapshots, &document.tool_version)
        .map_err(|error| broken(&path, &format!("its questions do not come out again: {error}")))?;
    compare(&locked, &protocol)?;
    Ok(protocol)
}

/// The same without holding the questions: [`Protocol::questions`] stays empty, and the selection gives them one at a time.
///
/// # Errors
/// As [`load`].
pub fn outline(folder_path: &Utf8Path) -> Result<(Protocol, Selection), Failure> {
    let opened = Opened::read(folder_path)?;
    let (path, questions) = (&opened.path, &opened.document.questions);
    let blobs = BlobReader::at(folder_path);
    let list = |digest: Option<Digest>| digest.map(|digest| blobs.get(&digest)).transpose();
    let (exclude, only) = (list(questions.exclude)?, list(questions.only)?);
    let ids = Ids::read(&opened.spec.questions, exclude.as_deref(), only.as_deref())
        .map_err(|error| broken(path, &error.to_string()))?;
    let mut selection = Selection::read(&blobs, &questions.file, &opened.spec.questions, &ids)?;
    let prompts = &opened.document.prompts;
    let templates = Templates { answer: text(&blobs, &prompts.answer)?, judge: text(&blobs, &prompts.judge)? };
    let digests = selection.digests(questions)?;
    Ok((opened.protocol(digests, templates)?, selection))
}

/// How far the run in this folder goes by the words of its protocol, from which nothing was derived yet. A run without a
/// protocol that can be read is for others to refuse.
#[must_use]
pub fn mode(folder_path: &Utf8Path) -> Mode {
    let locked = read_lock(&folder_path.join(ProtocolStage::FILE)).ok().flatten();
    let document = locked.and_then(|locked| Document::read(&locked).ok());
    let named = document.as_ref().and_then(|document| document.spec.get("mode")?.as_str());
    if named == Some("evidence") { Mode::Evidence } else { Mode::Audit }
}

/// Reads the protocol of an export back, where no blob is left: `questions` gives the selected ones in their order, by id,
/// tags and cluster, which are held against the digests in the lock. Texts and prompts stay empty, and questions are given out
/// as by [`outline`].
///
/// # Errors
/// There is no lock, it is of a later version, or a digest does not come out as locked.
pub fn outline_without_texts(
    folder_path: &Utf8Path,
    questions: impl Iterator<Item = Result<Question, Failure>>,
) -> Result<(Protocol, Selection), Failure> {
    let opened = Opened::read(folder_path)?;
    let mut selection = Selection::of(opened.spec.questions.seed, questions)?;
    let named = &opened.document.questions;
    // What is made of texts and files is taken as locked; ids and groups are derived.
    let digests = Digests { texts: named.texts, ..selection.digests(named)? };
    let templates = Templates { answer: String::new(), judge: String::new() };
    Ok((opened.protocol(digests, templates)?, selection))
}

/// A lock that was read, and what stands in it.
struct Opened {
    path: Utf8PathBuf,
    locked: Vec<u8>,
    document: Document,
    spec: spec::Spec,
}

impl Opened {
    fn read(folder_path: &Utf8Path) -> Result<Self, Failure> {
        let path = folder_path.join(ProtocolStage::FILE);
        let locked = read_lock(&path)?.ok_or_else(|| broken(&path, "it is missing"))?;
        let document = read_document(&path, &locked)?;
        let spec = read_spec(&path, &document.spec)?;
        Ok(Self { path, locked, document, spec })
    }

    /// The protocol without its questions, once everything in the lock came out again.
    fn protocol(self, questions: Digests, templates: Templates) -> Result<Protocol, Failure> {
        let Self { path, locked, document, spec } = self;
        let snapshots = document.resolved();
        let Document { tool_version, prompts, .. } = document;
        let again = Document::new(&tool_version, spec.canonical(), questions, &snapshots, prompts);
        let lock_bytes = again.bytes().map_err(|error| broken(&path, &error.to_string()))?;
        let digest = Digest::of(&locked);
        let protocol = Protocol {
            digest,
            spec_digest: again.spec_digest,
            spec,
            base: Utf8PathBuf::new(),
            snapshots,
            questions: Vec::new(),
            answer_prompt: templates.answer,
            judge_prompt: templates.judge,
            seeds: seeds::derive(digest),
            is_part: false,
            samples: Samples::default(),
            origin: Origin { tool_version, notes: Vec::new(), lock_bytes, sources: Sources::default() },
        };
        compare(&locked, &protocol)?;
        Ok(protocol)
    }
}

fn read_document(path: &Utf8Path, locked: &[u8]) -> Result<Document, Failure> {
    Document::read(locked).map_err(|fault| broken(path, &fault))
}

fn read_spec(path: &Utf8Path, canonical: &serde_json::Value) -> Result<spec::Spec, Failure> {
    spec::from_canonical(canonical).ok_or_else(|| broken(path, "the spec in it is not one that this program reads"))
}

fn text(blobs: &BlobReader, digest: &Digest) -> Result<String, Failure> {
    String::from_utf8(blobs.get(digest)?)
        .map_err(|_| Failure::new(FailureClass::Evidence, format!("read the blob {}: not UTF-8", digest.short())))
}

fn broken(path: &Utf8Path, fault: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("read the protocol `{path}`: {fault}"))
}

/// The bytes of the lock, where there is one.
fn read_lock(path: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs_err::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(FailureClass::Incomplete, error.to_string())),
        Ok(data) if !data.is_file() => Err(broken(path, "it is not a plain file")),
        Ok(data) if data.len() > MAX_LOCK_BYTES => Err(broken(path, "it is larger than any protocol")),
        Ok(_) => {
            fs_err::read(path).map(Some).map_err(|error| Failure::new(FailureClass::Incomplete, error.to_string()))
        }
    }
}
