//! The files that a spec names: which they are and where each is named, for whoever finds that some cannot be read.

use super::node::Node;
use super::problem::{Code, Problem, SpecErrors};
use super::surface::Text;
use super::{mask, preset, scalar, yaml};
use crate::model::{Failure, FailureClass, SnapshotName};
use camino::Utf8PathBuf;
use std::collections::BTreeSet;

/// A key of a spec that names a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKey {
    /// `preset` of `retrieve` or `answer`, where it is no built-in one.
    Preset,
    /// `questions.select.exclude`
    Exclude,
    /// `questions.select.only`
    Only,
    /// `generate.prompt`
    Prompt,
    /// `questions.file`
    Questions,
    /// `retrieve.sql.sqlite.file`
    Database,
    /// The first entry of `command.argv` in this section.
    Program(&'static str),
    /// `git` of a snapshot.
    Revision(SnapshotName),
    /// `path` or `from` of a snapshot.
    Snapshot(SnapshotName),
}

/// What a spec names and cannot be read.
#[derive(Clone, Debug)]
pub struct Unread {
    /// Where it is named.
    pub key: FileKey,
    /// Why, and what to do about it.
    pub failure: Failure,
}

/// The files beside a spec that belong to its rule, relative to its folder, as far as they can be made out. What is wrong with
/// the spec is for [`super::parse_with`] to say.
#[must_use]
pub fn named_files(text: &str) -> Vec<(FileKey, Utf8PathBuf)> {
    let Some(root) = yaml::read(text, yaml::SPEC, &mut Vec::new()) else { return Vec::new() };
    let keys = [FileKey::Preset, FileKey::Exclude, FileKey::Only, FileKey::Prompt, FileKey::Questions];
    let named = keys.into_iter().filter_map(|key| {
        let path = scalar::text(value(&root, &key)?.scalar()?, Text::Path).ok()?;
        (key != FileKey::Preset || preset::is_path(path)).then(|| (key, path.into()))
    });
    named.collect()
}

/// The failure of a spec, all of whose files that cannot be read are told at once, each at the key that names it; `file` is the
/// spec's name. Of one key the first is told. What no spec can mend, such as a git that fails, is told alone.
#[must_use]
pub fn unreadable(text: &str, file: &str, unread: Vec<Unread>) -> Failure {
    if let Some(other) = unread.iter().find(|one| one.failure.class != FailureClass::Usage) {
        return other.failure.clone();
    }
    let root = yaml::read(text, yaml::SPEC, &mut Vec::new());
    let mut told = BTreeSet::new();
    let mut problems = Vec::new();
    for Unread { key, failure } in unread {
        let place = root.as_ref().and_then(|root| value(root, &key)).map_or(0..0, |node| node.span.clone());
        if told.insert(key) {
            let problem = Problem::new(Code::UnreadFile, place, mask::hidden_keys(&failure.message));
            problems.push(Problem { help: failure.hint, ..problem });
        }
    }
    SpecErrors::new(problems, file, text).into()
}

/// What stands under this key; the whole snapshot where it does not have the key itself.
fn value<'a>(root: &'a Node, key: &FileKey) -> Option<&'a Node> {
    let at = |path: &[&str]| path.iter().try_fold(root, |node, key| node.get(key).map(|entry| &entry.value));
    let of_snapshot = |name, keys: [&str; 2]| {
        let node = snapshot(root, name)?;
        let entry = keys.iter().find_map(|key| node.get(key));
        Some(entry.map_or(node, |entry| &entry.value))
    };
    match key {
        FileKey::Preset => at(&["answer", "preset"]).or_else(|| at(&["retrieve", "preset"])),
        FileKey::Exclude => at(&["questions", "select", "exclude"]),
        FileKey::Only => at(&["questions", "select", "only"]),
        FileKey::Prompt => at(&["generate", "prompt"]),
        FileKey::Questions => at(&["questions", "file"]),
        FileKey::Database => at(&["retrieve", "sql", "sqlite", "file"]),
        FileKey::Program(section) => {
            let path: Vec<&str> = section.split('.').chain(["command", "argv"]).collect();
            at(&path)?.items().first()
        }
        FileKey::Revision(name) => of_snapshot(name, ["git", "path"]),
        FileKey::Snapshot(name) => of_snapshot(name, ["path", "from"]),
    }
}

/// The snapshot of this name; rungs between stand in a list.
fn snapshot<'a>(root: &'a Node, name: &SnapshotName) -> Option<&'a Node> {
    let snapshots = &root.get("snapshots")?.value;
    if !name.is_rung() {
        return snapshots.get(&name.0).map(|entry| &entry.value);
    }
    let is_named =
        |rung: &&Node| rung.get("name").and_then(|entry| entry.value.scalar()).is_some_and(|it| it.text == name.0);
    snapshots.get("between")?.value.items().iter().find(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "\
questions: { file: q.jsonl, select: { exclude: never.txt, only: qrels.tsv } }
snapshots:
  old: { git: v1, path: corpus }
  between: [ { name: n2, path: rung }, { name: n3, path: top } ]
  new: { from: new.yaml }
  placebo: { index: docs }
retrieve: { preset: own.yaml, sql: { sqlite: { file: docs.db } } }
generate: { prompt: prompt.txt }
judge: { second: { command: { argv: [./judge, --strict] } } }
";

    fn named(name: &str) -> SnapshotName {
        SnapshotName(name.to_owned())
    }

    fn unread(key: FileKey, message: &str) -> Unread {
        Unread { key, failure: Failure::new(FailureClass::Usage, message).with_hint("look there") }
    }

    #[test]
    fn every_key_that_names_a_file_is_found() {
        let root = yaml::read(SPEC, yaml::SPEC, &mut Vec::new()).unwrap();
        let text = |key| value(&root, &key).map(|node| &SPEC[node.span.clone()]);
        for (key, written) in [
            (FileKey::Preset, "own.yaml"),
            (FileKey::Exclude, "never.txt"),
            (FileKey::Only, "qrels.tsv"),
            (FileKey::Prompt, "prompt.txt"),
            (FileKey::Questions, "q.jsonl"),
            (FileKey::Database, "docs.db"),
            (FileKey::Program("judge.second"), "./judge"),
            (FileKey::Revision(SnapshotName::old()), "v1"),
            (FileKey::Snapshot(SnapshotName::old()), "corpus"),
            (FileKey::Snapshot(named("n3")), "top"),
            (FileKey::Snapshot(SnapshotName::new_snapshot()), "new.yaml"),
        ] {
            assert_eq!(text(key.clone()), Some(written), "{key:?}");
        }
        assert!(text(FileKey::Snapshot(SnapshotName::placebo())).is_some_and(|whole| whole.contains("docs")));
        assert_eq!(text(FileKey::Snapshot(named("n9"))), None);
    }

    #[test]
    fn files_of_the_rule_are_named_and_what_is_none_is_not() {
        let paths = |text| named_files(text).into_iter().map(|(_, path)| path.into_string()).collect::<Vec<_>>();
        assert_eq!(paths(SPEC), ["own.yaml", "never.txt", "qrels.tsv", "prompt.txt", "q.jsonl"]);
        assert_eq!(paths("retrieve: { preset: elasticsearch }\nquestions: { file: /etc/passwd }"), [""; 0]);
        assert_eq!(paths(": ["), [""; 0]);
    }

    #[test]
    fn all_are_told_at_once_in_the_order_of_the_spec_and_each_key_once() {
        let all = vec![
            unread(FileKey::Snapshot(named("n2")), "failed to read `rung`"),
            unread(FileKey::Questions, "failed to read `q.jsonl`"),
            unread(FileKey::Questions, "and again"),
        ];
        let failure = unreadable(SPEC, "churngate.yaml", all);
        assert_eq!(failure.class, FailureClass::Usage);
        insta::assert_snapshot!(failure, @"
        read the spec `churngate.yaml`: 2 problems
        error[unread-file]: failed to read `q.jsonl`
         --> churngate.yaml:1:20
          |
        1 | questions: { file: q.jsonl, select: { exclude: never.txt, only: qrels.tsv } }
          |                    ^^^^^^^
          |
          = help: look there

        error[unread-file]: failed to read `rung`
         --> churngate.yaml:4:32
          |
        4 |   between: [ { name: n2, path: rung }, { name: n3, path: top } ]
          |                                ^^^^
          |
          = help: look there
        ");
    }

    #[test]
    fn what_no_spec_can_mend_is_told_alone() {
        let git = Failure::new(FailureClass::Incomplete, "git failed");
        let all = vec![unread(FileKey::Questions, "gone"), Unread { key: FileKey::Prompt, failure: git }];
        let failure = unreadable(SPEC, "churngate.yaml", all);
        assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Incomplete, "git failed"));
    }
}
