//! A spec as canonical JSON: every default spelled out, in one order, in the spec's own surface.
//!
//! It holds all that decides what is measured and how it is judged. Comments, spelling and the limits of one process
//! (`budget`, `concurrency`, `timeout_seconds`, `max_attempts`, `price`, `rate_limit`) are left out, so that raising a budget and going on is
//! no new audit. JSON is YAML: what is written here can be read again by `parse`.

use super::black_box::{BlackBoxBackend, BlackBoxSpec, CitationsSpec, HttpAnswerSpec, StreamSpec, UsageSpec};
use super::types::{
    BootstrapSpec, CommandSpec, Condition, EmbedBackend, EmbedSpec, ExpectSpec, GateLine, GateSpec, GenerateBackend,
    GenerateSpec, HttpRetrieveSpec, Inconclusive, JudgeBackend, JudgeSpec, ListSpec, Mode, OnMismatch, PhysicalSpec,
    ProbeSpec, QuestionsSpec, ReplicaSpec, RequestSpec, RetrieveBackend, RetrieveSpec, SampleSpec, SecondJudgeSpec,
    SecretHeader, SnapshotSource, SnapshotSpec, Spec, SqlEngine, SqlSpec, ToleranceSpec, UnchangedEvidence,
};
use crate::model::{KeyHeader, LimitName, ModelServer, Normalisation, ServedModels, Structured, Wire};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Spec {
    /// The spec as canonical JSON. Reading it again gives a spec that measures the same.
    #[must_use]
    pub fn canonical(&self) -> Value {
        let (answer, apart) = match &self.generate.backend {
            GenerateBackend::BlackBox(system) => (Some(black_box(system, &self.generate)), None),
            _ => (None, Some((retrieve(&self.retrieve), generate(&self.generate)))),
        };
        let (retrieve, generate) = apart.unzip();
        let of_evidence = object([
            ("version", Some(1.into())),
            ("name", Some(self.name.as_str().into())),
            ("questions", Some(questions(&self.questions))),
            ("snapshots", Some(snapshots(&self.snapshots, self.closed_book))),
            ("retrieve", retrieve),
        ]);
        let tolerance = tolerance(self.tolerance);
        let of_answers = match self.mode {
            Mode::Evidence => json!({ "mode": "evidence" }),
            Mode::Audit => object([
                ("generate", generate),
                ("answer", answer),
                ("judge", Some(judge(&self.judge))),
                ("gate", Some(gate(&self.gate))),
                ("bootstrap", Some(bootstrap(self.bootstrap))),
                ("tolerance", Some(tolerance)),
                ("replicate", self.replicate.as_ref().map(replicate)),
            ]),
        };
        joined([of_evidence, of_answers])
    }
}

impl JudgeBackend {
    /// Whether the protocol cannot tell this judge from another one, because they differ in no more than the limits of a process.
    pub(super) fn is(&self, other: &Self) -> bool {
        judge_backend(self) == judge_backend(other)
    }
}

impl GenerateBackend {
    /// The same of a generator that stands in `generate` or `replicate`.
    pub(super) fn is(&self, other: &Self) -> bool {
        generator(self) == generator(other)
    }
}

/// A mapping without the members that hold nothing.
fn object(members: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let standing = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(standing.collect::<Map<_, _>>())
}

fn questions(spec: &QuestionsSpec) -> Value {
    let select = object([
        ("count", spec.count.map(Into::into)),
        ("seed", Some(spec.seed.into())),
        ("exclude", spec.exclude.as_ref().map(|path| path.as_str().into())),
        ("only", spec.only.as_ref().map(|path| path.as_str().into())),
    ]);
    json!({ "file": spec.file, "select": select })
}

fn snapshots(all: &[SnapshotSpec], closed_book: bool) -> Value {
    let mut members = Map::new();
    let (between, others): (Vec<&SnapshotSpec>, _) = all.iter().partition(|snapshot| snapshot.name.is_rung());
    members.extend(others.into_iter().map(|snapshot| (snapshot.name.0.clone(), Value::Object(source(snapshot)))));
    if !between.is_empty() {
        members.insert("between".to_owned(), between.into_iter().map(rung).collect());
    }
    members.insert("closed_book".to_owned(), closed_book.into());
    Value::Object(members)
}

fn rung(snapshot: &SnapshotSpec) -> Value {
    let mut members = Map::from_iter([("name".to_owned(), Value::from(snapshot.name.0.as_str()))]);
    members.extend(source(snapshot));
    Value::Object(members)
}

fn source(snapshot: &SnapshotSpec) -> Map<String, Value> {
    let text = |key: &str, value: &str| (key.to_owned(), Value::from(value));
    match &snapshot.source {
        SnapshotSource::Path(path) => Map::from_iter([text("path", path.as_str())]),
        SnapshotSource::From(path) => Map::from_iter([text("from", path.as_str())]),
        SnapshotSource::Git { revision, path } => Map::from_iter([text("git", revision), text("path", path.as_str())]),
        SnapshotSource::Variables(variables) => variables.iter().map(|(key, value)| text(key, value)).collect(),
    }
}

fn retrieve(spec: &RetrieveSpec) -> Value {
    let (name, backend) = match &spec.backend {
        RetrieveBackend::Bm25(bm25) => ("bm25", object([("chunk_chars", bm25.chunk_chars.map(Into::into))])),
        RetrieveBackend::Http(spec) => ("http", http(spec)),
        RetrieveBackend::Sql(spec) => ("sql", sql(spec)),
        RetrieveBackend::Command(spec) => ("command", command(spec)),
        RetrieveBackend::File => ("file", json!({})),
        // The whole spec says `answer` then.
        RetrieveBackend::Within => ("within", json!({})),
    };
    let on_mismatch = match spec.on_mismatch {
        OnMismatch::Stop => "stop",
        OnMismatch::Include => "include",
    };
    object([
        (name, Some(backend)),
        ("embed", spec.embed.as_ref().map(embed)),
        ("top_k", Some(spec.top_k.into())),
        ("max_chars", Some(spec.max_chars.into())),
        ("on_mismatch", Some(on_mismatch.into())),
    ])
}

fn http(spec: &HttpRetrieveSpec) -> Value {
    let own = object([
        ("origin", spec.origin.as_deref().map(Into::into)),
        ("headers", Some(json!(spec.headers))),
        ("secret_headers", Some(secret_headers(&spec.secret_headers))),
        ("id", Some(spec.id.as_str().into())),
        ("text", Some(spec.text.as_str().into())),
        ("url_pointer", spec.url_pointer.as_deref().map(Into::into)),
        ("score", spec.score.as_deref().map(Into::into)),
        ("error", spec.error.as_deref().map(Into::into)),
        ("probes", filled(spec.probes.iter().map(probe).collect::<Vec<_>>())),
        ("sample", spec.sample.as_ref().map(sample)),
    ]);
    joined([request(&spec.request), list(&spec.list), expect(&spec.expect), own])
}

fn secret_headers(headers: &BTreeMap<String, SecretHeader>) -> Value {
    let member = |(name, header): (&String, &SecretHeader)| {
        (name.clone(), json!({ "prefix": header.prefix, "env": header.env }))
    };
    Value::Object(headers.iter().map(member).collect())
}

/// The section `answer`.
fn black_box(system: &BlackBoxSpec, spec: &GenerateSpec) -> Value {
    let (name, backend) = match &system.backend {
        BlackBoxBackend::Http(spec) => ("http", http_answer(spec)),
        BlackBoxBackend::Command(spec) => ("command", command(spec)),
    };
    object([
        (name, Some(backend)),
        ("repeats", Some(spec.repeats.into())),
        ("max_answer_bytes", Some(spec.max_answer_bytes.into())),
    ])
}

fn http_answer(spec: &HttpAnswerSpec) -> Value {
    let usage = |usage: &UsageSpec| json!({ "input": usage.input, "output": usage.output });
    let own = object([
        ("origin", spec.origin.as_deref().map(Into::into)),
        ("headers", Some(json!(spec.headers))),
        ("secret_headers", Some(secret_headers(&spec.secret_headers))),
        ("stream", spec.stream.as_ref().map(stream)),
        ("answer", Some(spec.answer.as_str().into())),
        ("cut", Some(json!(spec.cut))),
        ("retry", Some(json!(spec.retry))),
        ("error", spec.error.as_deref().map(Into::into)),
        ("citations", spec.citations.as_ref().map(citations)),
        ("served_model", spec.served_model.as_deref().map(Into::into)),
        ("response_id", spec.response_id.as_deref().map(Into::into)),
        ("usage", spec.usage.as_ref().map(usage)),
    ]);
    joined([request(&spec.request), expect(&spec.expect), own])
}

fn stream(spec: &StreamSpec) -> Value {
    object([
        ("kind", spec.kind.as_deref().map(Into::into)),
        ("text", Some(json!(spec.text))),
        ("replace", Some(json!(spec.replace))),
        ("end", Some(json!(spec.end))),
        ("failed", Some(json!(spec.failed))),
    ])
}

fn citations(spec: &CitationsSpec) -> Value {
    object([
        ("items", Some(spec.items.as_str().into())),
        ("id", spec.id.as_deref().map(Into::into)),
        ("url", spec.url.as_deref().map(Into::into)),
        ("text", spec.text.as_deref().map(Into::into)),
    ])
}

/// The members of several objects as one.
fn joined<const N: usize>(parts: [Value; N]) -> Value {
    let members = parts.into_iter().flat_map(|part| match part {
        Value::Object(members) => members,
        _ => Map::new(),
    });
    Value::Object(members.collect())
}

/// A list that holds something.
fn filled<T: Into<Value>>(items: Vec<T>) -> Option<Value> {
    (!items.is_empty()).then(|| Value::Array(items.into_iter().map(Into::into).collect()))
}

fn sql(spec: &SqlSpec) -> Value {
    let (name, engine) = match &spec.engine {
        SqlEngine::Postgres { url_env } => ("postgres", json!({ "url_env": url_env })),
        SqlEngine::Sqlite { file } => ("sqlite", object([("file", file.as_ref().map(|file| file.as_str().into()))])),
    };
    object([
        (name, Some(engine)),
        ("query", Some(spec.query.as_str().into())),
        ("state", spec.state.as_deref().map(Into::into)),
        ("sample", spec.sample.as_deref().map(Into::into)),
    ])
}

fn request(spec: &RequestSpec) -> Value {
    object([
        ("method", Some(spec.method.as_str().into())),
        ("url", Some(spec.url.as_str().into())),
        ("query", Some(json!(spec.query))),
        ("body", spec.body.clone()),
    ])
}

fn list(spec: &ListSpec) -> Value {
    let zip = !spec.zip.is_empty();
    object([
        ("items", (!zip).then(|| spec.items.as_str().into())),
        ("zip", zip.then(|| json!(spec.zip))),
        ("decode", spec.base64_json.then(|| "base64_json".into())),
        ("missing", spec.missing_is_empty.then(|| "empty".into())),
    ])
}

fn expect(spec: &ExpectSpec) -> Value {
    object([("ok", Some(json!(spec.ok))), ("absent", filled(spec.absent.clone()))])
}

fn probe(spec: &ProbeSpec) -> Value {
    let own = object([
        ("optional", Some(spec.optional.into())),
        ("physical", spec.physical.as_ref().map(physical)),
        ("documents", spec.documents.as_deref().map(Into::into)),
        ("state", filled(spec.state.clone())),
    ]);
    joined([request(&spec.request), expect(&spec.expect), own])
}

fn physical(spec: &PhysicalSpec) -> Value {
    object([
        ("variable", Some(spec.variable.as_str().into())),
        ("value", Some(spec.value.as_str().into())),
        ("among", spec.among.as_deref().map(Into::into)),
        ("named", Some(spec.named.as_str().into())),
    ])
}

fn sample(spec: &SampleSpec) -> Value {
    let own = object([("text", Some(spec.text.as_str().into())), ("vector", Some(spec.vector.as_str().into()))]);
    joined([request(&spec.request), list(&spec.list), expect(&spec.expect), own])
}

fn embed(spec: &EmbedSpec) -> Value {
    let (name, backend) = match &spec.backend {
        EmbedBackend::Command(spec) => ("command", command(spec)),
        EmbedBackend::OpenAi(server) => (
            "openai",
            object([
                ("model", Some(server.model.as_str().into())),
                ("base_url", Some(server.base_url.as_str().into())),
                ("key_env", server.key_env.as_deref().map(Into::into)),
                ("dimensions", server.dimensions.map(Into::into)),
            ]),
        ),
    };
    let check = if spec.check { "stop" } else { "off" };
    object([(name, Some(backend)), ("prefix", Some(spec.prefix.as_str().into())), ("check", Some(check.into()))])
}

fn command(spec: &CommandSpec) -> Value {
    json!({ "argv": spec.argv, "env": spec.env })
}

fn generate(spec: &GenerateSpec) -> Value {
    if let GenerateBackend::BlackBox(system) = &spec.backend {
        return black_box(system, spec);
    }
    let (name, backend) = generator(&spec.backend);
    let unchanged = match spec.unchanged_evidence {
        UnchangedEvidence::Zero => "zero",
        UnchangedEvidence::Sample => "sample",
    };
    object([
        (name, Some(backend)),
        ("repeats", Some(spec.repeats.into())),
        ("max_answer_bytes", Some(spec.max_answer_bytes.into())),
        ("prompt", spec.prompt.as_ref().map(|path| path.as_str().into())),
        ("unchanged_evidence", Some(unchanged.into())),
    ])
}

fn generator(backend: &GenerateBackend) -> (&'static str, Value) {
    match backend {
        GenerateBackend::Model(server) => model(server),
        GenerateBackend::Command(spec) => ("command", command(spec)),
        GenerateBackend::Reader(spec) => {
            ("reader", json!({ "temperature": thousandths(spec.temperature_milli), "seed": spec.seed }))
        }
        // Stands under a name of its own, never here.
        GenerateBackend::BlackBox(_) => ("answer", json!({})),
    }
}

fn replicate(spec: &ReplicaSpec) -> Value {
    let (name, backend) = generator(&spec.backend);
    object([(name, Some(backend)), ("sample", Some(spec.sample.into()))])
}

/// Thousandths as the shortest JSON number.
fn thousandths(milli: u32) -> Value {
    if milli.is_multiple_of(1_000) { (milli / 1_000).into() } else { (f64::from(milli) / 1_000.0).into() }
}

/// A server under the key of its interface. A key as a bearer token is not spelled out.
fn model(server: &ModelServer) -> (&'static str, Value) {
    let name = match server.wire {
        Wire::Completions => "openai",
        Wire::Responses => "responses",
        Wire::Messages => "anthropic",
    };
    let header = match server.key_header {
        KeyHeader::Bearer => None,
        KeyHeader::ApiKey => Some("api-key"),
        KeyHeader::XApiKey => Some("x-api-key"),
    };
    let structured = match server.structured {
        Structured::JsonSchema => "json_schema",
        Structured::JsonObject => "json_object",
        Structured::Plain => "plain",
    };
    let limit = |name| server.output_limit.filter(|limit| limit.name == name).map(|limit| limit.tokens.into());
    let members = object([
        ("model", Some(server.model.as_str().into())),
        ("base_url", Some(server.base_url.as_str().into())),
        ("key_env", server.key_env.as_deref().map(Into::into)),
        ("key_header", header.map(Into::into)),
        ("api_version", server.api_version.as_deref().map(Into::into)),
        ("temperature", server.temperature.clone().map(Value::Number)),
        ("max_tokens", limit(LimitName::MaxTokens)),
        ("max_completion_tokens", limit(LimitName::MaxCompletionTokens)),
        ("max_output_tokens", limit(LimitName::MaxOutputTokens)),
        ("structured", Some(structured.into())),
        ("extra", Some(Value::Object(server.extra.clone()))),
    ]);
    (name, members)
}

fn judge(spec: &JudgeSpec) -> Value {
    let (name, backend) = judge_backend(&spec.backend);
    let normalisation = match spec.normalisation {
        Normalisation::Nq => "nq",
        Normalisation::TriviaQa => "triviaqa",
        Normalisation::None => "none",
    };
    object([
        (name, Some(backend)),
        ("normalisation", Some(normalisation.into())),
        ("passes", spec.again.map(|_| 2.into())),
        ("self_consistency", spec.again.map(Into::into)),
        ("second", spec.second.as_ref().map(second_judge)),
    ])
}

fn judge_backend(backend: &JudgeBackend) -> (&'static str, Value) {
    match backend {
        JudgeBackend::Model(server) => model(server),
        JudgeBackend::Command(spec) => ("command", command(spec)),
        JudgeBackend::Embedded => ("embedded", json!({})),
    }
}

fn second_judge(spec: &SecondJudgeSpec) -> Value {
    let (name, backend) = judge_backend(&spec.backend);
    object([(name, Some(backend)), ("sample", Some(spec.sample.into()))])
}

fn gate(spec: &GateSpec) -> Value {
    let inconclusive = match spec.inconclusive {
        Inconclusive::Pass => "pass",
        Inconclusive::Warn => "warn",
        Inconclusive::Fail => "fail",
    };
    json!({
        "incompatible_when": spec.incompatible_when.iter().map(line).collect::<Vec<_>>(),
        "compatible_when": spec.compatible_when.iter().map(line).collect::<Vec<_>>(),
        "inconclusive": inconclusive,
    })
}

fn line(line: &GateLine) -> Value {
    let (condition, limit) = match line.condition {
        Condition::AtLeast(limit) => ("at_least", limit),
        Condition::Below(limit) => ("below", limit),
        Condition::LowerBoundAbove(limit) => ("lower_bound_above", limit),
        Condition::UpperBoundBelow(limit) => ("upper_bound_below", limit),
    };
    json!({ line.kernel.to_string(): { condition: limit.to_string() } })
}

/// What the default says of served models is left out: the protocols of older specs keep their digests.
fn tolerance(spec: ToleranceSpec) -> Value {
    let served = match spec.served_models {
        ServedModels::One => None,
        ServedModels::Report => Some("report".into()),
    };
    object([("invalid_cells", Some(spec.invalid_cells.to_string().into())), ("served_models", served)])
}

fn bootstrap(spec: BootstrapSpec) -> Value {
    json!({ "draws": spec.draws, "confidence": spec.confidence.to_string() })
}
