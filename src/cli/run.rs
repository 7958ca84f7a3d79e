//! `churngate run`.

use super::arguments::RunArguments;
use super::context;
use crate::gate::{Decision, Verdict};
use crate::http::Context;
use crate::model::{Failure, FailureClass};
use crate::report;
use crate::run::{self, Finished, Prepared};

/// Runs the audit and prints its report.
pub fn run(arguments: &RunArguments) -> Result<u8, Failure> {
    let prepared = run::prepare(&arguments.spec.spec, arguments.spec.runs.as_deref(), super::VERSION)?;
    let plan = run::plan(&prepared);
    if !plan.fits_budget {
        return Err(Failure::new(
            FailureClass::Usage,
            format!("the plan of {} calls exceeds `budget.calls`", plan.calls),
        )
        .with_hint("raise `budget.calls`, or select fewer questions"));
    }
    let context = context::context(&prepared.protocol.spec, arguments.tasks, arguments.quiet)?;
    let finished = runtime()?.block_on(audited(prepared, &context))?;
    super::report::print(&finished.result, "terminal")?;
    super::report::write(report::next_steps(finished.folder.as_str()).as_bytes())?;
    Ok(exit_code(&finished.result.decision))
}

/// The audit, with Ctrl-C listened to beside it.
async fn audited(prepared: Prepared, context: &Context) -> Result<Finished, Failure> {
    let listener = tokio::spawn(context::cancel_on_interrupt(context.cancel.clone()));
    let finished = run::audit(prepared, context).await;
    listener.abort();
    finished
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Failure::new(FailureClass::Incomplete, format!("failed to start the runtime: {}", error.kind()))
    })
}

/// The exit code of a verdict.
pub fn exit_code(decision: &Decision) -> u8 {
    match decision.verdict {
        Verdict::Incompatible => 1,
        Verdict::Inconclusive if decision.inconclusive == "fail" => 3,
        Verdict::Compatible | Verdict::Inconclusive => 0,
    }
}
