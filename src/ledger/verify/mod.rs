//! Everything about a finished run that can be checked without knowing what its texts mean.
//!
//! Streams through the ledgers once and never needs the run's OS lock. What a record means for the rules waits in a temporary
//! file, so that memory does not grow with the ledgers.

mod blobs;
mod code;
mod marks;
mod report;
mod rules;
mod units;
mod waiting;

pub use report::{BlobCheck, Extent, StageReport, Verification};

use super::record::{About, Record};
use super::scan::{End, Scan, Step};
use super::stage::{
    Again, Answers, Evidence, FILES, Judgments, ReplicaAnswers, ReplicaJudgments, Second, Stage, Vectors,
};
use super::{Damage, LedgerError, Recorded, folder, read};
use crate::model::{Digest, FailureClass};
use blobs::References;
use camino::Utf8Path;
use code::Placed;
use marks::{Accepted, Noted};
use serde::de::DeserializeOwned;
use std::hash::Hash;
use units::Prints;
use waiting::Waiting;

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
    verify_to(folder_path, blobs, Extent::Judgments)
}

/// The same of a run that may end with its evidence.
///
/// # Errors
/// As [`verify`].
pub fn verify_to(folder_path: &Utf8Path, blobs: BlobCheck, extent: Extent) -> Result<Verification, LedgerError> {
    folder::must_hold_a_run(folder_path)?;
    let mut report = Verification::default();
    match check(folder_path, blobs, extent, &mut report) {
        Err(error) if error.class() == FailureClass::Evidence => report.difference = Some(error),
        other => other?,
    }
    Ok(report)
}

fn check(
    folder_path: &Utf8Path,
    blobs: BlobCheck,
    extent: Extent,
    report: &mut Verification,
) -> Result<(), LedgerError> {
    folder::refuse_links(folder_path)?;
    let protocol = folder::protocol_lock(folder_path)?.head();
    report.protocol = Some(protocol);
    let mut stream = Stream { folder_path, blobs, prints: Prints::default(), waiting: Waiting::default() };
    let streamed = stream.ledgers(protocol, extent, report);
    if streamed.as_ref().is_err_and(|error| error.class() != FailureClass::Evidence) {
        return streamed;
    }
    // What stands before a line whose chain is broken can still break a rule, and comes first.
    if let Some((ledger, line, damage)) = stream.waiting.first_broken()? {
        let path = folder_path.join(FILES.get(ledger).copied().unwrap_or_default());
        return Err(LedgerError::Damaged { path, line, damage });
    }
    streamed?;
    if blobs == BlobCheck::Present { blobs::check_all(folder_path, report) } else { Ok(()) }
}

/// One pass over the ledgers: chains, references to blobs, and what is remembered for the rules.
struct Stream<'a> {
    folder_path: &'a Utf8Path,
    blobs: BlobCheck,
    prints: Prints,
    waiting: Waiting,
}

impl Stream<'_> {
    fn ledgers(&mut self, protocol: Digest, extent: Extent, report: &mut Verification) -> Result<(), LedgerError> {
        self.side::<Vectors, _, _, _>(7, Some(protocol), report)?;
        let evidence = self.ledger::<Evidence, _, _, _>(0, protocol, &mut report.evidence)?;
        if extent == Extent::Evidence {
            return Ok(());
        }
        let answers = self.ledger::<Answers, _, _, _>(1, evidence, &mut report.answers)?;
        self.ledger::<Judgments, _, _, _>(2, answers, &mut report.judgments)?;
        self.side::<Again, _, _, _>(3, Some(answers), report)?;
        self.side::<Second, _, _, _>(4, Some(answers), report)?;
        let replica = self.side::<ReplicaAnswers, _, _, _>(5, Some(evidence), report)?;
        self.side::<ReplicaJudgments, _, _, _>(6, replica, report).map(|_| ())
    }

    /// The same for a ledger that not every run has. Which it must have is for those who read the protocol to say.
    fn side<S, K, A, N>(
        &mut self,
        ledger: usize,
        before: Option<Digest>,
        report: &mut Verification,
    ) -> Result<Option<Digest>, LedgerError>
    where
        S: Recorded<Record = Record<K, A, N>>,
        K: About + Hash + DeserializeOwned,
        A: Accepted + DeserializeOwned,
        N: Noted + DeserializeOwned,
    {
        match (before, read::is_there::<S>(self.folder_path)?) {
            (Some(before), true) => {
                let mut of_stage = StageReport::default();
                let head = self.ledger::<S, _, _, _>(ledger, before, &mut of_stage);
                report.side.push((S::NAME, of_stage));
                head.map(Some)
            }
            (None, true) => Err(LedgerError::Missing { path: self.folder_path.join(<S::Before as Stage>::FILE) }),
            (_, false) => Ok(None),
        }
    }

    /// Reads one ledger, checks it against the head of the one before it, and returns its own head.
    fn ledger<S, K, A, N>(
        &mut self,
        ledger: usize,
        before: Digest,
        report: &mut StageReport,
    ) -> Result<Digest, LedgerError>
    where
        S: Recorded<Record = Record<K, A, N>>,
        K: About + Hash + DeserializeOwned,
        A: Accepted + DeserializeOwned,
        N: Noted + DeserializeOwned,
    {
        let path = self.folder_path.join(S::FILE);
        let mut scan = Scan::open(&path, S::NAME)?;
        scan.check_before(before)?;
        let mut references = (self.blobs == BlobCheck::Present).then(|| References::new(self.folder_path, &path));
        let end = loop {
            let (seq, fields) = match scan.step()? {
                Step::Record { seq, fields } => (seq, fields),
                Step::End(end) => break end,
            };
            let record = serde_json::from_slice(fields);
            let record: Record<K, A, N> =
                record.map_err(|error| scan.damaged(Damage::Record { column: error.column() }))?;
            report.count(&record);
            if let Some(references) = &mut references {
                references.take(scan.line(), marks::references(&record))?;
            }
            let (question, mark) = (self.prints.of(record.question()), marks::mark(&self.prints, seq, &record));
            self.waiting.take(&Placed { ledger, line: scan.line(), question, mark })?;
        };
        references.map_or(Ok(()), |mut references| references.flush())?;
        let End::Sealed { head } = end else { return Err(LedgerError::Unsealed { path }) };
        report.head = Some(head);
        Ok(head)
    }
}
