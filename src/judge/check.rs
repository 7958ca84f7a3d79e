//! Sealed judgments against the protocol and the answers: every packet is built and every request rendered again.

use super::batch;
use super::command::CommandJudge;
use super::judging::Judging;
use super::llm::LlmJudge;
use super::packet::Packet;
use super::parts::{Part, split};
use super::plan::{Answered, Judged, Task};
use super::stage::{Packets, weigh};
use crate::freeze::Protocol;
use crate::http::{Place, Served, Tally};
use crate::ledger::record::{self, AnswersRecord, Attempt, JudgmentsRecord, Outcome, Record, Verdict};
use crate::ledger::{BlobReader, Lock, Numbered, Twice, cannot_stand, unfit};
use crate::model::{Digest, Failure, FailureClass, Question};
use crate::spec::JudgeBackend;
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// Checks that every packet is the one that follows from the answers and the protocol's seed, that every attempt asked for a
/// part of it in the protocol's own words, that a judgment labels the pairs of that part, and that the sealed judgments
/// can stand: served models, replayed responses and, where the verdict rests on them, the tolerance. Looks at one question at a
/// time.
pub struct Check<'a, S> {
    protocol: &'a Protocol,
    asker: Asker,
    blobs: BlobReader,
    packets: Packets,
    attempts: u64,
    served: Served,
    ids: Twice,
    stage: PhantomData<S>,
}

/// What was found of one question.
#[derive(Debug, Default)]
pub struct Checked {
    is_packet: bool,
    complete: bool,
    attempts: u64,
    /// What the judge's servers said beside accepted judgments: the model, and the digest of the response's id.
    said: Vec<(Option<String>, Option<Digest>)>,
}

impl<'a, S: Judging> Check<'a, S> {
    /// Nothing was looked at yet but what the same judge said before.
    ///
    /// # Errors
    /// An earlier ledger is damaged.
    pub fn new(protocol: &'a Protocol, answers: &Lock<S::Before>) -> Result<Self, Failure> {
        let mut check = Self {
            protocol,
            asker: Asker::of(protocol),
            blobs: BlobReader::at(answers.folder()),
            packets: Packets::default(),
            attempts: 0,
            served: S::served(protocol.spec.tolerance.served_models, Place::Run),
            ids: Twice::default(),
            stage: PhantomData,
        };
        S::said_before(answers.folder(), &mut |model, id| check.said(model, id.and_then(Served::lasting)))?;
        Ok(check)
    }

    /// Takes what a server said beside an accepted judgment: its model, and the digest of the response's id.
    fn said(&mut self, model: Option<&str>, id: Option<Digest>) -> Result<(), Failure> {
        self.served.take(model, None).map_err(cannot_stand::<S>)?;
        Ok(id.map_or(Ok(()), |id| self.ids.put(&id))?)
    }

    /// Looks at all records of one question.
    ///
    /// # Errors
    /// The first difference: class [`FailureClass::Evidence`].
    pub fn question(
        &self,
        question: &Question,
        answers: &[Numbered<AnswersRecord>],
        judgments: &[Numbered<JudgmentsRecord>],
    ) -> Result<Checked, Failure> {
        let mut answered = Answered::default();
        for (_, record) in answers {
            answered.take(record);
        }
        let recorded = Recorded::of(judgments);
        let (is_packet, complete) = match answered.judged(self.protocol, question) {
            Judged::Task(task) => check_one::<S>(&task, &recorded, self.protocol, &self.asker, &self.blobs)?,
            Judged::Lacking | Judged::Nothing => match recorded.first() {
                Some(seq) => return Err(unfit::<S>(seq, "the question has nothing to judge")),
                None => (false, true),
            },
        };
        Ok(Checked { is_packet, complete, attempts: recorded.attempts.len() as u64, said: recorded.said })
    }

    /// Counts what was found of a question.
    ///
    /// # Errors
    /// Its judgments cannot stand beside those before.
    pub fn count(&mut self, checked: Checked) -> Result<(), Failure> {
        self.attempts += checked.attempts;
        self.packets.all += u64::from(checked.is_packet);
        self.packets.missing += u64::from(checked.is_packet && !checked.complete);
        checked.said.into_iter().try_for_each(|(model, id)| self.said(model.as_deref(), id))
    }

    /// What was checked, as a line for people.
    ///
    /// # Errors
    /// The judgments cannot stand as a whole: class [`FailureClass::Incomplete`]. The embedded judge, which leaves no packet
    /// without a judgment, left one: class [`FailureClass::Evidence`].
    pub fn finish(self) -> Result<String, Failure> {
        if self.ids.found()? {
            return Err(cannot_stand::<S>(self.served.replayed()));
        }
        let embedded = matches!(self.protocol.spec.judge.backend, JudgeBackend::Embedded);
        if embedded && self.packets.missing > 0 {
            let why = "the embedded judge leaves no packet without a judgment";
            return Err(cannot_stand::<S>(Failure::new(FailureClass::Evidence, why)));
        }
        if let Some(why) = weigh(self.protocol, self.packets, &Tally::default()).filter(|_| S::DECIDES) {
            return Err(cannot_stand::<S>(Failure::new(FailureClass::Incomplete, why)));
        }
        let (name, all, attempts) = (S::NAME, self.packets.all, self.attempts);
        let holds = if S::DECIDES && !self.protocol.is_part {
            "tolerance and served models hold"
        } else {
            "served models hold"
        };
        Ok(format!(
            "{name}: {all} packets follow from answers and seed, and {attempts} requests from the packets; {holds}"
        ))
    }
}

/// What the ledger says of one question.
#[derive(Default)]
struct Recorded {
    packet: Option<(u64, record::Packet)>,
    /// The number and the request of each attempt.
    attempts: Vec<(u64, Digest)>,
    /// The attempt and the labelled pairs of each accepted judgment.
    judged: Vec<(u64, BTreeSet<(usize, usize)>)>,
    said: Vec<(Option<String>, Option<Digest>)>,
}

impl Recorded {
    fn of(records: &[Numbered<JudgmentsRecord>]) -> Self {
        let mut recorded = Self::default();
        for (seq, record) in records {
            recorded.take(*seq, record);
        }
        recorded
    }

    fn first(&self) -> Option<u64> {
        self.packet.as_ref().map(|(seq, _)| *seq)
    }

    fn take(&mut self, seq: u64, record: &JudgmentsRecord) {
        match record {
            Record::Note(packet) => self.packet = Some((seq, packet.clone())),
            Record::Attempt(Attempt { request, .. }) => self.attempts.push((seq, *request)),
            Record::Outcome(Outcome {
                attempt,
                verdict: Verdict::Accepted(judgment),
                served_model,
                response_id,
                ..
            }) => {
                let pairs = judgment.pairs.iter().map(|pair| (pair.one as usize, pair.other as usize)).collect();
                self.judged.push((*attempt, pairs));
                self.said.push((served_model.clone(), response_id.as_deref().and_then(Served::lasting)));
            }
            Record::Outcome(_) => {}
        }
    }
}

/// Whether the question makes a packet, and whether every pair of it has its label.
fn check_one<S: Judging>(
    task: &Task,
    recorded: &Recorded,
    protocol: &Protocol,
    asker: &Asker,
    blobs: &BlobReader,
) -> Result<(bool, bool), Failure> {
    let prepared = task.prepare(S::orders(protocol), blobs)?;
    let Some(prepared) = prepared else {
        return match recorded.first() {
            Some(seq) => Err(unfit::<S>(seq, "the question's answers are all one text")),
            None => Ok((false, true)),
        };
    };
    let Some((seq, packet)) = &recorded.packet else { return Ok((true, false)) };
    if *packet != prepared.note {
        return Err(unfit::<S>(*seq, "the packet is not the one that follows from the answers and the seed"));
    }
    let parts: Vec<(Digest, Part)> = asker.parts(&prepared.packet);
    let part = |request: &Digest| parts.iter().find(|(known, _)| known == request).map(|(_, part)| part);
    if let Some((seq, _)) = recorded.attempts.iter().find(|(_, request)| part(request).is_none()) {
        return Err(unfit::<S>(*seq, "the request does not follow from the packet and the protocol's judge"));
    }
    let of_attempt = |attempt: u64| recorded.attempts.iter().find(|(seq, _)| *seq == attempt);
    for (attempt, pairs) in &recorded.judged {
        let its_part = of_attempt(*attempt).and_then(|(_, request)| part(request));
        if its_part.is_none_or(|part| !pairs.iter().eq(&part.pairs)) {
            return Err(unfit::<S>(*attempt, "its judgment labels other pairs than it asked for"));
        }
    }
    let labelled: usize = recorded.judged.iter().map(|(_, pairs)| pairs.len()).sum();
    Ok((true, labelled == prepared.packet.pairs().len()))
}

/// What a judge is sent.
enum Asker {
    Embedded,
    Llm(Box<LlmJudge>),
    Command,
}

impl Asker {
    fn of(protocol: &Protocol) -> Self {
        match &protocol.spec.judge.backend {
            JudgeBackend::Embedded => Self::Embedded,
            JudgeBackend::Model(spec) => Self::Llm(Box::new(LlmJudge::unkeyed(spec, &protocol.judge_prompt))),
            JudgeBackend::Command(_) => Self::Command,
        }
    }

    /// The parts in which a packet is asked, each by the digest of its request.
    fn parts(&self, packet: &Packet) -> Vec<(Digest, Part)> {
        let whole = || Part { answers: (0..packet.answers().len()).collect(), pairs: packet.pairs() };
        let each =
            |digest: &dyn Fn(&Part) -> Digest| split(packet).into_iter().map(|part| (digest(&part), part)).collect();
        match self {
            Self::Embedded => vec![(batch::request(packet), whole())],
            Self::Llm(judge) => each(&|part| judge.request(packet, part)),
            Self::Command => each(&|part| CommandJudge::request(packet, part)),
        }
    }
}
