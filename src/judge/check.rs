//! Sealed judgments against the protocol and the answers: every packet is built and every request rendered again.

use super::batch;
use super::command::CommandJudge;
use super::llm::LlmJudge;
use super::packet::Packet;
use super::parts::{Part, split};
use super::plan::{self, Task};
use super::progress;
use super::stage::{Packets, weigh};
use crate::freeze::Protocol;
use crate::http::Tally;
use crate::ledger::record::{self, Attempt, JudgmentsRecord, Outcome, Record, Verdict};
use crate::ledger::stage::Judgments;
use crate::ledger::{self, AnswersLock, BlobReader, unfit};
use crate::model::{Digest, Failure, FailureClass, QuestionId};
use crate::spec::JudgeBackend;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// Packets that are built together, on all cores.
const TOGETHER: usize = 1024;

/// Checks that every packet is the one that follows from the answers and the protocol's seed, that every attempt asked for a
/// part of it in the protocol's own words, that a judgment labels the pairs of that part, and that the sealed judgments
/// can stand: tolerance, served models, replayed responses. Returns what was checked, as a line for people.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`].
pub fn check(protocol: &Protocol, answers: &AnswersLock) -> Result<String, Failure> {
    let tasks = plan::plan(protocol, answers)?.tasks;
    let mut recorded = read(answers)?;
    let asker = Asker::of(protocol);
    let blobs = BlobReader::at(answers.folder());
    let (mut packets, mut attempts) = (Packets::default(), 0);
    for some in tasks.chunks(TOGETHER) {
        let some: Vec<(&Task, Recorded)> =
            some.iter().map(|task| (task, recorded.remove(&task.question.id).unwrap_or_default())).collect();
        attempts += some.iter().map(|(_, recorded)| recorded.attempts.len() as u64).sum::<u64>();
        let checked = some.par_iter().map(|(task, recorded)| check_one(task, recorded, protocol, &asker, &blobs));
        for packet in checked.collect::<Vec<_>>() {
            let (is_packet, complete) = packet?;
            packets.all += u64::from(is_packet);
            packets.missing += u64::from(is_packet && !complete);
        }
    }
    if let Some(seq) = recorded.values().filter_map(Recorded::first).min() {
        return Err(unfit::<Judgments>(seq, "the question has nothing to judge"));
    }
    stand(protocol, answers, packets)?;
    let all = packets.all;
    Ok(format!(
        "judgments: {all} packets follow from answers and seed, and {attempts} requests from the packets; tolerance and \
         served models hold"
    ))
}

/// What stops an audit under way is a broken ledger once it is sealed.
fn stand(protocol: &Protocol, answers: &AnswersLock, packets: Packets) -> Result<(), Failure> {
    let sealed = |why: &str| {
        Failure::new(FailureClass::Evidence, format!("the judgments ledger is sealed, but cannot stand: {why}"))
    };
    progress::read(answers.folder()).map_err(|failure| sealed(&failure.message))?;
    let embedded = matches!(protocol.spec.judge.backend, JudgeBackend::Embedded);
    if embedded && packets.missing > 0 {
        return Err(sealed("the embedded judge leaves no packet without a judgment"));
    }
    weigh(protocol, packets, &Tally::default()).map_or(Ok(()), |why| Err(sealed(&why)))
}

/// What the ledger says of one question.
#[derive(Default)]
struct Recorded {
    packet: Option<(u64, record::Packet)>,
    /// The number and the request of each attempt.
    attempts: Vec<(u64, Digest)>,
    /// The attempt and the labelled pairs of each accepted judgment.
    judged: Vec<(u64, BTreeSet<(usize, usize)>)>,
}

impl Recorded {
    fn first(&self) -> Option<u64> {
        self.packet.as_ref().map(|(seq, _)| *seq)
    }
}

fn read(answers: &AnswersLock) -> Result<HashMap<QuestionId, Recorded>, Failure> {
    let mut recorded: HashMap<QuestionId, Recorded> = HashMap::new();
    for record in ledger::read::<Judgments>(answers.folder())? {
        let (seq, record) = record?;
        take(&mut recorded, seq, record);
    }
    Ok(recorded)
}

fn take(recorded: &mut HashMap<QuestionId, Recorded>, seq: u64, record: JudgmentsRecord) {
    match record {
        Record::Note(packet) => {
            let question = packet.question.clone();
            recorded.entry(question).or_default().packet = Some((seq, packet));
        }
        Record::Attempt(Attempt { of, request, .. }) => recorded.entry(of).or_default().attempts.push((seq, request)),
        Record::Outcome(Outcome { attempt, of, verdict: Verdict::Accepted(judgment), .. }) => {
            let pairs = judgment.pairs.iter().map(|pair| (pair.one as usize, pair.other as usize)).collect();
            recorded.entry(of).or_default().judged.push((attempt, pairs));
        }
        Record::Outcome(_) => {}
    }
}

/// Whether the question makes a packet, and whether every pair of it has its label.
fn check_one(
    task: &Task,
    recorded: &Recorded,
    protocol: &Protocol,
    asker: &Asker,
    blobs: &BlobReader,
) -> Result<(bool, bool), Failure> {
    let prepared = task.prepare(&protocol.seeds.packets, blobs)?;
    let Some(prepared) = prepared else {
        return match recorded.first() {
            Some(seq) => Err(unfit::<Judgments>(seq, "the question's answers are all one text")),
            None => Ok((false, true)),
        };
    };
    let Some((seq, packet)) = &recorded.packet else { return Ok((true, false)) };
    if *packet != prepared.note {
        return Err(unfit::<Judgments>(*seq, "the packet is not the one that follows from the answers and the seed"));
    }
    let parts: Vec<(Digest, Part)> = asker.parts(&prepared.packet);
    let part = |request: &Digest| parts.iter().find(|(known, _)| known == request).map(|(_, part)| part);
    if let Some((seq, _)) = recorded.attempts.iter().find(|(_, request)| part(request).is_none()) {
        return Err(unfit::<Judgments>(*seq, "the request does not follow from the packet and the protocol's judge"));
    }
    let of_attempt = |attempt: u64| recorded.attempts.iter().find(|(seq, _)| *seq == attempt);
    for (attempt, pairs) in &recorded.judged {
        let its_part = of_attempt(*attempt).and_then(|(_, request)| part(request));
        if its_part.is_none_or(|part| !pairs.iter().eq(&part.pairs)) {
            return Err(unfit::<Judgments>(*attempt, "its judgment labels other pairs than it asked for"));
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
