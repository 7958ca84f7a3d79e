//! The stage: what is left to judge, by which judge, and whether the judgments may be sealed.

use super::backend::Backend;
use super::command::CommandJudge;
use super::judging::Judging;
use super::llm::LlmJudge;
use super::packet::Orders;
use super::plan::{Plan, plan};
use super::progress;
use super::reply::NO_JUDGMENT;
use super::{batch, calls};
use crate::freeze::Protocol;
use crate::http::{Context, PartAsked, Served, Tally};
use crate::ledger::{self, Lock, Opened, RunFolder, Writer};
use crate::model::{Event, Failure, FailureClass, Fraction};
use crate::spec::JudgeBackend;

/// Judges every pair of distinct answers of each question of the protocol, blindly, and seals the ledger `S`. Takes up what an
/// earlier process left; an accepted judgment is never asked for again.
///
/// # Errors
/// [`FailureClass::Incomplete`] where the audit was interrupted, the budget is used up, the judge cannot be reached or changes its model, or
/// more packets than the spec tolerates are left without a judgment; it can be resumed then.
/// [`FailureClass::Evidence`] where a ledger or a blob is damaged. [`FailureClass::Usage`] where a key is not set.
pub async fn judge<S: Judging>(
    protocol: &Protocol,
    folder: &RunFolder,
    answers: &Lock<S::Before>,
    context: &Context,
) -> Result<Lock<S>, Failure> {
    let price = protocol.spec.judge.backend.price();
    let writer = match ledger::open::<S>(folder, answers)? {
        Opened::Sealed(lock) => {
            context.budget.count(progress::before::<S>(folder.path(), price)?, S::WHOSE);
            return Ok(lock);
        }
        Opened::Open(writer) => writer,
    };
    for note in writer.notes() {
        context.observer.observe(Event::Note(note.clone()));
    }
    let plan = plan(protocol, answers)?;
    let (orders, rule) = (S::orders(protocol), protocol.spec.tolerance.served_models);
    let (done, served, before) = progress::read::<S>(folder.path(), price, rule)?;
    context.budget.count(before, S::WHOSE);
    let work = Work { orders, folder, writer: &writer, done, served, context, tally: Tally::default() };
    let packets = run(protocol, &plan, &work).await?;
    check_missing(protocol, packets, &work)?;
    drop(work);
    let lock = writer.seal().await?;
    context.observer.observe(Event::Sealed(S::STAGE));
    Ok(lock)
}

/// What both ways of judging need.
pub(super) struct Work<'a, S: Judging> {
    /// The keys of the labels' order.
    pub orders: Orders,
    /// The run.
    pub folder: &'a RunFolder,
    /// The ledger.
    pub writer: &'a Writer<S>,
    /// What it said at the start.
    pub done: progress::Progress,
    /// What judges say beside accepted judgments.
    pub served: Served,
    /// The outside world.
    pub context: &'a Context,
    /// Attempts of this process that came to nothing.
    pub tally: Tally,
}

/// How many packets there are, and how many of them stay without a complete judgment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packets {
    /// All that exist: a question whose answers are all one text makes none.
    pub all: u64,
    /// Those that this process asked for.
    pub asked: u64,
    /// Those without a complete judgment.
    pub missing: u64,
}

impl Packets {
    fn lacking(self) -> String {
        format!("{} of {} packets of different answers have no judgment", self.missing, self.all)
    }
}

/// Judges what is left.
async fn run<S: Judging>(protocol: &Protocol, plan: &Plan, work: &Work<'_, S>) -> Result<Packets, Failure> {
    let spec = &protocol.spec.judge;
    let backend = match &spec.backend {
        JudgeBackend::Embedded => None,
        JudgeBackend::Model(spec) => {
            Some(Backend::Llm(Box::new(LlmJudge::new(spec, &protocol.judge_prompt, S::WHOSE, work.context)?)))
        }
        JudgeBackend::Command(spec) => Some(Backend::Command(CommandJudge::new(spec, S::WHOSE, work.context)?)),
    };
    let total = plan.tasks.len() as u64;
    let done =
        plan.tasks.iter().filter(|task| work.done.get(&task.question.id).is_some_and(progress::Recorded::complete));
    let done = done.count() as u64;
    work.context.observer.observe(Event::Started { stage: S::STAGE, done, total });
    match backend {
        None => batch::run(plan, work).await.map(|()| Packets::default()),
        Some(backend) => calls::run(plan, work, &backend, protocol).await,
    }
}

/// A question without a judgment is left out of the analysis, as one with a missing cell is. Only questions whose answers
/// differ have packets, so that what is missing is weighed against packets alone: among all questions, those that differ
/// would be lost unnoticed where they are few. And where nothing at all was judged, no tolerance helps. A diagnosis stops
/// nothing: its figure says what it lacks. A part of an audit leaves this to the whole, unless an outage left it open.
fn check_missing<S: Judging>(protocol: &Protocol, packets: Packets, work: &Work<'_, S>) -> Result<(), Failure> {
    if packets.missing == 0 {
        return Ok(());
    }
    let why = weigh_all(protocol, packets, &work.tally);
    if let Some(why) = why.filter(|_| S::DECIDES && !is_left_to_the_whole(protocol, packets, work)) {
        return Err(Failure::new(FailureClass::Incomplete, why).with_hint(work.tally.remedy()));
    }
    let note = format!("{}; their questions are left out", packets.lacking());
    work.context.observer.observe(Event::Note(work.tally.after(&note)));
    Ok(())
}

/// What a judge refused it would refuse again; what an outage left without a reply is asked again before the part is sealed.
fn is_left_to_the_whole<S: Judging>(protocol: &Protocol, packets: Packets, work: &Work<'_, S>) -> bool {
    let most = protocol.spec.judge.max_attempts;
    let again = work.done.values().filter(|recorded| recorded.was_given_up(most)).count() as u64;
    let asked = PartAsked { all: packets.all, now: packets.asked, again };
    protocol.is_part && !asked.is_outage(work.tally.gave_up_but(|code| NO_JUDGMENT.contains(&code)))
}

/// Why the judgments cannot stand with so many packets missing, if they cannot. A part of an audit does not decide this.
pub(super) fn weigh(protocol: &Protocol, packets: Packets, tally: &Tally) -> Option<String> {
    if protocol.is_part { None } else { weigh_all(protocol, packets, tally) }
}

fn weigh_all(protocol: &Protocol, packets: Packets, tally: &Tally) -> Option<String> {
    let Packets { all, missing, .. } = packets;
    let share = Fraction { numerator: i64::try_from(missing).unwrap_or(i64::MAX), denominator: all.max(1) };
    let of = packets.lacking();
    match missing {
        0 => None,
        _ if missing >= all => Some(tally.after(&of)),
        _ if share.compare(protocol.spec.tolerance.invalid_cells).is_gt() => {
            Some(tally.after(&format!("{of}, more than `tolerance.invalid_cells` allows")))
        }
        _ => None,
    }
}
