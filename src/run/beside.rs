//! A spec and the files beside it that belong to its rule, as far as they can be read.

use super::files::{self, Files, MAX_SMALL_BYTES, SPEC};
use super::rule::{Place, Rule};
use crate::model::{Failure, FailureClass};
use crate::spec::{self, FileKey, PresetFile, Spec, Unread};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;

/// The largest question file that is read, in bytes.
pub(super) const MAX_QUESTIONS_BYTES: u64 = 1 << 30;

/// A spec's text and path, for what is told of the files that it names.
#[derive(Debug)]
pub(super) struct Source {
    text: String,
    path: Utf8PathBuf,
}

impl Source {
    /// The failure of what cannot be read.
    pub(super) fn failure(&self, unread: Vec<Unread>) -> Failure {
        spec::unreadable(&self.text, self.path.as_str(), unread)
    }
}

/// A spec with the files beside it, as far as they can be read.
pub(super) struct Found {
    source: Source,
    /// Absent where its preset cannot be read, without which it means nothing.
    spec: Option<Spec>,
    read: BTreeMap<FileKey, (Utf8PathBuf, Vec<u8>)>,
    unread: Vec<Unread>,
    /// Those of them that are not there at all.
    missing: Vec<Utf8PathBuf>,
}

impl Found {
    /// The first file that is not there, unless there is one that is there and cannot be read.
    pub(super) fn missing(&self) -> Option<&Utf8Path> {
        self.missing.first().filter(|_| self.missing.len() == self.unread.len()).map(Utf8PathBuf::as_path)
    }

    fn take(&mut self, files: Files<'_>, key: FileKey, path: Utf8PathBuf) {
        let (what, limit) = limited(&key);
        let failure = match files.read(&path, limit) {
            Ok(bytes) => {
                let Some(failure) = text_of(&bytes, what, &path).err() else {
                    self.read.insert(key, (path, bytes));
                    return;
                };
                failure
            }
            Err(why) => {
                self.missing.extend(matches!(why, files::Unread::Missing).then(|| path.clone()));
                files.failure(what, &path, why)
            }
        };
        self.unread.push(Unread { key, failure });
    }

    /// The rule, be some of its files unread.
    pub(super) fn rule(mut self) -> Result<Rule, Failure> {
        let Some(spec) = self.spec else { return Err(self.source.failure(self.unread)) };
        let mut bytes = |key: &FileKey| self.read.remove(key).map(|(_, bytes)| bytes);
        Ok(Rule {
            spec,
            questions: bytes(&FileKey::Questions).unwrap_or_default(),
            exclude: bytes(&FileKey::Exclude),
            only: bytes(&FileKey::Only),
            prompt: bytes(&FileKey::Prompt),
            preset: self.read.remove(&FileKey::Preset),
            origin: None,
            source: self.source,
            unread: self.unread,
        })
    }
}

/// What a file beside the spec is called where it cannot be read, and how many bytes of it are read.
const fn limited(key: &FileKey) -> (&'static str, u64) {
    match key {
        FileKey::Preset => ("the preset", MAX_SMALL_BYTES),
        FileKey::Exclude => ("the excluded ids", MAX_SMALL_BYTES),
        FileKey::Only => ("the ids to select from", MAX_SMALL_BYTES),
        FileKey::Prompt => ("the answer prompt", MAX_SMALL_BYTES),
        FileKey::Questions | FileKey::Database | FileKey::Program(_) | FileKey::Revision(_) | FileKey::Snapshot(_) => {
            ("the questions", MAX_QUESTIONS_BYTES)
        }
    }
}

/// The spec and what lies beside it; nothing where there is no spec.
pub(super) fn find(files: Files<'_>, place: Place<'_>) -> Result<Option<Found>, Failure> {
    let bytes = match files.read(place.name, MAX_SMALL_BYTES) {
        Ok(bytes) => bytes,
        Err(files::Unread::Missing) => return Ok(None),
        Err(why) => return Err(files.failure(SPEC, place.name, why)),
    };
    let text = text_of(&bytes, SPEC, place.path)?.to_owned();
    let named = spec::named_files(&text);
    let source = Source { text, path: place.path.to_owned() };
    let mut found = Found { source, spec: None, read: BTreeMap::new(), unread: Vec::new(), missing: Vec::new() };
    for (key, path) in named {
        found.take(files, key, path);
    }
    if !found.unread.iter().any(|unread| unread.key == FileKey::Preset) {
        found.spec = Some(parse(&bytes, place.path, found.read.get(&FileKey::Preset))?);
    }
    Ok(Some(found))
}

/// The preset file that a spec names; nothing where the spec cannot be read, which is for `parse` to say.
pub(super) fn preset_of(spec: &[u8]) -> Option<Utf8PathBuf> {
    let named = spec::named_files(std::str::from_utf8(spec).ok()?);
    named.into_iter().find_map(|(key, path)| (key == FileKey::Preset).then_some(path))
}

/// Reads a spec with its preset.
pub(super) fn parse(bytes: &[u8], path: &Utf8Path, preset: Option<&(Utf8PathBuf, Vec<u8>)>) -> Result<Spec, Failure> {
    let text = text_of(bytes, SPEC, path)?;
    let Some((name, bytes)) = preset else { return Ok(spec::parse(text, path.as_str())?) };
    let preset = PresetFile { name: name.as_str(), text: text_of(bytes, "the preset", name)? };
    Ok(spec::parse_with(text, path.as_str(), Some(preset))?)
}

fn text_of<'a>(bytes: &'a [u8], what: &str, path: &Utf8Path) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        let message = format!("failed to read {what} `{path}`, line {line}: it is not UTF-8");
        Failure::new(FailureClass::Usage, message).with_hint(format!("save {what} as UTF-8"))
    })
}
