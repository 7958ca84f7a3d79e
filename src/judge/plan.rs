//! Which questions have something to judge, read from the sealed answers: the one place of this room that knows
//! snapshots and repeats. What it hands on to a packet is a question and a set of texts.

use super::packet::Packet;
use crate::freeze::Protocol;
use crate::ledger::record::{self, AnswersRecord, Outcome, Record, Verdict};
use crate::ledger::{self, AnswersLock, BlobReader, stage};
use crate::model::{Answer, Cell, Digest, Failure, FailureClass, Question, QuestionId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The accepted cells of one question, in order.
pub type Cells = BTreeMap<Cell, Digest>;

/// One question whose cells are all accepted.
#[derive(Clone, Debug)]
pub struct Task {
    /// The question.
    pub question: Question,
    /// Its cells with the digests of their answers.
    pub cells: Cells,
}

/// A packet with what the ledger says of it.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What the judge sees.
    pub packet: Packet,
    /// What the ledger says: which cells each answer came from.
    pub note: record::Packet,
}

/// What the answers ledger gives to judge.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Questions that may need a judgment, in selection order.
    pub tasks: Vec<Task>,
    /// Questions left out because a cell has no accepted answer.
    pub excluded: u64,
}

/// Reads the sealed answers.
///
/// # Errors
/// The ledger is damaged.
pub fn plan(protocol: &Protocol, answers: &AnswersLock) -> Result<Plan, Failure> {
    let mut cells: HashMap<QuestionId, Cells> = HashMap::new();
    let mut unchanged: BTreeSet<QuestionId> = BTreeSet::new();
    for record in ledger::read::<stage::Answers>(answers.folder())? {
        match record?.1 {
            AnswersRecord::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), .. }) => {
                cells.entry(of.question.clone()).or_default().insert(of, accepted.answer);
            }
            Record::Note(note) => {
                unchanged.insert(note.question);
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }
    Ok(select(protocol, cells, &unchanged))
}

fn select(protocol: &Protocol, mut cells: HashMap<QuestionId, Cells>, unchanged: &BTreeSet<QuestionId>) -> Plan {
    let wanted = protocol.snapshots.len() * protocol.spec.generate.repeats as usize;
    let mut plan = Plan::default();
    for question in protocol.questions.iter().filter(|question| !unchanged.contains(&question.id)) {
        let cells = cells.remove(&question.id).unwrap_or_default();
        if cells.len() < wanted {
            plan.excluded += 1;
        } else if cells.values().any(|digest| Some(digest) != cells.values().next()) {
            plan.tasks.push(Task { question: question.clone(), cells });
        }
    }
    plan
}

impl Task {
    /// Builds the packet. `None` where all answers are one text after trimming.
    ///
    /// # Errors
    /// A blob is missing, damaged, or no answer.
    pub fn prepare(&self, seed: &[u8; 32], blobs: &BlobReader) -> Result<Option<Prepared>, Failure> {
        let mut origins: BTreeMap<Answer, (Digest, Vec<Cell>)> = BTreeMap::new();
        for (cell, digest) in &self.cells {
            let answer = text(blobs, digest)?;
            origins.entry(answer).or_insert_with(|| (*digest, Vec::new())).1.push(cell.clone());
        }
        let texts: BTreeSet<Answer> = origins.keys().cloned().collect();
        let Some(packet) = Packet::build(seed, &self.question.id, &self.question.text, &texts) else {
            return Ok(None);
        };
        let (answers, cells) = packet.answers().iter().filter_map(|answer| origins.remove(answer)).unzip();
        Ok(Some(Prepared { note: record::Packet { question: self.question.id.clone(), answers, cells }, packet }))
    }
}

fn text(blobs: &BlobReader, digest: &Digest) -> Result<Answer, Failure> {
    let no_answer = || Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no answer"));
    let text = String::from_utf8(blobs.get(digest)?).map_err(|_| no_answer())?;
    Answer::parse(&text, usize::MAX).map_err(|_| no_answer())
}
