//! `churngate verify`.

use super::arguments::VerifyArguments;
use super::output;
use crate::ledger;
use crate::model::Failure;
use crate::run;

/// Recomputes everything from the ledgers and says what was checked, and what could not be.
pub fn verify(arguments: &VerifyArguments) -> Result<u8, Failure> {
    ledger::must_hold_a_run(&arguments.run)?;
    let verified = run::verify(&arguments.run)?;
    if arguments.claims {
        output::write(verified.claims.as_bytes())?;
        return Ok(0);
    }
    for line in &verified.checked {
        output::line(&format!("ok  {line}"))?;
    }
    for line in &verified.unchecked {
        output::line(&format!("--  {line}"))?;
    }
    let without = if verified.unchecked.is_empty() { "" } else { " (but for the lines that begin with `--`)" };
    output::line(&format!("verified: {}{without}", arguments.run))?;
    Ok(0)
}
