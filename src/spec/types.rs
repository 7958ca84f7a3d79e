//! The validated spec. Every value here is within its limits; nothing is checked again later.

use super::black_box::BlackBoxSpec;
use crate::model::{
    Confidence, Kernel, ModelServer, Normalisation, PercentagePoints, Price, RateLimit, ServedModels, SnapshotName,
};
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

/// One audit, as validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Names the check and the comment; unique in the repository. Letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// How far it goes.
    pub mode: Mode,
    /// The questions.
    pub questions: QuestionsSpec,
    /// The snapshots, in the audit's order: old, the rungs between, new, and the placebo where there is one. The closed book
    /// is not among them.
    pub snapshots: Vec<SnapshotSpec>,
    /// Whether every question is also asked without evidence.
    pub closed_book: bool,
    /// How evidence is retrieved.
    pub retrieve: RetrieveSpec,
    /// How answers are generated.
    pub generate: GenerateSpec,
    /// How answers are compared.
    pub judge: JudgeSpec,
    /// The rule.
    pub gate: GateSpec,
    /// The bootstrap.
    pub bootstrap: BootstrapSpec,
    /// What may be spent.
    pub budget: BudgetSpec,
    /// What may go wrong before the audit cannot stand.
    pub tolerance: ToleranceSpec,
    /// A second generator.
    pub replicate: Option<ReplicaSpec>,
}

/// How far an audit goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// To a verdict.
    #[default]
    Audit,
    /// To the evidence and no further: nothing is answered, judged or decided. Whatever the spec holds of that are defaults,
    /// from which the cost of a whole audit is reckoned.
    Evidence,
}

/// Where questions come from and which of them are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionsSpec {
    /// The file, relative to the spec's folder.
    pub file: Utf8PathBuf,
    /// How many are selected; all of them where absent.
    pub count: Option<u32>,
    /// The seed of the selection.
    pub seed: u64,
    /// A file of ids that are never asked, one a line, relative to the spec's folder.
    pub exclude: Option<Utf8PathBuf>,
    /// A file of ids that alone are asked: one a line, or BEIR's qrels; relative to the spec's folder.
    pub only: Option<Utf8PathBuf>,
}

/// One snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSpec {
    /// `old`, `new`, `placebo` or the name of a rung.
    pub name: SnapshotName,
    /// Where it is.
    pub source: SnapshotSource,
}

/// Where a snapshot is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotSource {
    /// A folder or a JSONL file in the working tree, relative to the spec's folder.
    Path(Utf8PathBuf),
    /// The same at a git revision. `base` is not resolved here.
    Git {
        /// A revision as git understands it.
        revision: String,
        /// The path, relative to the spec's folder.
        path: Utf8PathBuf,
    },
    /// Values of variables that the retrieval backend fills in, such as the name of an index. Plain names.
    Variables(BTreeMap<String, String>),
    /// Such values in a file, relative to the spec's folder: only the new snapshot, and only until the file is read.
    From(Utf8PathBuf),
}

/// How evidence is retrieved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrieveSpec {
    /// By what.
    pub backend: RetrieveBackend,
    /// How a question becomes a vector, where the backend takes one.
    pub embed: Option<EmbedSpec>,
    /// How many documents.
    pub top_k: u32,
    /// How many characters of each document's text.
    pub max_chars: u32,
    /// What happens where the two passes do not match.
    pub on_mismatch: OnMismatch,
    /// Calls in flight at most.
    pub concurrency: u32,
}

impl RetrieveSpec {
    /// That of a deployed system, which retrieves by itself: no setting of ours means anything.
    #[must_use]
    pub const fn within() -> Self {
        let backend = RetrieveBackend::Within;
        Self { backend, embed: None, top_k: 0, max_chars: 0, on_mismatch: OnMismatch::Stop, concurrency: 1 }
    }

    /// Whether a deployed system retrieves by itself, so that there is no evidence of ours.
    #[must_use]
    pub const fn is_within(&self) -> bool {
        matches!(self.backend, RetrieveBackend::Within)
    }
}

/// What happens where two retrievals of the same question from the same snapshot differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMismatch {
    /// The audit stops.
    #[default]
    Stop,
    /// The first pass is used and the report says so.
    Include,
}

/// A retrieval backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetrieveBackend {
    /// The embedded BM25 over a folder or a JSONL file.
    Bm25(Bm25Spec),
    /// A search engine over HTTP.
    Http(Box<HttpRetrieveSpec>),
    /// A database.
    Sql(Box<SqlSpec>),
    /// A program: JSON on standard input, JSON on standard output.
    Command(CommandSpec),
    /// Evidence computed beforehand, one JSONL file a snapshot (the snapshot's path).
    File,
    /// Nothing of ours: the deployed system that answers retrieves by itself, and what it finds is not seen.
    Within,
}

/// A database and what it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlSpec {
    /// Which.
    pub engine: SqlEngine,
    /// One statement with the columns `id`, `text` and `url`; see [`super::statement`].
    pub query: String,
    /// A statement that tells whether a snapshot changed.
    pub state: Option<String>,
    /// A statement with the columns `text` and `vector`: a few stored documents, to hold the embedder against.
    pub sample: Option<String>,
    /// Time limit of one query, in seconds.
    pub timeout_seconds: u32,
}

/// A kind of database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlEngine {
    /// PostgreSQL.
    Postgres {
        /// The environment variable that holds the address.
        url_env: String,
    },
    /// SQLite.
    Sqlite {
        /// The file that holds all snapshots, relative to the spec's folder; each snapshot's own path where absent.
        file: Option<Utf8PathBuf>,
    },
}

/// The embedded BM25.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bm25Spec {
    /// Documents longer than this many characters are split into chunks of at most this size at paragraph ends;
    /// not split where absent.
    pub chunk_chars: Option<u32>,
}

/// A request template and the pointers into its response. A pointer is a JSON pointer with three more steps: `*` is
/// every element or member, `-1` the last element, `~keys` the names of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRetrieveSpec {
    /// What it was made from, where it was a preset: its name and the digest of its bytes.
    pub origin: Option<String>,
    /// What is asked.
    pub request: RequestSpec,
    /// Headers with plain values or `{{snapshot.NAME}}`; sent with every request.
    pub headers: BTreeMap<String, String>,
    /// Headers whose value is `prefix` followed by the key in the environment variable: name -> (prefix, variable).
    pub secret_headers: BTreeMap<String, SecretHeader>,
    /// Where the items are.
    pub list: ListSpec,
    /// Pointer within an item to its id.
    pub id: String,
    /// Pointer within an item to its text.
    pub text: String,
    /// Pointer within an item to its URL.
    pub url_pointer: Option<String>,
    /// Pointer within an item to its score.
    pub score: Option<String>,
    /// What must hold, or the reply is transport-invalid.
    pub expect: ExpectSpec,
    /// Pointer to what the engine says of an error.
    pub error: Option<String>,
    /// Requests about a snapshot, made in order before the first and after the last search.
    pub probes: Vec<ProbeSpec>,
    /// A request for stored documents with their vectors.
    pub sample: Option<SampleSpec>,
    /// Time limit of one call, in seconds.
    pub timeout_seconds: u32,
}

/// One request as a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSpec {
    /// `GET` or `POST`.
    pub method: HttpMethod,
    /// The URL. `{name}` is replaced by a snapshot variable, percent-encoded.
    pub url: String,
    /// Query parameters, filled like the body.
    pub query: BTreeMap<String, String>,
    /// The JSON body. A string that is exactly a placeholder is replaced as a whole; a mapping with `$names` alone is a
    /// text into which plain names are set.
    pub body: Option<serde_json::Value>,
}

/// Where the items of a reply are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListSpec {
    /// Pointer to the array of items.
    pub items: String,
    /// Pointers to columns of one length, by the member that each becomes; in place of `items` where there are any.
    pub zip: BTreeMap<String, String>,
    /// Whether each item is base64 of JSON.
    pub base64_json: bool,
    /// Whether a good reply without the array has no items, rather than being an error.
    pub missing_is_empty: bool,
}

/// What must hold in a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectSpec {
    /// Pointers that must hold these values, or one of a list of them.
    pub ok: BTreeMap<String, serde_json::Value>,
    /// Pointers that must hold nothing.
    pub absent: Vec<String>,
}

/// A request about a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeSpec {
    /// What is asked.
    pub request: RequestSpec,
    /// What must hold, or the snapshot is not ready.
    pub expect: ExpectSpec,
    /// Whether a 404, or a reply that does not hold what it must, tells nothing.
    pub optional: bool,
    /// What the snapshot's name stands for.
    pub physical: Option<PhysicalSpec>,
    /// Pointer to the number of documents.
    pub documents: Option<String>,
    /// Pointers to values that belong to the index's identity.
    pub state: Vec<String>,
}

/// How a name is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhysicalSpec {
    /// The snapshot variable whose place the physical name takes.
    pub variable: String,
    /// Pointer to the physical name, within an alias where `among` stands.
    pub value: String,
    /// Pointer to a list of aliases.
    pub among: Option<String>,
    /// Pointer within an alias to its name.
    pub named: String,
}

/// A request for stored documents with their vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleSpec {
    /// What is asked.
    pub request: RequestSpec,
    /// Where the documents are.
    pub list: ListSpec,
    /// What must hold.
    pub expect: ExpectSpec,
    /// Pointer within a document to the text that was embedded.
    pub text: String,
    /// Pointer within a document to its vector.
    pub vector: String,
}

/// How a question becomes a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedSpec {
    /// By what.
    pub backend: EmbedBackend,
    /// What is put before each question.
    pub prefix: String,
    /// Whether stored vectors are held against the embedder, where the engine shows them.
    pub check: bool,
}

/// An embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedBackend {
    /// An OpenAI-compatible embeddings server.
    OpenAi(EmbedServer),
    /// A program.
    Command(CommandSpec),
}

/// An OpenAI-compatible embeddings server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedServer {
    /// The model's name.
    pub model: String,
    /// Up to and including `/v1`, without a trailing slash.
    pub base_url: String,
    /// The environment variable that holds the key; no key is sent where absent.
    pub key_env: Option<String>,
    /// Sent as `dimensions` where present.
    pub dimensions: Option<u32>,
    /// Time limit of one call, in seconds.
    pub timeout_seconds: u32,
    /// What it costs: an embedder reads tokens and writes none.
    pub price: Option<Price>,
    /// How much it may be asked in a minute.
    pub rate_limit: RateLimit,
}

/// A header that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretHeader {
    /// What stands before the key, such as `Bearer `.
    pub prefix: String,
    /// The environment variable that holds the key.
    pub env: String,
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// GET
    Get,
    /// POST
    Post,
}

impl HttpMethod {
    /// As requests say it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A program and its arguments; never through a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program, then its arguments. At least one entry.
    pub argv: Vec<String>,
    /// Time limit of one call, in seconds.
    pub timeout_seconds: u32,
    /// Environment variables that are passed on besides PATH and HOME.
    pub env: Vec<String>,
}

/// How answers are generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerateSpec {
    /// By what.
    pub backend: GenerateBackend,
    /// Repeats a snapshot, at least 2.
    pub repeats: u32,
    /// The longest accepted answer in UTF-8 bytes.
    pub max_answer_bytes: u32,
    /// A file that replaces the built-in answer prompt, relative to the spec's folder.
    pub prompt: Option<Utf8PathBuf>,
    /// Calls in flight at most.
    pub concurrency: u32,
    /// What happens with questions whose rendered prompts are byte-identical in all snapshots.
    pub unchanged_evidence: UnchangedEvidence,
    /// Attempts a cell within one process.
    pub max_attempts: u32,
}

/// What happens with questions whose evidence did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnchangedEvidence {
    /// They count with a contrast of zero and are not asked.
    #[default]
    Zero,
    /// They are asked like all others.
    Sample,
}

/// A second generator on a sample of the questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSpec {
    /// By what.
    pub backend: GenerateBackend,
    /// Questions in the sample.
    pub sample: u32,
    /// Calls in flight at most.
    pub concurrency: u32,
    /// Attempts a cell within one process.
    pub max_attempts: u32,
}

/// A generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerateBackend {
    /// The embedded reader: extracts a span from the evidence, by a seeded draw.
    Reader(ReaderSpec),
    /// A language model behind a server.
    Model(ModelServer),
    /// A program.
    Command(CommandSpec),
    /// A deployed system that retrieves by itself.
    BlackBox(Box<BlackBoxSpec>),
}

/// The embedded reader's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderSpec {
    /// How much the reader varies between repeats, in thousandths: 0 always takes the best span.
    pub temperature_milli: u32,
    /// The seed of its draws.
    pub seed: u64,
}

/// How answers are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeSpec {
    /// The normalisation of the exact kernel.
    pub normalisation: Normalisation,
    /// Who judges meaning.
    pub backend: JudgeBackend,
    /// Packets in flight at most.
    pub concurrency: u32,
    /// Attempts a packet within one process.
    pub max_attempts: u32,
    /// Questions in the sample whose packets the same judge is shown once more; absent where it is asked once.
    pub again: Option<u32>,
    /// A second judge.
    pub second: Option<SecondJudgeSpec>,
}

/// A second judge on a sample of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondJudgeSpec {
    /// Who judges meaning.
    pub backend: JudgeBackend,
    /// Questions in the sample.
    pub sample: u32,
    /// Packets in flight at most.
    pub concurrency: u32,
    /// Attempts a packet within one process.
    pub max_attempts: u32,
}

/// A judge of meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeBackend {
    /// The embedded judge: rules, then a fitted linear model on lexical features.
    Embedded,
    /// A language model behind a server.
    Model(ModelServer),
    /// A program.
    Command(CommandSpec),
}

/// The rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSpec {
    /// Every line must hold to block.
    pub incompatible_when: Vec<GateLine>,
    /// Every line must hold to pass with proof.
    pub compatible_when: Vec<GateLine>,
    /// What an undecided audit does to the exit code.
    pub inconclusive: Inconclusive,
}

/// One line of a rule: a figure of a kernel against a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateLine {
    /// The kernel.
    pub kernel: Kernel,
    /// The condition.
    pub condition: Condition,
}

/// A condition on a kernel's excess churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// D̂ >= limit.
    AtLeast(PercentagePoints),
    /// D̂ < limit.
    Below(PercentagePoints),
    /// The lower confidence bound > limit.
    LowerBoundAbove(PercentagePoints),
    /// The Dirichlet upper bound < limit.
    UpperBoundBelow(PercentagePoints),
}

/// What an undecided audit does to the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inconclusive {
    /// Exit 0.
    Pass,
    /// Exit 0 with a warning.
    #[default]
    Warn,
    /// Exit 3.
    Fail,
}

/// The bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootstrapSpec {
    /// Draws of the preregistered stream.
    pub draws: u32,
    /// The confidence level of one-sided bounds and of the two-sided interval.
    pub confidence: Confidence,
}

/// What may be spent; absent means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetSpec {
    /// Calls to generators and judges.
    pub calls: Option<u64>,
    /// Wall time in minutes.
    pub minutes: Option<u32>,
    /// Tokens read and written by all processes of a run.
    pub tokens: Option<u64>,
    /// What they may cost, in nano-dollars (US).
    pub nano_usd: Option<u64>,
}

/// What may go wrong before the audit cannot stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToleranceSpec {
    /// The share of cells without an accepted answer, a snapshot, of questions with such a cell, and of packets without a
    /// judgment.
    pub invalid_cells: PercentagePoints,
    /// What happens where a generator's or a judge's server changes its model.
    pub served_models: ServedModels,
}
