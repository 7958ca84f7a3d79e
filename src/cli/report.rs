//! `churngate report`.

use super::arguments::ReportArguments;
use crate::model::{Failure, FailureClass};
use crate::{report, run};
use std::io::Write as _;

/// Renders the report of a finished run again, from its ledgers.
pub fn report(arguments: &ReportArguments) -> Result<u8, Failure> {
    let result = run::recompute(&arguments.run)?;
    let bytes = match report::Format::named(&arguments.format) {
        Some(format) => (format.render)(&result),
        None => report::terminal(&result, super::WIDTH).into_bytes(),
    };
    std::io::stdout()
        .write_all(&bytes)
        .map_err(|error| Failure::new(FailureClass::Usage, format!("failed to write the report: {}", error.kind())))?;
    Ok(0)
}
