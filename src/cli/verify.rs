//! `churngate verify`.

use super::arguments::FolderArguments;
use super::output;
use crate::model::Failure;
use crate::run;

/// Recomputes everything from the ledgers and says what was checked.
pub fn verify(arguments: &FolderArguments) -> Result<u8, Failure> {
    let verified = run::verify(&arguments.run)?;
    for line in &verified.checked {
        output::line(&format!("ok  {line}"))?;
    }
    output::line(&format!("verified: {}", arguments.run))?;
    Ok(0)
}
