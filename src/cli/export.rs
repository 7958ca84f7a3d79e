//! `churngate export`.

use super::arguments::ExportArguments;
use super::output;
use crate::ledger;
use crate::model::Failure;
use crate::run;
use camino::Utf8PathBuf;

/// Copies a run without its texts and says what can be done with the copy.
pub fn export(arguments: &ExportArguments) -> Result<u8, Failure> {
    ledger::must_hold_a_run(&arguments.run)?;
    let to = arguments.output.clone().unwrap_or_else(|| beside(&arguments.run));
    let exported = run::export(&arguments.run, &to)?;
    output::line(&format!("exported without texts: {to}"))?;
    output::line(&format!("claims:  {} places of the report, in {to}/claims.md", exported.claims))?;
    output::line(&format!("verify:  churngate verify {to}"))?;
    Ok(0)
}

/// `RUN-export`, beside the run.
fn beside(run: &Utf8PathBuf) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{}-export", run.as_str().trim_end_matches('/')))
}
