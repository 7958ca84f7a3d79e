//! The ledgers of the diagnostics that a protocol asks for: sealed before gold is opened, checked with all others, joined from
//! those of shards.

use super::recompute::Locks;
use super::shard::Shard;
use crate::freeze::{self, Protocol};
use crate::generate;
use crate::http::Context;
use crate::judge::{self, Judging};
use crate::ledger::stage::{Again, Evidence, ReplicaAnswers, ReplicaJudgments, Second};
use crate::ledger::{self, AnswersLock, ByQuestion, EvidenceLock, Lock, ProtocolLock, Recorded, RunFolder, SideLocks};
use crate::model::{Failure, QuestionId};

/// Fills and seals every ledger of a diagnosis that the protocol asks for.
///
/// # Errors
/// Those of the stages.
pub(super) async fn seal(
    protocol: &Protocol,
    folder: &RunFolder,
    (before, evidence, answers): (&ProtocolLock, &EvidenceLock, &AnswersLock),
    context: &Context,
) -> Result<SideLocks, Failure> {
    let again = judged(protocol.again(), folder, answers, context).await?;
    let second = judged(protocol.second(), folder, answers, context).await?;
    let vectors = ledger::sealed_if_there(before)?;
    Ok(SideLocks { vectors, again, second, replica: replicated(protocol, folder, evidence, context).await? })
}

async fn replicated(
    protocol: &Protocol,
    folder: &RunFolder,
    evidence: &EvidenceLock,
    context: &Context,
) -> Result<Option<(Lock<ReplicaAnswers>, Lock<ReplicaJudgments>)>, Failure> {
    let Some(view) = protocol.replica() else { return Ok(None) };
    let answers = generate::generate(&view, folder, evidence, context).await?;
    let judgments = judge::judge(&view, folder, &answers, context).await?;
    Ok(Some((answers, judgments)))
}

async fn judged<S: Judging>(
    view: Option<Protocol>,
    folder: &RunFolder,
    answers: &Lock<S::Before>,
    context: &Context,
) -> Result<Option<Lock<S>>, Failure> {
    match view {
        Some(view) => judge::judge(&view, folder, answers, context).await.map(Some),
        None => Ok(None),
    }
}

/// Whether the ledgers of diagnostics are those that the protocol asks for, and each follows from it and from the ledger that it
/// continues. `outline` may lack its questions; a `part` has its own. Returns what was checked, a line each.
///
/// # Errors
/// The first difference: class [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
pub(super) fn check(outline: &Protocol, part: Option<Shard>, locks: &Locks) -> Result<Vec<String>, Failure> {
    outline.check_side(&locks.side)?;
    if !outline.is_sampled() {
        return Ok(Vec::new());
    }
    let whole = freeze::load(locks.answers.folder())?;
    let protocol = match part {
        Some(part) => part.cut(whole)?,
        None => whole,
    };
    let again = protocol.again().map(|view| check_judgments::<Again>(&view, &locks.answers));
    let second = protocol.second().map(|view| check_judgments::<Second>(&view, &locks.answers));
    let mut checked = [again, second].into_iter().flatten().collect::<Result<Vec<String>, Failure>>()?;
    if let (Some(view), Some((answers, _))) = (protocol.replica(), &locks.side.replica) {
        checked.push(check_answers(&view, &locks.evidence)?);
        checked.push(check_judgments::<ReplicaJudgments>(&view, answers)?);
    }
    Ok(checked)
}

fn check_judgments<S: Judging>(view: &Protocol, answers: &Lock<S::Before>) -> Result<String, Failure> {
    let (folder, rank) = (answers.folder(), |question: &QuestionId| view.rank(question));
    let mut given = ledger::by_question::<S::Before>(folder, rank, |_, _| ())?;
    let mut judged = ledger::by_question::<S>(folder, rank, |_, _| ())?;
    let mut check = judge::Check::<S>::new(view, answers)?;
    for question in &view.questions {
        let (id, rank) = (&question.id, view.rank(&question.id));
        let checked = check.question(question, &given.of(id, rank)?, &judged.of(id, rank)?)?;
        check.count(checked)?;
    }
    no_strangers(&mut judged)?;
    check.finish()
}

fn check_answers(view: &Protocol, evidence: &EvidenceLock) -> Result<String, Failure> {
    let (folder, rank) = (evidence.folder(), |question: &QuestionId| view.rank(question));
    let mut found = ledger::by_question::<Evidence>(folder, rank, |_, _| ())?;
    let mut answered = ledger::by_question::<ReplicaAnswers>(folder, rank, |_, _| ())?;
    let mut check = generate::Check::<ReplicaAnswers>::new(view, evidence);
    for question in &view.questions {
        let (id, rank) = (&question.id, view.rank(&question.id));
        let checked = check.question(question, &found.of(id, rank)?, &answered.of(id, rank)?)?;
        check.count(checked)?;
    }
    no_strangers(&mut answered)?;
    check.finish()
}

fn no_strangers<S: Recorded>(ledger: &mut ByQuestion<S>) -> Result<(), Failure> {
    let stranger = ledger.stranger()?;
    stranger.map_or(Ok(()), |seq| Err(ledger::unfit::<S>(seq, "its question is not of the sample")))
}
