//! The three ledgers of a run, joined by question.

use super::tally::Tally;
use crate::freeze::Protocol;
use crate::ledger::record::{AnswersRecord, EvidenceRecord, JudgmentsRecord, Outcome, Record, Verdict};
use crate::ledger::{self, ByQuestion, Numbered, Recorded, stage, unfit};
use crate::model::{Failure, Question};
use camino::Utf8Path;

/// Ledgers that are read by question, in selection order. Memory holds the records of one question at a time.
pub(super) struct Join {
    evidence: ByQuestion<stage::Evidence>,
    answers: ByQuestion<stage::Answers>,
    judgments: ByQuestion<stage::Judgments>,
}

/// Questions that are looked at together, on all cores.
pub(super) const TOGETHER: usize = 256;

/// All records of one question, with their numbers, in the order of their ledgers.
pub(super) struct Records {
    /// The rank of the question.
    pub rank: u128,
    /// What is accepted as right; for whoever knows it to fill in.
    pub gold: Vec<String>,
    pub evidence: Vec<Numbered<EvidenceRecord>>,
    pub answers: Vec<Numbered<AnswersRecord>>,
    pub judgments: Vec<Numbered<JudgmentsRecord>>,
}

impl Records {
    /// Whether they are of kinds that such an audit leaves: a system that retrieves by itself leaves no evidence of ours, and no
    /// other cites documents. No text is needed to tell.
    ///
    /// # Errors
    /// They are not: class [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
    pub(super) fn check(&self, protocol: &Protocol) -> Result<(), Failure> {
        let is_within = protocol.spec.retrieve.is_within();
        if let Some((seq, _)) = self.evidence.first().filter(|_| is_within) {
            let why = "the audited system retrieves by itself, and leaves no record here";
            return Err(unfit::<stage::Evidence>(*seq, why));
        }
        match self.answers.iter().find(|(_, record)| cites(record)) {
            Some((seq, _)) if !is_within => {
                Err(unfit::<stage::Answers>(*seq, "its answer cites documents, and no deployed system was asked"))
            }
            _ => Ok(()),
        }
    }
}

fn cites(record: &AnswersRecord) -> bool {
    let Record::Outcome(Outcome { verdict: Verdict::Accepted(accepted), .. }) = record else { return false };
    accepted.citations.is_some()
}

impl Join {
    /// Reads all ledgers of a run, each once; `tally` is shown every record in its order, those of vectors as well.
    pub(super) fn read(protocol: &Protocol, folder: &Utf8Path, tally: &mut Tally) -> Result<Self, Failure> {
        let rank = |question: &_| protocol.rank(question);
        if protocol.spec.retrieve.embed.is_some() {
            for record in ledger::read::<stage::Vectors>(folder)? {
                let (seq, record) = record?;
                tally.vectors(seq, &record);
            }
        }
        Ok(Self {
            evidence: ledger::by_question(folder, rank, |seq, record| tally.evidence(seq, record))?,
            answers: ledger::by_question(folder, rank, |seq, record| tally.answers(seq, record))?,
            judgments: ledger::by_question(folder, rank, |seq, record| tally.judgments(seq, record))?,
        })
    }

    /// The records of a question. Questions are asked for in selection order, each once.
    fn of(&mut self, protocol: &Protocol, question: &Question) -> Result<Records, Failure> {
        let (id, rank) = (&question.id, protocol.rank(&question.id));
        Ok(Records {
            rank,
            gold: Vec::new(),
            evidence: self.evidence.of(id, rank)?,
            answers: self.answers.of(id, rank)?,
            judgments: self.judgments.of(id, rank)?,
        })
    }

    /// The records of some questions, one after the other as in [`Join::of`].
    pub(super) fn some(&mut self, protocol: &Protocol, questions: &[Question]) -> Result<Vec<Records>, Failure> {
        questions.iter().map(|question| self.of(protocol, question)).collect()
    }

    /// Begins again at the first question.
    pub(super) fn rewind(&mut self) -> Result<(), Failure> {
        self.evidence.rewind()?;
        self.answers.rewind()?;
        Ok(self.judgments.rewind()?)
    }

    /// Whether every record was asked for, once all questions were.
    ///
    /// # Errors
    /// A ledger names a question that the protocol does not have, or has elsewhere than in selection order.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        nothing_left(&mut self.evidence)?;
        nothing_left(&mut self.answers)?;
        nothing_left(&mut self.judgments)
    }
}

/// Whether every record of one ledger was asked for.
pub(super) fn nothing_left<S: Recorded>(ledger: &mut ByQuestion<S>) -> Result<(), Failure> {
    let stranger = ledger.stranger()?;
    stranger.map_or(Ok(()), |seq| Err(unfit::<S>(seq, "its question is none of the protocol's")))
}
