//! From sealed ledgers to the result: the one way in which figures come to be, for `run`, `report`, `export` and `verify`.

use super::classes::{self, Classes, Written};
use super::collect::{self, Collected, Sources};
use super::flips::{self, Flipped, Kept};
use super::found::Texts;
use super::join::Join;
use super::replica::Answered;
use super::tally::{self, Tally};
use super::verdict::{self, Analyzed};
use super::{RESULT, conclusion, evidence, judges, machinery, manifest, origin, shard, standing};
use crate::analyze::{Accumulator, AnalyzeError, Diagnostics, QuestionScores, Settings};
use crate::freeze::{self, Protocol, Selection};
use crate::ledger::stage::{self, Stage as _};
use crate::ledger::{self, AnswersLock, BlobReader, EvidenceLock, JudgmentsLock, ProtocolLock, SideLocks};
use crate::model::{Digest, Failure, FailureClass, Observation, Question, SnapshotName};
use crate::report::{self, AuditResult, FlipDetail, SnapshotSummary};
use crate::retrieve;
use camino::Utf8Path;
use std::io::{self, BufRead, BufReader};

/// The files of a run's record.
const RECORD: [&str; 4] = [stage::Protocol::FILE, stage::Evidence::FILE, stage::Answers::FILE, stage::Judgments::FILE];

/// The locks of a finished run.
#[derive(Debug)]
pub(super) struct Locks {
    pub protocol: ProtocolLock,
    pub evidence: EvidenceLock,
    pub answers: AnswersLock,
    pub judgments: JudgmentsLock,
    pub side: SideLocks,
}

/// What follows from the ledgers of a run.
#[derive(Debug)]
pub(super) struct Computed {
    /// Every figure.
    pub result: AuditResult,
    /// What is kept of the questions that flipped.
    pub flipped: Flipped,
    /// Which records there are.
    pub tally: Tally,
}

impl Locks {
    /// The locks of the run in this folder.
    pub(super) fn open(folder: &Utf8Path) -> Result<Self, Failure> {
        let said = |error| conclusion::of_ledger(folder, error);
        let (protocol, evidence, answers, judgments) = ledger::open_locks(folder).map_err(said)?;
        let side = ledger::open_side_locks(&protocol, &evidence, &answers).map_err(said)?;
        Ok(Self { protocol, evidence, answers, judgments, side })
    }

    /// The names and heads of all ledgers.
    pub(super) fn heads(&self) -> Vec<(String, Digest)> {
        let heads = [
            ("protocol", self.protocol.head()),
            ("evidence", self.evidence.head()),
            ("answers", self.answers.head()),
            ("judgments", self.judgments.head()),
        ];
        heads.into_iter().chain(self.side.heads()).map(|(name, head)| (name.to_owned(), head)).collect()
    }

    /// What a report names: those, and the digest of what the figures need of the texts.
    fn named(&self, classes: Digest) -> Vec<(String, Digest)> {
        self.heads().into_iter().chain([("classes".to_owned(), classes)]).collect()
    }
}

/// What follows from the ledgers of a run whose texts are there, and `classes.jsonl` as it must be.
///
/// # Errors
/// A record that does not fit the protocol, or observations that the statistics refuse: class
/// [`FailureClass::Evidence`].
pub(super) fn compute(folder: &Utf8Path, locks: &Locks) -> Result<(Computed, Written), Failure> {
    let (protocol, mut selection) = freeze::outline(folder)?;
    let mut tally = Tally::default();
    let mut join = Join::read(&protocol, folder, &mut tally)?;
    compute_from(&protocol, locks, (&mut selection, &mut join), tally)
}

/// The same from questions and ledgers that were read already, from their first question on, and the ledgers' tally.
///
/// # Errors
/// As [`compute`].
pub(super) fn compute_from(
    protocol: &Protocol,
    locks: &Locks,
    (selection, join): (&mut Selection, &mut Join),
    mut tally: Tally,
) -> Result<(Computed, Written), Failure> {
    let folder = locks.judgments.folder();
    let gold = Some(freeze::gold::open(&locks.judgments, &locks.side, protocol)?);
    let texts = Texts::Whole(BlobReader::at(folder));
    let answered = Answered::read(protocol, folder, &texts, &mut tally)?;
    let whole = if protocol.is_sampled() { Some(freeze::load(folder)?) } else { None };
    let mut sampled = Sampled { protocol: whole, observed: Vec::new(), answered };
    let mut sources = Sources { selection, join, gold, texts };
    let settings = settings(protocol);
    let mut accumulator = Accumulator::new(&settings).map_err(refused)?;
    let (mut writer, mut flipped) = (classes::Writer::new(protocol)?, Flipped::new());
    let mut collected = collect::collect(protocol, &mut sources, tally, |question, found, observation| {
        let replica = sampled.answered.distinct(protocol, &question.id);
        writer.question(question, &found.answers.distinct(protocol), &replica, &found.gold)?;
        let Some(observation) = observation else {
            accumulator.leave_out(question.cluster.as_deref());
            return Ok(());
        };
        sampled.keep(&observation);
        if accumulator.take(&observation).map_err(refused)? {
            flipped.insert(question.id.clone(), Kept::of(question, found));
        }
        Ok(())
    })?;
    standing::check(protocol, &collected)?;
    let (analyzed, written) = (decide(protocol, folder, accumulator)?, writer.finish()?);
    let flips = flips::details(folder, &flipped, &analyzed.analysis.flips)?;
    let diagnostics = sampled.diagnostics(folder, &sources.texts, &mut collected.tally)?;
    let analyzed = (analyzed, diagnostics);
    let computed = assemble(protocol, folder, collected, analyzed, flips, flipped, locks.named(written.digest))?;
    Ok((computed, written))
}

/// What follows from the ledgers and `classes.jsonl` of an export, which has no texts: the same figures.
///
/// # Errors
/// As [`compute`], or the classes are not those of these answers.
pub(super) fn compute_without_texts(folder: &Utf8Path, locks: &Locks) -> Result<Computed, Failure> {
    let mut classes = Classes::open(folder)?;
    let (protocol, mut selection) = freeze::outline_without_texts(folder, classes.questions())?;
    let protocol = &protocol;
    classes.check(protocol)?;
    protocol.check_side(&locks.side)?;
    let whole = if protocol.is_sampled() {
        let questions = Classes::open(folder)?.questions().collect::<Result<Vec<_>, Failure>>()?;
        Some(protocol.clone().with_questions(questions))
    } else {
        None
    };
    let digest = classes.digest();
    let mut classes = Classes::open(folder)?;
    let settings = settings(protocol);
    let mut accumulator = Accumulator::new(&settings).map_err(refused)?;
    let (mut tally, mut flipped) = (Tally::default(), Flipped::new());
    let answered = Answered::read(protocol, folder, &Texts::LeftOut, &mut tally)?;
    let mut sampled = Sampled { protocol: whole, observed: Vec::new(), answered };
    let mut join = Join::read(protocol, folder, &mut tally)?;
    let mut sources = Sources { selection: &mut selection, join: &mut join, gold: None, texts: Texts::LeftOut };
    let mut collected = collect::collect(protocol, &mut sources, tally, |question, found, observation| {
        let replica = sampled.answered.distinct(protocol, &question.id);
        let scores = classes.scores(&found.answers.distinct(protocol), &replica)?;
        sampled.score(question, &scores);
        let Some(observation) = observation else {
            accumulator.leave_out(question.cluster.as_deref());
            return Ok(());
        };
        sampled.keep(&observation);
        if accumulator.take_recorded(&observation, &scores[0]).map_err(refused)? {
            flipped.insert(question.id.clone(), Kept::of(question, found));
        }
        Ok(())
    })?;
    standing::check(protocol, &collected)?;
    let analyzed = decide(protocol, folder, accumulator)?;
    let flips = flips::details_without_texts(&flipped, &analyzed.analysis.flips);
    let diagnostics = sampled.diagnostics(folder, &sources.texts, &mut collected.tally)?;
    assemble(protocol, folder, collected, (analyzed, diagnostics), flips, flipped, locks.named(digest))
}

/// What is kept of the questions of samples, where the protocol asks for diagnostics: they are few.
struct Sampled {
    /// The protocol with its questions.
    protocol: Option<Protocol>,
    observed: Vec<Observation>,
    answered: Answered,
}

impl Sampled {
    fn keep(&mut self, observation: &Observation) {
        let wanted = |protocol: &Protocol| protocol.samples.contains(&observation.id);
        if self.protocol.as_ref().is_some_and(wanted) {
            self.observed.push(observation.clone());
        }
    }

    /// Keeps which answers are equal where a second generator was asked: without texts nobody could tell later.
    fn score(&mut self, question: &Question, scores: &[QuestionScores; 2]) {
        let wanted = |protocol: &Protocol| protocol.samples.replica.contains(&question.id);
        if self.protocol.as_ref().is_some_and(wanted) {
            self.answered.score(&question.id, scores.clone());
        }
    }

    fn diagnostics(self, folder: &Utf8Path, texts: &Texts, tally: &mut Tally) -> Result<Option<Diagnostics>, Failure> {
        match &self.protocol {
            Some(protocol) => judges::diagnostics(protocol, folder, texts, &self.observed, &self.answered, tally),
            None => Ok(None),
        }
    }
}

/// The failure of ledgers whose figures the statistics refuse.
#[expect(clippy::needless_pass_by_value, reason = "shaped for `map_err`")]
pub(super) fn refused(error: AnalyzeError) -> Failure {
    Failure::new(FailureClass::Evidence, format!("failed to analyze the run: {error}"))
}

fn decide(protocol: &Protocol, folder: &Utf8Path, accumulator: Accumulator<'_>) -> Result<Analyzed, Failure> {
    let edits_what_counts = origin::origin(folder)?.is_some_and(|origin| origin.edits_what_counts());
    let same_content = machinery::is_one_corpus(protocol) && !edits_what_counts;
    verdict::decide(accumulator, &protocol.spec.gate, same_content).map_err(refused)
}

fn assemble(
    protocol: &Protocol,
    folder: &Utf8Path,
    mut collected: Collected,
    (analyzed, diagnostics): (Analyzed, Option<Diagnostics>),
    flips: Vec<FlipDetail>,
    flipped: Flipped,
    heads: Vec<(String, Digest)>,
) -> Result<Computed, Failure> {
    let mut machinery = machinery::describe(protocol);
    let origin = origin::origin(folder)?;
    machinery.caveats.splice(0..0, origin.iter().flat_map(origin::Origin::caveats));
    machinery.caveats.extend(retrieve::embedder_caveats(protocol, folder)?);
    let conduct = collected.tally.answering.conduct(protocol)?;
    let exploratory = origin.is_some_and(|origin| origin.is_exploratory());
    let Analyzed { analysis, decision, same_content } = analyzed;
    let result = AuditResult {
        format: report::FORMAT.to_owned(),
        name: protocol.spec.name.clone(),
        protocol: protocol.digest,
        audited: Some(protocol.audited()),
        spec: protocol.spec_digest,
        decision,
        analysis,
        diagnostics,
        flips,
        same_content,
        exploratory,
        snapshots: snapshots(protocol),
        machinery,
        validity: tally::validity(protocol, &collected),
        record: collected.tally.record(heads, conduct, ledger::is_replayed(folder)?),
    };
    Ok(Computed { result, flipped, tally: collected.tally })
}

/// What follows from the ledgers in this folder, be it a run or an export.
///
/// # Errors
/// As [`compute`].
pub(super) fn computed(folder: &Utf8Path) -> Result<Computed, Failure> {
    shard::refuse(folder)?;
    evidence::refuse(folder, "nothing was answered, so that there is no verdict")?;
    let locks = Locks::open(folder)?;
    if manifest::is_export(folder) {
        return compute_without_texts(folder, &locks);
    }
    compute(folder, &locks).map(|(computed, _)| computed)
}

/// Opens a sealed run, or an export of one, and computes its result.
///
/// # Errors
/// The run is not sealed, or is damaged: class [`FailureClass::Evidence`].
pub fn recompute(folder: &Utf8Path) -> Result<AuditResult, Failure> {
    computed(folder).map(|computed| computed.result)
}

/// The result in a run folder: the one that follows from its ledgers, held against `result.json`. Nothing where the folder
/// has no part of a run's record, so that `result.json` stands there alone.
///
/// # Errors
/// As [`recompute`], or `result.json` says something else: class [`FailureClass::Evidence`].
pub fn recorded(folder: &Utf8Path) -> Result<Option<AuditResult>, Failure> {
    // A link or a folder in a record's place is a part of it too: it is for the ledgers to refuse.
    if !RECORD.iter().any(|file| folder.join(file).symlink_metadata().is_ok()) {
        return Ok(None);
    }
    let result = recompute(folder)?;
    compare(folder, &result)?;
    Ok(Some(result))
}

/// Compares the recomputed result with `result.json`, byte by byte.
pub(super) fn compare(folder: &Utf8Path, result: &AuditResult) -> Result<(), Failure> {
    compare_file(folder, RESULT, report::json(result).as_slice())
}

/// Compares a file that follows from the ledgers with what follows from them, byte by byte.
pub(super) fn compare_file(folder: &Utf8Path, name: &str, mut expected: impl BufRead) -> Result<(), Failure> {
    let path = folder.join(name);
    let broken = |what: String, hint: &str| {
        let hint = if manifest::is_export(folder) { manifest::ANOTHER } else { hint };
        Failure::new(FailureClass::Evidence, what).with_hint(hint)
    };
    let unread = |error: io::Error| {
        let what = format!("failed to read `{path}`: {}", error.kind());
        broken(what, "run the audit again: it is complete and only writes its result anew")
    };
    let mut written = BufReader::new(fs_err::File::open(&path).map_err(unread)?);
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for line in 1.. {
        one.clear();
        other.clear();
        written.read_until(b'\n', &mut one).map_err(unread)?;
        expected.read_until(b'\n', &mut other).map_err(unread)?;
        if one != other {
            let what = format!("`{path}` does not follow from the ledgers: it differs from line {line} on");
            return Err(broken(
                what,
                "trust the ledgers: run the audit again, which writes this anew from them and asks nothing",
            ));
        }
        if one.is_empty() {
            break;
        }
    }
    Ok(())
}

/// What the statistics need of the protocol.
pub(super) fn settings(protocol: &Protocol) -> Settings {
    let names = || protocol.spec.snapshots.iter().map(|snapshot| &snapshot.name);
    Settings {
        old: SnapshotName::old(),
        new: SnapshotName::new_snapshot(),
        between: names().filter(|name| name.is_rung()).cloned().collect(),
        placebo: names().any(|name| *name == SnapshotName::placebo()),
        closed_book: protocol.spec.closed_book,
        normalisation: protocol.spec.judge.normalisation,
        confidence: protocol.spec.bootstrap.confidence,
        draws: protocol.spec.bootstrap.draws,
        bootstrap_key: protocol.seeds.bootstrap,
    }
}

/// The snapshots as reports show them.
#[must_use]
pub fn snapshots(protocol: &Protocol) -> Vec<SnapshotSummary> {
    let summary = |snapshot: &freeze::ResolvedSnapshot| SnapshotSummary {
        name: snapshot.name.to_string(),
        physical: snapshot.physical.clone(),
        fingerprint: snapshot.fingerprint,
        documents: snapshot.documents,
        passed_over: snapshot.passed_over.clone(),
    };
    protocol.snapshots.iter().map(summary).collect()
}
