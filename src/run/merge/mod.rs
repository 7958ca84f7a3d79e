//! The shards of a matrix job joined to one run, as if it had never been cut.

mod lacking;
mod ledgers;
mod parts;

use super::audit::{self, Finished};
use super::prepare::can_hold_runs;
use super::recompute::{self, Locks};
use super::verify::{self, shard_stages};
use super::{RESULT, conclusion, origin, replay, shard, standing};
use crate::freeze;
use crate::git;
use crate::http::Place;
use crate::model::{Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};
use parts::Part;

/// The file in a merged folder that names the shards it was made of and the heads of their ledgers.
const FILE: &str = "merged.json";

/// Joins finished shards to one run below `runs`, which is where the first one lies where it is absent, and writes its result
/// and reports. Each shard is verified; the merged run is verified as any other.
///
/// # Errors
/// A shard is missing, stands twice, is damaged, is of another audit or holds other questions than its own; what all of
/// them lack together is more than the spec tolerates; another run stands in the place, or the file system refuses.
pub async fn merge(folders: &[Utf8PathBuf], runs: Option<&Utf8Path>) -> Result<Finished, Failure> {
    for folder in folders {
        refuse_committed(folder)?;
    }
    let parts = parts::whole(folders)?;
    let Some(first) = parts.first() else { return Err(usage("there are no shards to merge")) };
    let beside = first.folder.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let runs = runs.unwrap_or(beside);
    can_hold_runs(runs)?;
    parts::one_embedder(&parts)?;
    let replayed = parts::common_replies(&parts)?;
    let name = first.protocol.digest.to_string();
    let target = runs.join(if replayed { replay::folder(&name) } else { name });
    if target.symlink_metadata().is_ok() {
        return merged_already(target, &parts);
    }
    fs_err::create_dir_all(runs).map_err(|error| audit::unwritten(runs.as_str(), &error))?;
    let building = tempfile::Builder::new()
        .prefix(".merging-")
        .tempdir_in(runs)
        .map_err(|error| audit::unwritten(runs.as_str(), &error))?;
    let folder = Utf8Path::from_path(building.path()).ok_or_else(|| usage("the path of the runs is not UTF-8"))?;
    let result = build(&parts, folder, replayed).await?;
    if let Err(error) = fs_err::rename(folder, &target) {
        // Another process may have joined the same shards meanwhile.
        return if target.join(FILE).is_file() {
            merged_already(target, &parts)
        } else {
            Err(audit::unwritten(target.as_str(), &error))
        };
    }
    // It is no longer there to be removed.
    let _moved = building.keep();
    Ok(Finished { folder: target, result })
}

/// The run that these very shards were joined to before, verified once more.
fn merged_already(target: Utf8PathBuf, parts: &[Part]) -> Result<Finished, Failure> {
    if fs_err::read(target.join(FILE)).is_ok_and(|there| heads(parts).is_ok_and(|heads| heads == there)) {
        let verified = verify::verify(&target)?;
        let result = verified.result.ok_or_else(|| usage(format!("the run `{target}` has no result of its own")))?;
        return Ok(Finished { folder: target, result });
    }
    Err(usage(format!("the run `{target}` exists already, and was not made of these shards"))
        .with_hint("remove it, or name another folder with `--runs`"))
}

/// What [`FILE`] holds for these shards.
fn heads(parts: &[Part]) -> Result<Vec<u8>, Failure> {
    let heads: Vec<_> = parts.iter().map(Part::heads).collect();
    serde_json::to_vec_pretty(&heads).map_err(|_| usage("the heads cannot be written"))
}

async fn build(parts: &[Part], path: &Utf8Path, replayed: bool) -> Result<crate::report::AuditResult, Failure> {
    let folder = replay::open(path, replayed)?;
    audit::hide_from_git(path)?;
    let origin = parts::common_origin(parts)?;
    let Some(first) = parts.first() else { return Err(usage("there are no shards to merge")) };
    let frozen = freeze::freeze(&folder, first.protocol.clone())?;
    audit::record_origin(path, origin.as_ref())?;
    ledgers::join(parts, &folder, &frozen).await?;
    audit::write(path, FILE, &heads(parts)?)?;
    let computed = recompute::compute(path, &Locks::open(path)?);
    let (computed, written) = computed.map_err(|failure| lacking::with_remedy(failure, parts))?;
    standing::check_served(&frozen.protocol, path, Place::Shards)?;
    audit::write_reports(path, &computed, written)?;
    Ok(computed.result)
}

/// A shard that came with the checkout could have been made up by the change that is judged.
fn refuse_committed(folder: &Utf8Path) -> Result<(), Failure> {
    if !folder.is_dir() || !git::tracks_files_in(folder)? {
        return Ok(());
    }
    let message = format!("the shard `{folder}` is committed, so the change that is judged may have written it");
    Err(Failure::new(FailureClass::Evidence, message).with_hint("merge the shards that the matrix's jobs made"))
}

fn usage(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Usage, message)
}
