//! Some cells alone, for whoever wants to see what other evidence would have given: asked as the stage asks, and weighed by nobody.

use super::answering::Answering;
use super::backend::Backend;
use super::cells::Calls;
use super::embedded;
use super::plan::Plan;
use super::resume::Standing;
use super::stage::{before_now, holds_answer};
use crate::freeze::Protocol;
use crate::http::{Context, Tally};
use crate::ledger::{EvidenceLock, Opened, RunFolder, Writer, open};
use crate::model::{Cell, Event, Failure, FailureClass};

/// Asks for those of these cells that hold no answer yet. The ledger `S` is sealed once every cell of the protocol holds one, and
/// is left open for a later call until then.
///
/// # Errors
/// As the stage's: it is cancelled, its budget is used up, a call is refused for good; or some of the cells hold no answer after all
/// attempts: class [`FailureClass::Incomplete`]. What is on record stays, and the same call goes on from it.
pub async fn ask<S: Answering>(
    protocol: &Protocol,
    folder: &RunFolder,
    evidence: &EvidenceLock,
    cells: &[Cell],
    context: &Context,
) -> Result<(), Failure> {
    let Opened::Open(writer) = open::<S>(folder, evidence)? else { return Ok(()) };
    for note in writer.notes() {
        context.observer.observe(Event::Note(note.clone()));
    }
    let plan = Plan::read::<S>(protocol, evidence)?;
    let tally = Tally::default();
    fill(&plan, &writer, folder, cells, context, &tally).await?;
    let standing = standing::<S>(&plan, folder)?;
    let lacking = cells.iter().filter(|cell| !holds_answer(&plan, &standing, cell)).count();
    if lacking > 0 {
        let why = tally.after(&format!("{lacking} of {} cells hold no answer", cells.len()));
        return Err(Failure::new(FailureClass::Incomplete, why).with_hint(tally.remedy()));
    }
    if standing.accepted.iter().all(|accepted| *accepted) {
        writer.seal().await?;
        context.observer.observe(Event::Sealed(S::STAGE));
    }
    Ok(())
}

async fn fill<S: Answering>(
    plan: &Plan<'_>,
    writer: &Writer<S>,
    folder: &RunFolder,
    cells: &[Cell],
    context: &Context,
    tally: &Tally,
) -> Result<(), Failure> {
    let standing = standing::<S>(plan, folder)?;
    context.budget.count(standing.before, S::WHOSE);
    let left: Vec<Cell> = cells.iter().filter(|cell| !holds_answer(plan, &standing, cell)).cloned().collect();
    let (total, open) = (cells.len() as u64, left.len() as u64);
    context.observer.observe(Event::Started { stage: S::STAGE, done: total - open, total });
    match Backend::new(&plan.protocol.spec.generate.backend, S::WHOSE, &context.secrets)? {
        Backend::Reader(spec) => embedded::fill(&spec, plan, writer, context, &mut left.into_iter(), tally).await,
        Backend::Called(called) => {
            let before = before_now::<S>(plan, &standing, cells.iter().cloned(), &left);
            Calls::new(plan, writer, &called, context, (&standing, before), tally).fill(left).await
        }
    }
}

fn standing<S: Answering>(plan: &Plan<'_>, folder: &RunFolder) -> Result<Standing, Failure> {
    let spec = &plan.protocol.spec;
    Standing::read::<S>(folder.path(), &plan.places, spec.generate.backend.price(), spec.tolerance.served_models)
}
