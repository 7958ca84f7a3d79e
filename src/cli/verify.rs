//! `churngate verify`.

use super::arguments::FolderArguments;
use crate::model::Failure;
use crate::run;

/// Recomputes everything from the ledgers and says what was checked.
pub fn verify(arguments: &FolderArguments) -> Result<u8, Failure> {
    let verified = run::verify(&arguments.run)?;
    for line in &verified.checked {
        println!("ok  {line}");
    }
    println!("verified: {}", arguments.run);
    Ok(0)
}
