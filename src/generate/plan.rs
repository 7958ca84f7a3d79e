//! What there is to ask: every cell's place, evidence and prompt, and the questions that need not be asked.

use super::answering::Answering;
use super::blackbox::{Sent, Turn};
use crate::freeze::{Protocol, prompts};
use crate::http::interrupted;
use crate::ledger::record::{EvidenceRecord, Outcome, PassRecord, Record, Verdict};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{BlobReader, EvidenceLock, Numbered, read};
use crate::model::{Cell, Digest, Evidence, Failure, FailureClass, Question, QuestionId, SnapshotName};
use crate::spec::{GenerateBackend, SnapshotSource, UnchangedEvidence};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Those of a snapshot that is no system.
static NO_VARIABLES: BTreeMap<String, String> = BTreeMap::new();

/// The places of cells: questions and snapshots by number.
#[derive(Debug)]
pub struct Places {
    questions: BTreeMap<QuestionId, usize>,
    snapshots: BTreeMap<SnapshotName, usize>,
    repeats: usize,
    /// Whether each snapshot is a system of its own.
    black_box: bool,
}

/// The evidence of every question and snapshot, by digest.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The questions that it is about.
    questions: &'a [Question],
    /// The places of cells.
    pub places: Places,
    blobs: BlobReader,
    evidence: Vec<Option<Locked>>,
}

/// The locked evidence of one question in one snapshot.
#[derive(Clone, Copy, Debug)]
enum Locked {
    /// Both retrievals found this.
    Matched(Digest),
    /// The first retrieval found the one, the second the other.
    Varies(Digest, Digest),
}

impl Locked {
    /// Where retrieval varies, the repeats take its two results in turn: the variation is then within a snapshot as well
    /// as between two of them, and counts as noise, not as churn.
    const fn of_repeat(self, repeat: u32) -> Digest {
        match self {
            Self::Varies(_, second) if repeat % 2 == 1 => second,
            Self::Matched(first) | Self::Varies(first, _) => first,
        }
    }
}

/// What the evidence ledger says, by pair of question and snapshot.
#[derive(Debug)]
struct Passes {
    second: Vec<Option<Digest>>,
    locked: Vec<Option<Locked>>,
}

impl Passes {
    fn none(pairs: usize) -> Self {
        Self { second: vec![None; pairs], locked: vec![None; pairs] }
    }

    /// Takes what is said of the protocol's questions. That of others is passed over by those who ask for a sample.
    fn take(&mut self, record: &EvidenceRecord, places: &Places, whole: bool) -> Result<(), Failure> {
        let passed_over = |question: &QuestionId| !whole && places.question(question).is_none();
        match record {
            Record::Outcome(Outcome { of, .. }) if passed_over(&of.question) => {}
            Record::Note(note) if passed_over(&note.question) => {}
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), .. }) if of.pass == 1 => {
                let pair = places.pair(&of.question, &of.snapshot);
                let second = pair.and_then(|pair| self.second.get_mut(pair)).ok_or_else(|| foreign("evidence"))?;
                second.get_or_insert(accepted.evidence);
            }
            Record::Note(PassRecord { question, snapshot, evidence, matched, .. }) => {
                let pair = places.pair(question, snapshot).ok_or_else(|| foreign("evidence"))?;
                let second = self.second.get(pair).copied().flatten();
                let locked = self.locked.get_mut(pair).ok_or_else(|| foreign("evidence"))?;
                *locked = if *matched {
                    Some(Locked::Matched(*evidence))
                } else {
                    second.map(|second| Locked::Varies(*evidence, second))
                };
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
        Ok(())
    }
}

/// What a cell is asked with.
#[derive(Debug)]
pub struct Material<'a> {
    /// The question.
    pub question: &'a Question,
    /// The snapshot's number.
    pub snapshot: usize,
    /// The evidence.
    pub evidence: Evidence,
    /// The evidence's digest.
    pub digest: Digest,
    /// The rendered prompt.
    pub prompt: String,
}

impl Places {
    fn of(protocol: &Protocol, questions: &[Question]) -> Self {
        let questions = questions.iter().enumerate().map(|(at, question)| (question.id.clone(), at));
        let snapshots = protocol.snapshots.iter().enumerate().map(|(at, snapshot)| (snapshot.name.clone(), at));
        let repeats = protocol.spec.generate.repeats as usize;
        let black_box = protocol.spec.retrieve.is_within();
        Self { questions: questions.collect(), snapshots: snapshots.collect(), repeats, black_box }
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.questions.len() * self.snapshots.len() * self.repeats
    }

    /// The question's number.
    #[must_use]
    pub fn question(&self, id: &QuestionId) -> Option<usize> {
        self.questions.get(id).copied()
    }

    /// The cell's number.
    #[must_use]
    pub fn cell(&self, cell: &Cell) -> Option<usize> {
        let repeat = usize::try_from(cell.repeat).ok().filter(|repeat| *repeat < self.repeats)?;
        Some(self.pair(&cell.question, &cell.snapshot)? * self.repeats + repeat)
    }

    /// What must be served by one model throughout: the generator, or each deployed system.
    #[must_use]
    pub fn serving<'a>(&self, snapshot: &'a SnapshotName) -> &'a str {
        if self.black_box { &snapshot.0 } else { "" }
    }

    /// The places of the cell's snapshot and repeat.
    #[must_use]
    pub fn place(&self, cell: &Cell) -> Option<(usize, u32)> {
        let known = self.question(&cell.question).is_some() && (cell.repeat as usize) < self.repeats;
        Some((*self.snapshots.get(&cell.snapshot).filter(|_| known)?, cell.repeat))
    }

    fn pair(&self, question: &QuestionId, snapshot: &SnapshotName) -> Option<usize> {
        Some(self.question(question)? * self.snapshots.len() + self.snapshots.get(snapshot)?)
    }
}

impl<'a> Plan<'a> {
    /// Reads which evidence is locked.
    ///
    /// # Errors
    /// The evidence ledger is damaged, or names what the protocol does not have.
    pub fn read<S: Answering>(protocol: &'a Protocol, lock: &EvidenceLock) -> Result<Self, Failure> {
        let mut plan = Self::empty(protocol, &protocol.questions, BlobReader::at(lock.folder()));
        let mut passes = plan.passes();
        for record in read::<EvidenceStage>(lock.folder())? {
            passes.take(&record?.1, &plan.places, S::DECIDES)?;
        }
        plan.evidence = passes.locked;
        Ok(plan)
    }

    /// The plan of one question, from its records.
    ///
    /// # Errors
    /// They name what the protocol does not have.
    pub fn of_question(
        protocol: &'a Protocol,
        question: &'a Question,
        records: &[Numbered<EvidenceRecord>],
        blobs: BlobReader,
    ) -> Result<Self, Failure> {
        let mut plan = Self::empty(protocol, std::slice::from_ref(question), blobs);
        let mut passes = plan.passes();
        for (_, record) in records {
            passes.take(record, &plan.places, true)?;
        }
        plan.evidence = passes.locked;
        Ok(plan)
    }

    fn empty(protocol: &'a Protocol, questions: &'a [Question], blobs: BlobReader) -> Self {
        Self { protocol, questions, places: Places::of(protocol, questions), blobs, evidence: Vec::new() }
    }

    fn passes(&self) -> Passes {
        Passes::none(self.questions.len() * self.protocol.snapshots.len())
    }

    /// What this cell is asked with.
    ///
    /// # Errors
    /// It is no cell of the protocol, or its evidence is missing or damaged.
    pub fn material(&self, cell: &Cell) -> Result<Material<'a>, Failure> {
        let (_, digest) = self.asked(cell)?;
        self.material_of(cell, evidence(&self.blobs, digest)?)
    }

    /// The same where its evidence was read already.
    ///
    /// # Errors
    /// It is no cell of the protocol.
    pub fn material_of(&self, cell: &Cell, evidence: Evidence) -> Result<Material<'a>, Failure> {
        let (question, digest) = self.asked(cell)?;
        let snapshot = self.places.snapshots.get(&cell.snapshot).copied().ok_or_else(|| foreign("answers"))?;
        let prompt =
            if self.places.black_box { String::new() } else { prompts::answer(self.protocol, question, &evidence) };
        Ok(Material { question, snapshot, evidence, digest, prompt })
    }

    /// These cells, each with its evidence, read on threads of their own: whoever makes the calls waits for no disk.
    pub async fn with_evidence(&self, cells: Vec<Cell>) -> Vec<(Cell, Result<Evidence, Failure>)> {
        let digests: Vec<_> = cells.iter().map(|cell| self.asked(cell).map(|(_, digest)| digest)).collect();
        let blobs = self.blobs.clone();
        let read = move || -> Vec<_> { digests.into_par_iter().map(|digest| evidence(&blobs, digest?)).collect() };
        // Only a runtime that ends, or a panic, keeps it from giving them.
        let read = tokio::task::spawn_blocking(read).await.unwrap_or_default();
        let lost = std::iter::repeat_with(|| Err(interrupted()));
        cells.into_iter().zip(read.into_iter().chain(lost)).collect()
    }

    /// An attempt at this cell, the `number`-th from 0, that is recorded at this time.
    ///
    /// # Errors
    /// It is no cell of the protocol.
    pub fn turn<'b>(&'b self, cell: &'b Cell, number: u32, at_ms: u64) -> Result<Turn<'b>, Failure> {
        let at = self.places.question(&cell.question);
        let question = at.and_then(|at| self.questions.get(at)).ok_or_else(|| foreign("answers"))?;
        let snapshot = self.protocol.spec.snapshots.iter().find(|snapshot| snapshot.name == cell.snapshot);
        let variables = match snapshot.map(|snapshot| &snapshot.source) {
            Some(SnapshotSource::Variables(variables)) => variables,
            _ => &NO_VARIABLES,
        };
        Ok(Turn { protocol: self.protocol.digest, question, cell, variables, number, at_ms })
    }

    /// The digest of what an attempt sends to a deployed system; `None` where a prompt of ours is sent.
    ///
    /// # Errors
    /// As [`turn`](Self::turn).
    pub fn sent(&self, cell: &Cell, number: u32, at_ms: u64) -> Result<Option<Digest>, Failure> {
        match &self.protocol.spec.generate.backend {
            GenerateBackend::BlackBox(spec) => Ok(Some(Sent::of(spec, &self.turn(cell, number, at_ms)?)?.digest())),
            _ => Ok(None),
        }
    }

    /// The question of this cell, and which evidence it is asked with.
    ///
    /// # Errors
    /// It is no cell of the protocol, or has no evidence.
    pub fn asked(&self, cell: &Cell) -> Result<(&'a Question, Digest), Failure> {
        let at = self.places.question(&cell.question).filter(|_| self.places.snapshots.contains_key(&cell.snapshot));
        let question = at.and_then(|at| self.questions.get(at)).ok_or_else(|| foreign("answers"))?;
        Ok((question, self.locked(question, &cell.snapshot)?.of_repeat(cell.repeat)))
    }

    /// The digest of the prompt of a question with this evidence.
    ///
    /// # Errors
    /// The evidence is missing or damaged.
    pub fn prompt(&self, question: &Question, evidence: Digest) -> Result<Digest, Failure> {
        let evidence = self::evidence(&self.blobs, evidence)?;
        Ok(Digest::of(prompts::answer(self.protocol, question, &evidence).as_bytes()))
    }

    /// For each question: the digest of its one prompt, where the prompts of all snapshots but the closed book are
    /// byte-identical and the spec says that such a question is not asked. Rungs count: where one of them differs, the
    /// question is asked from every snapshot. A question whose retrieval varies in one of them is never unchanged.
    ///
    /// # Errors
    /// Evidence is missing or damaged.
    pub fn unchanged(&self) -> Result<Vec<Option<Digest>>, Failure> {
        let asked = self.protocol.spec.generate.unchanged_evidence == UnchangedEvidence::Sample;
        let one = |question| if asked { Ok(None) } else { self.one_prompt(question) };
        self.questions.par_iter().map(one).collect()
    }

    fn one_prompt(&self, question: &Question) -> Result<Option<Digest>, Failure> {
        let mut digests = Vec::new();
        for snapshot in self.protocol.snapshots.iter().filter(|snapshot| snapshot.name != SnapshotName::closed_book()) {
            let Locked::Matched(digest) = self.locked(question, &snapshot.name)? else { return Ok(None) };
            digests.push(self.prompt(question, digest)?);
        }
        let first = digests.first().copied();
        Ok(first.filter(|first| digests.iter().all(|digest| digest == first)))
    }

    fn locked(&self, question: &Question, snapshot: &SnapshotName) -> Result<Locked, Failure> {
        let pair = self.places.pair(&question.id, snapshot);
        match pair.and_then(|pair| self.evidence.get(pair).copied().flatten()) {
            Some(locked) => Ok(locked),
            None if self.places.black_box || *snapshot == SnapshotName::closed_book() => {
                Ok(Locked::Matched(Evidence::default().digest()))
            }
            None => Err(Failure::new(
                FailureClass::Evidence,
                format!("snapshot `{snapshot}` has no evidence for a question"),
            )
            .with_hint("remove the run folder and run again")),
        }
    }
}

fn evidence(blobs: &BlobReader, digest: Digest) -> Result<Evidence, Failure> {
    if digest == Evidence::default().digest() {
        return Ok(Evidence::default());
    }
    serde_json::from_slice(&blobs.get(&digest)?).map_err(|_| unreadable(&digest))
}

/// The failure of a ledger that names what its protocol does not have.
pub fn foreign(ledger: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the {ledger} ledger names a cell that the protocol does not have"))
}

fn unreadable(digest: &Digest) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the blob `{digest}` is no evidence"))
}
