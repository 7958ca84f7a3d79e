//! The rule of an audit: its spec, and the files beside it. On a pull request it is the base commit's, so that nobody can
//! loosen the gate that judges them, nor send a key elsewhere.

use super::beside::{Source, find};
use super::edits::edits;
use super::files::{Files, MAX_SMALL_BYTES, OUTSIDE, SPEC, Unread as Unreadable};
use super::origin::{Head, Origin};
use crate::git::{self, CommitId};
use crate::model::{Failure, FailureClass};
use crate::spec::{self, FileKey, GenerateBackend, JudgeBackend, RetrieveBackend, SnapshotSource, Spec, Unread};
use camino::{Utf8Path, Utf8PathBuf};

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
    /// What is checked out, and where the rule came from; nothing where neither a commit is known nor a base was named.
    pub origin: Option<Origin>,
    /// The spec as it was read.
    pub source: Source,
    /// What the spec names and cannot be read: nobody goes on with a rule that has any of it.
    pub unread: Vec<Unread>,
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
        name_base(&mut rule, folder, None);
        rule.origin = Head::of(folder).map(|head| Origin { head: Some(head), ..Origin::default() });
        return Ok(rule);
    };
    // Git would look for the spec where a linked folder leads, and find another one of the base's.
    if let Some(link) = git::link_on_the_way(folder, Utf8Path::new("")) {
        return Err(Files::Change(folder).failure(SPEC, name, Unreadable::Linked(link)));
    }
    let commit = git::resolve(folder, revision).map_err(of_the_command)?;
    let mut rule = match find(Files::Commit(folder, &commit), place)? {
        None => of_change(place, &commit, name)?,
        Some(found) => match found.missing() {
            Some(missing) => of_change(place, &commit, missing)?,
            None => of_base(found.rule()?, place, &commit, is_set)?,
        },
    };
    name_base(&mut rule, folder, Some(&commit));
    Ok(rule)
}

/// The failure of a revision that the command line names, and no spec.
fn of_the_command(error: git::GitError) -> Failure {
    let is_unknown = matches!(error, git::GitError::NoSuchRevision { remote: None, shallow: false, .. });
    let told = error.to_string();
    let failure = Failure::from(error);
    if is_unknown {
        Failure::new(failure.class, told).with_hint("fetch it first, or name another one by `--base`")
    } else {
        failure
    }
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
    // Git would look where a linked folder leads, and find what another audit is called.
    let linked = base.is_some() && git::link_on_the_way(folder, Utf8Path::new("")).is_some();
    let (folder, file) = &if linked { git::from_root(path) } else { (folder.to_owned(), file.to_owned()) };
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
    if !rule.unread.is_empty() {
        return Ok(rule);
    }
    let edited = edits(&rule, place, commit, is_set)?;
    let origin = Origin { edited, ..Origin::of_base(place.folder, commit) };
    Ok(Rule { origin: Some(origin), ..rule })
}

/// The change's own rule, where the base has none. Nobody has agreed to it yet, so it may neither use keys nor call
/// servers nor start programs.
fn of_change(place: Place<'_>, commit: &CommitId, missing: &Utf8Path) -> Result<Rule, Failure> {
    let mut rule = required(Files::Change(place.folder), place)?;
    let outside: Vec<Unread> = outside(&rule.spec, place.folder).collect();
    if !outside.is_empty() {
        rule.unread.extend(outside);
        return Err(rule.source.failure(rule.unread));
    }
    if !is_embedded(&rule.spec) {
        let change = "the spec of this change calls servers or programs";
        let message = format!("base commit `{commit}` has no `{missing}`, and {change}");
        return Err(Failure::new(FailureClass::Usage, message)
            .with_hint("merge the spec and its files first; only a spec with the embedded parts is tried out before"));
    }
    let origin = Origin { missing: Some(missing.to_string()), ..Origin::of_base(place.folder, commit) };
    Ok(Rule { origin: Some(origin), ..rule })
}

/// Snapshots outside of the repository: the report shows their text to everybody who sees the pull request.
fn outside<'r>(spec: &'r Spec, folder: &'r Utf8Path) -> impl Iterator<Item = Unread> + 'r {
    spec.snapshots.iter().filter_map(move |snapshot| {
        let SnapshotSource::Path(path) = &snapshot.source else { return None };
        let name = &snapshot.name;
        git::leads_out(folder, path).then(|| Unread {
            key: FileKey::Snapshot(name.clone()),
            failure: Failure::new(
                FailureClass::Usage,
                format!("failed to read snapshot `{name}` from `{path}`: {OUTSIDE}"),
            )
            .with_hint("name a folder or file of the repository"),
        })
    })
}

fn is_embedded(spec: &Spec) -> bool {
    matches!(spec.retrieve.backend, RetrieveBackend::Bm25(_) | RetrieveBackend::File)
        && spec.generators().all(|(_, backend)| matches!(backend, GenerateBackend::Reader(_)))
        && spec.judges().all(|(_, backend)| matches!(backend, JudgeBackend::Embedded))
}

/// The rule of a spec that has to be there.
fn required(files: Files<'_>, place: Place<'_>) -> Result<Rule, Failure> {
    match find(files, place)? {
        Some(found) => found.rule(),
        None => Err(files.failure(SPEC, place.name, Unreadable::Missing)),
    }
}

/// Puts a commit in the place of `base`, or says of each snapshot that names it why there is none.
fn name_base(rule: &mut Rule, folder: &Utf8Path, base: Option<&CommitId>) {
    let is_named = |source: &SnapshotSource| matches!(source, SnapshotSource::Git { revision, .. } if revision == BASE);
    if !rule.spec.snapshots.iter().any(|snapshot| is_named(&snapshot.source)) {
        return;
    }
    let commit = base_commit(folder, base);
    for snapshot in &mut rule.spec.snapshots {
        let SnapshotSource::Git { revision, .. } = &mut snapshot.source else { continue };
        match &commit {
            _ if revision != BASE => {}
            Ok(commit) => *revision = commit.to_string(),
            Err(failure) => {
                let key = FileKey::Revision(snapshot.name.clone());
                rule.unread.push(Unread { key, failure: failure.clone() });
            }
        }
    }
}

/// The merge base with what is checked out. Without a named base that is the merge base with the remote's default branch, or,
/// without a remote, what was last committed.
fn base_commit(folder: &Utf8Path, base: Option<&CommitId>) -> Result<CommitId, Failure> {
    let head = git::resolve(folder, "HEAD")?;
    Ok(match base {
        Some(base) => git::merge_base(folder, base, &head)?,
        None => match git::resolve(folder, "origin/HEAD") {
            Ok(remote) => git::merge_base(folder, &remote, &head)?,
            Err(_) => head,
        },
    })
}
