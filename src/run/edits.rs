//! What a change edits of the rule that judges it, told beside the verdict. The change is not trusted: its values are shown
//! as single words, and what may be a key is not shown at all.
//!
//! What differs from the base commit need not be the change's doing: the base may have moved on. So it is held against the commit
//! that both come from as well.

use super::beside::{MAX_QUESTIONS_BYTES, parse, preset_of};
use super::files::{Files, MAX_SMALL_BYTES, Unread};
use super::origin::{By, Edit};
use super::rule::{Place, Rule};
use crate::git::{self, CommitId, GitError, Located};
use crate::model::{Failure, FailureClass, SnapshotName};
use crate::retrieve::corpus;
use crate::spec::{self, Difference, Named, RetrieveBackend, SnapshotSource, Spec, SqlEngine};
use camino::{Utf8Path, Utf8PathBuf};

/// The most keys of a spec whose values are told.
const TOLD: usize = 6;

/// What became of a file in whose place, or on the way to which, the change has a symbolic link.
const LINKED: &str = "a symbolic link takes its place";

/// What the working tree has otherwise than the base, as it is told to people.
///
/// # Errors
/// A program that the change edits would be started beside a key.
pub(super) fn edits(
    rule: &Rule,
    place: Place<'_>,
    commit: &CommitId,
    is_set: fn(&str) -> bool,
) -> Result<Vec<Edit>, Failure> {
    let trunk = Trunk::of(place.folder, commit)?;
    let mut edited: Vec<Edit> = edit_of_spec(rule, place, &trunk).into_iter().collect();
    let beside = [
        Some((&rule.spec.questions.file, &rule.questions)),
        rule.spec.questions.exclude.as_ref().zip(rule.exclude.as_ref()),
        rule.spec.questions.only.as_ref().zip(rule.only.as_ref()),
        rule.spec.generate.prompt.as_ref().zip(rule.prompt.as_ref()),
        rule.preset.as_ref().map(|(path, bytes)| (path, bytes)),
    ];
    for (path, bytes) in beside.into_iter().flatten() {
        edited.extend(edit_of(place.folder, path, bytes, &trunk));
    }
    edited.extend(edits_of_trusted(&rule.spec, place.folder, &trunk, is_set)?);
    Ok(edited)
}

/// The commits that tell who made a difference.
struct Trunk {
    base: CommitId,
    head: CommitId,
    /// The one that base and head come from, where this clone has it.
    fork: Option<CommitId>,
}

impl Trunk {
    fn of(folder: &Utf8Path, base: &CommitId) -> Result<Self, GitError> {
        let head = git::resolve(folder, "HEAD")?;
        let fork = match git::merge_base(folder, base, &head) {
            Ok(fork) => Some(fork),
            Err(GitError::NoMergeBase { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { base: base.clone(), head, fork })
    }

    /// The commit that base and head come from, where it is another one than the base.
    fn before(&self) -> Option<&CommitId> {
        self.fork.as_ref().filter(|fork| **fork != self.base)
    }

    /// Whose difference from the base one of a file is: nobody but the base made it where the file is as it was at the fork.
    fn by(&self, folder: &Utf8Path, path: &Utf8Path, now: Option<&[u8]>) -> By {
        match (&self.fork, self.before()) {
            (None, _) => By::Unknown,
            (_, None) => By::Change,
            (_, Some(fork)) => match Files::Commit(folder, fork).read(path, MAX_QUESTIONS_BYTES) {
                Ok(bytes) if now == Some(&bytes) => By::Base,
                Err(Unread::Missing) if now.is_none() => By::Base,
                _ => By::Change,
            },
        }
    }

    /// Whether something at a path is not as the base has it, and whose doing that is.
    fn edited(&self, folder: &Utf8Path, path: &Utf8Path) -> Result<Option<By>, Failure> {
        if !is_edited(folder, [&self.base, &self.head], path)? {
            return Ok(None);
        }
        Ok(Some(match &self.fork {
            None => By::Unknown,
            Some(fork) if is_edited(folder, [fork, &self.head], path)? => By::Change,
            Some(_) => By::Base,
        }))
    }
}

/// The parts of the spec that the change edits, by name. A comment or a changed layout is no edit.
fn edit_of_spec(rule: &Rule, place: Place<'_>, trunk: &Trunk) -> Option<Edit> {
    let Place { folder, name, .. } = place;
    let edited = |change: &str, bytes: Option<&[u8]>| Some(edit(name, change, trunk.by(folder, name, bytes)));
    let bytes = match Files::Change(folder).read(name, MAX_SMALL_BYTES) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return edited("it is removed", None),
        Err(Unread::Linked(_)) => return Some(edit(name, LINKED, By::Change)),
        Err(_) => return Some(edit(name, "it cannot be read any more", By::Change)),
    };
    let Some(head) = spec_of(&bytes, place, Files::Change(folder)) else {
        return edited("it is no valid spec any more", Some(&bytes));
    };
    let differences = spec::differences(&rule.spec, &head);
    if differences.is_empty() {
        return None;
    }
    let before = trunk.before().map(|fork| Files::Commit(folder, fork));
    let before = before.and_then(|files| spec_of(&files.read(name, MAX_SMALL_BYTES).ok()?, place, files));
    Some(match before.map(|before| spec::differences(&before, &head)) {
        Some(own) if own.is_empty() => edit(name, &listed(&differences), By::Base),
        Some(own) => edit(name, &listed(&own), By::Change),
        None => edit(name, &listed(&differences), if trunk.fork.is_none() { By::Unknown } else { By::Change }),
    })
}

/// The spec that stands in these bytes, with its preset from the files beside it.
fn spec_of(bytes: &[u8], place: Place<'_>, files: Files<'_>) -> Option<Spec> {
    let preset = preset_of(bytes).and_then(|path| Some((files.read(&path, MAX_SMALL_BYTES).ok()?, path)));
    parse(bytes, place.path, preset.map(|(bytes, path)| (path, bytes)).as_ref()).ok()
}

/// The first differences, and how many more there are.
fn listed(differences: &[Difference]) -> String {
    let told = differences.iter().take(TOLD).map(Difference::to_string);
    let more = differences.len().saturating_sub(TOLD);
    told.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join("; ")
}

fn edit(path: &Utf8Path, change: &str, by: By) -> Edit {
    Edit::Rule { path: path.to_string(), change: change.to_owned(), by }
}

/// A file beside the spec, with how many lines it had and has.
fn edit_of(folder: &Utf8Path, path: &Utf8Path, base: &[u8], trunk: &Trunk) -> Option<Edit> {
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    match Files::Change(folder).read(path, MAX_QUESTIONS_BYTES) {
        Ok(bytes) if bytes == base => None,
        Ok(bytes) => {
            let change = format!("lines: {} → {}", lines(base), lines(&bytes));
            Some(edit(path, &change, trunk.by(folder, path, Some(&bytes))))
        }
        Err(Unread::Linked(_)) => Some(edit(path, LINKED, By::Change)),
        Err(_) => Some(edit(path, "it is removed", trunk.by(folder, path, None))),
    }
}

/// What is read from the working tree although the rule relies on it, and is not as the base has it: every snapshot but the new
/// one where it lies there, and the files that programs are started with.
///
/// # Errors
/// There is a key that such a program could come by.
fn edits_of_trusted(
    spec: &Spec,
    folder: &Utf8Path,
    trunk: &Trunk,
    is_set: fn(&str) -> bool,
) -> Result<Vec<Edit>, Failure> {
    let key = key_within_reach(spec, is_set);
    let relied = |path: &Utf8Path, by| Edit::Relied { path: path.to_string(), by };
    let mut edited = Vec::new();
    for path in trusted_folders(spec).chain(shared_database(spec)) {
        edited.extend(trunk.edited(folder, &corpus::file_of(path))?.map(|by| relied(path, by)));
    }
    for (_, command) in spec.programs() {
        for path in command.argv.iter().map(Utf8Path::new).filter(|path| !path.as_str().is_empty()) {
            // Programs run in the working folder; a spec's own paths are relative to the spec's.
            let found = [trunk.edited(Utf8Path::new("."), path)?, trunk.edited(folder, path)?];
            let Some(by) = found.into_iter().flatten().min_by_key(|by| *by == By::Base) else { continue };
            if let Some(key) = command.env.first().map(String::as_str).or(key) {
                return Err(beside_a_key(path, &trunk.base, key, by));
            }
            edited.push(relied(path, by));
        }
    }
    Ok(edited)
}

fn trusted_folders(spec: &Spec) -> impl Iterator<Item = &Utf8Path> {
    let trusted = spec.snapshots.iter().filter(|snapshot| snapshot.name != SnapshotName::new_snapshot());
    trusted.filter_map(|snapshot| match &snapshot.source {
        SnapshotSource::Path(path) => Some(path.as_path()),
        SnapshotSource::Git { .. } | SnapshotSource::Variables(_) | SnapshotSource::From(_) => None,
    })
}

/// A database file that holds the old snapshot beside the new one.
fn shared_database(spec: &Spec) -> Option<&Utf8Path> {
    let RetrieveBackend::Sql(sql) = &spec.retrieve.backend else { return None };
    match &sql.engine {
        SqlEngine::Sqlite { file } => file.as_deref(),
        SqlEngine::Postgres { .. } => None,
    }
}

/// Tokens that a job of GitHub Actions may have in its environment.
const TOKENS: [&str; 4] = ["GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"];

/// A key in this process's environment. A program is not given it, but on most systems one can read the environment of the
/// process that started it.
fn key_within_reach(spec: &Spec, is_set: fn(&str) -> bool) -> Option<&str> {
    let Named { keys, passed } = spec.named();
    keys.into_iter().chain(passed).chain(TOKENS).find(|name| is_set(name))
}

fn beside_a_key(path: &Utf8Path, base: &CommitId, key: &str, by: By) -> Failure {
    let (what, hint) = match by {
        By::Base => {
            ("this branch is behind in", "merge the base branch into this one, so that it has the base's program")
        }
        By::Change | By::Unknown => (
            "this change edits",
            "merge the program on its own first, once somebody has read it; no change's own program is started beside a key",
        ),
    };
    let message = format!(
        "{what} `{path}`, which the rule of base commit `{base}` starts, and `{key}` would be within its reach"
    );
    Failure::new(FailureClass::Usage, message).with_hint(hint)
}

/// Whether the change edits what lies at a path, which is relative to `folder`. Git has the text of a symbolic link alone, so
/// links are followed: what counts is what is read or started.
fn is_edited(folder: &Utf8Path, commits: [&CommitId; 2], path: &Utf8Path) -> Result<bool, Failure> {
    if differs(folder, commits, path)? {
        return Ok(true);
    }
    let (mut way, mut linked) = (Utf8PathBuf::new(), false);
    for part in path.components() {
        way.push(part);
        if folder.join(&way).is_symlink() {
            linked = true;
            if differs(folder, commits, &way)? {
                return Ok(true);
            }
        }
    }
    let Some(real) = linked.then(|| folder.join(path).canonicalize_utf8().ok()).flatten() else { return Ok(false) };
    match (real.parent(), real.file_name()) {
        (Some(parent), Some(name)) => differs(parent, commits, Utf8Path::new(name)),
        _ => Ok(false),
    }
}

/// Whether the two commits have different things at a path, which is relative to `folder`. What lies in a submodule differs
/// where the submodule's commit does: nobody here can tell which of its files another commit of it changes.
fn differs(folder: &Utf8Path, commits: [&CommitId; 2], path: &Utf8Path) -> Result<bool, Failure> {
    let at = |commit: &CommitId| match git::locate(folder, commit, path) {
        Ok(Located::Tree(object) | Located::Blob { object, .. }) => Ok(Some(object)),
        Err(missing) => match git::submodule_of(folder, commit, path)? {
            None if !matches!(missing, git::GitError::NoSuchPath { .. }) => Err(Failure::from(missing)),
            found => Ok(found),
        },
    };
    let [base, head] = commits;
    Ok(at(base)? != at(head)?)
}
