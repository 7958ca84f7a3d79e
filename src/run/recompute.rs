//! From sealed ledgers to the result: the one way in which figures come to be, for `run`, `report` and `verify`.

use super::{collect, flips, machinery, origin, shard, standing, tally};
use crate::analyze::{self, Settings};
use crate::freeze::{self, Protocol};
use crate::gate;
use crate::http::Served;
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::ledger::stage::{self, Stage as _};
use crate::ledger::{self, BlobCheck, JudgmentsLock, StageReport, Verification};
use crate::model::{Digest, Failure, FailureClass, SnapshotName};
use crate::report::{self, AuditResult, SnapshotSummary};
use camino::Utf8Path;

/// The files of a run's record.
const RECORD: [&str; 4] = [stage::Protocol::FILE, stage::Evidence::FILE, stage::Answers::FILE, stage::Judgments::FILE];

/// What `verify` checked.
#[derive(Debug)]
pub struct Verified {
    /// The result, as recomputed; a shard has none.
    pub result: Option<AuditResult>,
    /// What was checked, a line each.
    pub checked: Vec<String>,
}

/// The result of a run, computed from its ledgers alone.
///
/// # Errors
/// A record that does not fit the protocol, or observations that the statistics refuse: class
/// [`FailureClass::Evidence`].
pub fn result(protocol: &Protocol, folder: &Utf8Path, judgments: &JudgmentsLock) -> Result<AuditResult, Failure> {
    let gold = freeze::gold::open(judgments, protocol)?;
    let collected = collect::collect(protocol, folder, &gold)?;
    standing::check(protocol, &collected)?;
    let settings = settings(protocol);
    let analysis = analyze::analyze(&collected.observations, &settings)
        .map_err(|error| Failure::new(FailureClass::Evidence, format!("failed to analyze the run: {error}")))?;
    let decision = gate::decide(&analysis, &protocol.spec.gate);
    let tally = tally::tally(protocol, folder, &collected)?;
    let mut machinery = machinery::describe(protocol);
    machinery.caveats.splice(0..0, origin::origin(folder)?.iter().flat_map(origin::Origin::caveats));
    Ok(AuditResult {
        format: report::FORMAT.to_owned(),
        name: protocol.spec.name.clone(),
        protocol: protocol.digest,
        spec: protocol.spec_digest,
        flips: flips::details(protocol, folder, &collected, &analysis.flips)?,
        decision,
        analysis,
        snapshots: snapshots(protocol),
        machinery,
        validity: tally.validity,
        record: tally.record,
    })
}

/// Whether the servers of a merged run named one model each and gave no response twice: each shard's process knew its own
/// part alone.
///
/// # Errors
/// They did not: class [`FailureClass::Incomplete`].
pub(super) fn check_served(folder: &Utf8Path) -> Result<(), Failure> {
    let generator = Served::by("generator");
    for record in ledger::read::<stage::Answers>(folder)? {
        said(&generator, &record?.1)?;
    }
    let judge = Served::by("judge");
    for record in ledger::read::<stage::Judgments>(folder)? {
        said(&judge, &record?.1)?;
    }
    Ok(())
}

fn said<K, A, N>(served: &Served, record: &Record<K, A, N>) -> Result<(), Failure> {
    match record {
        Record::Outcome(Outcome { verdict: Verdict::Accepted(_), served_model, response_id, .. }) => {
            served.take(served_model.as_deref(), response_id.as_deref())
        }
        _ => Ok(()),
    }
}

/// Opens a sealed run and computes its result.
///
/// # Errors
/// The run is not sealed, or is damaged: class [`FailureClass::Evidence`].
pub fn recompute(folder: &Utf8Path) -> Result<AuditResult, Failure> {
    shard::refuse(folder)?;
    let (_, _, _, judgments) = ledger::open_locks(folder)?;
    result(&freeze::load(folder)?, folder, &judgments)
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

/// Checks every digest, chain, seal and reference of a run, recomputes every figure and the verdict, and compares
/// them with `result.json`.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub fn verify(folder: &Utf8Path) -> Result<Verified, Failure> {
    let verification = ledger::verify(folder, BlobCheck::Present)?;
    let mut checked = lines(&verification);
    if let Some(difference) = verification.difference {
        return Err(difference.into());
    }
    let (_, _, _, judgments) = ledger::open_locks(folder)?;
    let protocol = freeze::load(folder)?;
    if let Some(finished) = shard::read(folder)? {
        checked.push(format!("shard {}: it has no result of its own", finished.part));
        return Ok(Verified { result: None, checked });
    }
    let result = result(&protocol, folder, &judgments)?;
    compare(folder, &result)?;
    checked.push("result: every figure and the verdict follow from the ledgers".to_owned());
    Ok(Verified { result: Some(result), checked })
}

/// What the ledgers were checked for, a line each.
fn lines(verification: &Verification) -> Vec<String> {
    let head = |head: Option<Digest>| head.map_or_else(|| "none".to_owned(), |head| head.to_string());
    let stage = |name: &str, stage: &StageReport| {
        let StageReport { records, attempts, accepted, .. } = stage;
        format!("{name}: {records} records, {attempts} attempts, {accepted} accepted, head {}", head(stage.head))
    };
    vec![
        format!("protocol: head {}", head(verification.protocol)),
        stage("evidence", &verification.evidence),
        stage("answers", &verification.answers),
        stage("judgments", &verification.judgments),
        format!("blobs: {} with {} bytes hold what they are named for", verification.blobs, verification.blob_bytes),
    ]
}

/// Compares the recomputed result with `result.json`, byte by byte.
fn compare(folder: &Utf8Path, result: &AuditResult) -> Result<(), Failure> {
    let path = folder.join("result.json");
    let written = fs_err::read_to_string(&path).map_err(|error| {
        Failure::new(FailureClass::Evidence, format!("failed to read `{path}`: {}", error.kind()))
            .with_hint("run the audit again: it is complete and only writes its result anew")
    })?;
    let expected = report::json(result);
    if written.as_bytes() == expected {
        return Ok(());
    }
    let expected = String::from_utf8_lossy(&expected);
    let line = written.lines().zip(expected.lines()).take_while(|(one, other)| one == other).count() + 1;
    Err(Failure::new(
        FailureClass::Evidence,
        format!("`{path}` does not follow from the ledgers: it differs from line {line} on"),
    )
    .with_hint("trust the ledgers: run the audit again to write the result anew"))
}

/// What the statistics need of the protocol.
fn settings(protocol: &Protocol) -> Settings {
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

fn snapshots(protocol: &Protocol) -> Vec<SnapshotSummary> {
    let summary = |snapshot: &freeze::ResolvedSnapshot| SnapshotSummary {
        name: snapshot.name.to_string(),
        physical: snapshot.physical.clone(),
        fingerprint: snapshot.fingerprint,
        documents: snapshot.documents,
    };
    protocol.snapshots.iter().map(summary).collect()
}
