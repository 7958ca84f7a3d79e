//! `churngate diff`.

use super::arguments::{DiffArguments, TextOrJson};
use super::work::Work;
use super::{context, output};
use crate::model::Failure;
use crate::report;
use crate::run;

/// Retrieves, and prints what changed in the evidence. Calls neither generator nor judge.
pub fn diff(arguments: &DiffArguments) -> Result<u8, Failure> {
    let draft = run::read(run::Request { evidence_alone: true, ..arguments.spec.request() })?;
    let context = context::for_retrieval(draft.spec(), &arguments.tape, arguments.tasks, arguments.quiet)?;
    let limit = arguments.limit;
    let compared = async { run::diff(run::prepare(draft, Some(&context)).await?, limit, &context).await };
    let compared = Work::new(&context)?.does(compared)?;
    match arguments.format {
        TextOrJson::Text => output::write(report::diff_text(&compared, limit).as_bytes())?,
        TextOrJson::Json => output::write(&report::diff_json(&compared))?,
    }
    Ok(0)
}
