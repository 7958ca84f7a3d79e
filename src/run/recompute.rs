//! From sealed ledgers to the result: the one way in which figures come to be, for `run`, `report`, `export` and `verify`.

use super::classes::{self, Classes};
use super::collect::{self, Collected, Texts};
use super::{flips, machinery, manifest, origin, shard, standing, tally};
use crate::analyze::{self, Analysis, AnalyzeError, Settings};
use crate::freeze::{self, Protocol};
use crate::gate;
use crate::ledger::stage::{self, Stage as _};
use crate::ledger::{self, AnswersLock, BlobReader, EvidenceLock, JudgmentsLock, ProtocolLock};
use crate::model::{Digest, Failure, FailureClass, SnapshotName};
use crate::report::{self, AuditResult, FlipDetail, SnapshotSummary};
use camino::Utf8Path;

/// The files of a run's record.
const RECORD: [&str; 4] = [stage::Protocol::FILE, stage::Evidence::FILE, stage::Answers::FILE, stage::Judgments::FILE];

/// The locks of a finished run.
#[derive(Debug)]
pub(super) struct Locks {
    pub protocol: ProtocolLock,
    pub evidence: EvidenceLock,
    pub answers: AnswersLock,
    pub judgments: JudgmentsLock,
}

/// What follows from the ledgers of a run.
#[derive(Debug)]
pub(super) struct Computed {
    /// Every figure.
    pub result: AuditResult,
    /// What the figures need of the texts: the bytes of `classes.jsonl`.
    pub classes: Vec<u8>,
    /// What was read.
    pub collected: Collected,
}

impl Locks {
    /// The locks of the run in this folder.
    pub(super) fn open(folder: &Utf8Path) -> Result<Self, Failure> {
        let (protocol, evidence, answers, judgments) = ledger::open_locks(folder)?;
        Ok(Self { protocol, evidence, answers, judgments })
    }

    /// What a report names: the heads of the ledgers, and the digest of what the figures need of the texts.
    fn heads(&self, classes: &[u8]) -> Vec<(String, Digest)> {
        let heads = [
            ("protocol", self.protocol.head()),
            ("evidence", self.evidence.head()),
            ("answers", self.answers.head()),
            ("judgments", self.judgments.head()),
            ("classes", Digest::of(classes)),
        ];
        heads.into_iter().map(|(name, head)| (name.to_owned(), head)).collect()
    }
}

/// What follows from the ledgers of a run whose texts are there.
///
/// # Errors
/// A record that does not fit the protocol, or observations that the statistics refuse: class
/// [`FailureClass::Evidence`].
pub(super) fn compute(protocol: &Protocol, folder: &Utf8Path, locks: &Locks) -> Result<Computed, Failure> {
    let gold = freeze::gold::open(&locks.judgments, protocol)?;
    let texts = Texts::Whole { blobs: BlobReader::at(folder), gold: &gold };
    let collected = collect::collect(protocol, folder, &texts)?;
    let classes = classes::write(protocol, &collected, &gold)?;
    let analysis = analyze::analyze(&collected.observations, &settings(protocol)).map_err(refused)?;
    let flips = flips::details(protocol, folder, &collected, &analysis.flips)?;
    let result = assemble(protocol, folder, &collected, analysis, flips, locks.heads(&classes))?;
    Ok(Computed { result, classes, collected })
}

/// What follows from the ledgers and `classes.jsonl` of an export, which has no texts: the same figures.
///
/// # Errors
/// As [`compute`], or the classes are not those of these answers.
pub(super) fn compute_without_texts(folder: &Utf8Path, locks: &Locks) -> Result<Computed, Failure> {
    let bytes = manifest::read(folder, classes::FILE)?;
    let classes = Classes::read(&bytes)?;
    let protocol = &freeze::load_without_texts(folder, classes.questions())?;
    let collected = collect::collect(protocol, folder, &Texts::LeftOut)?;
    let scores = classes.scores(protocol, &collected)?;
    let analysis = analyze::analyze_recorded(&collected.observations, &settings(protocol), &scores).map_err(refused)?;
    let flips = flips::details_without_texts(&collected, &analysis.flips);
    let result = assemble(protocol, folder, &collected, analysis, flips, locks.heads(&bytes))?;
    Ok(Computed { result, classes: bytes, collected })
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for `map_err`")]
fn refused(error: AnalyzeError) -> Failure {
    Failure::new(FailureClass::Evidence, format!("failed to analyze the run: {error}"))
}

fn assemble(
    protocol: &Protocol,
    folder: &Utf8Path,
    collected: &Collected,
    analysis: Analysis,
    flips: Vec<FlipDetail>,
    heads: Vec<(String, Digest)>,
) -> Result<AuditResult, Failure> {
    standing::check(protocol, collected)?;
    let mut machinery = machinery::describe(protocol);
    machinery.caveats.splice(0..0, origin::origin(folder)?.iter().flat_map(origin::Origin::caveats));
    Ok(AuditResult {
        format: report::FORMAT.to_owned(),
        name: protocol.spec.name.clone(),
        protocol: protocol.digest,
        spec: protocol.spec_digest,
        decision: gate::decide(&analysis, &protocol.spec.gate),
        analysis,
        flips,
        snapshots: snapshots(protocol),
        machinery,
        validity: tally::validity(protocol, collected),
        record: collected.tally.record(heads, collected.tally.answering.conduct(protocol, &collected.observations)),
    })
}

/// What follows from the ledgers in this folder, be it a run or an export.
///
/// # Errors
/// As [`compute`].
pub(super) fn computed(folder: &Utf8Path) -> Result<Computed, Failure> {
    shard::refuse(folder)?;
    let locks = Locks::open(folder)?;
    if manifest::is_export(folder) {
        return compute_without_texts(folder, &locks);
    }
    compute(&freeze::load(folder)?, folder, &locks)
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
    compare_file(folder, "result.json", &report::json(result))
}

/// Compares a file that follows from the ledgers with what follows from them, byte by byte.
pub(super) fn compare_file(folder: &Utf8Path, name: &str, expected: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    let written = fs_err::read(&path).map_err(|error| {
        Failure::new(FailureClass::Evidence, format!("failed to read `{path}`: {}", error.kind()))
            .with_hint("run the audit again: it is complete and only writes its result anew")
    })?;
    if written == expected {
        return Ok(());
    }
    let (written, expected) = (String::from_utf8_lossy(&written), String::from_utf8_lossy(expected));
    let line = written.lines().zip(expected.lines()).take_while(|(one, other)| one == other).count() + 1;
    Err(Failure::new(
        FailureClass::Evidence,
        format!("`{path}` does not follow from the ledgers: it differs from line {line} on"),
    )
    .with_hint("trust the ledgers: run the audit again to write the result anew"))
}

/// What the statistics need of the protocol.
pub(super) fn settings(protocol: &Protocol) -> Settings {
    let is_end = |name: &SnapshotName| *name == SnapshotName::old() || *name == SnapshotName::new_snapshot();
    let rungs = protocol.spec.snapshots.iter().map(|snapshot| snapshot.name.clone());
    Settings {
        old: SnapshotName::old(),
        new: SnapshotName::new_snapshot(),
        between: rungs.filter(|name| !is_end(name)).collect(),
        closed_book: protocol.spec.closed_book,
        normalisation: protocol.spec.judge.normalisation,
        confidence: protocol.spec.bootstrap.confidence,
        draws: protocol.spec.bootstrap.draws,
        bootstrap_key: protocol.seeds.bootstrap,
    }
}

/// The snapshots as reports show them.
pub(super) fn snapshots(protocol: &Protocol) -> Vec<SnapshotSummary> {
    let summary = |snapshot: &freeze::ResolvedSnapshot| SnapshotSummary {
        name: snapshot.name.to_string(),
        physical: snapshot.physical.clone(),
        fingerprint: snapshot.fingerprint,
        documents: snapshot.documents,
    };
    protocol.snapshots.iter().map(summary).collect()
}
