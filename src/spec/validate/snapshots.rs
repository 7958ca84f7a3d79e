//! `snapshots`

use super::retrieve::Retrieve;
use crate::model::SnapshotName;
use crate::spec::check::snapshot_shape;
use crate::spec::mask::quoted;
use crate::spec::node::{Node, Span};
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::scalar;
use crate::spec::surface::Shape;
use crate::spec::types::{RetrieveBackend, SnapshotSource, SnapshotSpec, SqlEngine};
use std::collections::BTreeMap;

/// Names that mean something else.
const TAKEN: &[&str] = &["old", "new", "placebo", "closed_book"];

/// The snapshots in the audit's order: old, the rungs between, new, the placebo.
pub fn snapshots(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<Vec<SnapshotSpec>> {
    let old = section.node("old").and_then(|node| source(node, false, problems));
    let new = section.node("new").and_then(|node| source(node, false, problems));
    let placebo = section.node("placebo").map(|node| source(node, false, problems));
    let nodes = section.node("between").map_or(&[][..], Node::items);
    let rungs: Vec<Option<SnapshotSpec>> = nodes.iter().map(|node| rung(node, problems)).collect();
    distinct(nodes, &rungs, problems);
    let mut all = vec![SnapshotSpec { name: SnapshotName::old(), source: old? }];
    all.extend(rungs.into_iter().collect::<Option<Vec<_>>>()?);
    all.push(SnapshotSpec { name: SnapshotName::new_snapshot(), source: new? });
    if let Some(placebo) = placebo {
        all.push(SnapshotSpec { name: SnapshotName::placebo(), source: placebo? });
    }
    Some(all)
}

fn rung(node: &Node, problems: &mut Vec<Problem>) -> Option<SnapshotSpec> {
    let source = source(node, true, problems);
    let name = value(node, "name")?;
    Some(SnapshotSpec { name: SnapshotName(name), source: source? })
}

fn distinct(nodes: &[Node], rungs: &[Option<SnapshotSpec>], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<&SnapshotName, &Node> = BTreeMap::new();
    for (node, rung) in nodes.iter().zip(rungs) {
        let Some(rung) = rung else { continue };
        let span = node.get("name").map_or_else(|| node.span.clone(), |entry| entry.value.span.clone());
        if TAKEN.contains(&rung.name.0.as_str()) {
            let message = format!("{} names another snapshot", quoted(&rung.name.0));
            problems.push(Problem::new(Code::DuplicateName, span, message).help("choose another name"));
        } else if let Some(first) = seen.insert(&rung.name, node) {
            let message = format!("the snapshot {} stands here twice", quoted(&rung.name.0));
            let problem = Problem::new(Code::DuplicateName, span, message).help("choose another name");
            problems.push(problem.related(first.span.start..first.span.start, "first here"));
        }
    }
}

/// One value of a snapshot, where it stands and keeps its rule.
fn value(node: &Node, key: &str) -> Option<String> {
    match snapshot_shape(key) {
        Shape::Text(rule) => scalar::text(node.get(key)?.value.scalar()?, *rule).ok().map(str::to_owned),
        _ => None,
    }
}

fn source(node: &Node, rung: bool, problems: &mut Vec<Problem>) -> Option<SnapshotSource> {
    if node.entries().is_empty() {
        return None;
    }
    if node.get("from").is_some() {
        return in_file(node, problems);
    }
    let variables = node.entries().iter().filter(|entry| !(entry.key == "path" || entry.key == "git"));
    let variables: Vec<_> = variables.filter(|entry| !(rung && entry.key == "name")).collect();
    let place = node.get("git").or_else(|| node.get("path"));
    if let (Some(first), Some(place)) = (variables.first(), place) {
        let message = format!("{} cannot stand beside {}", quoted(&first.key), quoted(&place.key));
        let problem = Problem::new(Code::Conflict, first.key_span.clone(), message);
        let help = "a snapshot is `{ path }`, `{ git, path }` or variables of the retrieval backend";
        problems.push(problem.related(place.key_span.clone(), "here").help(help));
        return None;
    }
    match place {
        None => variables
            .iter()
            .map(|entry| Some((entry.key.clone(), value(node, &entry.key)?)))
            .collect::<Option<_>>()
            .map(SnapshotSource::Variables),
        Some(_) if node.get("git").is_none() => value(node, "path").map(|path| SnapshotSource::Path(path.into())),
        Some(git) => in_git(node, git, problems),
    }
}

/// A file that names the variables stands alone.
fn in_file(node: &Node, problems: &mut Vec<Problem>) -> Option<SnapshotSource> {
    if let Some(other) = node.entries().iter().find(|entry| entry.key != "from") {
        let message = format!("{} cannot stand beside `from`", quoted(&other.key));
        let problem = Problem::new(Code::Conflict, other.key_span.clone(), message);
        problems.push(problem.help("the file names every variable"));
        return None;
    }
    value(node, "from").map(|path| SnapshotSource::From(path.into()))
}

fn in_git(node: &Node, git: &crate::spec::node::Entry, problems: &mut Vec<Problem>) -> Option<SnapshotSource> {
    if node.get("path").is_none() {
        let problem = Problem::new(Code::MissingKey, git.key_span.clone(), "the key `path` is missing beside `git`");
        problems.push(problem.help("add `path: corpus`, the corpus at that revision"));
        return None;
    }
    let (revision, path) = (value(node, "git")?, value(node, "path")?);
    Some(SnapshotSource::Git { revision, path: path.into() })
}

/// Whether the snapshots are of the kind that the backend takes, and name the same variables.
pub fn fit(root: Reader<'_>, all: &[SnapshotSpec], retrieve: &Retrieve, problems: &mut Vec<Problem>) {
    let backend = &retrieve.spec.backend;
    let Some(section) = root.section("snapshots") else { return };
    let nodes = std::iter::once(section.node("old"))
        .chain(section.node("between").map_or(&[][..], Node::items).iter().map(Some))
        .chain([section.node("new"), section.node("placebo")]);
    let own_databases = matches!(backend, RetrieveBackend::Sql(sql) if sql.engine == SqlEngine::Sqlite { file: None });
    let wants_files = own_databases || matches!(backend, RetrieveBackend::Bm25(_) | RetrieveBackend::File);
    for (snapshot, node) in all.iter().zip(nodes) {
        let Some(node) = node else { continue };
        let is_files = !matches!(snapshot.source, SnapshotSource::Variables(_) | SnapshotSource::From(_));
        if is_files != wants_files && !(is_files && matches!(backend, RetrieveBackend::Command(_))) {
            problems.push(misfit(node, wants_files));
        }
        if own_databases && matches!(snapshot.source, SnapshotSource::Git { .. }) {
            let problem = Problem::new(Code::Conflict, node.span.clone(), "a database is not read at a git revision");
            problems.push(problem.help("name the file: `{ path: docs.db }`"));
        }
    }
    same_variables(all, &section, problems);
    if retrieve.fills_variables {
        used_variables(&retrieve.named, all, &section, problems);
    }
    if retrieve.spec.is_within() && section.flag("closed_book") == Some(true) {
        let message = "a deployed system retrieves by itself, and cannot be asked without evidence";
        let problem = Problem::new(Code::Conflict, section.span("closed_book"), message);
        problems.push(problem.help("remove `closed_book`"));
    }
}

/// Whether the request names variables that every snapshot has, and no snapshot has one that the request leaves out.
fn used_variables(named: &[(String, Span)], all: &[SnapshotSpec], section: &Reader<'_>, problems: &mut Vec<Problem>) {
    for snapshot in all {
        let SnapshotSource::Variables(variables) = &snapshot.source else { continue };
        for (name, span) in named.iter().filter(|(name, _)| !variables.contains_key(name)) {
            let message = format!("the snapshot `{}` has no variable {}", snapshot.name, quoted(name));
            let problem = Problem::new(Code::Placeholder, span.clone(), message);
            problems.push(problem.help("name a variable that every snapshot has"));
        }
    }
    let Some(SnapshotSource::Variables(variables)) = all.first().map(|snapshot| &snapshot.source) else { return };
    for name in variables.keys().filter(|name| named.iter().all(|(used, _)| used != *name)) {
        let message = format!("the request does not use the variable {}", quoted(name));
        let span = section.span("old").start..section.span("old").start;
        let help = format!(
            "write `{{{name}}}` in the URL's path or in SQL, or `\"{{{{snapshot.{name}}}}}\"` in the body or query"
        );
        problems.push(Problem::new(Code::Placeholder, span, message).help(help));
    }
}

fn misfit(node: &Node, wants_files: bool) -> Problem {
    let span = node.span.start..node.span.start;
    if wants_files {
        let problem = Problem::new(Code::Conflict, span, "this retrieval backend needs a snapshot with a `path`");
        return problem.help("write `{ path: corpus }` or `{ git: base, path: corpus }`");
    }
    let problem = Problem::new(Code::Conflict, span, "what is asked here needs a snapshot of variables");
    problem.help("write variables that the request is filled with, such as `{ index: docs_v42 }`")
}

/// Snapshots of variables all name the same ones. What a file names is checked when it is read.
fn same_variables(all: &[SnapshotSpec], section: &Reader<'_>, problems: &mut Vec<Problem>) {
    let names = |snapshot: &SnapshotSpec| match &snapshot.source {
        SnapshotSource::Variables(variables) => Some(variables.keys().cloned().collect::<Vec<_>>()),
        _ => None,
    };
    let sets: Vec<_> = all.iter().filter_map(|snapshot| Some((&snapshot.name, names(snapshot)?))).collect();
    let Some((one, first)) = sets.first() else { return };
    if let Some((other, set)) = sets.iter().rev().find(|(_, set)| set != first) {
        let message = "the snapshots do not all name the same variables";
        let span = section.span("new").start..section.span("new").start;
        let shown = [first, set].map(|set| set.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "));
        let problem = Problem::new(Code::Conflict, span, message);
        problems.push(problem.help(format!("`{one}` has {}, `{other}` has {}", shown[0], shown[1])));
    }
}
