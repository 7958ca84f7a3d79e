//! `churngate report`.

use super::arguments::ReportArguments;
use super::output;
use crate::ledger;
use crate::model::{Failure, FailureClass};
use crate::report::{self, AuditResult, EvidenceDiff};
use crate::run;

/// Renders the report of a finished run again, from its ledgers.
pub fn report(arguments: &ReportArguments) -> Result<u8, Failure> {
    ledger::must_hold_a_run(&arguments.run)?;
    if run::is_evidence(&arguments.run) {
        evidence(&run::compared(&arguments.run)?, &arguments.format)?;
    } else {
        print(&run::recompute(&arguments.run)?, &arguments.format)?;
    }
    Ok(0)
}

/// Questions at risk that a terminal shows of a run of evidence alone.
pub const QUESTIONS: usize = 20;

/// Prints what changed in the evidence alone.
fn evidence(diff: &EvidenceDiff, format: &str) -> Result<(), Failure> {
    match report::DIFF_FORMATS.iter().find(|known| known.name == format) {
        Some(known) => output::write(&(known.render)(diff)),
        None if report::Format::named(format).is_some() => {
            let names: Vec<String> = report::DIFF_FORMATS.iter().map(|known| format!("`{}`", known.name)).collect();
            let message = format!("a run of `mode: evidence` has no report in the format `{format}`");
            Err(Failure::new(FailureClass::Usage, message).with_hint(format!("use {}", names.join(", "))))
        }
        None => output::write(report::diff_text(diff, QUESTIONS).as_bytes()),
    }
}

/// Prints a result in a format, or for a terminal where no format has that name.
pub fn print(result: &AuditResult, format: &str) -> Result<(), Failure> {
    let bytes = match report::Format::named(format) {
        Some(format) => (format.render)(result),
        None => report::terminal(result, super::WIDTH).into_bytes(),
    };
    output::write(&bytes)
}
