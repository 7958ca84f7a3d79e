//! Which questions have something to judge, read from the sealed answers: the one place of this room that knows
//! snapshots and repeats. What it hands on to a packet is a question and a set of texts.

use super::packet::{Orders, Packet};
use crate::freeze::Protocol;
use crate::ledger::record::{self, About as _, AnswersRecord, Outcome, Record, Verdict};
use crate::ledger::{self, BlobReader, Lock, Recorded};
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
pub fn plan<A: Recorded<Record = AnswersRecord>>(protocol: &Protocol, answers: &Lock<A>) -> Result<Plan, Failure> {
    let mut found: HashMap<QuestionId, Answered> = HashMap::new();
    for record in ledger::read::<A>(answers.folder())? {
        let (_, record) = record?;
        if !matches!(record, Record::Attempt(_)) {
            found.entry(record.question().clone()).or_default().take(&record);
        }
    }
    let mut plan = Plan::default();
    for question in &protocol.questions {
        match found.remove(&question.id).unwrap_or_default().judged(protocol, question) {
            Judged::Task(task) => plan.tasks.push(task),
            Judged::Lacking => plan.excluded += 1,
            Judged::Nothing => {}
        }
    }
    Ok(plan)
}

/// What the answers ledger says of one question.
#[derive(Debug, Default)]
pub struct Answered {
    cells: Cells,
    unchanged: bool,
}

/// What there is to judge of a question.
#[derive(Debug)]
pub enum Judged {
    /// Its cells, whose answers may differ.
    Task(Task),
    /// Nothing: a cell has no accepted answer.
    Lacking,
    /// Nothing: it was not asked, or its answers are one.
    Nothing,
}

impl Answered {
    /// Takes one of its records.
    pub fn take(&mut self, record: &AnswersRecord) {
        match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), .. }) => {
                self.cells.insert(of.clone(), accepted.answer);
            }
            Record::Note(_) => self.unchanged = true,
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }

    /// What there is to judge.
    #[must_use]
    pub fn judged(self, protocol: &Protocol, question: &Question) -> Judged {
        let wanted = protocol.snapshots.len() * protocol.spec.generate.repeats as usize;
        match self {
            Self { unchanged: true, .. } => Judged::Nothing,
            Self { cells, .. } if cells.len() < wanted => Judged::Lacking,
            Self { cells, .. } if cells.values().all(|digest| Some(digest) == cells.values().next()) => Judged::Nothing,
            Self { cells, .. } => Judged::Task(Task { question: question.clone(), cells }),
        }
    }
}

impl Task {
    /// Builds the packet. `None` where all answers are one text after trimming.
    ///
    /// # Errors
    /// A blob is missing, damaged, or no answer.
    pub fn prepare(&self, orders: Orders, blobs: &BlobReader) -> Result<Option<Prepared>, Failure> {
        let mut origins: BTreeMap<Answer, (Digest, Vec<Cell>)> = BTreeMap::new();
        for (cell, digest) in &self.cells {
            let answer = text(blobs, digest)?;
            origins.entry(answer).or_insert_with(|| (*digest, Vec::new())).1.push(cell.clone());
        }
        let texts: BTreeSet<Answer> = origins.keys().cloned().collect();
        let Some(packet) = Packet::build(&orders.first, &self.question.id, &self.question.text, &texts) else {
            return Ok(None);
        };
        let packet = orders.again.map_or_else(|| packet.clone(), |seed| packet.again(&seed, &self.question.id));
        let (answers, cells) = packet.answers().iter().filter_map(|answer| origins.remove(answer)).unzip();
        Ok(Some(Prepared { note: record::Packet { question: self.question.id.clone(), answers, cells }, packet }))
    }
}

fn text(blobs: &BlobReader, digest: &Digest) -> Result<Answer, Failure> {
    let no_answer = || Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no answer"));
    let text = String::from_utf8(blobs.get(digest)?).map_err(|_| no_answer())?;
    Answer::parse(&text, usize::MAX).map_err(|_| no_answer())
}
