//! The marks of one name that a commit has. The server lets the one that was made last count, whatever run made it, so that an
//! older run leaves a newer one's alone. And a mark belongs to the commit, whatever pull request it was made for: one that says
//! `incompatible` is a draw of its audit for each of them.

use super::api::{Api, encoded};
use super::draws::{Draw, Draws};
use super::event::Sha;
use super::maker::Maker;
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
    /// Who made it.
    maker: Maker,
    /// Whether it lets the commit pass nowhere.
    blocks: Option<Blocks>,
    /// What it says.
    line: String,
    /// The draw that it says blocks.
    draw: Option<Draw>,
    /// What gives it to the commit once more.
    again: Value,
}

/// How a mark keeps a commit from being merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// By a verdict.
    Failure,
    /// Because there is none.
    Error,
}

/// A mark by the rule of another base branch, which keeps its commit from being merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// Who made it.
    pub maker: Maker,
    /// What it says.
    pub blocks: Blocks,
}

/// What marking a commit came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// The mark stands as a whole.
    Whole,
    /// A newer run has given the commit one.
    Newer,
    /// Another spec of the same name has given it one, so that ours says that.
    Twin,
    /// One by the rule of another base branch stands, so that ours must say that.
    Elsewhere(Elsewhere),
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
        self.0.iter().any(|mark| mark.maker.is_twin_of(spec))
    }

    /// The mark that another base branch's rule holds the commit up by: the last one of its branch, since what was mended there holds
    /// nobody up. One that no run of this repository made is nobody's.
    pub(super) fn elsewhere(&self, base: Option<&str>) -> Option<Elsewhere> {
        let mut told = Vec::new();
        for Mark { maker, blocks, .. } in self.0.iter().rev().filter(|mark| mark.maker.run.is_some()) {
            let is_last = !told.contains(&&maker.base);
            told.push(&maker.base);
            if let (true, true, Some(blocks)) = (is_last, maker.is_of_another_base(base), *blocks) {
                return Some(Elsewhere { maker: maker.clone(), blocks });
            }
        }
        None
    }

    /// What gives the commit the mark of the newest run once more, where that is newer than this one. By the rule of another base branch
    /// none is newer, and neither is a pass of the audit whose block stands: both would keep it from being told. `standing` is what
    /// the lines of that audit end with.
    pub(super) fn newer(&self, own: (u64, u64), base: Option<&str>, standing: Option<&str>) -> Option<&Value> {
        let is_passed = |mark: &Mark| mark.blocks.is_none() && standing.is_some_and(|sign| mark.line.ends_with(sign));
        let ours = self.0.iter().filter(|mark| !mark.maker.is_of_another_base(base) && !is_passed(mark));
        let runs = ours.filter_map(|mark| Some((mark.maker.run?, &mark.again)));
        runs.filter(|(run, _)| *run > own).max_by_key(|(run, _)| *run).map(|(_, again)| again)
    }
}

/// The statuses of this context. `page` is that of any run; a status belongs to a run by the page that it leads to.
///
/// # Errors
/// The server refuses.
pub(super) async fn statuses(api: &Api<'_>, sha: &Sha, context: &str, page: Option<&str>) -> Result<Marks, Refusal> {
    let all: Vec<Status> = api.list(&format!("commits/{sha}/statuses")).await?;
    let ours = all.into_iter().filter(|status| status.context.eq_ignore_ascii_case(context));
    let mark = |Status { state, context, description, target_url }| Mark {
        maker: target_url.as_deref().map(|target| Maker::of_address(target, page)).unwrap_or_default(),
        blocks: match state.as_str() {
            "failure" => Some(Blocks::Failure),
            "error" => Some(Blocks::Error),
            _ => None,
        },
        line: description.clone().unwrap_or_default(),
        draw: description.as_deref().filter(|_| state == "failure").and_then(Draw::signed),
        again: json!({ "state": state, "context": context, "description": description, "target_url": target_url }),
    };
    // The list begins with the newest one.
    let newest_first: Vec<Mark> = ours.map(mark).collect();
    Ok(Marks(newest_first.into_iter().rev().collect()))
}

/// The check runs of this name, those that later ones of their suite took the place of among them.
///
/// # Errors
/// The server refuses.
pub(super) async fn checks(api: &Api<'_>, sha: &Sha, name: &str) -> Result<Marks, Refusal> {
    let path = format!("commits/{sha}/check-runs?check_name={}&filter=all", encoded(name));
    let mut all = api.pages(&path, |Checks { check_runs }| check_runs).await?;
    all.sort_by_key(|check| check.id);
    let mark = |Check { external_id, conclusion, output, .. }| {
        let title = output.and_then(|Output { title }| title);
        let fails = conclusion.as_deref() == Some("failure");
        Mark {
            maker: external_id.as_deref().map(Maker::of_external_id).unwrap_or_default(),
            blocks: fails.then_some(Blocks::Failure),
            draw: title.as_deref().filter(|_| fails).and_then(Draw::signed),
            line: title.unwrap_or_default(),
            again: Value::Null,
        }
    };
    Ok(Marks(all.into_iter().map(mark).collect()))
}
