//! What the ledgers say of one question, and its observation.

use super::join::Records;
use crate::freeze::Protocol;
use crate::ledger::record::{
    AcceptedAnswer, AcceptedJudgment, AnswersRecord, Attempt, DocumentRecord, EvidenceRecord, JudgmentsRecord, Outcome,
    Packet, PassRecord, Record, Verdict,
};
use crate::ledger::{BlobReader, Numbered};
use crate::model::{
    Answer, Digest, EvidenceKeys, Failure, FailureClass, Label, Observation, Question, QuestionId, SnapshotAnswers,
    SnapshotName,
};
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// Where the texts of answers come from.
#[derive(Debug)]
pub(super) enum Texts {
    /// Answers from the blobs.
    Whole(BlobReader),
    /// There are none: an answer is named by its digest.
    LeftOut,
}

impl Texts {
    /// The answer of this digest.
    pub(super) fn answer(&self, digest: &Digest) -> Result<Answer, Failure> {
        match self {
            Self::Whole(blobs) => text(blobs, digest),
            Self::LeftOut => name_of(digest),
        }
    }
}

/// What stands for an answer whose text is left out.
pub(super) fn name_of(digest: &Digest) -> Result<Answer, Failure> {
    Answer::parse(&digest.to_string(), usize::MAX).map_err(|_| no_answer(digest))
}

/// The text of an accepted answer.
fn text(blobs: &BlobReader, digest: &Digest) -> Result<Answer, Failure> {
    let bytes = blobs.get(digest)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| no_answer(digest))?;
    Answer::parse(text, usize::MAX).map_err(|_| no_answer(digest))
}

fn no_answer(digest: &Digest) -> Failure {
    Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no answer"))
}

/// One question's record, and how many of its pairs have no label.
pub(super) struct Observed {
    /// The record.
    pub observation: Observation,
    /// How many pairs.
    pub lacking: usize,
}

impl Observed {
    /// Pairs of different answers.
    pub(super) fn pairs(&self) -> usize {
        self.observation.judgments.len() + self.lacking
    }
}

/// What the ledgers say of one question.
#[derive(Debug)]
pub(super) struct Found {
    /// The locked evidence.
    pub evidence: Evidence,
    /// The accepted answers.
    pub answers: Answers,
    /// The numbers of the records of its packet and its accepted judgments.
    pub judged: Vec<u64>,
    /// What is accepted as right; nothing where there is no gold, or texts are left out.
    pub gold: Vec<String>,
    /// Accepted judgments, each of a packet or of a part of one.
    pub packets: u64,
    labels: Labels,
}

impl Found {
    /// Puts the records of a question together.
    ///
    /// # Errors
    /// A blob is no answer, or a judgment does not fit its packet.
    pub(super) fn of(records: Records, texts: &Texts) -> Result<Self, Failure> {
        let answers = Answers::of(records.answers, texts)?;
        let judgments = Judgments::of(records.judgments, &answers.texts, texts)?;
        let Judgments { labels, records: judged, packets, .. } = judgments;
        Ok(Self { evidence: Evidence::of(records.evidence), answers, judged, gold: records.gold, labels, packets })
    }

    /// The question's record; `None` where a cell is missing.
    pub(super) fn observation(&self, protocol: &Protocol, question: &Question) -> Option<Observed> {
        let unchanged = self.answers.unchanged;
        let mut snapshots = Vec::with_capacity(protocol.snapshots.len());
        for snapshot in &protocol.snapshots {
            let repeats = if unchanged { 0 } else { protocol.spec.generate.repeats };
            let answers = (0..repeats).map(|repeat| self.answers.of_cell(&snapshot.name, repeat).cloned());
            snapshots.push(SnapshotAnswers {
                snapshot: snapshot.name.clone(),
                answers: answers.collect::<Option<Vec<_>>>()?,
                cited: self.answers.cited(&snapshot.name, repeats),
                evidence: self.evidence.keys(&snapshot.name).cloned(),
            });
        }
        let distinct: BTreeSet<&Answer> = snapshots.iter().flat_map(|snapshot| &snapshot.answers).collect();
        let pairs = distinct.len() * distinct.len().saturating_sub(1) / 2;
        let lacking = pairs.saturating_sub(self.labels.len());
        let observation = Observation {
            id: question.id.clone(),
            cluster: question.cluster.clone(),
            tags: question.tags.clone(),
            snapshots,
            judgments: self.labels.clone(),
            similarities: BTreeMap::new(),
            gold: self.gold.clone(),
            unchanged,
        };
        Some(Observed { observation, lacking })
    }
}

/// What the evidence ledger says of one question.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The locked evidence from each snapshot: the digest of its blob, and the number of the note.
    pub locked: BTreeMap<SnapshotName, (Digest, u64)>,
    documents: BTreeMap<Digest, EvidenceKeys>,
    /// Snapshots that gave a document in either pass.
    pub filled: BTreeSet<SnapshotName>,
    /// Snapshots whose two passes did not match.
    pub mismatched: u64,
}

impl Evidence {
    /// Takes the question's records.
    pub(super) fn of(records: Vec<Numbered<EvidenceRecord>>) -> Self {
        let mut evidence = Self::default();
        for (seq, record) in records {
            evidence.take(seq, record);
        }
        evidence
    }

    fn take(&mut self, seq: u64, record: EvidenceRecord) {
        match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), .. }) => {
                if !accepted.documents.is_empty() {
                    self.filled.insert(of.snapshot);
                }
                self.documents.entry(accepted.evidence).or_insert_with(|| keys(accepted.documents));
            }
            Record::Note(PassRecord { snapshot, evidence, matched, .. }) => {
                self.mismatched += u64::from(!matched);
                self.locked.insert(snapshot, (evidence, seq));
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }

    /// The documents that are locked for a snapshot.
    pub(super) fn keys(&self, snapshot: &SnapshotName) -> Option<&EvidenceKeys> {
        let (digest, _) = self.locked.get(snapshot)?;
        self.documents.get(digest)
    }

    /// The evidence itself that is locked for a snapshot; empty where there is none.
    pub(super) fn read(&self, blobs: &BlobReader, snapshot: &SnapshotName) -> Result<crate::model::Evidence, Failure> {
        let Some((digest, _)) = self.locked.get(snapshot) else { return Ok(crate::model::Evidence::default()) };
        serde_json::from_slice(&blobs.get(digest)?)
            .map_err(|_| Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no evidence")))
    }
}

fn keys(documents: Vec<DocumentRecord>) -> EvidenceKeys {
    let mut keys = EvidenceKeys::default();
    for document in documents {
        keys.ids.push(document.id);
        keys.urls.push(document.url);
        keys.contents.push(document.content);
    }
    keys
}

/// What the answers ledger says of one question.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The answer of each accepted cell, by snapshot and repeat, and the number of the outcome.
    pub cells: BTreeMap<(SnapshotName, u32), (Digest, u64)>,
    /// When the last accepted cell of each snapshot was asked for, in milliseconds since the epoch.
    pub last: BTreeMap<SnapshotName, u64>,
    /// Whether it was not asked, because its prompts are byte-identical.
    pub unchanged: bool,
    /// The documents that each accepted cell's answer names, where it came with a list of them.
    named: BTreeMap<(SnapshotName, u32), EvidenceKeys>,
    texts: BTreeMap<Digest, Answer>,
    /// When attempts began, by their number, until their outcome is read.
    begun: BTreeMap<u64, u64>,
}

impl Answers {
    pub(super) fn of(records: Vec<Numbered<AnswersRecord>>, texts: &Texts) -> Result<Self, Failure> {
        let mut answers = Self::default();
        for (seq, record) in records {
            answers.take(seq, record, texts)?;
        }
        Ok(answers)
    }

    fn take(&mut self, seq: u64, record: AnswersRecord, texts: &Texts) -> Result<(), Failure> {
        match record {
            Record::Attempt(Attempt { at_ms, .. }) => {
                self.begun.insert(seq, at_ms);
            }
            Record::Outcome(Outcome {
                attempt,
                of,
                verdict: Verdict::Accepted(AcceptedAnswer { answer, citations, .. }),
                ..
            }) => {
                if let Entry::Vacant(entry) = self.texts.entry(answer) {
                    entry.insert(texts.answer(&answer)?);
                }
                let last = self.last.entry(of.snapshot.clone()).or_default();
                *last = (*last).max(self.begun.remove(&attempt).unwrap_or_default());
                let cell = (of.snapshot, of.repeat);
                self.named.extend(citations.map(|documents| (cell.clone(), keys(documents))));
                self.cells.insert(cell, (answer, seq));
            }
            Record::Note(_) => self.unchanged = true,
            Record::Outcome(_) => {}
        }
        Ok(())
    }

    /// The accepted answer of one cell.
    pub(super) fn of_cell(&self, snapshot: &SnapshotName, repeat: u32) -> Option<&Answer> {
        self.texts.get(&self.cells.get(&(snapshot.clone(), repeat))?.0)
    }

    /// What each repeat of a snapshot names; empty where none of them came with a list.
    pub(super) fn cited(&self, snapshot: &SnapshotName, repeats: u32) -> Vec<Option<EvidenceKeys>> {
        let named = |repeat| self.named.get(&(snapshot.clone(), repeat)).cloned();
        let cited: Vec<Option<EvidenceKeys>> = (0..repeats).map(named).collect();
        if cited.iter().any(Option::is_some) { cited } else { Vec::new() }
    }

    /// The lists of documents that the answers of a snapshot came with, in the order of repeats; nothing where an answer came
    /// without one, since what it rests on is not known.
    pub(super) fn lists(&self, snapshot: &SnapshotName) -> Option<Vec<&EvidenceKeys>> {
        self.cells.keys().filter(|(of, _)| of == snapshot).map(|cell| self.named.get(cell)).collect()
    }

    /// The distinct accepted answers, in the order of snapshots and repeats.
    pub(super) fn distinct(&self, protocol: &Protocol) -> Vec<(Digest, &Answer)> {
        let mut distinct: Vec<(Digest, &Answer)> = Vec::new();
        for snapshot in &protocol.snapshots {
            for repeat in 0..protocol.spec.generate.repeats {
                let Some((digest, _)) = self.cells.get(&(snapshot.name.clone(), repeat)) else { continue };
                if let Some(answer) = self.texts.get(digest).filter(|_| distinct.iter().all(|(one, _)| one != digest)) {
                    distinct.push((*digest, answer));
                }
            }
        }
        distinct
    }
}

/// The judged pairs of one question.
pub(super) type Labels = BTreeMap<(Answer, Answer), Label>;

/// What the judgments ledger says of one question.
#[derive(Default)]
struct Judgments {
    packet: Option<Packet>,
    labels: Labels,
    records: Vec<u64>,
    packets: u64,
}

impl Judgments {
    fn of(
        records: Vec<Numbered<JudgmentsRecord>>,
        known: &BTreeMap<Digest, Answer>,
        texts: &Texts,
    ) -> Result<Self, Failure> {
        let mut judgments = Self::default();
        for (seq, record) in records {
            judgments
                .take(seq, record, |digest| known.get(digest).cloned().map_or_else(|| texts.answer(digest), Ok))?;
        }
        Ok(judgments)
    }

    fn take(
        &mut self,
        seq: u64,
        record: JudgmentsRecord,
        answer: impl Fn(&Digest) -> Result<Answer, Failure>,
    ) -> Result<(), Failure> {
        match record {
            Record::Note(packet) => {
                self.records.push(seq);
                self.packet = Some(packet);
            }
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), .. }) => {
                let packet = self.packet.as_ref().ok_or_else(|| unfit(&of, "a judgment without its packet"))?;
                self.labels.extend(labels(packet, &judgment, answer)?);
                self.records.push(seq);
                self.packets += 1;
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
        Ok(())
    }
}

/// The labels of a packet by the answers they are about.
pub(super) fn labels(
    packet: &Packet,
    judgment: &AcceptedJudgment,
    answer: impl Fn(&Digest) -> Result<Answer, Failure>,
) -> Result<Labels, Failure> {
    let at = |index: u32| {
        let digest = packet.answers.get(index as usize);
        answer(digest.ok_or_else(|| unfit(&packet.question, "a label without its answer"))?)
    };
    let mut labels = Labels::new();
    for pair in &judgment.pairs {
        let (one, other) = (at(pair.one)?, at(pair.other)?);
        let key = if one < other { (one, other) } else { (other, one) };
        labels.insert(key, pair.label);
    }
    Ok(labels)
}

/// The failure of a ledger of judgments that contradicts itself.
pub(super) fn unfit(question: &QuestionId, what: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the judgments ledger has {what} (question `{question}`)"))
}
