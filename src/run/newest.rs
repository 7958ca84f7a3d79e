//! Which snapshot is new, where the rule leaves that to the change or to the command line: values of variables that the rule
//! names, plain names and nothing else.

use super::files::{Files, Unread};
use crate::git;
use crate::model::{Failure, FailureClass, SnapshotName};
use crate::spec::{self, FileKey, SnapshotSource, SnapshotSpec, Spec, variables};
use camino::Utf8Path;
use std::collections::BTreeMap;

/// The largest file of variables that is read, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// What the file is called where it cannot be read.
const FILE: &str = "the variables of snapshot `new`";

/// Fills in the variables of the new snapshot: from the file that the spec names, then from the command line. The file is
/// the working tree's, since only the change knows what it built; no link is followed, so that its text, which an error
/// may quote, is the change's own. Where the command line gives every variable, the file need not be there.
///
/// # Errors
/// The file or the command line names something else than plain values of those variables. A file that cannot be read is told
/// beside whatever else is unread.
pub(super) fn fill(
    spec: &mut Spec,
    folder: &Utf8Path,
    given: &[String],
    unread: &mut Vec<spec::Unread>,
) -> Result<(), Failure> {
    let old = spec.snapshots.first().map(|snapshot| snapshot.source.clone());
    let is_new = |snapshot: &&mut SnapshotSpec| snapshot.name == SnapshotName::new_snapshot();
    let Some(new) = spec.snapshots.iter_mut().find(is_new) else { return Ok(()) };
    let assignment = |text: &String| variables::assignment(text).map_err(|why| usage(format!("read `--new`: {why}")));
    let given = given.iter().map(assignment).collect::<Result<Vec<_>, _>>()?;
    if let SnapshotSource::From(path) = &new.source {
        let is_given = |name: &String| given.iter().any(|(given, _)| given == name);
        new.source = SnapshotSource::Variables(match &old {
            Some(SnapshotSource::Variables(old)) if old.keys().all(is_given) => old.clone(),
            _ => {
                let text = match text_of(folder, path) {
                    Ok(text) => text,
                    Err(failure) => {
                        unread.push(spec::Unread { key: FileKey::Snapshot(new.name.clone()), failure });
                        return Ok(());
                    }
                };
                read(path, &text, old.as_ref())?
            }
        });
    }
    given.into_iter().try_for_each(|(name, value)| give(&mut new.source, name, value))
}

/// The variables of the file, which must be those of the old snapshot.
fn read(path: &Utf8Path, text: &str, old: Option<&SnapshotSource>) -> Result<BTreeMap<String, String>, Failure> {
    let read = variables::parse(text, path.as_str()).map_err(|errors| usage(format!("read {FILE}\n{errors}")))?;
    if let Some(SnapshotSource::Variables(old)) = old {
        same_names(path, old, &read)?;
    }
    Ok(read)
}

fn give(source: &mut SnapshotSource, name: String, value: String) -> Result<(), Failure> {
    let SnapshotSource::Variables(variables) = source else {
        return Err(usage("`--new` gives a value to a variable, and snapshot `new` of the spec has none".to_owned())
            .with_hint("a snapshot of variables looks like `new: { index: docs_v42 }`"));
    };
    let known = || variables.keys().cloned().collect::<Vec<_>>().join("`, `");
    match variables.get(&name) {
        Some(_) => {
            variables.insert(name, value);
            Ok(())
        }
        None => Err(usage(format!("snapshot `new` of the spec has no variable `{name}`"))
            .with_hint(format!("it has `{}`", known()))),
    }
}

fn text_of(folder: &Utf8Path, path: &Utf8Path) -> Result<String, Failure> {
    let tree = Files::Tree(folder);
    if let Some(link) = git::link_on_the_way(folder, path) {
        return Err(tree.failure(FILE, path, Unread::Linked(link)));
    }
    let bytes = tree.require(FILE, path, MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|_| tree.failure(FILE, path, Unread::Unusable("it is not UTF-8".to_owned())))
}

/// The file may choose values, not which variables there are.
fn same_names(path: &Utf8Path, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Result<(), Failure> {
    if old.keys().eq(new.keys()) {
        return Ok(());
    }
    let names = |of: &BTreeMap<String, String>| of.keys().cloned().collect::<Vec<_>>().join("`, `");
    let message =
        format!("`{path}` names the variables `{}`, and snapshot `old` of the spec `{}`", names(new), names(old));
    Err(usage(message).with_hint("name the same variables in both"))
}

fn usage(message: String) -> Failure {
    Failure::new(FailureClass::Usage, message)
}
