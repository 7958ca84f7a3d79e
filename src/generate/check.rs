//! Sealed answers against the protocol and the evidence: every prompt is rendered again.

use super::plan::{Plan, foreign};
use super::resume::Standing;
use super::stage;
use crate::freeze::Protocol;
use crate::http::Tally;
use crate::ledger::record::{AcceptedAnswer, AnswersRecord, Attempt, Outcome, Record, Unchanged, Verdict};
use crate::ledger::stage::Answers;
use crate::ledger::{EvidenceLock, read, unfit};
use crate::model::{Cell, Digest, Failure, FailureClass};
use crate::spec::GenerateBackend;
use rayon::prelude::*;

/// Attempts whose prompts are rendered together, on all cores.
const TOGETHER: usize = 4096;

/// Checks that every attempt sent the prompt that follows from the protocol and the locked evidence, that exactly the
/// questions with identical prompts were left unasked, that no answer is longer than was allowed, and that the sealed
/// answers can stand: the tolerance and the rules about served models and replayed responses hold. Returns what was
/// checked, as a line for people.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub fn check(protocol: &Protocol, evidence: &EvidenceLock) -> Result<String, Failure> {
    let plan = Plan::read(protocol, evidence)?;
    let unchanged = plan.unchanged()?;
    let tried = vec![0; plan.places.cells()];
    let mut check = Check { plan: &plan, unchanged: &unchanged, waiting: Vec::new(), tried, attempts: 0, noted: 0 };
    for record in read::<Answers>(evidence.folder())? {
        let (seq, record) = record?;
        check.take(seq, record)?;
    }
    check.flush()?;
    if check.noted != unchanged.iter().flatten().count() {
        return Err(broken("the answers ledger does not note every question whose prompts are identical"));
    }
    let standing = Standing::read(evidence.folder(), &plan.places).map_err(|failure| sealed(&failure))?;
    stage::weigh(&plan, &unchanged, &standing, &Tally::default()).map_err(|failure| sealed(&failure))?;
    let attempts = check.attempts;
    if protocol.spec.retrieve.is_within() {
        return Ok(format!(
            "answers: {attempts} requests are those that follow from the protocol, each with an id of its own; tolerance \
             and served models hold"
        ));
    }
    Ok(format!(
        "answers: {attempts} requests are the prompts that follow from protocol and evidence; {} questions are unchanged by \
         theirs; tolerance and served models hold",
        check.noted
    ))
}

/// What stops an audit under way is a broken ledger once it is sealed.
fn sealed(failure: &Failure) -> Failure {
    broken(&format!("the answers ledger is sealed, but cannot stand: {}", failure.message))
}

fn broken(message: &str) -> Failure {
    Failure::new(FailureClass::Evidence, message)
}

/// An attempt whose request is still to be made again.
struct Waiting {
    seq: u64,
    attempt: Attempt<Cell>,
    number: u32,
}

struct Check<'a> {
    plan: &'a Plan<'a>,
    unchanged: &'a [Option<Digest>],
    waiting: Vec<Waiting>,
    /// For each cell, by its number: attempts so far.
    tried: Vec<u32>,
    attempts: u64,
    noted: usize,
}

impl Check<'_> {
    fn take(&mut self, seq: u64, record: AnswersRecord) -> Result<(), Failure> {
        match record {
            Record::Attempt(attempt) => {
                let cell = self.plan.places.cell(&attempt.of).and_then(|cell| self.tried.get_mut(cell));
                let tried = cell.ok_or_else(|| foreign("answers"))?;
                self.waiting.push(Waiting { seq, attempt, number: *tried });
                *tried += 1;
            }
            Record::Note(Unchanged { question, prompt }) => {
                let at = self.plan.places.question(&question).ok_or_else(|| foreign("answers"))?;
                if self.unchanged.get(at).copied().flatten() != Some(prompt) {
                    return Err(unfit::<Answers>(seq, "the question is noted as unchanged, but its prompts are not"));
                }
                self.noted += 1;
            }
            Record::Outcome(Outcome { verdict: Verdict::Accepted(AcceptedAnswer { bytes, .. }), .. })
                if bytes > u64::from(self.plan.protocol.spec.generate.max_answer_bytes) =>
            {
                return Err(unfit::<Answers>(seq, "the answer is longer than `max_answer_bytes`"));
            }
            Record::Outcome(_) => {}
        }
        if self.waiting.len() < TOGETHER { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.attempts += self.waiting.len() as u64;
        let rendered = |Waiting { seq, attempt, number }: &Waiting| {
            if self.plan.request(&attempt.of, *number, attempt.at_ms)? == attempt.request {
                return Ok(());
            }
            Err(unfit::<Answers>(*seq, self.differs()))
        };
        let found = self.waiting.par_iter().find_map_first(|attempt| rendered(attempt).err());
        self.waiting.clear();
        found.map_or(Ok(()), Err)
    }
    const fn differs(&self) -> &'static str {
        match self.plan.protocol.spec.generate.backend {
            GenerateBackend::BlackBox(_) => "the request is not the one that follows from the protocol and the attempt",
            _ => "the request is not the prompt that follows from protocol and evidence",
        }
    }
}
