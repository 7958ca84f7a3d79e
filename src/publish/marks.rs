//! The marks of one name that a commit has. The server lets the one that was made last count, whatever run made it, so that an
//! older run leaves a newer one's alone. And a mark belongs to the commit, whatever pull request it was made for: one that says
//! `incompatible` is a draw of its audit for each of them.

use super::api::{Api, encoded};
use super::draws::{Draw, Draws};
use super::event::Sha;
use super::refusal::Refusal;
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
    id: u64,
    external_id: Option<String>,
    conclusion: Option<String>,
    output: Option<Output>,
}

#[derive(Deserialize)]
struct Output {
    title: Option<String>,
}

#[derive(Debug)]
struct Mark {
    /// The run and the attempt that made it, where it says so. The attempt of a status is not known.
    run: Option<(u64, u64)>,
    /// The draw that it says blocks.
    draw: Option<Draw>,
    /// What gives it to the commit once more.
    again: Value,
}

/// The marks, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<Mark>);

impl Marks {
    /// The draws that they say block.
    pub(super) fn draws(&self) -> Draws {
        self.0.iter().filter_map(|mark| mark.draw.clone()).collect()
    }

    /// What gives the commit the mark of the newest run once more, where that is newer than this one.
    pub(super) fn newer(&self, own: (u64, u64)) -> Option<&Value> {
        let runs = self.0.iter().filter_map(|mark| Some((mark.run?, &mark.again)));
        runs.filter(|(run, _)| *run > own).max_by_key(|(run, _)| *run).map(|(_, again)| again)
    }
}

/// The statuses of this context. `page` is that of a run and ends with its number; a status belongs to a run by the page that it
/// leads to.
///
/// # Errors
/// The server refuses.
pub(super) async fn statuses(api: &Api<'_>, sha: &Sha, context: &str, page: Option<&str>) -> Result<Marks, Refusal> {
    let pages = page.and_then(|page| page.rsplit_once('/')).map(|(pages, _)| pages);
    let run = |target: &str| -> Option<(u64, u64)> {
        Some((target.strip_prefix(pages?)?.strip_prefix('/')?.parse().ok()?, 0))
    };
    let all: Vec<Status> = api.list(&format!("commits/{sha}/statuses")).await?;
    let ours = all.into_iter().filter(|status| status.context.eq_ignore_ascii_case(context));
    let mark = |Status { state, context, description, target_url }| Mark {
        run: target_url.as_deref().and_then(run),
        draw: description.as_deref().filter(|_| state == "failure").and_then(Draw::signed),
        again: json!({ "state": state, "context": context, "description": description, "target_url": target_url }),
    };
    // The list begins with the newest one.
    let newest_first: Vec<Mark> = ours.map(mark).collect();
    Ok(Marks(newest_first.into_iter().rev().collect()))
}

/// What a check run says of the run and the attempt that made it.
pub(super) fn external_id((run, attempt): (u64, u64)) -> String {
    format!("{run}.{attempt}")
}

/// The check runs of this name, those that later ones of their suite took the place of among them.
///
/// # Errors
/// The server refuses.
pub(super) async fn checks(api: &Api<'_>, sha: &Sha, name: &str) -> Result<Marks, Refusal> {
    let path = format!("commits/{sha}/check-runs?check_name={}&filter=all", encoded(name));
    let mut all = api.pages(&path, |Checks { check_runs }| check_runs).await?;
    all.sort_by_key(|check| check.id);
    let run = |id: &str| -> Option<(u64, u64)> {
        let (run, attempt) = id.split_once('.')?;
        Some((run.parse().ok()?, attempt.parse().ok()?))
    };
    let mark = |Check { external_id, conclusion, output, .. }| {
        let title = output.and_then(|Output { title }| title);
        Mark {
            run: external_id.as_deref().and_then(run),
            draw: title.as_deref().filter(|_| conclusion.as_deref() == Some("failure")).and_then(Draw::signed),
            again: Value::Null,
        }
    };
    Ok(Marks(all.into_iter().map(mark).collect()))
}
