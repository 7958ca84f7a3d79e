//! `churngate merge`.

use super::arguments::MergeArguments;
use super::run::{conclude, tell_folder};
use crate::ledger;
use crate::model::Failure;
use crate::run;

/// Joins the shards of an audit, and prints its report.
pub fn merge(arguments: &MergeArguments) -> Result<u8, Failure> {
    arguments.shards.iter().try_for_each(|shard| ledger::must_hold_a_run(shard))?;
    let finished = super::runtime()?.block_on(run::merge(&arguments.shards, arguments.runs.as_deref()))?;
    if let Some(file) = &arguments.folder_file {
        tell_folder(file, &finished.folder)?;
    }
    conclude(&finished, arguments.disclosure)
}
