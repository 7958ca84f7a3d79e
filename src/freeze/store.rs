//! The protocol on disk: written once, read back with every digest derived again.

use super::document::Document;
use super::plan::{Templates, assemble};
use super::protocol::Sources;
use super::{Frozen, Protocol, compare};
use crate::ledger::stage::Protocol as ProtocolStage;
use crate::ledger::{BlobReader, RunFolder, Stage};
use crate::model::{Digest, Failure, FailureClass};
use crate::spec;
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

/// Reads the protocol of a run back and derives every digest in it again. Needs neither the network nor the corpus.
///
/// # Errors
/// There is no lock, it is of a later version, a blob is missing or damaged, or a digest does not come out as locked.
pub fn load(folder_path: &Utf8Path) -> Result<Protocol, Failure> {
    let path = folder_path.join(ProtocolStage::FILE);
    let Some(locked) = read_lock(&path)? else {
        return Err(broken(&path, "it is missing"));
    };
    let document = Document::read(&locked).map_err(|fault| broken(&path, &fault))?;
    let spec = spec::from_canonical(&document.spec)
        .ok_or_else(|| broken(&path, "the spec in it is not one that this program reads"))?;
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
