//! What retrieved, answered and judged, and what must be said about it, in words for people.

use crate::freeze::Protocol;
use crate::model::{ModelServer, SnapshotName};
use crate::report::{Machinery, usual};
use crate::spec::{
    BlackBoxBackend, EmbedBackend, GenerateBackend, JudgeBackend, RetrieveBackend, RetrieveSpec, SqlEngine,
};

/// Describes the backends of a protocol.
pub(super) fn describe(protocol: &Protocol) -> Machinery {
    let spec = &protocol.spec;
    let mut caveats: Vec<String> = one_and_the_same(protocol).into_iter().collect();
    if matches!(spec.generate.backend, GenerateBackend::Reader(_)) {
        caveats.push(usual::READER.to_owned());
    }
    if spec.retrieve.is_within() {
        caveats.push(usual::WITHIN.to_owned());
    }
    if matches!(spec.judge.backend, JudgeBackend::Embedded) {
        caveats.push(usual::EMBEDDED_JUDGE.to_owned());
    }
    let generate = format!("{}, {} repeats", generator(&spec.generate.backend), spec.generate.repeats);
    Machinery {
        retrieve: retrieved(&spec.retrieve),
        black_box: spec.retrieve.is_within().then(|| generate.clone()),
        generate,
        judge: judge(&spec.judge.backend),
        caveats,
        tool_version: protocol.tool_version().to_owned(),
    }
}

/// Whether old and new are corpora, or evidence, that were read here from files and have the same content.
pub(super) fn is_one_corpus(protocol: &Protocol) -> bool {
    let content = |name: &SnapshotName| protocol.snapshots.iter().find(|snapshot| snapshot.name == *name)?.fingerprint;
    matches!(protocol.spec.retrieve.backend, RetrieveBackend::Bm25(_) | RetrieveBackend::File)
        && content(&SnapshotName::old()).is_some_and(|old| content(&SnapshotName::new_snapshot()) == Some(old))
}

/// Said where old and new are one, by name or by content: whoever names the new index names the old one once more by mistake,
/// or so as to pass.
#[must_use]
pub fn one_and_the_same(protocol: &Protocol) -> Option<String> {
    let end = |name: &SnapshotName| protocol.snapshots.iter().find(|snapshot| snapshot.name == *name);
    let (old, new) = (end(&SnapshotName::old())?, end(&SnapshotName::new_snapshot())?);
    let same = old.physical == new.physical || (old.fingerprint.is_some() && old.fingerprint == new.fingerprint);
    same.then(|| usual::ONE_SNAPSHOT.to_owned())
}

fn retrieved(spec: &RetrieveSpec) -> String {
    match spec.backend {
        RetrieveBackend::Within => retriever(spec),
        _ => format!("{}, top {}, {} characters a document", retriever(spec), spec.top_k, spec.max_chars),
    }
}

fn retriever(spec: &RetrieveSpec) -> String {
    let backend = match &spec.backend {
        RetrieveBackend::Bm25(_) => "embedded BM25",
        RetrieveBackend::Http(http) => http.origin.as_deref().unwrap_or("search engine over HTTP"),
        RetrieveBackend::Sql(sql) => match sql.engine {
            SqlEngine::Postgres { .. } => "PostgreSQL",
            SqlEngine::Sqlite { .. } => "SQLite",
        },
        RetrieveBackend::Command(_) => "command",
        RetrieveBackend::File => "precomputed evidence",
        RetrieveBackend::Within => "the audited system itself",
    };
    match spec.embed.as_ref().map(|embed| &embed.backend) {
        Some(EmbedBackend::OpenAi(server)) => format!("{backend}, vectors by model {}", server.model),
        Some(EmbedBackend::Command(_)) => format!("{backend}, vectors by a command"),
        None => backend.to_owned(),
    }
}

/// What a generator is called.
pub(super) fn generator(backend: &GenerateBackend) -> String {
    match backend {
        GenerateBackend::Reader(_) => "embedded reader".to_owned(),
        GenerateBackend::Model(server) => model(server),
        GenerateBackend::Command(_) => "command".to_owned(),
        GenerateBackend::BlackBox(system) => match &system.backend {
            BlackBoxBackend::Http(http) => {
                format!("a deployed system ({})", http.origin.as_deref().unwrap_or("asked over HTTP"))
            }
            BlackBoxBackend::Command(_) => "a deployed system (asked by a command)".to_owned(),
        },
    }
}

/// What a judge is called.
pub(super) fn judge(backend: &JudgeBackend) -> String {
    match backend {
        JudgeBackend::Embedded => "embedded judge".to_owned(),
        JudgeBackend::Model(server) => model(server),
        JudgeBackend::Command(_) => "command".to_owned(),
    }
}

/// The model's name alone: the server's address may be nobody's business.
fn model(server: &ModelServer) -> String {
    format!("model {}", server.model)
}
