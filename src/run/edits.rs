//! What a change edits of the rule that judges it, told beside the verdict. The change is not trusted: its values are shown
//! as single words, and what may be a key is not shown at all.

use super::beside::{MAX_QUESTIONS_BYTES, parse, preset_of};
use super::files::{Files, MAX_SMALL_BYTES, Unread};
use super::origin::Edit;
use super::rule::{Place, Rule};
use crate::git::{self, CommitId, Located};
use crate::model::{Failure, FailureClass, SnapshotName};
use crate::retrieve::corpus;
use crate::spec::{
    self, BlackBoxBackend, CommandSpec, Difference, EmbedBackend, GenerateBackend, JudgeBackend, Named,
    RetrieveBackend, SnapshotSource, Spec, SqlEngine,
};
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
    let mut edited: Vec<Edit> = edit_of_spec(rule, place).into_iter().collect();
    let beside = [
        Some((&rule.spec.questions.file, &rule.questions)),
        rule.spec.questions.exclude.as_ref().zip(rule.exclude.as_ref()),
        rule.spec.questions.only.as_ref().zip(rule.only.as_ref()),
        rule.spec.generate.prompt.as_ref().zip(rule.prompt.as_ref()),
        rule.preset.as_ref().map(|(path, bytes)| (path, bytes)),
    ];
    for (path, bytes) in beside.into_iter().flatten() {
        edited.extend(edit_of(place.folder, path, bytes));
    }
    let relied = |path: Utf8PathBuf| Edit::Relied { path: path.into_string() };
    edited.extend(edits_of_trusted(&rule.spec, place.folder, commit, is_set)?.into_iter().map(relied));
    Ok(edited)
}

/// The parts of the spec that the change edits, by name. A comment or a changed layout is no edit.
fn edit_of_spec(rule: &Rule, place: Place<'_>) -> Option<Edit> {
    let Place { path, folder, name } = place;
    let bytes = match Files::Change(folder).read(name, MAX_SMALL_BYTES) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return Some(edit(name, "it is removed")),
        Err(Unread::Linked(_)) => return Some(edit(name, LINKED)),
        Err(_) => return Some(edit(name, "it cannot be read any more")),
    };
    let preset = preset_of(&bytes);
    let preset = preset.and_then(|path| Some((Files::Change(folder).read(&path, MAX_SMALL_BYTES).ok()?, path)));
    let preset = preset.map(|(bytes, path)| (path, bytes));
    let Ok(head) = parse(&bytes, path, preset.as_ref()) else {
        return Some(edit(name, "it is no valid spec any more"));
    };
    let differences = spec::differences(&rule.spec, &head);
    (!differences.is_empty()).then(|| edit(name, &listed(&differences)))
}

/// The first differences, and how many more there are.
fn listed(differences: &[Difference]) -> String {
    let told = differences.iter().take(TOLD).map(Difference::to_string);
    let more = differences.len().saturating_sub(TOLD);
    told.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join("; ")
}

fn edit(path: &Utf8Path, change: &str) -> Edit {
    Edit::Rule { path: path.to_string(), change: change.to_owned() }
}

/// A file beside the spec, with how many lines it had and has.
fn edit_of(folder: &Utf8Path, path: &Utf8Path, base: &[u8]) -> Option<Edit> {
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    match Files::Change(folder).read(path, MAX_QUESTIONS_BYTES) {
        Ok(bytes) if bytes == base => None,
        Ok(bytes) => Some(edit(path, &format!("lines: {} → {}", lines(base), lines(&bytes)))),
        Err(Unread::Linked(_)) => Some(edit(path, LINKED)),
        Err(_) => Some(edit(path, "it is removed")),
    }
}

/// What is read from the working tree although the rule relies on it, and is not as the base has it: the old snapshot
/// and the placebo where they lie there, and the files that programs are started with.
///
/// # Errors
/// There is a key that such a program could come by.
fn edits_of_trusted(
    spec: &Spec,
    folder: &Utf8Path,
    base: &CommitId,
    is_set: fn(&str) -> bool,
) -> Result<Vec<Utf8PathBuf>, Failure> {
    let key = key_within_reach(spec, is_set);
    let commits = [base.clone(), git::resolve(folder, "HEAD")?];
    let mut edited = Vec::new();
    for path in old_folders(spec).chain(shared_database(spec)) {
        if is_edited(folder, &commits, &corpus::file_of(path))? {
            edited.push(path.to_owned());
        }
    }
    for command in commands(spec) {
        for path in command.argv.iter().map(Utf8Path::new).filter(|path| !path.as_str().is_empty()) {
            // Programs run in the working folder; a spec's own paths are relative to the spec's.
            if !is_edited(Utf8Path::new("."), &commits, path)? && !is_edited(folder, &commits, path)? {
                continue;
            }
            if let Some(key) = command.env.first().map(String::as_str).or(key) {
                return Err(beside_a_key(path, base, key));
            }
            edited.push(path.to_owned());
        }
    }
    Ok(edited)
}

fn old_folders(spec: &Spec) -> impl Iterator<Item = &Utf8Path> {
    let relied_on = [SnapshotName::old(), SnapshotName::placebo()];
    let old = spec.snapshots.iter().filter(move |snapshot| relied_on.contains(&snapshot.name));
    old.filter_map(|snapshot| match &snapshot.source {
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

fn commands(spec: &Spec) -> impl Iterator<Item = &CommandSpec> {
    let embedder = spec.retrieve.embed.as_ref().map(|embed| &embed.backend);
    let judges = spec.judges().map(|(_, backend)| match backend {
        JudgeBackend::Command(command) => Some(command),
        JudgeBackend::Model(_) | JudgeBackend::Embedded => None,
    });
    let generators = spec.generators().map(|(_, backend)| answering(backend));
    let commands = [
        if let Some(EmbedBackend::Command(command)) = embedder { Some(command) } else { None },
        if let RetrieveBackend::Command(command) = &spec.retrieve.backend { Some(command) } else { None },
    ];
    commands.into_iter().chain(generators).chain(judges).flatten()
}

/// The program that answers, be it the generator or what asks a deployed system.
fn answering(backend: &GenerateBackend) -> Option<&CommandSpec> {
    match backend {
        GenerateBackend::Command(command) => Some(command),
        GenerateBackend::BlackBox(system) => match &system.backend {
            BlackBoxBackend::Command(command) => Some(command),
            BlackBoxBackend::Http(_) => None,
        },
        GenerateBackend::Reader(_) | GenerateBackend::Model(_) => None,
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

fn beside_a_key(path: &Utf8Path, base: &CommitId, key: &str) -> Failure {
    let message = format!(
        "this change edits `{path}`, which the rule of base commit `{base}` starts, and `{key}` would be within its reach"
    );
    Failure::new(FailureClass::Usage, message).with_hint(
        "merge the program on its own first, once somebody has read it; no change's own program is started beside a key",
    )
}

/// Whether the change edits what lies at a path, which is relative to `folder`. Git has the text of a symbolic link alone, so
/// links are followed: what counts is what is read or started.
fn is_edited(folder: &Utf8Path, commits: &[CommitId; 2], path: &Utf8Path) -> Result<bool, Failure> {
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
fn differs(folder: &Utf8Path, commits: &[CommitId; 2], path: &Utf8Path) -> Result<bool, Failure> {
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
