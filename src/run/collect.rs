//! From sealed ledgers to observations.

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

/// Everything the ledgers of one run say, by question.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// One record a question that can be analyzed, in selection order.
    pub observations: Vec<Observation>,
    /// Questions that cannot: a cell or a packet has no accepted outcome.
    pub excluded: Vec<QuestionId>,
    /// The locked evidence of each question and snapshot: the digest of its blob.
    pub evidence: BTreeMap<(QuestionId, SnapshotName), Digest>,
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
}

/// Reads all ledgers of a run, each once.
pub(super) fn collect(
    protocol: &Protocol,
    folder: &Utf8Path,
    gold: &BTreeMap<QuestionId, Gold>,
) -> Result<Collected, Failure> {
    let blobs = BlobReader::at(folder);
    let evidence = Evidence::read(folder)?;
    let answers = Answers::read(folder, &blobs)?;
    let judgments = Judgments::read(folder, &answers.texts, &blobs)?;
    let mut collected =
        Collected { mismatched: evidence.mismatched, packets: judgments.packets, ..Collected::default() };
    for question in &protocol.questions {
        let observed = observation(protocol, question, &evidence, &answers, &judgments, gold);
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
    collected.evidence = evidence.locked;
    collected.unchanged = answers.unchanged;
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

/// One question's record; `None` where a cell is missing.
fn observation(
    protocol: &Protocol,
    question: &Question,
    evidence: &Evidence,
    answers: &Answers,
    judgments: &Judgments,
    gold: &BTreeMap<QuestionId, Gold>,
) -> Option<Observed> {
    let unchanged = answers.unchanged.contains(&question.id);
    let mut snapshots = Vec::with_capacity(protocol.snapshots.len());
    for snapshot in &protocol.snapshots {
        let repeats = if unchanged { 0 } else { protocol.spec.generate.repeats };
        let answers = (0..repeats).map(|repeat| answers.of(&question.id, &snapshot.name, repeat));
        snapshots.push(SnapshotAnswers {
            snapshot: snapshot.name.clone(),
            answers: answers.collect::<Option<Vec<_>>>()?,
            evidence: evidence.keys(&question.id, &snapshot.name),
        });
    }
    let distinct: BTreeSet<&Answer> = snapshots.iter().flat_map(|snapshot| &snapshot.answers).collect();
    let labels = judgments.labels.get(&question.id).cloned().unwrap_or_default();
    let pairs = distinct.len() * distinct.len().saturating_sub(1) / 2;
    let lacking = pairs.saturating_sub(labels.len());
    let observation = Observation {
        id: question.id.clone(),
        cluster: question.cluster.clone(),
        tags: question.tags.clone(),
        snapshots,
        judgments: labels,
        gold: gold.get(&question.id).map(|gold| gold.aliases.clone()).unwrap_or_default(),
        unchanged,
    };
    Some(Observed { observation, lacking })
}

/// What the evidence ledger says.
#[derive(Default)]
struct Evidence {
    locked: BTreeMap<(QuestionId, SnapshotName), Digest>,
    documents: HashMap<Digest, EvidenceKeys>,
    mismatched: u64,
}

impl Evidence {
    fn read(folder: &Utf8Path) -> Result<Self, Failure> {
        let mut evidence = Self::default();
        for record in ledger::read::<stage::Evidence>(folder)? {
            evidence.take(record?.1);
        }
        Ok(evidence)
    }

    fn take(&mut self, record: EvidenceRecord) {
        match record {
            Record::Outcome(Outcome { verdict: Verdict::Accepted(accepted), .. }) => {
                self.documents.entry(accepted.evidence).or_insert_with(|| keys(accepted));
            }
            Record::Note(PassRecord { question, snapshot, evidence, matched }) => {
                self.mismatched += u64::from(!matched);
                self.locked.insert((question, snapshot), evidence);
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }

    fn keys(&self, question: &QuestionId, snapshot: &SnapshotName) -> Option<EvidenceKeys> {
        let digest = self.locked.get(&(question.clone(), snapshot.clone()))?;
        self.documents.get(digest).cloned()
    }
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
#[derive(Default)]
struct Answers {
    cells: BTreeMap<Cell, Digest>,
    texts: HashMap<Digest, Answer>,
    unchanged: BTreeSet<QuestionId>,
}

impl Answers {
    fn read(folder: &Utf8Path, blobs: &BlobReader) -> Result<Self, Failure> {
        let mut answers = Self::default();
        for record in ledger::read::<stage::Answers>(folder)? {
            answers.take(record?.1, blobs)?;
        }
        Ok(answers)
    }

    fn take(&mut self, record: AnswersRecord, blobs: &BlobReader) -> Result<(), Failure> {
        match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(AcceptedAnswer { answer, .. }), .. }) => {
                if let Entry::Vacant(entry) = self.texts.entry(answer) {
                    entry.insert(text(blobs, &answer)?);
                }
                self.cells.insert(of, answer);
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
        self.texts.get(self.cells.get(&cell)?).cloned()
    }
}

/// The text of an accepted answer.
fn text(blobs: &BlobReader, digest: &Digest) -> Result<Answer, Failure> {
    let bytes = blobs.get(digest)?;
    let broken = || Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no answer"));
    Answer::parse(std::str::from_utf8(&bytes).map_err(|_| broken())?, usize::MAX).map_err(|_| broken())
}

/// The judged pairs of one question.
type Labels = BTreeMap<(Answer, Answer), Label>;

/// What the judgments ledger says.
#[derive(Default)]
struct Judgments {
    labels: BTreeMap<QuestionId, Labels>,
    packets: u64,
}

impl Judgments {
    fn read(folder: &Utf8Path, texts: &HashMap<Digest, Answer>, blobs: &BlobReader) -> Result<Self, Failure> {
        let mut judgments = Self::default();
        let mut open = HashMap::new();
        for record in ledger::read::<stage::Judgments>(folder)? {
            judgments.take(record?.1, &mut open, texts, blobs)?;
        }
        Ok(judgments)
    }

    fn take(
        &mut self,
        record: JudgmentsRecord,
        open: &mut HashMap<QuestionId, Packet>,
        texts: &HashMap<Digest, Answer>,
        blobs: &BlobReader,
    ) -> Result<(), Failure> {
        match record {
            Record::Note(packet) => {
                open.insert(packet.question.clone(), packet);
            }
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), .. }) => {
                let packet = open.get(&of).ok_or_else(|| unfit(&of, "a judgment without its packet"))?;
                let labels = labels(packet, &judgment, texts, blobs)?;
                self.labels.entry(of).or_default().extend(labels);
                self.packets += 1;
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
        Ok(())
    }
}

/// The labels of a packet by the texts they are about.
fn labels(
    packet: &Packet,
    judgment: &AcceptedJudgment,
    texts: &HashMap<Digest, Answer>,
    blobs: &BlobReader,
) -> Result<Labels, Failure> {
    let answer = |index: u32| {
        let digest =
            packet.answers.get(index as usize).ok_or_else(|| unfit(&packet.question, "a label without its answer"))?;
        texts.get(digest).cloned().map_or_else(|| text(blobs, digest), Ok)
    };
    let mut labels = Labels::new();
    for pair in &judgment.pairs {
        let (one, other) = (answer(pair.one)?, answer(pair.other)?);
        let key = if one < other { (one, other) } else { (other, one) };
        labels.insert(key, pair.label);
    }
    Ok(labels)
}

fn unfit(question: &QuestionId, what: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the judgments ledger has {what} (question `{question}`)"))
}
