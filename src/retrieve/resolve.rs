//! What the snapshots physically are, before anything is spent.

use super::asked::Asked;
use super::corpus::{Corpus, CorpusError, Fingerprint};
use super::engine::Identity;
use super::file;
use crate::freeze::ResolvedSnapshot;
use crate::http::Context;
use crate::model::{Digest, Failure, FailureClass, SnapshotName};
use crate::spec::{RetrieveBackend, SnapshotSource, SnapshotSpec, Spec};
use camino::Utf8Path;
use std::collections::BTreeMap;

/// Looks at every snapshot of the spec: documents are counted and digested, revisions become commits. No engine is asked:
/// its snapshots are known by name alone. The closed book comes last where the spec asks for it. `base` is the spec's folder.
///
/// # Errors
/// Every snapshot that cannot be audited, with what to do about it.
pub fn resolve(spec: &Spec, base: &Utf8Path) -> Result<Vec<ResolvedSnapshot>, Failure> {
    let mut resolved = Vec::new();
    for snapshot in &spec.snapshots {
        resolved.push(one(&spec.retrieve.backend, snapshot, base)?);
    }
    resolved.extend(closed_book(spec));
    Ok(resolved)
}

/// The same, and engines are asked what each name stands for, whether it is ready and how large it is, where the spec has
/// probes.
///
/// # Errors
/// As [`resolve`]; an engine refuses, does not answer, or is not ready.
pub async fn resolve_with(spec: &Spec, base: &Utf8Path, context: &Context) -> Result<Vec<ResolvedSnapshot>, Failure> {
    if !matches!(spec.retrieve.backend, RetrieveBackend::Http(_) | RetrieveBackend::Sql(_)) {
        return resolve(spec, base);
    }
    let asked = Asked::new(&spec.retrieve, base, context)?;
    let mut resolved = Vec::new();
    for snapshot in &spec.snapshots {
        let named = variables(&snapshot.source);
        let identity = asked.identify(&snapshot.name, &named, context).await?;
        resolved.push(identity.resolved(&snapshot.name, &named));
    }
    resolved.extend(closed_book(spec));
    Ok(resolved)
}

fn closed_book(spec: &Spec) -> Option<ResolvedSnapshot> {
    let physical = "no documents".to_owned();
    let name = SnapshotName::closed_book();
    spec.closed_book.then_some(ResolvedSnapshot {
        name,
        physical,
        fingerprint: None,
        documents: None,
        passed_over: None,
    })
}

fn one(backend: &RetrieveBackend, snapshot: &SnapshotSpec, base: &Utf8Path) -> Result<ResolvedSnapshot, Failure> {
    let name = &snapshot.name;
    match backend {
        RetrieveBackend::Bm25(_) => documents(snapshot, base),
        RetrieveBackend::File => {
            let corpus = open(snapshot, base)?;
            let fingerprint = file::digest(&corpus).map_err(|error| error.of_snapshot(name))?;
            Ok(found(name, &corpus, fingerprint, None))
        }
        RetrieveBackend::Http(_) | RetrieveBackend::Sql(_) | RetrieveBackend::Command(_) | RetrieveBackend::Within => {
            let named = variables(&snapshot.source);
            Ok(Identity::of(&named).resolved(name, &named))
        }
    }
}

fn documents(snapshot: &SnapshotSpec, base: &Utf8Path) -> Result<ResolvedSnapshot, Failure> {
    let corpus = open(snapshot, base)?;
    let read = || -> Result<Fingerprint, CorpusError> {
        let mut fingerprint = Fingerprint::default();
        for document in corpus.documents()? {
            fingerprint.add(&document?);
        }
        Ok(fingerprint)
    };
    let fingerprint = read().map_err(|error| error.of_snapshot(&snapshot.name))?;
    match fingerprint.count() {
        0 => Err(empty(&snapshot.name, &corpus)),
        count => Ok(found(&snapshot.name, &corpus, fingerprint.finish(), Some(count))),
    }
}

fn open(snapshot: &SnapshotSpec, base: &Utf8Path) -> Result<Corpus, Failure> {
    let failed = |error: CorpusError| with_base_hint(error.of_snapshot(&snapshot.name), &snapshot.source);
    Corpus::open(&snapshot.source, base).map_err(failed)
}

/// `base` is a name that a pull request gives to a commit; elsewhere nobody has resolved it.
fn with_base_hint(failure: Failure, source: &SnapshotSource) -> Failure {
    match source {
        SnapshotSource::Git { revision, .. } if revision == "base" && failure.message.contains("no commit") => {
            failure.with_hint("`base` is known on a pull request alone; elsewhere say which commit it is")
        }
        _ => failure,
    }
}

fn found(name: &SnapshotName, corpus: &Corpus, fingerprint: Digest, documents: Option<u64>) -> ResolvedSnapshot {
    let (physical, passed_over) = (corpus.physical.clone(), corpus.passed_over.clone());
    ResolvedSnapshot { name: name.clone(), physical, fingerprint: Some(fingerprint), documents, passed_over }
}

fn empty(name: &SnapshotName, corpus: &Corpus) -> Failure {
    let message = format!("the corpus of snapshot `{name}` (`{}`) has no documents", corpus.physical);
    Failure::new(FailureClass::Usage, message).with_hint(
        "documents are `.md`, `.mdx`, `.txt`, `.rst` or `.adoc` files in a folder, or the lines of one JSONL file",
    )
}

/// What a server or a program is told about a snapshot.
pub(super) fn variables(source: &SnapshotSource) -> BTreeMap<String, String> {
    let pairs = match source {
        SnapshotSource::Variables(variables) => return variables.clone(),
        SnapshotSource::Path(path) => vec![("path", path.to_string())],
        // `run` reads the file before anything is resolved.
        SnapshotSource::From(path) => vec![("from", path.to_string())],
        SnapshotSource::Git { revision, path } => vec![("revision", revision.clone()), ("path", path.to_string())],
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
