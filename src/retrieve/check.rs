//! Sealed evidence against the protocol: what `verify` can compute again without a corpus.

use super::progress::Progress;
use super::records::accepted;
use crate::freeze::Protocol;
use crate::ledger::record::{AcceptedEvidence, EvidenceRecord, Outcome, Record, Verdict};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{self, BlobReader, EvidenceLock, unfit};
use crate::model::{Digest, Evidence, Failure, FailureClass, QuestionId};
use crate::spec::{OnMismatch, RetrieveBackend};
use rayon::prelude::*;
use std::collections::HashMap;

/// Records that are looked at together, on all cores.
const TOGETHER: usize = 4096;

/// What was accepted, with the number of its record.
type Accepted = (u64, AcceptedEvidence);

/// Checks that every question has its evidence from every snapshot, that the documents in the ledger are those in the
/// blobs, that no mismatch stands where the spec stops at one, and, for the embedded backends, what was asked. Returns what
/// was checked, as a line for people.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub fn check(protocol: &Protocol, lock: &EvidenceLock) -> Result<String, Failure> {
    if protocol.spec.retrieve.is_within() {
        return none(lock);
    }
    let mut check = Check::of(protocol, lock);
    for record in ledger::read::<EvidenceStage>(lock.folder())? {
        let (seq, record) = record?;
        check.take(seq, record)?;
    }
    check.flush()?;
    check.finish(protocol)?;
    let asked =
        if check.requests.is_some() { "asked by its question's text" } else { "its request not rendered again" };
    Ok(format!("evidence: {} retrievals hold the documents of their blobs, each {asked}", check.retrievals))
}

/// A deployed system retrieves by itself: there is nothing of ours to lock.
fn none(lock: &EvidenceLock) -> Result<String, Failure> {
    match ledger::read::<EvidenceStage>(lock.folder())?.next() {
        None => Ok("evidence: none, since the audited system retrieves by itself".to_owned()),
        Some(record) => {
            Err(unfit::<EvidenceStage>(record?.0, "the audited system retrieves by itself, and leaves no record here"))
        }
    }
}

struct Check<'a> {
    progress: Progress,
    blobs: BlobReader,
    /// What the embedded backends are asked: the digest of the question's text.
    requests: Option<HashMap<&'a QuestionId, Digest>>,
    waiting: Vec<Accepted>,
    retrievals: u64,
}

impl<'a> Check<'a> {
    fn of(protocol: &'a Protocol, lock: &EvidenceLock) -> Self {
        let embedded = matches!(protocol.spec.retrieve.backend, RetrieveBackend::Bm25(_) | RetrieveBackend::File);
        let texts = || protocol.questions.iter().map(|question| (&question.id, Digest::of(question.text.as_bytes())));
        Self {
            progress: Progress::new(protocol),
            blobs: BlobReader::at(lock.folder()),
            requests: embedded.then(|| texts().collect()),
            waiting: Vec::new(),
            retrievals: 0,
        }
    }

    fn take(&mut self, seq: u64, record: EvidenceRecord) -> Result<(), Failure> {
        match &record {
            Record::Attempt(attempt) => {
                let known = self.requests.as_ref().map(|texts| texts.get(&attempt.of.question));
                if known.is_some_and(|text| text != Some(&attempt.request)) {
                    return Err(unfit::<EvidenceStage>(seq, "the request is not the text of its question"));
                }
            }
            Record::Outcome(Outcome { verdict: Verdict::Accepted(accepted), .. }) => {
                self.waiting.push((seq, accepted.clone()));
            }
            Record::Outcome(_) | Record::Note(_) => {}
        }
        self.progress.take(record)?;
        if self.waiting.len() < TOGETHER { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.retrievals += self.waiting.len() as u64;
        let found =
            self.waiting.par_iter().find_map_first(|(seq, accepted)| compare(&self.blobs, *seq, accepted).err());
        self.waiting.clear();
        found.map_or(Ok(()), Err)
    }

    fn finish(&self, protocol: &Protocol) -> Result<(), Failure> {
        let broken = |message: &str| Err(Failure::new(FailureClass::Evidence, message));
        if self.progress.open_notes().next().is_some() {
            return broken("the evidence ledger is sealed, but a question has no evidence from a snapshot");
        }
        if protocol.spec.retrieve.on_mismatch == OnMismatch::Stop && !self.progress.mismatches().is_empty() {
            return broken("the evidence ledger is sealed with retrievals that differ, where the spec stops at them");
        }
        Ok(())
    }
}

fn compare(blobs: &BlobReader, seq: u64, recorded: &AcceptedEvidence) -> Result<(), Failure> {
    let bytes = blobs.get(&recorded.evidence)?;
    let no_evidence = || unfit::<EvidenceStage>(seq, "the blob that it names is no evidence");
    let evidence: Evidence = serde_json::from_slice(&bytes).map_err(|_| no_evidence())?;
    if accepted(&evidence, Digest::of(&bytes)) == *recorded {
        return Ok(());
    }
    Err(unfit::<EvidenceStage>(seq, "the documents are not those of the blob that it names"))
}
