//! `churngate verify`: everything that follows from something else is computed again and compared.

use super::classes::{self, Classes};
use super::join::{Join, TOGETHER};
use super::manifest::{self, Manifest};
use super::recompute::{self, Computed, Locks};
use super::shard::{self, Shard};
use super::tally::Tally;
use super::{claims, conclusion, diagnose, evidence, rendered, standing};
use crate::freeze::{self, Protocol, Selection};
use crate::http::Place;
use crate::ledger::stage::{Answers, Evidence, Judgments};
use crate::ledger::{self, BlobCheck, Extent, StageReport, Verification};
use crate::model::{Digest, Failure, FailureClass};
use crate::report::{self, AuditResult};
use crate::{generate, judge, retrieve};
use camino::Utf8Path;
use rayon::prelude::*;

/// What `verify` checked.
#[derive(Debug)]
pub struct Verified {
    /// The result, as recomputed; a shard and a run of evidence alone have none.
    pub result: Option<AuditResult>,
    /// What was checked, a line each.
    pub checked: Vec<String>,
    /// What could not be checked, a line each: because texts are left out, or because another version wrote a report.
    pub unchecked: Vec<String>,
    /// The claim matrix, in Markdown; empty where there is no result.
    pub claims: String,
}

/// What nobody can check who has no texts. Each line is told, so that none is passed over in silence.
const UNCHECKED: [&str; 6] = [
    "blobs: left out, so that no digest in the ledgers is held against its bytes",
    "questions: ids, tags and clusters are those of the protocol; texts and the selection among others are left out",
    "requests: no prompt is rendered again, so that requests and unchanged questions are taken as recorded",
    "packets: they hold the accepted answers; the order of their labels is taken as recorded",
    "classes: equality after normalisation, marks against gold and F1 are taken as recorded; hold the digest of \
     `classes.jsonl` against the one that the run's own report names",
    "documents: their ids and content digests are taken as recorded",
];

/// Checks every digest, chain, seal and reference of a run, renders every prompt, packet and request again, recomputes
/// every figure and the verdict, and compares them with what lies in the folder. In an export it checks all of that for which
/// no text is needed, and says what is left.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub fn verify(folder: &Utf8Path) -> Result<Verified, Failure> {
    if manifest::is_export(folder) {
        export(folder)
    } else if evidence::is_evidence(folder) {
        evidence::check(folder)
    } else {
        whole(folder)
    }
}

fn whole(folder: &Utf8Path) -> Result<Verified, Failure> {
    let mut checked = structure(folder, BlobCheck::Present)?;
    let locks = Locks::open(folder)?;
    if let Some(finished) = shard::read(folder)? {
        finished.must_have(folder, &locks.heads())?;
        checked.extend(shard_stages(finished.part, &locks)?);
        checked.push(format!("shard {}: it has no result of its own", finished.part));
        return Ok(Verified { result: None, checked, unchecked: Vec::new(), claims: String::new() });
    }
    let (protocol, mut selection) = freeze::outline(folder)?;
    let mut tally = Tally::default();
    let mut join = Join::read(&protocol, folder, &mut tally)?;
    checked.extend(stages(&protocol, &locks, &mut selection, &mut join)?);
    checked.extend(diagnose::check(&protocol, None, &locks)?);
    selection.rewind()?;
    join.rewind()?;
    let (computed, mut written) = recompute::compute_from(&protocol, &locks, (&mut selection, &mut join), tally)?;
    recompute::compare_file(folder, classes::FILE, written.bytes()?)?;
    let mut verified = finish(folder, computed, checked, &[])?;
    if let Some(result) = &verified.result {
        let reports = report::FORMATS.iter().map(|format| (format.file, format.render));
        verified.unchecked = rendered::check(folder, result, &result.machinery.tool_version, reports)?;
        verified.checked.push(rendered::CHECKED.to_owned());
    }
    Ok(verified)
}

/// Whether the ledgers of a shard follow from the protocol and from one another.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub(super) fn shard_stages(part: Shard, locks: &Locks) -> Result<Vec<String>, Failure> {
    let folder = locks.evidence.folder();
    let (mut protocol, mut selection) = freeze::outline(folder)?;
    part.narrow(&mut protocol, &mut selection)?;
    let mut join = Join::read(&protocol, folder, &mut Tally::default())?;
    let mut checked = stages(&protocol, locks, &mut selection, &mut join)?.to_vec();
    checked.extend(diagnose::check(&protocol, Some(part), locks)?);
    Ok(checked)
}

/// Whether each stage's ledger follows from the protocol and the stage before it.
fn stages(
    protocol: &Protocol,
    locks: &Locks,
    selection: &mut Selection,
    join: &mut Join,
) -> Result<[String; 3], Failure> {
    let mut evidence = retrieve::Check::new(protocol, &locks.evidence);
    let mut answers = generate::Check::<Answers>::new(protocol, &locks.evidence);
    let mut judgments = judge::Check::<Judgments>::new(protocol, &locks.answers)?;
    loop {
        let some = selection.some(TOGETHER)?;
        if some.is_empty() {
            break;
        }
        let records = join.some(protocol, &some)?;
        let checked = some.par_iter().zip(&records).map(|(question, of)| {
            let evidence = evidence.question(question, &of.evidence)?;
            let answers = answers.question(question, &of.evidence, &of.answers)?;
            Ok((evidence, answers, judgments.question(question, &of.answers, &of.judgments)?))
        });
        for checked in checked.collect::<Vec<Result<_, Failure>>>() {
            let checked = checked?;
            evidence.count(checked.0)?;
            answers.count(checked.1)?;
            judgments.count(checked.2)?;
        }
    }
    join.finish()?;
    Ok([evidence.finish()?, answers.finish()?, judgments.finish()?])
}

/// The same where questions were embedded: their vectors are no texts of anybody's, but are left out all the same.
const UNCHECKED_VECTORS: &str = "vectors: left out; that each is of its question's text, that the reference text came to one \
                                 vector throughout, and that searches used them is taken as recorded";

fn export(folder: &Utf8Path) -> Result<Verified, Failure> {
    let manifest = Manifest::read(folder)?;
    let mut checked = structure(folder, BlobCheck::Absent)?;
    let locks = Locks::open(folder)?;
    let computed = recompute::compute_without_texts(folder, &locks)?;
    let mut classes = Classes::open(folder)?;
    let (protocol, mut selection) = freeze::outline_without_texts(folder, classes.questions())?;
    standing::check_served(&protocol, folder, Place::Run)?;
    let vectors = named_vectors(folder, &protocol, &mut selection)?;
    let unchecked: Vec<&str> = UNCHECKED.into_iter().chain(vectors.is_some().then_some(UNCHECKED_VECTORS)).collect();
    checked.extend(vectors);
    if manifest.run != computed.result.protocol {
        return Err(Failure::new(FailureClass::Evidence, format!("`{folder}` is the export of another run")));
    }
    let matrix = claims::matrix(folder, &computed)?;
    let [json, markdown] = manifest::CLAIMS;
    recompute::compare_file(folder, json, matrix.json().as_slice())?;
    recompute::compare_file(folder, markdown, matrix.markdown().as_bytes())?;
    recompute::compare_file(folder, manifest::REPORTS[1], report::markdown(&computed.result).as_bytes())?;
    finish(folder, computed, checked, &unchecked)
}

/// Whether the evidence of an export names the vectors that its ledger of vectors has, as a line; nothing where questions were not
/// embedded.
fn named_vectors(folder: &Utf8Path, protocol: &Protocol, selection: &mut Selection) -> Result<Option<String>, Failure> {
    let mut named = retrieve::Named::read(protocol, folder)?;
    let rank = |question: &_| protocol.rank(question);
    let mut records = ledger::by_question::<Evidence>(folder, rank, |_, _| {})?;
    loop {
        let some = selection.some(TOGETHER)?;
        if some.is_empty() {
            return named.finish();
        }
        for question in some {
            named.question(&question.id, &records.of(&question.id, protocol.rank(&question.id))?)?;
        }
    }
}

fn finish(
    folder: &Utf8Path,
    computed: Computed,
    mut checked: Vec<String>,
    unchecked: &[&str],
) -> Result<Verified, Failure> {
    recompute::compare(folder, &computed.result)?;
    let matrix = claims::matrix(folder, &computed)?;
    checked.push("result: every figure and the verdict follow from the ledgers".to_owned());
    checked.push(format!("claims: {} places of the report are traced to their records", matrix.claims.len()));
    Ok(Verified {
        result: Some(computed.result),
        checked,
        unchecked: unchecked.iter().map(|line| (*line).to_owned()).collect(),
        claims: matrix.markdown(),
    })
}

fn structure(folder: &Utf8Path, blobs: BlobCheck) -> Result<Vec<String>, Failure> {
    let said = |error| conclusion::of_ledger(folder, error);
    let verification = ledger::verify(folder, blobs).map_err(said)?;
    let checked = lines(&verification, blobs, Extent::Judgments);
    verification.difference.map_or(Ok(checked), |difference| Err(said(difference)))
}

/// What the ledgers were checked for, a line each.
pub(super) fn lines(verification: &Verification, blobs: BlobCheck, extent: Extent) -> Vec<String> {
    let head = |head: Option<Digest>| head.map_or_else(|| "none".to_owned(), |head| head.to_string());
    let stage = |name: &str, stage: &StageReport| {
        let StageReport { records, attempts, accepted, .. } = stage;
        format!("{name}: {records} records, {attempts} attempts, {accepted} accepted, head {}", head(stage.head))
    };
    let mut lines =
        vec![format!("protocol: head {}", head(verification.protocol)), stage("evidence", &verification.evidence)];
    if extent == Extent::Judgments {
        lines.extend([stage("answers", &verification.answers), stage("judgments", &verification.judgments)]);
    }
    lines.extend(verification.side.iter().map(|(name, report)| stage(name, report)));
    if blobs == BlobCheck::Present {
        let Verification { blobs, blob_bytes, .. } = verification;
        lines.push(format!("blobs: {blobs} with {blob_bytes} bytes hold what they are named for"));
    }
    lines
}
