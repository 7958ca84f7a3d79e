//! Arguments as typed.

use crate::model::Normalisation;
use crate::publish::Disclosure;
use crate::report;
use crate::run;
use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

/// The gate for a retrieval index rebuild: measures excess answer churn between two snapshots of a corpus.
#[derive(Debug, Parser)]
#[command(name = "churngate", version, about, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Write what went wrong to this file as well, where the command fails.
    #[arg(long, global = true, value_name = "FILE")]
    pub failure_file: Option<Utf8PathBuf>,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Validate a spec, resolve its snapshots and print the plan; spends nothing but what `--probe` asks.
    Check(CheckArguments),
    /// Run the whole audit; goes on where it stopped.
    Run(RunArguments),
    /// Join the shards of a matrix job to one run, and decide.
    Merge(MergeArguments),
    /// Retrieve only and show what changed in the evidence, which questions are at risk, and what an audit would cost.
    Diff(DiffArguments),
    /// Recompute everything from the ledgers, without a network.
    Verify(VerifyArguments),
    /// Show which change of evidence moved the answer to a question, by asking with one change made or undone.
    Explain(ExplainArguments),
    /// Copy a finished run without its texts; the copy can be verified, too.
    Export(ExportArguments),
    /// Render the report of a finished run again.
    Report(ReportArguments),
    /// Label pairs of a finished run by hand, blindly, and hold the judge against the labels.
    Review(ReviewArguments),
    /// The statistics alone, on answers and labels made elsewhere.
    Analyze(AnalyzeArguments),
    /// Tell the pull request: comment, status or check, summary, outputs.
    Publish(PublishArguments),
    /// Write a spec, example questions and a workflow for this repository.
    Init(InitArguments),
    /// Print the spec's JSON Schema.
    Schema,
}

/// A spec.
#[derive(Debug, Args)]
pub struct SpecArguments {
    /// The audit spec.
    #[arg(default_value = "churngate.yaml")]
    pub spec: Utf8PathBuf,
    /// Where runs are kept; `.churngate` beside the spec where absent.
    #[arg(long, value_name = "FOLDER")]
    pub runs: Option<Utf8PathBuf>,
    /// The commit that the spec and the files beside it are read from, in place of the working tree. On a pull request
    /// its base, so that the pull request cannot change the rule that judges it.
    #[arg(long, value_name = "COMMIT")]
    pub base: Option<String>,
    /// A variable of the new snapshot, in place of the spec's value: a plain name such as `index=docs_v42`. May stand
    /// several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub new: Vec<String>,
}

impl SpecArguments {
    /// What is to be audited.
    pub fn request(&self) -> run::Request<'_> {
        let Self { spec, runs, base, new } = self;
        run::Request {
            spec,
            runs: runs.as_deref(),
            base: base.as_deref(),
            new,
            shard: None,
            evidence_alone: false,
            is_set: |name| std::env::var_os(name).is_some_and(|value| !value.is_empty()),
            tool_version: super::VERSION,
        }
    }
}

/// Whether calls over HTTP are recorded, or answered from a recording.
#[derive(Debug, Default, Args)]
pub struct TapeArguments {
    /// Write every exchange over HTTP to this folder, without keys, so that the audit can be replayed.
    #[arg(long, value_name = "DIR")]
    pub record: Option<Utf8PathBuf>,
    /// Answer every call over HTTP from this folder, which `--record` wrote, and call nobody. A replay has a run folder of its
    /// own, is told as one wherever it is told, and marks no commit.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["record", "base"])]
    pub replay: Option<Utf8PathBuf>,
}

/// A spec, and how far to go in checking it.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The spec.
    #[command(flatten)]
    pub spec: SpecArguments,
    /// Make one call to each server of a model, the embedder's among them, and say what it served and which controls it took.
    #[arg(long)]
    pub probe: bool,
    /// Whether calls are recorded or replayed.
    #[command(flatten)]
    pub tape: TapeArguments,
}

/// A spec, and how to run it.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The spec.
    #[command(flatten)]
    pub spec: SpecArguments,
    /// Calls in flight at most, in place of the spec's own numbers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub tasks: Option<u32>,
    /// Whether calls are recorded or replayed.
    #[command(flatten)]
    pub tape: TapeArguments,
    /// Run one part of the questions, such as `3/16`, in a job of its own; `merge` joins all of them.
    #[arg(long, value_name = "N/OF")]
    pub shard: Option<run::Shard>,
    /// Print nothing but the report.
    #[arg(short, long)]
    pub quiet: bool,
    /// What of the audited texts is printed. The run's folder holds all of them.
    #[arg(long, default_value = "answers")]
    pub disclosure: Shown,
    /// Write the run's folder to this file.
    #[arg(long, value_name = "FILE")]
    pub folder_file: Option<Utf8PathBuf>,
}

/// A spec, and how to show what changed in its evidence.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// The spec.
    #[command(flatten)]
    pub spec: SpecArguments,
    /// Calls in flight at most, in place of the spec's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub tasks: Option<u32>,
    /// Print nothing but the result.
    #[arg(short, long)]
    pub quiet: bool,
    /// Whether calls are recorded or replayed.
    #[command(flatten)]
    pub tape: TapeArguments,
    /// Questions that are shown with their documents.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
    /// The format.
    #[arg(long, default_value = "text")]
    pub format: TextOrJson,
}

/// The format of what is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TextOrJson {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// A run, to be verified.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// The run's folder, `.churngate/<digest>`, or an export of one.
    pub run: Utf8PathBuf,
    /// Print the claim matrix instead: each figure of the report and the records it comes from.
    #[arg(long)]
    pub claims: bool,
}

/// A run and a question of it, and how far to go in explaining its flip.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The run's folder: `.churngate/<digest>`.
    pub run: Utf8PathBuf,
    /// The question's id, as the report names it.
    pub question: String,
    /// Ask for what is not there yet. Without it a generator that is called is not called, and the plan is shown; the embedded
    /// reader costs nothing and answers in any case.
    #[arg(long)]
    pub ask: bool,
    /// Calls at most, retries among them; what is left is asked for by another call of the same command.
    #[arg(long, value_name = "N", requires = "ask")]
    pub calls: Option<u64>,
    /// Changes that are tried at most, those of the best ranks first. Each takes two rows of answers.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub changes: u32,
    /// Calls in flight at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub tasks: Option<u32>,
    /// Print nothing but the result.
    #[arg(short, long)]
    pub quiet: bool,
    /// What of the audited texts is printed. The run's folder holds all of them.
    #[arg(long, default_value = "answers")]
    pub disclosure: Shown,
    /// The format.
    #[arg(long, default_value = "text")]
    pub format: TextOrJson,
}

/// A run, to be exported.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The run's folder: `.churngate/<digest>`.
    pub run: Utf8PathBuf,
    /// The folder to make; `RUN-export` where absent. Nothing may be there yet.
    #[arg(long, value_name = "DIR")]
    pub output: Option<Utf8PathBuf>,
}

/// The shards of one audit.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The folders that `run --shard` made, all of them.
    #[arg(required = true)]
    pub shards: Vec<Utf8PathBuf>,
    /// Where the run is kept; beside the first shard where absent.
    #[arg(long, value_name = "FOLDER")]
    pub runs: Option<Utf8PathBuf>,
    /// What of the audited texts is printed. The run's folder holds all of them.
    #[arg(long, default_value = "answers")]
    pub disclosure: Shown,
    /// Write the run's folder to this file.
    #[arg(long, value_name = "FILE")]
    pub folder_file: Option<Utf8PathBuf>,
}

/// A run, and the format to render it in.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The run's folder: `.churngate/<digest>`.
    pub run: Utf8PathBuf,
    /// The format.
    #[arg(long, default_value = TERMINAL, value_parser = formats())]
    pub format: String,
}

/// A run, and which of its pairs are labelled by whom.
#[derive(Debug, Args)]
pub struct ReviewArguments {
    /// The run's folder: `.churngate/<digest>`.
    pub run: Utf8PathBuf,
    /// Pairs of the blind sample, drawn by a hash from all judged pairs.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub sample: usize,
    /// Label every judged pair, in place of a sample.
    #[arg(long, conflicts_with = "sample")]
    pub all: bool,
    /// Stable flips whose pairs are labelled as well, worst first; all of them where absent.
    #[arg(long, value_name = "N")]
    pub flips: Option<usize>,
    /// Who labels: a plain name. Each name has labels of its own.
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub reviewer: String,
    /// Write the pairs to a new file, `.csv` or `.jsonl`, with an empty `label`, and ask nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["read", "reveal"])]
    pub write: Option<Utf8PathBuf>,
    /// Take the labels from such a file, and ask nothing.
    #[arg(long, value_name = "FILE")]
    pub read: Option<Utf8PathBuf>,
    /// Ask nothing, and show the figures and the judge's labels of what is labelled although pairs are left.
    #[arg(long)]
    pub reveal: bool,
    /// The format of what the labels came to.
    #[arg(long, default_value = "text")]
    pub format: TextOrJson,
}

/// A file of answers, and how to read it.
#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// The file, as docs/answers-format.md describes it.
    pub file: Utf8PathBuf,
    /// The name of the old snapshot in it.
    #[arg(long, default_value = "old", value_name = "SNAPSHOT")]
    pub old: String,
    /// The name of the new snapshot in it.
    #[arg(long, default_value = "new", value_name = "SNAPSHOT")]
    pub new: String,
    /// The names of the snapshots between, in order.
    #[arg(long, value_delimiter = ',', value_name = "SNAPSHOTS")]
    pub between: Vec<String>,
    /// Whether a snapshot `placebo` stands in the file: the old one rebuilt unchanged.
    #[arg(long)]
    pub placebo: bool,
    /// Whether a snapshot `closed_book` stands in the file.
    #[arg(long)]
    pub closed_book: bool,
    /// The normalisation of the exact kernel and of correctness.
    #[arg(long, default_value = "nq")]
    pub normalisation: NormalisationName,
    /// The format.
    #[arg(long, default_value = TERMINAL, value_parser = formats())]
    pub format: String,
}

/// The name of a normalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum NormalisationName {
    /// Lower case; ASCII punctuation and articles deleted.
    Nq,
    /// Lower case; punctuation turned into spaces; articles deleted.
    Triviaqa,
    /// Nothing but trimming.
    None,
}

impl From<NormalisationName> for Normalisation {
    fn from(name: NormalisationName) -> Self {
        match name {
            NormalisationName::Nq => Self::Nq,
            NormalisationName::Triviaqa => Self::TriviaQa,
            NormalisationName::None => Self::None,
        }
    }
}

/// The format that is no file.
const TERMINAL: &str = "terminal";

/// Every format's name.
fn formats() -> clap::builder::PossibleValuesParser {
    std::iter::once(TERMINAL).chain(report::FORMATS.iter().map(|format| format.name)).collect::<Vec<_>>().into()
}

/// A run, and what of it is published.
#[derive(Debug, Args)]
pub struct PublishArguments {
    /// The run's folder: `.churngate/<digest>`.
    #[arg(required_unless_present = "failed", conflicts_with = "failed")]
    pub run: Option<Utf8PathBuf>,
    /// When the pull request is commented on.
    #[arg(long, default_value = "on-change")]
    pub comment: Comment,
    /// What becomes of the comment about an earlier commit.
    #[arg(long, default_value = "update")]
    pub outdated: Outdated,
    /// How the commit is marked.
    #[arg(long, default_value = "status")]
    pub status: Mark,
    /// What of the audited texts may be shown.
    #[arg(long, default_value = "answers")]
    pub disclosure: Shown,
    /// Exit with code 6 where something could not be published.
    #[arg(long)]
    pub require_publish: bool,
    /// The pull request, where the event does not name it; its head must be the commit, and is where nothing else names one.
    #[arg(long, value_name = "NUMBER")]
    pub pull_request: Option<u64>,
    /// The commit to mark, where the event does not name it.
    #[arg(long, value_name = "COMMIT")]
    pub head: Option<String>,
    /// The spec in the checkout: a check run then has remarks at its rule and at the questions of stable flips.
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<Utf8PathBuf>,
    /// The run came in an artifact that somebody else filled: it is checked as such, marks no commit, and has a comment of
    /// its own.
    #[arg(long, conflicts_with = "failed")]
    pub artifact: bool,
    /// Publish a result although its ledgers are not there, and say so in it.
    #[arg(long, conflicts_with = "failed")]
    pub unverified: bool,
    /// Tell that the audit of `--spec` came to no verdict and ended with this exit code.
    #[arg(long, value_name = "EXIT_CODE", requires = "spec")]
    pub failed: Option<i32>,
    /// What the audit said when it failed, as `--failure-file` wrote it.
    #[arg(long, value_name = "FILE", requires = "failed")]
    pub failure: Option<Utf8PathBuf>,
    /// The commit that the failed audit's rule was to be read from.
    #[arg(long, value_name = "COMMIT", requires = "failed")]
    pub base: Option<String>,
}

/// Where to begin.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The repository.
    #[arg(default_value = ".")]
    pub folder: Utf8PathBuf,
    /// The corpus: a folder or a JSONL file in the repository.
    #[arg(long, value_name = "PATH")]
    pub corpus: Option<Utf8PathBuf>,
    /// What kind of answers the system gives: it decides which rule the gate begins with.
    #[arg(long, default_value = "short")]
    pub answers: AnswerKind,
}

/// What kind of answers a system gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AnswerKind {
    /// A few words: a name, a number, a date.
    Short,
    /// Whole sentences.
    Paragraph,
}

/// When a comment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Comment {
    /// For every result.
    Always,
    /// Where the verdict is not compatible, or not the one that the comment there tells, or something else has to be known.
    OnChange,
    /// Never.
    Never,
}

/// What becomes of the comment about an earlier commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Outdated {
    /// It is updated in place.
    Update,
    /// It is hidden as outdated, and a new one is written.
    Hide,
}

/// How the commit is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Mark {
    /// By a commit status.
    Status,
    /// By a check run.
    Check,
    /// Not at all.
    None,
}

/// What may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shown {
    /// Ids only.
    Ids,
    /// Questions as well.
    Questions,
    /// Questions, answers and evidence.
    Answers,
}

impl From<Shown> for Disclosure {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Ids => Self::Ids,
            Shown::Questions => Self::Questions,
            Shown::Answers => Self::Answers,
        }
    }
}
