//! Cells of the embedded reader: no call leaves the process, so that one flush serves many.

use super::answer::from_text;
use super::answering::Answering;
use super::asked::{Came, Fault};
use super::cells::{attempt, outcome};
use super::plan::{Material, Plan};
use super::reader::{Draw, Reader};
use crate::http::chat::Facts;
use crate::http::{Context, Tally, interrupted};
use crate::ledger::Writer;
use crate::model::{Cell, Event, Failure};
use crate::spec::ReaderSpec;
use rayon::prelude::*;
use std::time::Duration;

/// Cells that are recorded together.
const TOGETHER: usize = 256;

/// Fills these cells.
///
/// # Errors
/// The ledger cannot be written, the evidence is damaged, or the audit is cancelled.
pub async fn fill<S: Answering>(
    spec: &ReaderSpec,
    plan: &Plan<'_>,
    writer: &Writer<S>,
    context: &Context,
    cells: &mut impl Iterator<Item = Cell>,
    tally: &Tally,
) -> Result<(), Failure> {
    let reader = Reader::new(spec, &plan.protocol.seeds.reader);
    loop {
        let batch: Vec<Cell> = cells.by_ref().take(TOGETHER).collect();
        if batch.is_empty() {
            return Ok(());
        }
        if context.cancel.is_cancelled() {
            return Err(interrupted());
        }
        fill_batch(&reader, plan, writer, &batch, tally).await?;
        for _ in &batch {
            context.observer.observe(Event::Advanced(S::STAGE));
        }
    }
}

async fn fill_batch<S: Answering>(
    reader: &Reader,
    plan: &Plan<'_>,
    writer: &Writer<S>,
    batch: &[Cell],
    tally: &Tally,
) -> Result<(), Failure> {
    let materials = batch.par_iter().map(|cell| plan.material(cell)).collect::<Result<Vec<_>, _>>()?;
    let attempts: Vec<_> =
        batch.iter().zip(&materials).map(|(cell, material)| attempt(cell, &material.prompt)).collect();
    let seqs = writer.append_all(&attempts, Vec::new()).await?;
    let limit = plan.protocol.spec.generate.max_answer_bytes as usize;
    let came: Vec<_> =
        batch.par_iter().zip(&materials).map(|(cell, material)| read(reader, cell, material, limit)).collect();
    for fault in came.iter().filter_map(|came| came.verdict.as_ref().err()) {
        tally.add(fault.code());
    }
    let (records, blobs): (Vec<_>, Vec<_>) =
        seqs.zip(batch).zip(&came).map(|((seq, cell), came)| outcome(seq, cell, came)).unzip();
    writer.append_all(&records, blobs.into_iter().flatten().collect()).await?;
    Ok(())
}

fn read(reader: &Reader, cell: &Cell, material: &Material<'_>, limit: usize) -> Came {
    let draw = Draw { evidence: material.digest, repeat: cell.repeat, snapshot: material.snapshot as u64 };
    let text = reader.answer(material.question, &material.evidence, draw);
    let verdict = from_text(&text, limit).map_err(Fault::from);
    // No clock is read: the same seed gives the same record.
    Came { verdict, citations: None, facts: Facts::default(), body: None, latency: Duration::ZERO }
}
