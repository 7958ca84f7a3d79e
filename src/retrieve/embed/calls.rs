//! The calls for vectors of a finished run, read without a blob: which vector each question has, that all are told to be by one
//! embedder, and that each call asked for the texts that it says, rendered again from the protocol.

use super::embedder::request;
use super::vectors::REFERENCE;
use crate::ledger::record::{AcceptedVectors, EmbedKey, Outcome, Record, Texts, VectorRecord, Verdict};
use crate::ledger::{self, stage, unfit};
use crate::model::{Digest, Failure, FailureClass, QuestionId};
use crate::spec::EmbedSpec;
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the calls of a run say, to be held against its questions as these come.
#[derive(Debug)]
pub(super) struct Calls<'a> {
    spec: &'a EmbedSpec,
    questions: HashMap<QuestionId, Embedded>,
    /// The names of the reference text's vectors, in the order in which they were made.
    pub references: Vec<Digest>,
    /// Calls for stored documents.
    pub stored: Vec<Stored>,
    /// What is told of the first vector.
    first: Option<Told>,
    /// Calls for questions whose texts are not all known yet.
    waiting: BTreeMap<u64, Waiting>,
    /// Attempts at questions that came to nothing.
    lost: Vec<Attempted>,
    /// Requests for questions that were rendered again.
    rendered: BTreeSet<Digest>,
}

/// The number of an attempt, and the digest of its request.
type Attempted = (u64, Digest);

/// How long the vectors of a call are, and by which model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub dimensions: u64,
    pub model: Option<String>,
}

/// A question's vector, and which text of which call it was made of.
#[derive(Clone, Copy, Debug)]
struct Embedded {
    vector: Digest,
    unit: u64,
    place: usize,
}

/// A call for stored documents.
#[derive(Debug)]
pub(super) struct Stored {
    /// The number of its outcome.
    pub seq: u64,
    /// The document and its vector.
    pub vectors: Vec<VectorRecord>,
    attempts: Vec<Attempted>,
}

/// A call for questions.
#[derive(Debug)]
struct Waiting {
    attempts: Vec<Attempted>,
    wanted: usize,
    texts: BTreeMap<usize, String>,
}

impl<'a> Calls<'a> {
    /// Reads the ledger.
    ///
    /// # Errors
    /// It is missing or damaged, embeds a question twice, tells of several embedders, or a reference text was another one: class
    /// [`FailureClass::Evidence`].
    pub(super) fn read(spec: &'a EmbedSpec, folder: &Utf8Path) -> Result<Self, Failure> {
        let mut calls = Self {
            spec,
            questions: HashMap::new(),
            references: Vec::new(),
            stored: Vec::new(),
            first: None,
            waiting: BTreeMap::new(),
            lost: Vec::new(),
            rendered: BTreeSet::new(),
        };
        let mut open: BTreeMap<EmbedKey, Vec<Attempted>> = BTreeMap::new();
        for record in ledger::read::<stage::Vectors>(folder)? {
            let (seq, record) = record?;
            match record {
                Record::Attempt(attempt) => open.entry(attempt.of).or_default().push((seq, attempt.request)),
                Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), served_model: model, .. }) => {
                    calls.told(seq, Told { dimensions: accepted.dimensions, model }, of.texts)?;
                    calls.accept(seq, of, accepted, open.remove(&of).unwrap_or_default())?;
                }
                Record::Outcome(_) | Record::Note(_) => {}
            }
        }
        for (of, attempts) in open {
            calls.leave(of.texts, attempts)?;
        }
        Ok(calls)
    }

    /// All are told to be of one length and by one model, and the reference text comes first.
    fn told(&mut self, seq: u64, told: Told, texts: Texts) -> Result<(), Failure> {
        match &self.first {
            None if texts == Texts::Reference => self.first = Some(told),
            None => return Err(other(seq, "it comes before the reference text")),
            Some(first) if first.dimensions != told.dimensions => {
                return Err(other(seq, "its vectors are told to be of another length than the reference text's"));
            }
            Some(first) if first.model != told.model => {
                return Err(other(seq, "it is told to be by another model than the reference text's"));
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn accept(
        &mut self,
        seq: u64,
        of: EmbedKey,
        AcceptedVectors { vectors, .. }: AcceptedVectors,
        attempts: Vec<Attempted>,
    ) -> Result<(), Failure> {
        match (of.texts, vectors.as_slice()) {
            (Texts::Reference, [one]) => {
                self.references.push(one.vector);
                self.hold_reference(&attempts)?;
            }
            (Texts::Reference, _) => return Err(other(seq, "the reference text has not one vector")),
            (Texts::Stored, _) => self.stored.push(Stored { seq, vectors, attempts }),
            (Texts::Questions, _) => {
                self.waiting.insert(of.number, Waiting { attempts, wanted: vectors.len(), texts: BTreeMap::new() });
                for (place, VectorRecord { question, vector, .. }) in vectors.into_iter().enumerate() {
                    let question = question.ok_or_else(|| other(seq, "a vector is of no question"))?;
                    let embedded = Embedded { vector, unit: of.number, place };
                    if self.questions.insert(question, embedded).is_some() {
                        return Err(other(seq, "a question is embedded twice"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes attempts that came to nothing. Which stored documents they asked for is not known.
    fn leave(&mut self, texts: Texts, attempts: Vec<Attempted>) -> Result<(), Failure> {
        match texts {
            Texts::Reference => self.hold_reference(&attempts)?,
            Texts::Questions => self.lost.extend(attempts),
            Texts::Stored => {}
        }
        Ok(())
    }

    fn hold_reference(&self, attempts: &[Attempted]) -> Result<(), Failure> {
        hold(attempts, request(self.spec, &[REFERENCE.to_owned()]))
    }

    /// What is told of all vectors.
    pub(super) const fn first(&self) -> Option<&Told> {
        self.first.as_ref()
    }

    /// Whether a question's notes name one vector, and this one is its own. `named` is what they name.
    ///
    /// # Errors
    /// They do not: class [`FailureClass::Evidence`].
    pub(super) fn named(&self, question: &QuestionId, named: &BTreeSet<Option<Digest>>) -> Result<Digest, Failure> {
        let (Some(Some(digest)), 1) = (named.first(), named.len()) else {
            return Err(broken(&format!("question `{question}`: it has none, or several")));
        };
        match self.questions.get(question) {
            Some(embedded) if embedded.vector == *digest => Ok(*digest),
            _ => Err(broken(&format!("question `{question}`: `vectors.jsonl` has another one"))),
        }
    }

    /// Takes what was embedded of a question; once the texts of its call are complete, holds its request against them.
    ///
    /// # Errors
    /// It is another request: class [`FailureClass::Evidence`].
    pub(super) fn text(&mut self, question: &QuestionId, text: String) -> Result<(), Failure> {
        let Some(Embedded { unit, place, .. }) = self.questions.get(question).copied() else { return Ok(()) };
        let Some(waiting) = self.waiting.get_mut(&unit) else { return Ok(()) };
        waiting.texts.insert(place, text);
        if waiting.texts.len() < waiting.wanted {
            return Ok(());
        }
        let Some(Waiting { attempts, texts, .. }) = self.waiting.remove(&unit) else { return Ok(()) };
        let request = request(self.spec, &texts.into_values().collect::<Vec<_>>());
        self.rendered.insert(request);
        hold(&attempts, request)
    }

    /// Whether a call for stored documents asked for these texts.
    ///
    /// # Errors
    /// It did not: class [`FailureClass::Evidence`].
    pub(super) fn hold_stored(&self, stored: &Stored, texts: &[String]) -> Result<(), Failure> {
        hold(&stored.attempts, request(self.spec, texts))
    }

    /// Whether there is one vector for each of so many questions.
    ///
    /// # Errors
    /// There is not: class [`FailureClass::Evidence`].
    pub(super) fn count(&self, questions: u64) -> Result<(), Failure> {
        if self.questions.len() as u64 == questions {
            return Ok(());
        }
        Err(broken("`vectors.jsonl` has not one vector for each question"))
    }

    /// Whether every request was rendered again, once all questions came. A call that came to nothing was made again for the same
    /// questions, since those that are open are asked for in their order.
    ///
    /// # Errors
    /// One was not: class [`FailureClass::Evidence`].
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let unknown = |attempt: &&Attempted| !self.rendered.contains(&attempt.1);
        let never = self.waiting.values().flat_map(|waiting| &waiting.attempts).next();
        never.or_else(|| self.lost.iter().find(unknown)).map_or(Ok(()), |(seq, _)| Err(unasked(*seq)))
    }
}

/// Whether all attempts at one unit made this request.
fn hold(attempts: &[Attempted], request: Digest) -> Result<(), Failure> {
    attempts.iter().find(|(_, made)| *made != request).map_or(Ok(()), |(seq, _)| Err(unasked(*seq)))
}

fn unasked(seq: u64) -> Failure {
    unfit::<stage::Vectors>(seq, "the request is not that of its texts")
}

fn other(seq: u64, what: &str) -> Failure {
    unfit::<stage::Vectors>(seq, what)
}

/// Vectors that are not the run's.
pub(super) fn broken(message: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the vectors are not those of the run: {message}"))
}
