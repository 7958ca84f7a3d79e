//! `mode: evidence`: a run that ends with its evidence, and what follows from it. There is no verdict anywhere.

use super::audit::{open_run, write};
use super::{Prepared, conclusion, diff, join, recompute, rendered, replay, verify};
use crate::freeze::{self, Protocol};
use crate::http::Context;
use crate::ledger::{self, BlobCheck, Extent};
use crate::model::{Failure, FailureClass};
use crate::report::{self, DIFF_FORMATS, EvidenceDiff};
use crate::retrieve;
use crate::spec::Mode;
use camino::{Utf8Path, Utf8PathBuf};

/// Questions at risk whose documents come with their beginnings.
const EXCERPTS: usize = 50;

/// A finished run of evidence.
#[derive(Debug)]
pub struct Compared {
    /// The run's folder.
    pub folder: Utf8PathBuf,
    /// What changed.
    pub diff: EvidenceDiff,
}

/// Whether the run in this folder ends with its evidence.
#[must_use]
pub fn is_evidence(folder: &Utf8Path) -> bool {
    freeze::mode(folder) == Mode::Evidence
}

/// Retrieves, compares, and writes what follows into the run folder.
///
/// # Errors
/// Whatever retrieval fails with; what is in the ledger stays there, and the same call goes on from it.
pub async fn evidence(prepared: Prepared, context: &Context) -> Result<Compared, Failure> {
    let (folder, frozen) = open_run(prepared, context)?;
    replay::take_up(&frozen.protocol, &folder, context)?;
    retrieve::retrieve(&frozen, &folder, context).await?;
    let diff = diff::compare(&frozen.protocol, folder.path(), EXCERPTS)?;
    for format in DIFF_FORMATS {
        write(folder.path(), format.file, &(format.render)(&diff))?;
    }
    Ok(Compared { folder: folder.path().to_owned(), diff })
}

/// What follows from the ledger of a run of evidence.
///
/// # Errors
/// The run is another one, is not sealed, or is damaged: class [`FailureClass::Evidence`].
pub fn compared(folder: &Utf8Path) -> Result<EvidenceDiff, Failure> {
    ledger::open_evidence_locks(folder).map_err(|error| conclusion::of_ledger(folder, error))?;
    let protocol = freeze::load(folder)?;
    if protocol.spec.mode != Mode::Evidence {
        return Err(Failure::new(FailureClass::Evidence, format!("`{folder}` is no run of evidence alone")));
    }
    diff::compare(&protocol, folder, EXCERPTS)
}

/// The same, held against what lies in the folder.
///
/// # Errors
/// As [`compared`], or a file of the folder says something else.
pub fn recorded_evidence(folder: &Utf8Path) -> Result<EvidenceDiff, Failure> {
    let diff = compared(folder)?;
    let file = &DIFF_FORMATS[0];
    recompute::compare_file(folder, file.file, (file.render)(&diff).as_slice())?;
    Ok(diff)
}

/// Checks chain, seal, references and blobs of the evidence, that it follows from the protocol, and that the result follows
/// from it.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub(super) fn check(folder: &Utf8Path) -> Result<verify::Verified, Failure> {
    let said = |error| conclusion::of_ledger(folder, error);
    let verification = ledger::verify_to(folder, BlobCheck::Present, Extent::Evidence).map_err(said)?;
    let mut checked = verify::lines(&verification, BlobCheck::Present, Extent::Evidence);
    if let Some(difference) = verification.difference {
        return Err(said(difference));
    }
    let protocol = freeze::load(folder)?;
    checked.push(stage(folder, &protocol)?);
    let diff = recorded_evidence(folder)?;
    checked.push("result: every figure follows from the ledger; there is no verdict".to_owned());
    let reports = DIFF_FORMATS.iter().map(|format| (format.file, format.render));
    let unchecked = rendered::check(folder, &diff, protocol.tool_version(), reports)?;
    checked.push(rendered::CHECKED.to_owned());
    Ok(verify::Verified { result: None, checked, unchecked, claims: String::new() })
}

/// Whether the evidence follows from the protocol, question by question.
fn stage(folder: &Utf8Path, protocol: &Protocol) -> Result<String, Failure> {
    let (_, lock) = ledger::open_evidence_locks(folder)?;
    let rank = |question: &_| protocol.rank(question);
    let mut records = ledger::by_question::<ledger::stage::Evidence>(folder, rank, |_, _| {})?;
    let mut check = retrieve::Check::new(protocol, &lock);
    for question in &protocol.questions {
        let checked = check.question(question, &records.of(&question.id, protocol.rank(&question.id))?)?;
        check.count(checked)?;
    }
    join::nothing_left(&mut records)?;
    check.finish()
}

/// Refuses a run that ends with its evidence where answers are wanted.
///
/// # Errors
/// It is one: class [`FailureClass::Usage`].
pub fn refuse(folder: &Utf8Path, what: &str) -> Result<(), Failure> {
    if !is_evidence(folder) {
        return Ok(());
    }
    Err(Failure::new(FailureClass::Usage, format!("`{folder}` is a run of `mode: evidence`: {what}"))
        .with_hint(format!("its result is `{}`", report::DIFF_FORMATS[0].file)))
}
