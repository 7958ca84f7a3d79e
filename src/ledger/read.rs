//! Ledgers as streams of records, and the locks of a finished run. Reads alone; never needs the run's OS lock.

use super::scan::{End, Scan, Step};
use super::stage::{
    Again, Answers, AnswersLock, Evidence, EvidenceLock, Judgments, JudgmentsLock, ProtocolLock, ReplicaAnswers,
    ReplicaJudgments, Second, SideLocks, Stage, Vectors,
};
use super::{Damage, LedgerError, Lock, Recorded, files, folder};
use camino::Utf8Path;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;

/// The records of one ledger, in order, each checked against the chain. Stops after the first error.
pub struct Reader<S> {
    scan: Scan<BufReader<File>>,
    end: Option<End>,
    failed: bool,
    stage: PhantomData<S>,
}

/// Reads the ledger of stage `S` in this run folder, sealed or not. A torn last line, as a crash leaves it, ends the
/// stream without an error; [`Reader::end`] tells.
///
/// # Errors
/// The ledger is missing, or its header is not one of this stage. Damage further down is an item of the stream.
pub fn read<S: Recorded>(folder_path: &Utf8Path) -> Result<Reader<S>, LedgerError> {
    let scan = Scan::open(&folder_path.join(S::FILE), S::NAME)?;
    Ok(Reader { scan, end: None, failed: false, stage: PhantomData })
}

impl<S> Reader<S> {
    /// How the ledger ends; `None` until the stream has ended without an error.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        self.end
    }
}

impl<S: Recorded> Iterator for Reader<S> {
    type Item = Result<(u64, S::Record), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.end.is_some() {
            return None;
        }
        let parsed = match self.scan.step() {
            Ok(Step::End(end)) => {
                self.end = Some(end);
                return None;
            }
            Ok(Step::Record { seq, fields }) => serde_json::from_slice(fields).map(|record| (seq, record)),
            Err(error) => {
                self.failed = true;
                return Some(Err(error));
            }
        };
        Some(parsed.map_err(|error| {
            self.failed = true;
            self.scan.damaged(Damage::Record { column: error.column() })
        }))
    }
}

/// Whether the replies of servers in this run were read from a recording, as any of its ledgers says.
///
/// # Errors
/// A ledger is missing, or its header is not one of its stage.
pub fn is_replayed(folder_path: &Utf8Path) -> Result<bool, LedgerError> {
    Ok(is_evidence_replayed(folder_path)?
        || by_header::<Answers>(folder_path)?
        || by_header::<Judgments>(folder_path)?
        || by_header_if_there::<Vectors>(folder_path)?
        || by_header_if_there::<Again>(folder_path)?
        || by_header_if_there::<Second>(folder_path)?
        || by_header_if_there::<ReplicaAnswers>(folder_path)?
        || by_header_if_there::<ReplicaJudgments>(folder_path)?)
}

/// The same of the evidence alone.
///
/// # Errors
/// As [`is_replayed`], for the evidence ledger.
pub fn is_evidence_replayed(folder_path: &Utf8Path) -> Result<bool, LedgerError> {
    by_header::<Evidence>(folder_path)
}

/// The same of a ledger that not every run has: whether it should be there is for others to say.
fn by_header_if_there<S: Recorded>(folder_path: &Utf8Path) -> Result<bool, LedgerError> {
    Ok(folder_path.join(S::FILE).symlink_metadata().is_ok() && by_header::<S>(folder_path)?)
}

fn by_header<S: Recorded>(folder_path: &Utf8Path) -> Result<bool, LedgerError> {
    Ok(Scan::open(&folder_path.join(S::FILE), S::NAME)?.is_replayed())
}

/// The lock of a sealed stage, found by reading its whole chain and comparing it with the ledger before it.
///
/// # Errors
/// The ledger is missing, damaged, not sealed, or continues another one.
pub fn sealed<S: Recorded>(before: &Lock<S::Before>) -> Result<Lock<S>, LedgerError> {
    let mut scan = Scan::open(&before.folder().join(S::FILE), S::NAME)?;
    scan.check_before(before.head())?;
    match last_record(&mut scan)?.0 {
        End::Sealed { head } => Ok(Lock::prove(before.folder().to_owned(), head, scan.records())),
        End::Unsealed | End::Torn { .. } => Err(LedgerError::Unsealed { path: scan.path().to_owned() }),
    }
}

/// Scans to the end, and returns the last record's own fields with it.
pub(super) fn last_record(scan: &mut Scan<BufReader<File>>) -> Result<(End, Option<Vec<u8>>), LedgerError> {
    let mut last = None;
    loop {
        match scan.step()? {
            Step::End(end) => return Ok((end, last)),
            Step::Record { fields, .. } => {
                let kept = last.get_or_insert_with(Vec::new);
                kept.clear();
                kept.extend_from_slice(fields);
            }
        }
    }
}

/// The locks of a finished run: all stages sealed, each continuing the one before it. Blobs are not looked at.
///
/// # Errors
/// There is no run at this place, or a ledger is missing, damaged, not sealed, or continues another one.
pub fn open_locks(
    folder_path: &Utf8Path,
) -> Result<(ProtocolLock, EvidenceLock, AnswersLock, JudgmentsLock), LedgerError> {
    let (protocol, evidence) = open_evidence_locks(folder_path)?;
    let answers = sealed::<Answers>(&evidence)?;
    let judgments = sealed::<Judgments>(&answers)?;
    Ok((protocol, evidence, answers, judgments))
}

/// The same of a run that ends with its evidence.
///
/// # Errors
/// As [`open_locks`], for the evidence ledger.
pub fn open_evidence_locks(folder_path: &Utf8Path) -> Result<(ProtocolLock, EvidenceLock), LedgerError> {
    folder::must_hold_a_run(folder_path)?;
    let protocol = folder::protocol_lock(folder_path)?;
    let evidence = sealed::<Evidence>(&protocol)?;
    Ok((protocol, evidence))
}

/// The locks of the ledgers that not every run has: of those that are there.
///
/// # Errors
/// One of them is damaged, not sealed, or continues another ledger than it should.
pub fn open_side_locks(
    protocol: &ProtocolLock,
    evidence: &EvidenceLock,
    answers: &AnswersLock,
) -> Result<SideLocks, LedgerError> {
    let replica = match sealed_if_there::<ReplicaAnswers>(evidence)? {
        Some(replica) => {
            let judgments = sealed::<ReplicaJudgments>(&replica)?;
            Some((replica, judgments))
        }
        // Judgments of answers that are not there continue nothing.
        None if is_there::<ReplicaJudgments>(evidence.folder())? => {
            return Err(LedgerError::Missing { path: evidence.folder().join(ReplicaAnswers::FILE) });
        }
        None => None,
    };
    Ok(SideLocks {
        vectors: sealed_if_there::<Vectors>(protocol)?,
        again: sealed_if_there::<Again>(answers)?,
        second: sealed_if_there::<Second>(answers)?,
        replica,
    })
}

/// The lock of a ledger that not every run has; nothing where it is not there.
///
/// # Errors
/// It is damaged, not sealed, or continues another ledger than it should.
pub fn sealed_if_there<S: Recorded>(before: &Lock<S::Before>) -> Result<Option<Lock<S>>, LedgerError> {
    if is_there::<S>(before.folder())? { sealed::<S>(before).map(Some) } else { Ok(None) }
}

/// Whether the ledger of a stage lies in the folder, damaged or not.
///
/// # Errors
/// The file system refuses.
pub fn is_there<S: Stage>(folder: &Utf8Path) -> Result<bool, LedgerError> {
    Ok(files::look(&folder.join(S::FILE))?.is_some())
}
