//! Sealed answers against the protocol and the evidence: every prompt is rendered again.

use super::answering::Answering;
use super::plan::{Plan, foreign};
use super::tolerance::{Missing, intolerable};
use crate::freeze::Protocol;
use crate::http::{Place, Served};
use crate::ledger::record::{
    AcceptedAnswer, AnswersRecord, Attempt, EvidenceRecord, Outcome, Record, Unchanged, Verdict,
};
use crate::ledger::{BlobReader, EvidenceLock, Numbered, Twice, cannot_stand, unfit};
use crate::model::fisher::Share;
use crate::model::{Cell, Digest, Failure, FailureClass, Question};
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

/// Checks that every attempt sent the prompt that follows from the protocol and the locked evidence, that exactly the
/// questions with identical prompts were left unasked, that no answer is longer than was allowed, and that the sealed
/// answers can stand: the rules about served models and replayed responses hold and, where the verdict rests on them, the
/// tolerance. Looks at one question at a time.
#[derive(Debug)]
pub struct Check<'a, S> {
    protocol: &'a Protocol,
    blobs: BlobReader,
    attempts: u64,
    unchanged: u64,
    missing: Vec<Missing>,
    left_out: Share,
    served: Served,
    ids: Twice,
    stage: PhantomData<S>,
}

/// What was found of one question.
#[derive(Debug, Default)]
pub struct Checked {
    attempts: u64,
    unchanged: bool,
    /// Accepted cells by the place of their snapshot.
    accepted: BTreeSet<(usize, u32)>,
    /// What the servers said beside accepted answers.
    said: Vec<Said>,
}

/// What a server said beside one accepted answer.
#[derive(Debug)]
struct Said {
    /// Which system it belongs to, where there are several.
    system: String,
    model: Option<String>,
    /// The digest of the response's id.
    id: Option<Digest>,
}

impl<'a, S: Answering> Check<'a, S> {
    /// Nothing was looked at yet.
    #[must_use]
    pub fn new(protocol: &'a Protocol, evidence: &EvidenceLock) -> Self {
        Self {
            protocol,
            blobs: BlobReader::at(evidence.folder()),
            attempts: 0,
            unchanged: 0,
            missing: protocol.snapshots.iter().map(|snapshot| Missing::none(snapshot.name.to_string())).collect(),
            left_out: Share::default(),
            served: S::served(protocol.spec.tolerance.served_models, Place::Run),
            ids: Twice::default(),
            stage: PhantomData,
        }
    }

    /// Looks at all records of one question.
    ///
    /// # Errors
    /// The first difference: class [`FailureClass::Evidence`].
    pub fn question(
        &self,
        question: &Question,
        evidence: &[Numbered<EvidenceRecord>],
        answers: &[Numbered<AnswersRecord>],
    ) -> Result<Checked, Failure> {
        let plan = Plan::of_question(self.protocol, question, evidence, self.blobs.clone())?;
        let unchanged = plan.unchanged()?.into_iter().next().flatten();
        let mut one = One::<S>::of(&plan, unchanged);
        for (seq, record) in answers {
            one.take(*seq, record)?;
        }
        if unchanged.is_some() != one.noted {
            let name = S::NAME;
            return Err(broken(&format!("the {name} ledger does not note every question whose prompts are identical")));
        }
        Ok(Checked { unchanged: one.noted, ..one.found })
    }

    /// Counts what was found of a question.
    ///
    /// # Errors
    /// Its answers cannot stand beside those before.
    pub fn count(&mut self, checked: Checked) -> Result<(), Failure> {
        self.attempts += checked.attempts;
        self.unchanged += u64::from(checked.unchanged);
        let asked = if checked.unchanged { 0 } else { self.protocol.spec.generate.repeats };
        let mut lacks = false;
        for (place, missing) in self.missing.iter_mut().enumerate() {
            missing.asked += u64::from(asked);
            let lacking = (0..asked).filter(|repeat| !checked.accepted.contains(&(place, *repeat))).count() as u64;
            missing.lacking += lacking;
            lacks |= lacking > 0;
        }
        self.left_out.of += 1;
        self.left_out.counted += u64::from(lacks);
        for Said { system, model, id } in checked.said {
            self.served.take_of(&system, model.as_deref(), None).map_err(cannot_stand::<S>)?;
            id.map_or(Ok(()), |id| self.ids.put(&id))?;
        }
        Ok(())
    }

    /// What was checked, as a line for people.
    ///
    /// # Errors
    /// The answers cannot stand as a whole: class [`FailureClass::Incomplete`].
    pub fn finish(self) -> Result<String, Failure> {
        if self.ids.found()? {
            return Err(cannot_stand::<S>(self.served.replayed()));
        }
        let decides = S::DECIDES && !self.protocol.is_part;
        let why = intolerable(&self.missing, self.left_out, self.protocol.spec.tolerance.invalid_cells);
        if let Some(why) = why.filter(|_| decides) {
            return Err(cannot_stand::<S>(Failure::new(FailureClass::Incomplete, why)));
        }
        let holding = if decides { "tolerance and served models" } else { "served models" };
        if self.protocol.spec.retrieve.is_within() {
            return Ok(format!(
                "answers: {} requests are those that follow from the protocol, each with an id of its own; {holding} \
                 hold",
                self.attempts
            ));
        }
        Ok(format!(
            "{}: {} requests are the prompts that follow from protocol and evidence; {} questions are unchanged by theirs; {} \
             hold",
            S::NAME,
            self.attempts,
            self.unchanged,
            holding
        ))
    }
}

fn broken(message: &str) -> Failure {
    Failure::new(FailureClass::Evidence, message)
}

/// One question while its records are looked at.
struct One<'a, S> {
    plan: &'a Plan<'a>,
    unchanged: Option<Digest>,
    noted: bool,
    /// The digest of the prompt with each evidence.
    prompts: BTreeMap<Digest, Digest>,
    /// Attempts at each cell so far, by the places of its snapshot and repeat.
    tried: BTreeMap<(usize, u32), u32>,
    found: Checked,
    stage: PhantomData<S>,
}

impl<'a, S: Answering> One<'a, S> {
    fn of(plan: &'a Plan<'a>, unchanged: Option<Digest>) -> Self {
        let (prompts, tried) = (BTreeMap::new(), BTreeMap::new());
        Self { plan, unchanged, noted: false, prompts, tried, found: Checked::default(), stage: PhantomData }
    }

    fn take(&mut self, seq: u64, record: &AnswersRecord) -> Result<(), Failure> {
        match record {
            Record::Attempt(attempt) => self.attempt(seq, attempt),
            Record::Note(Unchanged { prompt, .. }) => {
                self.noted = true;
                if self.unchanged == Some(*prompt) {
                    return Ok(());
                }
                Err(unfit::<S>(seq, "the question is noted as unchanged, but its prompts are not"))
            }
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(answer), served_model, response_id, .. }) => {
                let system = self.plan.places.serving(&of.snapshot).to_owned();
                let id = response_id.as_deref().and_then(Served::lasting);
                self.found.said.push(Said { system, model: served_model.clone(), id });
                self.accepted(seq, of, answer)
            }
            Record::Outcome(_) => Ok(()),
        }
    }

    fn attempt(&mut self, seq: u64, attempt: &Attempt<Cell>) -> Result<(), Failure> {
        self.found.attempts += 1;
        let place = self.plan.places.place(&attempt.of).ok_or_else(|| foreign(S::NAME))?;
        let tried = self.tried.entry(place).or_default();
        let number = *tried;
        *tried += 1;
        let (expected, what) = match self.plan.sent(&attempt.of, number, attempt.at_ms)? {
            Some(sent) => (sent, "the request is not the one that follows from the protocol and the attempt"),
            None => {
                (self.prompt(&attempt.of)?, "the request is not the prompt that follows from protocol and evidence")
            }
        };
        if expected == attempt.request { Ok(()) } else { Err(unfit::<S>(seq, what)) }
    }

    /// The digest of the prompt of a cell; those of one evidence have one.
    fn prompt(&mut self, cell: &Cell) -> Result<Digest, Failure> {
        let (question, evidence) = self.plan.asked(cell)?;
        if let Some(known) = self.prompts.get(&evidence) {
            return Ok(*known);
        }
        let prompt = self.plan.prompt(question, evidence)?;
        self.prompts.insert(evidence, prompt);
        Ok(prompt)
    }

    fn accepted(&mut self, seq: u64, cell: &Cell, answer: &AcceptedAnswer) -> Result<(), Failure> {
        if answer.bytes > u64::from(self.plan.protocol.spec.generate.max_answer_bytes) {
            return Err(unfit::<S>(seq, "the answer is longer than `max_answer_bytes`"));
        }
        let place = self.plan.places.place(cell).ok_or_else(|| foreign(S::NAME))?;
        self.found.accepted.insert(place);
        Ok(())
    }
}
