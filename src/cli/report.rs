//! `churngate report`.

use super::arguments::ReportArguments;
use super::output;
use crate::model::Failure;
use crate::report::{self, AuditResult};
use crate::run;

/// Renders the report of a finished run again, from its ledgers.
pub fn report(arguments: &ReportArguments) -> Result<u8, Failure> {
    print(&run::recompute(&arguments.run)?, &arguments.format)?;
    Ok(0)
}

/// Prints a result in a format, or for a terminal where no format has that name.
pub fn print(result: &AuditResult, format: &str) -> Result<(), Failure> {
    let bytes = match report::Format::named(format) {
        Some(format) => (format.render)(result),
        None => report::terminal(result, super::WIDTH).into_bytes(),
    };
    output::write(&bytes)
}
