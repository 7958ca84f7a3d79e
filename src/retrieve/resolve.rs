//! What the snapshots physically are, before anything is spent.

use super::asked::Asked;
use super::bm25::chunk;
use super::corpus::{self, Corpus, CorpusError, Fingerprint};
use super::engine::Identity;
use super::file::{self, EvidenceError};
use super::sql;
use crate::freeze::ResolvedSnapshot;
use crate::git::GitError;
use crate::http::Context;
use crate::model::{Digest, Failure, FailureClass, Question, SnapshotName};
use crate::spec::{FileKey, RetrieveBackend, SnapshotSource, SnapshotSpec, Spec, SqlEngine, SqlSpec, Unread};
use camino::Utf8Path;
use std::collections::BTreeMap;

/// What was found of the snapshots, in the spec's order: a corpus where the backend reads one itself.
#[derive(Debug)]
pub struct Opened(Vec<Option<Corpus>>);

/// Finds everything that the spec names of its snapshots and that lies here: folders, files, revisions, databases. Nothing is
/// read yet. `base` is the spec's folder.
///
/// # Errors
/// All that is missing or cannot be opened, with what to do about it.
pub fn open(spec: &Spec, base: &Utf8Path) -> Result<Opened, Vec<Unread>> {
    all(spec.snapshots.iter().map(|snapshot| find(&spec.retrieve.backend, snapshot, base))).map(Opened)
}

impl Opened {
    /// Looks at every snapshot: documents are counted and digested, revisions become commits. No engine is asked: its snapshots
    /// are known by name alone. The closed book comes last where the spec asks for it.
    ///
    /// # Errors
    /// Every snapshot that cannot be audited, with what to do about it.
    pub fn resolve(&self, spec: &Spec) -> Result<Vec<ResolvedSnapshot>, Vec<Unread>> {
        let snapshots = spec.snapshots.iter().zip(&self.0);
        let of_corpus = |snapshot, corpus| read(&spec.retrieve.backend, snapshot, corpus);
        let mut resolved = all(snapshots.map(|(snapshot, corpus)| {
            corpus.as_ref().map_or_else(|| Ok(by_name(snapshot)), |corpus| of_corpus(snapshot, corpus))
        }))?;
        resolved.extend(closed_book(spec));
        Ok(resolved)
    }

    /// Looks whether files of evidence have what a run needs of them for these questions. Other backends have no such files.
    ///
    /// # Errors
    /// Every file that a run would refuse.
    pub fn check_evidence(&self, spec: &Spec, questions: &[Question]) -> Result<(), Vec<Unread>> {
        if !matches!(spec.retrieve.backend, RetrieveBackend::File) {
            return Ok(());
        }
        let files = spec.snapshots.iter().zip(&self.0).filter_map(|(snapshot, file)| Some((snapshot, file.as_ref()?)));
        let checked = files.map(|(snapshot, file)| {
            let key = FileKey::Snapshot(snapshot.name.clone());
            file::check(file, questions).map_err(|error| Unread { key, failure: error.of_snapshot(&snapshot.name) })
        });
        all(checked).map(drop)
    }
}

/// Asks engines what each name stands for, whether it is ready and how large it is, where the spec has probes. Nothing where
/// there is no engine to be asked.
///
/// # Errors
/// An engine refuses, does not answer, or is not ready.
pub async fn ask(spec: &Spec, base: &Utf8Path, context: &Context) -> Result<Option<Vec<ResolvedSnapshot>>, Failure> {
    if !matches!(spec.retrieve.backend, RetrieveBackend::Http(_) | RetrieveBackend::Sql(_)) {
        return Ok(None);
    }
    let asked = Asked::new(&spec.retrieve, base, context)?;
    let mut resolved = Vec::new();
    for snapshot in &spec.snapshots {
        let named = variables(&snapshot.source);
        let identity = asked.identify(&snapshot.name, &named, context).await?;
        resolved.push(identity.resolved(&snapshot.name, &named));
    }
    resolved.extend(closed_book(spec));
    Ok(Some(resolved))
}

/// All of them, or everything that is wrong with any.
fn all<T>(found: impl Iterator<Item = Result<T, Unread>>) -> Result<Vec<T>, Vec<Unread>> {
    let (mut good, mut unread) = (Vec::new(), Vec::new());
    for one in found {
        match one {
            Ok(one) => good.push(one),
            Err(one) => unread.push(one),
        }
    }
    if unread.is_empty() { Ok(good) } else { Err(unread) }
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

/// The corpus of a snapshot, where the backend reads one; a database of ours only has to be there.
fn find(backend: &RetrieveBackend, snapshot: &SnapshotSpec, base: &Utf8Path) -> Result<Option<Corpus>, Unread> {
    match backend {
        RetrieveBackend::Bm25(_) | RetrieveBackend::File => {
            Corpus::open(&snapshot.source, base).map(Some).map_err(|error| unread(backend, error, snapshot))
        }
        RetrieveBackend::Sql(sql) => database(sql, snapshot, base).map(|()| None),
        RetrieveBackend::Http(_) | RetrieveBackend::Command(_) | RetrieveBackend::Within => Ok(None),
    }
}

/// Whether the file of a snapshot's database can be opened, where it lies in one.
fn database(sql: &SqlSpec, snapshot: &SnapshotSpec, base: &Utf8Path) -> Result<(), Unread> {
    let (file, key) = match (&sql.engine, &snapshot.source) {
        (SqlEngine::Sqlite { file: Some(file) }, _) => (file, FileKey::Database),
        (SqlEngine::Sqlite { file: None }, SnapshotSource::Path(path)) => {
            (path, FileKey::Snapshot(snapshot.name.clone()))
        }
        _ => return Ok(()),
    };
    sql::open(base, file).map(drop).map_err(|failure| Unread { key, failure })
}

/// A snapshot of which nothing is known but what the spec calls it.
fn by_name(snapshot: &SnapshotSpec) -> ResolvedSnapshot {
    let named = variables(&snapshot.source);
    Identity::of(&named).resolved(&snapshot.name, &named)
}

fn read(backend: &RetrieveBackend, snapshot: &SnapshotSpec, corpus: &Corpus) -> Result<ResolvedSnapshot, Unread> {
    let name = &snapshot.name;
    if matches!(backend, RetrieveBackend::File) {
        let fingerprint = file::digest(corpus).map_err(|error| unread(backend, error, snapshot))?;
        return Ok(found(name, corpus, fingerprint, None));
    }
    let fingerprint = documents(corpus, backend).map_err(|error| unread(backend, error, snapshot))?;
    match fingerprint.count() {
        0 => Err(Unread { key: FileKey::Snapshot(name.clone()), failure: empty(name, corpus) }),
        count => Ok(found(name, corpus, fingerprint.finish(), Some(count))),
    }
}

fn documents(corpus: &Corpus, backend: &RetrieveBackend) -> Result<Fingerprint, CorpusError> {
    let is_split = matches!(backend, RetrieveBackend::Bm25(bm25) if bm25.chunk_chars.is_some());
    let mut fingerprint = Fingerprint::default();
    for document in corpus.documents()? {
        let document = document?;
        // The index would find it out, too, but nobody knows then where in the spec the corpus is named.
        if is_split && chunk::named_like_chunk(&document.id) {
            return Err(CorpusError::NamedLikeChunk(document.id));
        }
        fingerprint.add(&document);
    }
    Ok(fingerprint)
}

/// What is wrong with the corpus of a snapshot, at the key that has to do with it.
fn unread(backend: &RetrieveBackend, error: CorpusError, snapshot: &SnapshotSpec) -> Unread {
    let name = snapshot.name.clone();
    let key = match &error {
        CorpusError::Git(GitError::NoSuchPath { .. }) => FileKey::Snapshot(name),
        CorpusError::Git(_) => FileKey::Revision(name),
        _ => FileKey::Snapshot(name),
    };
    let failure = match backend {
        RetrieveBackend::File => EvidenceError::from(error).of_snapshot(&snapshot.name),
        _ => error.of_snapshot(&snapshot.name),
    };
    Unread { key, failure: with_base_hint(failure, &snapshot.source) }
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
    Failure::new(FailureClass::Usage, message).with_hint(format!(
        "documents are files in a folder that end in {}, or the lines of one JSONL file",
        corpus::endings()
    ))
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
