//! The marks of one name that a commit has. The server lets the one that was made last count, whatever run made it, so that an
//! older run leaves a newer one's alone. And a mark belongs to the commit, whatever pull request it was made for: one that says
//! `incompatible` is a draw of its audit for each of them.

use super::api::{Api, encoded};
use super::draws::{Draw, Draws};
use super::event::Sha;
use super::refusal::Refusal;
use super::twin;
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
    /// The spec that it is of, where it says so.
    spec: Option<String>,
    /// The draw that it says blocks.
    draw: Option<Draw>,
    /// What gives it to the commit once more.
    again: Value,
}

/// What marking a commit came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// The mark stands as a whole.
    Whole,
    /// A newer run has given the commit one.
    Newer,
    /// Another spec of the same name has given it one, so that ours says that.
    Twin,
    /// The mark stands, but not all of its remarks do.
    WithoutAllRemarks(Refusal),
}

/// The marks, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<Mark>);

impl Marks {
    /// The draws that they say block.
    pub(super) fn draws(&self) -> Draws {
        self.0.iter().filter_map(|mark| mark.draw.clone()).collect()
    }

    /// Whether another spec than this one has marked the commit.
    pub(super) fn are_of_two(&self, spec: Option<&str>) -> bool {
        self.0.iter().any(|mark| twin::are_two(spec, mark.spec.as_deref()))
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
        Some((twin::parted(target).0.strip_prefix(pages?)?.strip_prefix('/')?.parse().ok()?, 0))
    };
    let all: Vec<Status> = api.list(&format!("commits/{sha}/statuses")).await?;
    let ours = all.into_iter().filter(|status| status.context.eq_ignore_ascii_case(context));
    let mark = |Status { state, context, description, target_url }| Mark {
        run: target_url.as_deref().and_then(run),
        spec: target_url.as_deref().and_then(|target| twin::parted(target).1).map(str::to_owned),
        draw: description.as_deref().filter(|_| state == "failure").and_then(Draw::signed),
        again: json!({ "state": state, "context": context, "description": description, "target_url": target_url }),
    };
    // The list begins with the newest one.
    let newest_first: Vec<Mark> = ours.map(mark).collect();
    Ok(Marks(newest_first.into_iter().rev().collect()))
}

/// What a check run says of the run and the attempt that made it, and of the spec.
pub(super) fn external_id((run, attempt): (u64, u64), spec: Option<&str>) -> String {
    spec.map_or_else(|| format!("{run}.{attempt}"), |spec| format!("{run}.{attempt}.{spec}"))
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
        let mut parts = id.splitn(3, '.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let mark = |Check { external_id, conclusion, output, .. }| {
        let title = output.and_then(|Output { title }| title);
        Mark {
            run: external_id.as_deref().and_then(run),
            spec: external_id.as_deref().and_then(|id| id.splitn(3, '.').nth(2)).map(str::to_owned),
            draw: title.as_deref().filter(|_| conclusion.as_deref() == Some("failure")).and_then(Draw::signed),
            again: Value::Null,
        }
    };
    Ok(Marks(all.into_iter().map(mark).collect()))
}
