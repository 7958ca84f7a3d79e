//! The rule of an audit: its spec, and the files beside it. On a pull request it is the base commit's, so that nobody can
//! loosen the gate that judges them, nor send a key elsewhere.

use super::edits::edits;
use super::files::{Files, MAX_SMALL_BYTES, OUTSIDE, SPEC, Unread};
use super::origin::Origin;
use crate::git::{self, CommitId};
use crate::model::{Failure, FailureClass};
use crate::spec::{self, GenerateBackend, JudgeBackend, PresetFile, RetrieveBackend, SnapshotSource, Spec};
use camino::{Utf8Path, Utf8PathBuf};

/// The largest question file that is read, in bytes.
pub(super) const MAX_QUESTIONS_BYTES: u64 = 1 << 30;

/// The name that a spec gives to the commit before the change.
const BASE: &str = "base";

/// What may stand around a word in YAML.
const QUOTES: [char; 2] = ['"', '\''];

/// A rule, as read.
#[derive(Debug)]
pub(super) struct Rule {
    pub spec: Spec,
    pub questions: Vec<u8>,
    pub exclude: Option<Vec<u8>>,
    pub only: Option<Vec<u8>>,
    pub prompt: Option<Vec<u8>>,
    /// The preset file, where the spec names one.
    pub preset: Option<(Utf8PathBuf, Vec<u8>)>,
    /// Where it came from, where a base commit was named.
    pub origin: Option<Origin>,
}

/// Where a spec lies: its path as it was given, its folder, and its name in there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub path: &'a Utf8Path,
    pub folder: &'a Utf8Path,
    pub name: &'a Utf8Path,
}

/// Reads the rule, from the base commit where one is named. `folder` is the one that `path` lies in, and `is_set` says whether
/// the environment has a variable.
pub(super) fn read(
    path: &Utf8Path,
    folder: &Utf8Path,
    base: Option<&str>,
    is_set: fn(&str) -> bool,
) -> Result<Rule, Failure> {
    let name = Utf8Path::new(path.file_name().unwrap_or_default());
    let place = Place { path, folder, name };
    let Some(revision) = base else {
        let mut rule = required(Files::Tree(folder), place)?;
        name_base(&mut rule.spec, folder, None)?;
        return Ok(rule);
    };
    // Git would look for the spec where a linked folder leads, and find another one of the base's.
    if let Some(link) = git::link_on_the_way(folder, Utf8Path::new("")) {
        return Err(Files::Change(folder).failure(SPEC, name, Unread::Linked(link)));
    }
    let commit = git::resolve(folder, revision)?;
    let mut rule = match whole(Files::Commit(folder, &commit), place)? {
        Read::Whole(rule) => of_base(*rule, place, &commit, is_set)?,
        Read::Without { missing, .. } => of_change(place, &commit, &missing)?,
    };
    name_base(&mut rule.spec, folder, Some(&commit))?;
    Ok(rule)
}

/// What an audit is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its name.
    pub name: String,
    /// Whether the spec that says so is the change's own, because the base has none.
    pub exploratory: bool,
}

/// The name of the audit whose spec lies here, from the base where one is named and has it, as far as it can be read: for what
/// is told where the audit itself came to nothing.
#[must_use]
pub fn called(path: &Utf8Path, base: Option<&str>) -> Option<Called> {
    let folder = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let file = Utf8Path::new(path.file_name().unwrap_or_default());
    let commit = base.and_then(|base| git::resolve(folder, base).ok());
    let of_base = commit.as_ref().and_then(|commit| Files::Commit(folder, commit).read(file, MAX_SMALL_BYTES).ok());
    let exploratory = commit.is_some() && of_base.is_none();
    let in_folder = if base.is_some() { Files::Change(folder) } else { Files::Tree(folder) };
    let bytes = of_base.or_else(|| in_folder.read(file, MAX_SMALL_BYTES).ok())?;
    let text = String::from_utf8(bytes).ok()?;
    // A spec that is in error somewhere else still says what it is called.
    let line = || text.lines().find_map(|line| word(line.strip_prefix("name:")?.trim())).map(str::to_owned);
    let name = spec::parse(&text, path.as_str()).map_or_else(|_| line(), |spec| Some(spec.name))?;
    spec::variables::is_plain(&name).then_some(Called { name, exploratory })
}

/// The word that a YAML value begins with, or all that stands in its quotes.
fn word(value: &str) -> Option<&str> {
    match value.strip_prefix(QUOTES) {
        Some(quoted) => quoted.split(QUOTES).next(),
        None => value.split_whitespace().next(),
    }
}

/// The base's rule, with what the change edits of it.
fn of_base(rule: Rule, place: Place<'_>, commit: &CommitId, is_set: fn(&str) -> bool) -> Result<Rule, Failure> {
    let edited = edits(&rule, place, commit, is_set)?;
    let origin = Origin { commit: commit.to_string(), edited, missing: None };
    Ok(Rule { origin: Some(origin), ..rule })
}

/// The change's own rule, where the base has none. Nobody has agreed to it yet, so it may neither use keys nor call
/// servers nor start programs.
fn of_change(place: Place<'_>, commit: &CommitId, missing: &Utf8Path) -> Result<Rule, Failure> {
    let rule = required(Files::Change(place.folder), place)?;
    refuse_outside(&rule.spec, place)?;
    if !is_embedded(&rule.spec) {
        let change = "the spec of this change calls servers or programs";
        let message = format!("base commit `{commit}` has no `{missing}`, and {change}");
        return Err(Failure::new(FailureClass::Usage, message)
            .with_hint("merge the spec and its files first; only a spec with the embedded parts is tried out before"));
    }
    let origin = Origin { commit: commit.to_string(), edited: Vec::new(), missing: Some(missing.to_string()) };
    Ok(Rule { origin: Some(origin), ..rule })
}

/// Refuses snapshots outside of the repository: the report shows their text to everybody who sees the pull request.
fn refuse_outside(spec: &Spec, place: Place<'_>) -> Result<(), Failure> {
    let paths = spec.snapshots.iter().filter_map(|snapshot| match &snapshot.source {
        SnapshotSource::Path(path) => Some((&snapshot.name, path)),
        SnapshotSource::Git { .. } | SnapshotSource::Variables(_) | SnapshotSource::From(_) => None,
    });
    match paths.into_iter().find(|(_, path)| git::leads_out(place.folder, path)) {
        Some((name, path)) => {
            let message = format!("failed to read snapshot `{name}` from `{path}`: {OUTSIDE}");
            Err(Failure::new(FailureClass::Usage, message).with_hint("name a folder or file of the repository"))
        }
        None => Ok(()),
    }
}

fn is_embedded(spec: &Spec) -> bool {
    matches!(spec.retrieve.backend, RetrieveBackend::Bm25(_) | RetrieveBackend::File)
        && spec.generators().all(|(_, backend)| matches!(backend, GenerateBackend::Reader(_)))
        && spec.judges().all(|(_, backend)| matches!(backend, JudgeBackend::Embedded))
}

/// A rule with all its files, or the first one that is missing.
enum Read {
    Whole(Box<Rule>),
    Without { what: &'static str, missing: Utf8PathBuf },
}

/// The rule, all of whose files have to be there.
fn required(files: Files<'_>, place: Place<'_>) -> Result<Rule, Failure> {
    match whole(files, place)? {
        Read::Whole(rule) => Ok(*rule),
        Read::Without { what, missing } => Err(files.failure(what, &missing, Unread::Missing)),
    }
}

fn whole(files: Files<'_>, place: Place<'_>) -> Result<Read, Failure> {
    let Some(bytes) = there(files, SPEC, place.name, MAX_SMALL_BYTES)? else {
        return Ok(Read::Without { what: SPEC, missing: place.name.to_owned() });
    };
    let preset = match preset_of(&bytes) {
        None => None,
        Some(path) => match there(files, "the preset", &path, MAX_SMALL_BYTES)? {
            Some(bytes) => Some((path, bytes)),
            None => return Ok(Read::Without { what: "the preset", missing: path }),
        },
    };
    let spec = parse(&bytes, place.path, preset.as_ref())?;
    let named = [
        ("the excluded ids", spec.questions.exclude.as_ref(), MAX_SMALL_BYTES),
        ("the ids to select from", spec.questions.only.as_ref(), MAX_SMALL_BYTES),
        ("the answer prompt", spec.generate.prompt.as_ref(), MAX_SMALL_BYTES),
        ("the questions", Some(&spec.questions.file), MAX_QUESTIONS_BYTES),
    ];
    let mut read = [None, None, None, None];
    for (slot, (what, path, limit)) in read.iter_mut().zip(named) {
        let Some(path) = path else { continue };
        match there(files, what, path, limit)? {
            Some(bytes) => *slot = Some(bytes),
            None => return Ok(Read::Without { what, missing: path.clone() }),
        }
    }
    let [exclude, only, prompt, questions] = read;
    let questions = questions.unwrap_or_default();
    Ok(Read::Whole(Box::new(Rule { spec, questions, exclude, only, prompt, preset, origin: None })))
}

fn there(files: Files<'_>, what: &str, path: &Utf8Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    match files.read(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Unread::Missing) => Ok(None),
        Err(unread) => Err(files.failure(what, path, unread)),
    }
}

/// The preset file that a spec names; nothing where the spec cannot be read, which is for `parse` to say.
pub(super) fn preset_of(spec: &[u8]) -> Option<Utf8PathBuf> {
    std::str::from_utf8(spec).ok().and_then(spec::named_preset)
}

/// Reads a spec with its preset.
pub(super) fn parse(bytes: &[u8], path: &Utf8Path, preset: Option<&(Utf8PathBuf, Vec<u8>)>) -> Result<Spec, Failure> {
    let text = text_of(bytes, "the spec", path)?;
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

/// Puts a commit in the place of `base`: the merge base with what is checked out. Without a named base that is the merge
/// base with the remote's default branch, or, without a remote, what was last committed.
fn name_base(spec: &mut Spec, folder: &Utf8Path, base: Option<&CommitId>) -> Result<(), Failure> {
    let uses = |source: &SnapshotSource| matches!(source, SnapshotSource::Git { revision, .. } if revision == BASE);
    if !spec.snapshots.iter().any(|snapshot| uses(&snapshot.source)) {
        return Ok(());
    }
    let head = git::resolve(folder, "HEAD")?;
    let commit = match base {
        Some(base) => git::merge_base(folder, base, &head)?,
        None => match git::resolve(folder, "origin/HEAD") {
            Ok(remote) => git::merge_base(folder, &remote, &head)?,
            Err(_) => head,
        },
    };
    for snapshot in &mut spec.snapshots {
        if let SnapshotSource::Git { revision, .. } = &mut snapshot.source
            && revision == BASE
        {
            *revision = commit.to_string();
        }
    }
    Ok(())
}
