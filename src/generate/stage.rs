//! The stage: what is left to ask is asked, what came of it is weighed, and the ledger is sealed.

use super::answering::Answering;
use super::backend::Backend;
use super::cells::Calls;
use super::embedded;
use super::given_up;
use super::outcomes::is_of_content;
use super::plan::Plan;
use super::resume::Standing;
use super::tolerance::{Missing, intolerable};
use crate::freeze::{Protocol, order};
use crate::http::{Before, Context, PartAsked, Tally};
use crate::ledger::record::{Record, Unchanged};
use crate::ledger::{EvidenceLock, Lock, Opened, RunFolder, Writer, open, read};
use crate::model::fisher::Share;
use crate::model::{Cell, Digest, Event, Failure, FailureClass, Price, QuestionId};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// Notes that are recorded together.
const TOGETHER: usize = 1024;

/// Fills every cell of the protocol that needs an answer and seals the ledger `S`. Goes on where an earlier process stopped.
///
/// # Errors
/// The audit is cancelled, its budget is used up, a call is refused for good, or too many cells hold no answer: then
/// the same command goes on later. Or the evidence is damaged.
pub async fn generate<S: Answering>(
    protocol: &Protocol,
    folder: &RunFolder,
    evidence: &EvidenceLock,
    context: &Context,
) -> Result<Lock<S>, Failure> {
    let price = protocol.spec.generate.backend.price();
    let writer = match open::<S>(folder, evidence)? {
        Opened::Sealed(lock) => {
            context.budget.count(before::<S>(folder.path(), price)?, S::WHOSE);
            tell_reuse(protocol, folder, context);
            return Ok(lock);
        }
        Opened::Open(writer) => writer,
    };
    for note in writer.notes() {
        context.observer.observe(Event::Note(note.clone()));
    }
    let plan = Plan::read::<S>(protocol, evidence)?;
    let backend = Backend::new(&protocol.spec.generate.backend, S::WHOSE, &context.secrets)?;
    let unchanged = plan.unchanged()?;
    let tally = Tally::default();
    let asked = fill(&plan, &backend, &writer, &unchanged, folder, context, &tally).await?;
    let is_outage = asked.is_outage(tally.gave_up_but(is_of_content));
    let standing = Standing::read::<S>(folder.path(), &plan.places, price, protocol.spec.tolerance.served_models)?;
    weigh::<S>(&plan, &unchanged, &standing, is_outage, &tally)?;
    let lock = writer.seal().await?;
    context.observer.observe(Event::Sealed(S::STAGE));
    Ok(lock)
}

/// Nothing tells what a deployed system is but its snapshot's variables: one that changed behind them would go unnoticed.
fn tell_reuse(protocol: &Protocol, folder: &RunFolder, context: &Context) {
    if protocol.spec.retrieve.is_within() {
        context.observer.observe(Event::Note(format!(
            "the answers were given earlier and are reused; remove the run folder `{}` if a system changed under its name",
            folder.path()
        )));
    }
}

/// What a sealed ledger says was spent.
fn before<S: Answering>(folder: &Utf8Path, price: Option<Price>) -> Result<Before, Failure> {
    let mut before = Before::default();
    for record in read::<S>(folder)? {
        let record = record?.1;
        before.take(record.spent(price), record.without_usage());
    }
    Ok(before)
}

/// Returns what was asked for.
async fn fill<S: Answering>(
    plan: &Plan<'_>,
    backend: &Backend,
    writer: &Writer<S>,
    unchanged: &[Option<Digest>],
    folder: &RunFolder,
    context: &Context,
    tally: &Tally,
) -> Result<PartAsked, Failure> {
    let price = plan.protocol.spec.generate.backend.price();
    let rule = plan.protocol.spec.tolerance.served_models;
    let standing = Standing::read::<S>(folder.path(), &plan.places, price, rule)?;
    context.budget.count(standing.before, S::WHOSE);
    note_unchanged(plan, writer, unchanged, &standing).await?;
    let asked = || order::iter(plan.protocol).filter(|cell| is_asked(plan, unchanged, cell));
    let left = |cell: &Cell| !holds_answer(plan, &standing, cell);
    let cells: Vec<Cell> = asked().filter(left).collect();
    let again = cells.iter().filter(|cell| was_given_up(plan, &standing, cell)).count();
    let of = PartAsked { all: asked().count() as u64, now: cells.len() as u64, again: again as u64 };
    context.observer.observe(Event::Started { stage: S::STAGE, done: of.all - of.now, total: of.all });
    let filled = match backend {
        Backend::Reader(spec) => embedded::fill(spec, plan, writer, context, &mut cells.into_iter(), tally).await,
        Backend::Called(called) => {
            let before = before_now::<S>(plan, &standing, asked(), &cells);
            Calls::new(plan, writer, called, context, (&standing, before), tally).fill(cells).await
        }
    };
    filled.map(|()| of)
}

/// What earlier processes say of the generator, by the cells that are `asked` for and those `left`.
pub(super) fn before_now<S: Answering>(
    plan: &Plan<'_>,
    standing: &Standing,
    asked: impl Iterator<Item = Cell>,
    left: &[Cell],
) -> given_up::Before {
    let questions: BTreeSet<QuestionId> = asked.map(|cell| cell.question).collect();
    let failed = left.iter().filter(|cell| standing.failed(plan.places.cell(cell)) > 0);
    let weighs = S::DECIDES && !plan.protocol.is_part;
    given_up::Before {
        questions: questions.len() as u64,
        has_answers: standing.has_answers(),
        failed: failed.map(|cell| cell.question.clone()).collect(),
        tolerated: weighs.then_some(plan.protocol.spec.tolerance.invalid_cells),
    }
}

async fn note_unchanged<S: Answering>(
    plan: &Plan<'_>,
    writer: &Writer<S>,
    unchanged: &[Option<Digest>],
    standing: &Standing,
) -> Result<(), Failure> {
    let questions = plan.protocol.questions.iter().zip(unchanged);
    let notes: Vec<_> = questions
        .filter_map(|(question, prompt)| Some((question, (*prompt)?)))
        .filter(|(question, _)| !standing.unchanged.contains(&question.id))
        .map(|(question, prompt)| Record::Note(Unchanged { question: question.id.clone(), prompt }))
        .collect();
    for notes in notes.chunks(TOGETHER) {
        writer.append_all(notes, Vec::new()).await?;
    }
    Ok(())
}

fn is_asked(plan: &Plan<'_>, unchanged: &[Option<Digest>], cell: &Cell) -> bool {
    let question = plan.places.question(&cell.question).and_then(|at| unchanged.get(at));
    !matches!(question, Some(Some(_)))
}

pub(super) fn holds_answer(plan: &Plan<'_>, standing: &Standing, cell: &Cell) -> bool {
    plan.places.cell(cell).and_then(|at| standing.accepted.get(at)).copied().unwrap_or(false)
}

/// Whether an earlier process used up all attempts at a cell without an answer.
fn was_given_up(plan: &Plan<'_>, standing: &Standing, cell: &Cell) -> bool {
    standing.failed(plan.places.cell(cell)) >= plan.protocol.spec.generate.max_attempts
}

/// Whether the audit can stand with the cells that hold no answer after all attempts. It can without a diagnosis. A part of it
/// leaves this to the whole, unless an outage left it open: that is asked for again before the part is sealed.
fn weigh<S: Answering>(
    plan: &Plan<'_>,
    unchanged: &[Option<Digest>],
    standing: &Standing,
    is_outage: bool,
    tally: &Tally,
) -> Result<(), Failure> {
    let snapshots = plan.protocol.snapshots.iter();
    let mut missing: Vec<Missing> = snapshots.map(|snapshot| Missing::none(snapshot.name.to_string())).collect();
    let mut left_out = BTreeSet::new();
    for cell in order::iter(plan.protocol).filter(|cell| is_asked(plan, unchanged, cell)) {
        let of_snapshot = missing.iter_mut().find(|missing| missing.snapshot == cell.snapshot.0);
        if let Some(of_snapshot) = of_snapshot {
            of_snapshot.asked += 1;
            if !holds_answer(plan, standing, &cell) {
                of_snapshot.lacking += 1;
                left_out.insert(cell.question);
            }
        }
    }
    let left_out = Share { counted: left_out.len() as u64, of: plan.protocol.questions.len() as u64 };
    let stands = !S::DECIDES || plan.protocol.is_part && !is_outage;
    let why = intolerable(&missing, left_out, plan.protocol.spec.tolerance.invalid_cells).filter(|_| !stands);
    why.map_or(Ok(()), |why| {
        let hint = format!(
            "{}; where cells fail for good, take the question out or raise `tolerance.invalid_cells`",
            tally.remedy()
        );
        Err(Failure::new(FailureClass::Incomplete, tally.after(&why)).with_hint(hint))
    })
}
