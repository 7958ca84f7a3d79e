//! From sealed ledgers to observations, each ledger read once.

use super::tally::Tally;
use crate::freeze::Protocol;
use crate::ledger::record::{
    AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, AnswersRecord, EvidenceRecord, JudgmentsRecord, Outcome,
    Packet, PassRecord, Record, Verdict,
};
use crate::ledger::{self, BlobReader, stage};
use crate::model::{
    Answer, Cell, Digest, EvidenceKeys, Failure, FailureClass, Gold, Label, Observation, Question, QuestionId,
    SnapshotAnswers, SnapshotName,
};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry};

/// Where the texts of answers come from.
#[derive(Debug)]
pub(super) enum Texts<'a> {
    /// Answers from the blobs, gold from the question file.
    Whole {
        /// The run's blobs.
        blobs: BlobReader,
        /// Gold by question.
        gold: &'a BTreeMap<QuestionId, Gold>,
    },
    /// There are none: an answer is named by its digest.
    LeftOut,
}

impl Texts<'_> {
    fn answer(&self, digest: &Digest) -> Result<Answer, Failure> {
        match self {
            Self::Whole { blobs, .. } => text(blobs, digest),
            Self::LeftOut => name_of(digest),
        }
    }

    fn gold(&self, question: &QuestionId) -> Vec<String> {
        match self {
            Self::Whole { gold, .. } => gold.get(question).map(|gold| gold.aliases.clone()).unwrap_or_default(),
            Self::LeftOut => Vec::new(),
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

/// Everything the ledgers of one run say, by question.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// One record a question that can be analyzed, in selection order.
    pub observations: Vec<Observation>,
    /// Questions that cannot: a cell or a packet has no accepted outcome.
    pub excluded: Vec<QuestionId>,
    /// The locked evidence.
    pub evidence: Evidence,
    /// The accepted answers.
    pub answers: Answers,
    /// The numbers of the records of each question's packet and accepted judgments.
    pub judged: BTreeMap<QuestionId, Vec<u64>>,
    /// Questions and snapshots whose two passes did not match.
    pub mismatched: u64,
    /// Packets with an accepted judgment.
    pub packets: u64,
    /// Questions whose accepted answers differ, all of their cells filled.
    pub differing: u64,
    /// Those of them of which a pair has no label.
    pub unjudged: u64,
    /// Accepted cells, by snapshot.
    pub accepted: BTreeMap<SnapshotName, u64>,
    /// Questions that were not asked, because their prompts are byte-identical.
    pub unchanged: BTreeSet<QuestionId>,
    /// How the audit went.
    pub tally: Tally,
}

/// Reads all ledgers of a run, each once.
pub(super) fn collect(protocol: &Protocol, folder: &Utf8Path, texts: &Texts<'_>) -> Result<Collected, Failure> {
    let mut tally = Tally::default();
    let evidence = Evidence::read(folder, &mut tally)?;
    let mut answers = Answers::read(folder, texts, &mut tally)?;
    let judgments = Judgments::read(folder, &answers.texts, texts, &mut tally)?;
    let mut collected = Collected {
        mismatched: evidence.mismatched,
        packets: judgments.packets,
        unchanged: std::mem::take(&mut answers.unchanged),
        tally,
        ..Collected::default()
    };
    let read = Read { protocol, evidence: &evidence, answers: &answers, judgments: &judgments, texts };
    for question in &protocol.questions {
        let observed = read.observation(question, collected.unchanged.contains(&question.id));
        let pairs = observed.as_ref().map_or(0, Observed::pairs);
        collected.differing += u64::from(pairs > 0);
        match observed {
            Some(Observed { observation, lacking: 0 }) => collected.observations.push(observation),
            Some(_) => {
                collected.unjudged += 1;
                collected.excluded.push(question.id.clone());
            }
            None => collected.excluded.push(question.id.clone()),
        }
    }
    for cell in answers.cells.keys() {
        *collected.accepted.entry(cell.snapshot.clone()).or_default() += 1;
    }
    (collected.evidence, collected.answers, collected.judged) = (evidence, answers, judgments.records);
    Ok(collected)
}

/// One question's record, and how many of its pairs have no label.
struct Observed {
    observation: Observation,
    lacking: usize,
}

impl Observed {
    /// Pairs of different answers.
    fn pairs(&self) -> usize {
        self.observation.judgments.len() + self.lacking
    }
}

/// All that was read, to be put together by question.
struct Read<'a> {
    protocol: &'a Protocol,
    evidence: &'a Evidence,
    answers: &'a Answers,
    judgments: &'a Judgments,
    texts: &'a Texts<'a>,
}

impl Read<'_> {
    /// One question's record; `None` where a cell is missing.
    fn observation(&self, question: &Question, unchanged: bool) -> Option<Observed> {
        let mut snapshots = Vec::with_capacity(self.protocol.snapshots.len());
        for snapshot in &self.protocol.snapshots {
            let repeats = if unchanged { 0 } else { self.protocol.spec.generate.repeats };
            let answers = (0..repeats).map(|repeat| self.answers.of(&question.id, &snapshot.name, repeat));
            snapshots.push(SnapshotAnswers {
                snapshot: snapshot.name.clone(),
                answers: answers.collect::<Option<Vec<_>>>()?,
                evidence: self.evidence.keys(&question.id, &snapshot.name).cloned(),
            });
        }
        let distinct: BTreeSet<&Answer> = snapshots.iter().flat_map(|snapshot| &snapshot.answers).collect();
        let labels = self.judgments.labels.get(&question.id).cloned().unwrap_or_default();
        let pairs = distinct.len() * distinct.len().saturating_sub(1) / 2;
        let lacking = pairs.saturating_sub(labels.len());
        let observation = Observation {
            id: question.id.clone(),
            cluster: question.cluster.clone(),
            tags: question.tags.clone(),
            snapshots,
            judgments: labels,
            similarities: BTreeMap::new(),
            gold: self.texts.gold(&question.id),
            unchanged,
        };
        Some(Observed { observation, lacking })
    }
}

/// What the evidence ledger says.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The locked evidence of each question and snapshot: the digest of its blob, and the number of the note.
    pub locked: BTreeMap<(QuestionId, SnapshotName), (Digest, u64)>,
    documents: HashMap<Digest, EvidenceKeys>,
    /// Questions and snapshots whose two passes did not match.
    pub mismatched: u64,
    /// The questions among them.
    pub differing: BTreeSet<QuestionId>,
}

impl Evidence {
    /// Reads the evidence ledger.
    pub(super) fn read(folder: &Utf8Path, tally: &mut Tally) -> Result<Self, Failure> {
        let mut evidence = Self::default();
        for record in ledger::read::<stage::Evidence>(folder)? {
            let (seq, record) = record?;
            tally.evidence(seq, &record);
            evidence.take(seq, record);
        }
        Ok(evidence)
    }

    fn take(&mut self, seq: u64, record: EvidenceRecord) {
        match record {
            Record::Outcome(Outcome { verdict: Verdict::Accepted(accepted), .. }) => {
                self.documents.entry(accepted.evidence).or_insert_with(|| keys(accepted));
            }
            Record::Note(PassRecord { question, snapshot, evidence, matched }) => {
                self.mismatched += u64::from(!matched);
                self.differing.extend((!matched).then(|| question.clone()));
                self.locked.insert((question, snapshot), (evidence, seq));
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }

    /// The documents that are locked for a question and a snapshot.
    pub(super) fn keys(&self, question: &QuestionId, snapshot: &SnapshotName) -> Option<&EvidenceKeys> {
        let (digest, _) = self.locked.get(&(question.clone(), snapshot.clone()))?;
        self.documents.get(digest)
    }
}

/// The texts of the documents that are locked, best first.
pub(super) fn contents_of(
    blobs: &BlobReader,
    evidence: &Evidence,
    question: &QuestionId,
    snapshot: &SnapshotName,
) -> Result<Vec<String>, Failure> {
    let Some((digest, _)) = evidence.locked.get(&(question.clone(), snapshot.clone())) else { return Ok(Vec::new()) };
    let read: crate::model::Evidence = serde_json::from_slice(&blobs.get(digest)?)
        .map_err(|_| Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no evidence")))?;
    Ok(read.documents.into_iter().map(|document| document.text).collect())
}

fn keys(accepted: AcceptedEvidence) -> EvidenceKeys {
    let mut keys = EvidenceKeys::default();
    for document in accepted.documents {
        keys.ids.push(document.id);
        keys.urls.push(document.url);
        keys.contents.push(document.content);
    }
    keys
}

/// What the answers ledger says.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The answer of each accepted cell, and the number of the outcome.
    pub cells: BTreeMap<Cell, (Digest, u64)>,
    texts: HashMap<Digest, Answer>,
    unchanged: BTreeSet<QuestionId>,
}

impl Answers {
    fn read(folder: &Utf8Path, texts: &Texts<'_>, tally: &mut Tally) -> Result<Self, Failure> {
        let mut answers = Self::default();
        for record in ledger::read::<stage::Answers>(folder)? {
            let (seq, record) = record?;
            tally.answers(seq, &record);
            answers.take(seq, record, texts)?;
        }
        Ok(answers)
    }

    fn take(&mut self, seq: u64, record: AnswersRecord, texts: &Texts<'_>) -> Result<(), Failure> {
        match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(AcceptedAnswer { answer, .. }), .. }) => {
                if let Entry::Vacant(entry) = self.texts.entry(answer) {
                    entry.insert(texts.answer(&answer)?);
                }
                self.cells.insert(of, (answer, seq));
            }
            Record::Note(unchanged) => {
                self.unchanged.insert(unchanged.question);
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
        Ok(())
    }

    fn of(&self, question: &QuestionId, snapshot: &SnapshotName, repeat: u32) -> Option<Answer> {
        let cell = Cell { question: question.clone(), snapshot: snapshot.clone(), repeat };
        self.texts.get(&self.cells.get(&cell)?.0).cloned()
    }

    /// The distinct accepted answers to a question, in the order of snapshots and repeats.
    pub(super) fn distinct(&self, protocol: &Protocol, question: &QuestionId) -> Vec<(Digest, &Answer)> {
        let mut distinct: Vec<(Digest, &Answer)> = Vec::new();
        for snapshot in &protocol.snapshots {
            for repeat in 0..protocol.spec.generate.repeats {
                let cell = Cell { question: question.clone(), snapshot: snapshot.name.clone(), repeat };
                let Some((digest, _)) = self.cells.get(&cell) else { continue };
                if let Some(answer) = self.texts.get(digest).filter(|_| distinct.iter().all(|(one, _)| one != digest)) {
                    distinct.push((*digest, answer));
                }
            }
        }
        distinct
    }
}

/// The judged pairs of one question.
type Labels = BTreeMap<(Answer, Answer), Label>;

/// What the judgments ledger says.
#[derive(Default)]
struct Judgments {
    labels: BTreeMap<QuestionId, Labels>,
    records: BTreeMap<QuestionId, Vec<u64>>,
    packets: u64,
}

impl Judgments {
    fn read(
        folder: &Utf8Path,
        known: &HashMap<Digest, Answer>,
        texts: &Texts<'_>,
        tally: &mut Tally,
    ) -> Result<Self, Failure> {
        let mut judgments = Self::default();
        let mut open = HashMap::new();
        for record in ledger::read::<stage::Judgments>(folder)? {
            let (seq, record) = record?;
            tally.judgments(seq, &record);
            judgments.take(seq, record, &mut open, |digest| {
                known.get(digest).cloned().map_or_else(|| texts.answer(digest), Ok)
            })?;
        }
        Ok(judgments)
    }

    fn take(
        &mut self,
        seq: u64,
        record: JudgmentsRecord,
        open: &mut HashMap<QuestionId, Packet>,
        answer: impl Fn(&Digest) -> Result<Answer, Failure>,
    ) -> Result<(), Failure> {
        match record {
            Record::Note(packet) => {
                self.records.entry(packet.question.clone()).or_default().push(seq);
                open.insert(packet.question.clone(), packet);
            }
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), .. }) => {
                let packet = open.get(&of).ok_or_else(|| unfit(&of, "a judgment without its packet"))?;
                let labels = labels(packet, &judgment, answer)?;
                self.records.entry(of.clone()).or_default().push(seq);
                self.labels.entry(of).or_default().extend(labels);
                self.packets += 1;
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
        Ok(())
    }
}

/// The labels of a packet by the answers they are about.
fn labels(
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

fn unfit(question: &QuestionId, what: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the judgments ledger has {what} (question `{question}`)"))
}
