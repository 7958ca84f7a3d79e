//! Everything about a finished run that can be checked without knowing what its texts mean.
//!
//! Streams through the ledgers and never needs the run's OS lock. What is kept in memory is bounded: a run with more
//! records than one pass may hold is read in several passes, each of which looks at a share of the questions.

mod blobs;
mod report;
mod stages;
mod units;

pub use report::{BlobCheck, StageReport, Verification};

use super::scan::{End, Scan, Step};
use super::stage::{Answers, Evidence, Judgments, Stage as _};
use super::{Damage, LedgerError, files, folder};
use crate::model::{Digest, FailureClass};
use blobs::References;
use camino::Utf8Path;
use stages::{AnswersCheck, Check, EvidenceCheck, JudgmentsCheck};
use units::Share;

/// Ledger bytes to one pass. A record has 200 bytes or more and keeps less than 100 in memory, so that a pass holds at
/// most about half of this.
const BYTES_A_PASS: u64 = 512 * 1024 * 1024;

/// Checks the run in this folder: every chain from header to seal, that each ledger continues the one before it, the
/// order of attempts and outcomes, that nothing is accepted twice, that packets hold accepted answers and judgments
/// label all their pairs, and (unless they were left out on purpose) that every blob holds what it is named for and
/// that no blob is missing.
///
/// The report counts what was checked and holds the first difference.
///
/// # Errors
/// There is no run at this place, or the file system refuses. A difference is no error.
pub fn verify(folder_path: &Utf8Path, blobs: BlobCheck) -> Result<Verification, LedgerError> {
    if !files::is_plain_folder(folder_path)? {
        return Err(LedgerError::NoRun { path: folder_path.to_owned() });
    }
    let mut report = Verification::default();
    match check(folder_path, blobs, &mut report) {
        Err(error) if error.class() == FailureClass::Evidence => report.difference = Some(error),
        other => other?,
    }
    Ok(report)
}

fn check(folder_path: &Utf8Path, blobs: BlobCheck, report: &mut Verification) -> Result<(), LedgerError> {
    folder::refuse_links(folder_path)?;
    let protocol = folder::protocol_lock(folder_path)?.head();
    report.protocol = Some(protocol);
    let passes = 1 + ledger_bytes(folder_path)? / BYTES_A_PASS;
    for pass in 0..passes {
        let share = Share { pass, passes };
        let mut whole = Verification::default();
        let checked = check_share(folder_path, blobs, protocol, &share, &mut whole);
        if pass == 0 {
            *report = Verification { protocol: Some(protocol), ..whole };
        }
        checked?;
    }
    if blobs == BlobCheck::Present { blobs::check_all(folder_path, report) } else { Ok(()) }
}

fn ledger_bytes(folder_path: &Utf8Path) -> Result<u64, LedgerError> {
    [Evidence::FILE, Answers::FILE, Judgments::FILE]
        .iter()
        .try_fold(0, |sum, file| Ok(sum + files::look(&folder_path.join(file))?.map_or(0, |metadata| metadata.len())))
}

fn check_share(
    folder_path: &Utf8Path,
    blobs: BlobCheck,
    protocol: Digest,
    share: &Share,
    report: &mut Verification,
) -> Result<(), LedgerError> {
    let stream = Stream { folder_path, blobs, share };
    let evidence = stream.check(protocol, &mut EvidenceCheck::default(), &mut report.evidence)?;
    let mut answers_check = AnswersCheck::default();
    let answers = stream.check(evidence, &mut answers_check, &mut report.answers)?;
    let mut judgments_check = JudgmentsCheck::new(answers_check);
    stream.check(answers, &mut judgments_check, &mut report.judgments)?;
    Ok(())
}

struct Stream<'a> {
    folder_path: &'a Utf8Path,
    blobs: BlobCheck,
    share: &'a Share,
}

impl Stream<'_> {
    /// Checks one ledger against the head of the one before it and returns its own head.
    fn check<C: Check>(&self, before: Digest, state: &mut C, report: &mut StageReport) -> Result<Digest, LedgerError> {
        let path = self.folder_path.join(C::Stage::FILE);
        let mut scan = Scan::open(&path, C::Stage::NAME)?;
        scan.check_before(before)?;
        // References are the same in every pass: the first one looks at them.
        let looked_at = self.blobs == BlobCheck::Present && self.share.pass == 0;
        let mut references = looked_at.then(|| References::new(self.folder_path, &path));
        let end = loop {
            let (seq, fields) = match scan.step()? {
                Step::Record { seq, fields } => (seq, fields),
                Step::End(end) => break end,
            };
            let record = serde_json::from_slice(fields);
            let record = record.map_err(|error| scan.damaged(Damage::Record { column: error.column() }))?;
            report.count(&record);
            if let Some(references) = &mut references {
                references.take(scan.line(), C::references(&record))?;
            }
            if self.share.holds(C::question(&record)) {
                state.record(seq, &record).map_err(|damage| scan.damaged(damage))?;
            }
        };
        references.map_or(Ok(()), |mut references| references.flush())?;
        let End::Sealed { head } = end else { return Err(LedgerError::Unsealed { path }) };
        report.head = Some(head);
        Ok(head)
    }
}
