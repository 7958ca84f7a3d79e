//! Sealed evidence against the protocol: what `verify` can compute again without a corpus.

use super::embed::{Held, named};
use super::progress::Progress;
use super::records::accepted;
use super::{barren, mismatch};
use crate::freeze::Protocol;
use crate::ledger::record::{AcceptedEvidence, Attempt, EvidenceRecord, Outcome, Record, Verdict};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{BlobReader, EvidenceLock, Numbered, cannot_stand, unfit};
use crate::model::{Digest, Evidence, Failure, FailureClass, Question, QuestionId, SnapshotName};
use crate::spec::RetrieveBackend;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that every question has its evidence from every snapshot, that the documents in the ledger are those in the
/// blobs, that no mismatch stands where the spec stops at one, that no snapshot answers nothing at all, and, for the embedded backends, what was asked. Looks at one
/// question at a time.
#[derive(Debug)]
pub struct Check<'a> {
    protocol: &'a Protocol,
    blobs: BlobReader,
    vectors: Held<'a>,
    questions: u64,
    retrievals: u64,
    /// Retrievals whose two passes differ.
    differing: u64,
    /// Snapshots that gave no document so far; `None` before the first question.
    barren: Option<BTreeSet<SnapshotName>>,
}

/// What was found of one question.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    retrievals: u64,
    differing: u64,
    /// What was embedded of it, where it was.
    embedded: Option<(QuestionId, String)>,
    /// The snapshots that gave no document for it.
    barren: BTreeSet<SnapshotName>,
}

impl<'a> Check<'a> {
    /// Nothing was looked at yet.
    #[must_use]
    pub fn new(protocol: &'a Protocol, lock: &EvidenceLock) -> Self {
        let vectors = Held::new(protocol, lock.folder());
        Self {
            protocol,
            blobs: BlobReader::at(lock.folder()),
            vectors,
            questions: 0,
            retrievals: 0,
            differing: 0,
            barren: None,
        }
    }

    /// Looks at all records of one question.
    ///
    /// # Errors
    /// The first difference: class [`FailureClass::Evidence`].
    pub fn question(&self, question: &Question, records: &[Numbered<EvidenceRecord>]) -> Result<Checked, Failure> {
        if self.protocol.spec.retrieve.is_within() {
            return none(records);
        }
        let mut progress = Progress::of(self.protocol, std::slice::from_ref(question));
        let text = self.is_embedded().then(|| Digest::of(question.text.as_bytes()));
        let (mut retrievals, mut asked) = (0, BTreeMap::new());
        for (seq, record) in records {
            match record {
                Record::Attempt(attempt) if text.is_some_and(|text| text != attempt.request) => {
                    return Err(unfit::<EvidenceStage>(*seq, "the request is not the text of its question"));
                }
                Record::Outcome(Outcome { verdict: Verdict::Accepted(accepted), .. }) => {
                    compare(&self.blobs, *seq, accepted)?;
                    retrievals += 1;
                }
                Record::Attempt(Attempt { of, request, .. })
                    if asked.insert(&of.snapshot, request).is_some_and(|before| before != request) =>
                {
                    return Err(unfit::<EvidenceStage>(*seq, "the request is another one than before"));
                }
                Record::Attempt(_) | Record::Outcome(_) | Record::Note(_) => {}
            }
            progress.take(record)?;
        }
        whole(&progress)?;
        self.vectors.question(question, &named(records))?;
        let embedded = self.vectors.embedded(question).map(|text| (question.id.clone(), text));
        let differing = progress.mismatches().len() as u64;
        Ok(Checked { retrievals, differing, embedded, barren: progress.barren().into_iter().cloned().collect() })
    }

    /// Whether the backend is asked with the question's text and nothing else.
    const fn is_embedded(&self) -> bool {
        matches!(self.protocol.spec.retrieve.backend, RetrieveBackend::Bm25(_) | RetrieveBackend::File)
    }

    /// Counts what was found of a question.
    ///
    /// # Errors
    /// A call for vectors, whose questions were all looked at now, asked for other texts.
    pub fn count(&mut self, checked: Checked) -> Result<(), Failure> {
        self.questions += 1;
        self.retrievals += checked.retrievals;
        self.differing += checked.differing;
        if let Some((question, embedded)) = checked.embedded {
            self.vectors.count(&question, embedded)?;
        }
        match &mut self.barren {
            Some(barren) => barren.retain(|name| checked.barren.contains(name)),
            None => self.barren = Some(checked.barren),
        }
        Ok(())
    }

    /// What was checked, as a line for people.
    ///
    /// # Errors
    /// The run has vectors of other questions: class [`FailureClass::Evidence`]. A snapshot gave no document for any of at least ten
    /// questions, or retrievals differ where the spec stops at them: class [`FailureClass::Incomplete`].
    pub fn finish(&self) -> Result<String, Failure> {
        if self.protocol.spec.retrieve.is_within() {
            return Ok("evidence: none, since the audited system retrieves by itself".to_owned());
        }
        let barren = |name: &&SnapshotName| self.barren.as_ref().is_some_and(|barren| barren.contains(*name));
        let named = self.protocol.spec.snapshots.iter().map(|snapshot| &snapshot.name).filter(barren);
        let differing = || mismatch::differing(self.protocol.spec.retrieve.on_mismatch, self.differing);
        if let Some(why) = barren::intolerable(self.questions, named).or_else(differing) {
            return Err(cannot_stand::<EvidenceStage>(Failure::new(FailureClass::Incomplete, why)));
        }
        self.vectors.finish(self.questions)?;
        let asked = if self.is_embedded() { "asked by its question's text" } else { "its request not rendered again" };
        let embeds = self.protocol.spec.retrieve.embed.is_some();
        let vectors = if embeds {
            "; each vector is of its question's text, all by one embedder, whose requests are those of their texts"
        } else {
            ""
        };
        Ok(format!("evidence: {} retrievals hold the documents of their blobs, each {asked}{vectors}", self.retrievals))
    }
}

/// A deployed system retrieves by itself: there is nothing of ours to lock.
fn none(records: &[Numbered<EvidenceRecord>]) -> Result<Checked, Failure> {
    let of_ours = |(seq, _): &Numbered<EvidenceRecord>| {
        Err(unfit::<EvidenceStage>(*seq, "the audited system retrieves by itself, and leaves no record here"))
    };
    records.first().map_or_else(|| Ok(Checked::default()), of_ours)
}

fn whole(progress: &Progress) -> Result<(), Failure> {
    if progress.is_whole() {
        return Ok(());
    }
    let message = "the evidence ledger is sealed, but a question has no evidence from a snapshot";
    Err(Failure::new(FailureClass::Evidence, message))
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
