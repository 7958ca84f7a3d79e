//! The statistics alone, on answers and labels made elsewhere: the same figures, gate and reports as an audit's.

use super::files::{ANSWERS, Files};
use super::outside;
use super::verdict::{self, Analyzed};
use crate::analyze::{self, Settings};
use crate::model::{
    Confidence, Digest, EvidenceKeys, Failure, FailureClass, Normalisation, Observation, QuestionId, SnapshotName,
};
use crate::report::{self, AuditResult, Machinery, RunRecord, SnapshotSummary, Validity};
use crate::spec::GateSpec;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeSet, HashMap};

/// The largest file of answers that is read, in bytes.
const MAX_BYTES: u64 = 4 << 30;
/// Snapshots of a file that are named where one is looked for in vain.
const NAMED: usize = 8;

/// What is to be computed.
#[derive(Clone, Debug)]
pub struct Request {
    /// The file of answers, described in `docs/answers-format.md`.
    pub file: Utf8PathBuf,
    /// The name of the old snapshot in it.
    pub old: SnapshotName,
    /// The name of the new one.
    pub new: SnapshotName,
    /// Names of the snapshots between, in order.
    pub between: Vec<SnapshotName>,
    /// Whether a snapshot `placebo` stands in it: the old one rebuilt unchanged.
    pub placebo: bool,
    /// Whether a snapshot `closed_book` stands in it.
    pub closed_book: bool,
    /// The normalisation of the exact kernel.
    pub normalisation: Normalisation,
    /// The confidence level.
    pub confidence: Confidence,
    /// Draws of the cross-check.
    pub draws: u32,
    /// The rule.
    pub gate: GateSpec,
    /// The version of this program.
    pub tool_version: &'static str,
}

/// Computes the result of a file of answers. Its name is the file's digest, which also seeds the cross-check.
///
/// # Errors
/// The file cannot be read, a line of it is wrong, or the statistics refuse it: class [`FailureClass::Usage`].
pub fn analyze(request: &Request) -> Result<AuditResult, Failure> {
    let bytes = Files::Tree(Utf8Path::new(".")).require(ANSWERS, &request.file, MAX_BYTES)?;
    let wrong = |message: String| {
        Failure::new(FailureClass::Usage, message).with_hint("docs/answers-format.md describes the file, line by line")
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        wrong(format!("`{}`, line {}: not UTF-8", request.file, line_of(&bytes, error.valid_up_to())))
    })?;
    let observations = outside::parse(text, request.file.as_str()).map_err(|error| wrong(error.to_string()))?;
    check_named(&observations, request).map_err(wrong)?;
    let digest = Digest::of(&bytes);
    let Analyzed { analysis, decision, same_content } = analyze::accumulate(&observations, &settings(request, digest))
        .and_then(|accumulator| verdict::decide(accumulator, &request.gate, false))
        .map_err(|error| wrong(format!("failed to analyze `{}`: {error}", request.file)))?;
    Ok(AuditResult {
        format: report::FORMAT.to_owned(),
        name: name(&request.file),
        protocol: digest,
        audited: Some(digest),
        spec: digest,
        decision,
        diagnostics: None,
        flips: flips(&analysis.flips, &observations, request),
        same_content,
        exploratory: false,
        snapshots: snapshots(request),
        machinery: machinery(request, &observations),
        validity: validity(request, &observations),
        record: RunRecord {
            heads: Vec::new(),
            attempts: 0,
            retries: Vec::new(),
            not_sent: None,
            tokens: (0, 0),
            nano_usd: None,
            unpriced: None,
            untold: None,
            unended: None,
            conduct: None,
            replayed: None,
            duration_ms: 0,
        },
        analysis,
    })
}

/// Whether every asked question has the snapshots that are only compared with: the statistics look for them where they
/// need them, and a name that stands nowhere would pass unheard.
fn check_named(observations: &[Observation], request: &Request) -> Result<(), String> {
    known(observations, request)?;
    let placebo = request.placebo.then(SnapshotName::placebo);
    let closed_book = request.closed_book.then(SnapshotName::closed_book);
    let named = request.between.iter().map(|name| ("--between", name));
    let named = named.chain(placebo.iter().map(|name| ("--placebo", name)));
    let asked = || observations.iter().filter(|observation| !observation.unchanged);
    for (option, name) in named.chain(closed_book.iter().map(|name| ("--closed-book", name))) {
        let lacking = asked().filter(|observation| observation.snapshot(name).is_none());
        let failed = |what: String| format!("failed to analyze `{}`: {what}, which `{option}` asks for", request.file);
        match lacking.clone().count() {
            0 => {}
            all if all == asked().count() => return Err(failed(format!("it has no snapshot `{name}`"))),
            _ => {
                let first = lacking.map(|observation| observation.id.to_string()).next().unwrap_or_default();
                return Err(failed(format!("question `{first}` has no snapshot `{name}`")));
            }
        }
    }
    Ok(())
}

/// Whether old and new stand anywhere at all.
fn known(observations: &[Observation], request: &Request) -> Result<(), String> {
    let names: BTreeSet<&SnapshotName> =
        observations.iter().flat_map(|observation| &observation.snapshots).map(|answers| &answers.snapshot).collect();
    let unknown = [&request.old, &request.new].into_iter().find(|name| !names.contains(name));
    let Some(unknown) = unknown.filter(|_| !names.is_empty()) else { return Ok(()) };
    let names: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    Err(format!(
        "failed to analyze `{}`: it has no snapshot `{unknown}`, but {}; name two of them by `--old` and `--new`",
        request.file,
        names.join(", ")
    ))
}

fn settings(request: &Request, digest: Digest) -> Settings {
    Settings {
        old: request.old.clone(),
        new: request.new.clone(),
        between: request.between.clone(),
        placebo: request.placebo,
        closed_book: request.closed_book,
        normalisation: request.normalisation,
        confidence: request.confidence,
        draws: request.draws,
        bootstrap_key: *Digest::of_parts([b"bootstrap".as_slice(), digest.as_bytes()]).as_bytes(),
    }
}

/// The file's name without its ending.
fn name(file: &Utf8Path) -> String {
    file.file_stem().unwrap_or("answers").to_owned()
}

/// One entry a flip, in the same order.
fn flips(flips: &[analyze::Flip], observations: &[Observation], request: &Request) -> Vec<report::FlipDetail> {
    let by_id: HashMap<&QuestionId, &Observation> =
        observations.iter().map(|observed| (&observed.id, observed)).collect();
    flips.iter().map(|flip| flip_detail(flip, by_id.get(&flip.question).copied(), request)).collect()
}

/// A flip with the texts there are: the question's own text and the documents' texts are not kept of the file.
fn flip_detail(flip: &analyze::Flip, observed: Option<&Observation>, request: &Request) -> report::FlipDetail {
    let evidence = |name| observed.and_then(|observed| observed.snapshot(name)?.evidence.as_ref());
    let (old, new) = (evidence(&request.old), evidence(&request.new));
    report::FlipDetail {
        question: flip.question.clone(),
        text: flip.question.to_string(),
        old_answer: flip.old.as_str().to_owned(),
        new_answer: flip.new.as_str().to_owned(),
        gold: observed.map(|observation| observation.gold.clone()).unwrap_or_default(),
        left: only_in(old, new),
        came: only_in(new, old),
        shared: flip.shared_documents.unwrap_or(0),
        cited: None,
    }
}

/// The documents of one evidence whose content the other does not have, by id.
fn only_in(one: Option<&EvidenceKeys>, other: Option<&EvidenceKeys>) -> Vec<report::EvidenceLine> {
    let Some(one) = one else { return Vec::new() };
    let shared = |content: &Digest| other.is_some_and(|other| other.contents.contains(content));
    let documents = one.ids.iter().zip(&one.contents).filter(|(_, content)| !shared(content));
    documents.map(|(id, _)| report::EvidenceLine { id: id.clone(), excerpt: String::new() }).collect()
}

/// The snapshots that are compared.
fn names(request: &Request) -> Vec<SnapshotName> {
    let Request { old, new, between, .. } = request;
    let placebo = request.placebo.then(SnapshotName::placebo);
    std::iter::once(old).chain(between).chain([new]).chain(&placebo).cloned().collect()
}

fn snapshots(request: &Request) -> Vec<SnapshotSummary> {
    let summary = |name: &SnapshotName| SnapshotSummary {
        name: name.to_string(),
        physical: "answers made elsewhere".to_owned(),
        fingerprint: None,
        documents: None,
        passed_over: None,
    };
    names(request).iter().map(summary).collect()
}

/// The number of the line in which a byte stands.
fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.get(..at).unwrap_or_default().split(|byte| *byte == b'\n').count()
}

fn machinery(request: &Request, observations: &[Observation]) -> Machinery {
    let elsewhere = "Answers and labels were made elsewhere: this program cannot tell whether they were blind, repeated \
                     without a cache, or complete.";
    let one_cluster = "All questions have the same cluster, which is too few for any bound: no line of the rule with a bound \
                       can hold.";
    Machinery {
        retrieve: Machinery::ELSEWHERE.to_owned(),
        generate: Machinery::ELSEWHERE.to_owned(),
        judge: "labels of the file".to_owned(),
        black_box: None,
        caveats: [Some(elsewhere), Some(one_cluster).filter(|_| have_one_cluster(observations))]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect(),
        tool_version: request.tool_version.to_owned(),
    }
}

/// Whether one cluster is around all of several questions.
fn have_one_cluster(observations: &[Observation]) -> bool {
    let first = observations.first().and_then(|observation| observation.cluster.as_ref());
    first.is_some() && observations.len() > 1 && observations.iter().all(|one| one.cluster.as_ref() == first)
}

fn validity(request: &Request, observations: &[Observation]) -> Validity {
    let count = |name: &SnapshotName| {
        let answers = |observed: &Observation| observed.snapshot(name).map_or(0, |entry| entry.answers.len() as u64);
        observations.iter().map(answers).sum::<u64>()
    };
    let names = names(request);
    Validity {
        cells: names.iter().map(count).sum(),
        accepted: names.iter().map(|name| (name.to_string(), count(name))).collect(),
        invalid: names.iter().map(|name| (name.to_string(), 0)).collect(),
        excluded_questions: 0,
        packets: observations.iter().filter(|observed| !observed.judgments.is_empty()).count() as u64,
        mismatched_evidence: 0,
        served_models: Vec::new(),
        unnamed_models: Vec::new(),
        changed_models: Vec::new(),
    }
}
