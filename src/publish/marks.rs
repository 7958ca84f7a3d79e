//! Marks that a newer run has left at the same commit: the server lets the mark that was made last count, whatever run made it.
//!
//! What cannot be looked up keeps no mark from being made: then it is as if nobody else had marked the commit.

use super::api::{Api, encoded};
use super::event::Sha;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Status {
    state: String,
    context: String,
    description: Option<String>,
    target_url: Option<String>,
}

#[derive(Deserialize)]
struct Checks {
    check_runs: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    external_id: Option<String>,
}

/// The status that a run newer than the one of this page gave the commit under this context, to be given again. `page` ends
/// with the run's number; a status belongs to a run by the page that it leads to.
pub(super) async fn status(api: &Api<'_>, sha: &Sha, context: &str, page: &str) -> Option<Value> {
    let (pages, own) = page.rsplit_once('/')?;
    let own: u64 = own.parse().ok()?;
    let run = |status: &Status| -> Option<u64> {
        status.target_url.as_deref()?.strip_prefix(pages)?.strip_prefix('/')?.parse().ok()
    };
    let statuses: Vec<Status> = api.get(&format!("commits/{sha}/statuses?per_page=100")).await.ok()?;
    let ours = statuses.into_iter().filter(|status| status.context.eq_ignore_ascii_case(context));
    // The list begins with the newest status; of two of one run the last one counts here.
    let runs: Vec<(u64, Status)> = ours.filter_map(|status| Some((run(&status)?, status))).collect();
    let (_, newest) = runs.into_iter().rev().filter(|(run, _)| *run > own).max_by_key(|(run, _)| *run)?;
    let Status { state, context, description, target_url } = newest;
    Some(json!({ "state": state, "context": context, "description": description, "target_url": target_url }))
}

/// What a check run says of the run and the attempt that made it.
pub(super) fn external_id((run, attempt): (u64, u64)) -> String {
    format!("{run}.{attempt}")
}

/// Whether a newer run has given the commit a check run of this name.
pub(super) async fn check(api: &Api<'_>, sha: &Sha, name: &str, own: (u64, u64)) -> bool {
    let path = format!("commits/{sha}/check-runs?check_name={}&per_page=100", encoded(name));
    let Ok(Checks { check_runs }) = api.get::<Checks>(&path).await else { return false };
    let run = |check: &Check| -> Option<(u64, u64)> {
        let (run, attempt) = check.external_id.as_deref()?.split_once('.')?;
        Some((run.parse().ok()?, attempt.parse().ok()?))
    };
    check_runs.iter().filter_map(run).any(|run| run > own)
}
