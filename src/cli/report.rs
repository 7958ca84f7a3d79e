//! `churngate report`.

use super::arguments::ReportArguments;
use crate::model::{Failure, FailureClass};
use crate::report::{self, AuditResult};
use crate::run;
use std::io::Write as _;

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
    write(&bytes)
}

/// Writes to standard output at once.
pub fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(|error| {
        Failure::new(FailureClass::Incomplete, format!("failed to write to standard output: {}", error.kind()))
    })
}
