//! The one comment of an audit on a pull request: found again by its marker, updated in place.
//!
//! There is no way to write a comment only if nobody else has, so every write is followed by another look, until what
//! stands there is the newest of all: the comment with the lowest id stays, and holds the text of the newest run. An older run
//! may have looked before that write and write after it, so what was written is looked at once more a little later.

use super::api::{Api, is_uncertain};
use super::draws::Draws;
use super::marker::Marker;
use super::options::CommentMode;
use super::refusal::Refusal;
use serde::Deserialize;

/// The name under which a workflow's own token writes.
const WORKFLOW_TOKEN: &str = "github-actions[bot]";

/// Looks at most. Each ends settled, or with a write after which somebody else may have written.
const LOOKS: u32 = 9;

/// What a comment came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// There was none; now there is one. Its page.
    Created(String),
    /// It holds the new text. Its page.
    Updated(String),
    /// It is a newer run's, and stays. Its page.
    Newer(String),
    /// Nothing that the reader does not know already. Its page, where there is one.
    Unneeded(Option<String>),
    /// Another spec of the same name has told of the same commit, and that stays.
    Twin,
}

/// One comment, as far as it matters here.
#[derive(Clone, Debug, Deserialize)]
struct Comment {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    html_url: String,
    #[serde(default)]
    node_id: String,
    user: Option<User>,
}

#[derive(Clone, Debug, Deserialize)]
struct User {
    login: String,
}

/// One of ours, with what its marker says.
#[derive(Clone, Debug)]
struct Ours {
    id: u64,
    node: String,
    url: String,
    body: String,
    marker: Marker,
}

/// What is written: the text with its marker in the last line.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The marker.
    pub marker: Marker,
    /// The whole body.
    pub body: String,
}

/// What becomes of our comment about an earlier commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outdated {
    /// It is updated in place.
    #[default]
    Update,
    /// It is hidden as outdated, and a new one is written.
    Hide,
}

/// Comments that are hidden at most by one run, the newest first.
const HIDDEN: usize = 20;

/// Writes the comment, or leaves what is there; says how many comments were hidden, where that is wanted.
///
/// [`CommentMode::OnChange`] leaves out what tells nothing new: a compatible verdict without any remark where no comment says
/// otherwise.
///
/// # Errors
/// The server refuses.
pub async fn tell(
    api: &Api<'_>,
    number: u64,
    letter: &Letter,
    mode: CommentMode,
    outdated: Outdated,
) -> Result<(Told, Result<usize, Refusal>), Refusal> {
    let me = identity(api).await;
    let (mut wrote, mut looked_again) = (None, false);
    let mut last = Refusal::BadReply;
    for _ in 0..LOOKS {
        let all = find(api, number, &me, &letter.marker.audit).await?;
        if all.iter().any(|comment| letter.marker.is_twin_of(&comment.marker)) {
            return Ok((Told::Twin, Ok(0)));
        }
        if wrote.is_none() && mode == CommentMode::OnChange && is_old_news(&letter.marker, &all) {
            return Ok((Told::Unneeded(all.first().map(|comment| comment.url.clone())), Ok(0)));
        }
        let (ours, earlier) = apart(all, letter, outdated);
        if let Some(newer) = earlier.iter().find(|comment| comment.marker.run > letter.marker.run) {
            return Ok((Told::Newer(newer.url.clone()), hide(api, &ours).await));
        }
        match step(&ours, letter, wrote.is_some()) {
            Step::Settled { .. } if wrote.is_some() && !looked_again => {
                api.pause().await;
                looked_again = true;
                continue;
            }
            Step::Create => match create(api, number, letter).await {
                Ok(()) => wrote = Some(Wrote::Create),
                // Nobody knows whether it was created: the next look tells.
                Err(refusal) if is_uncertain(refusal) => last = refusal,
                Err(refusal) => return Err(refusal),
            },
            Step::Write { id, body } => {
                write(api, id, &body).await?;
                wrote = wrote.or(Some(Wrote::Update));
            }
            Step::Delete(ids) => delete(api, &ids).await?,
            Step::Settled { url, newer } => return Ok((told(url, newer, wrote), hide(api, &earlier).await)),
        }
        looked_again = false;
    }
    Err(last)
}

/// What an audit was drawn as on a pull request so far, as its comments say.
///
/// # Errors
/// The server refuses.
pub(super) async fn draws(api: &Api<'_>, number: u64, audit: &str) -> Result<Draws, Refusal> {
    let mut ours = find(api, number, &identity(api).await, audit).await?;
    ours.sort_by_key(|comment| comment.marker.run);
    Ok(ours.iter().fold(Draws::default(), |mut all, comment| {
        all.join(&comment.marker.draws);
        all
    }))
}

/// The comments that are written into, and those about other commits that are hidden.
fn apart(all: Vec<Ours>, letter: &Letter, outdated: Outdated) -> (Vec<Ours>, Vec<Ours>) {
    match outdated {
        Outdated::Update => (all, Vec::new()),
        Outdated::Hide => all.into_iter().partition(|comment| comment.marker.head == letter.marker.head),
    }
}

/// Hides comments as outdated. Hiding one twice changes nothing.
async fn hide(api: &Api<'_>, comments: &[Ours]) -> Result<usize, Refusal> {
    const HIDE: &str = "mutation($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) \
                        { minimizedComment { isMinimized } } }";
    let mut hidden = 0;
    for comment in comments.iter().rev().take(HIDDEN) {
        let answer = api.graphql(HIDE, &serde_json::json!({ "id": comment.node })).await?;
        let done = answer.pointer("/data/minimizeComment/minimizedComment/isMinimized");
        if done.and_then(serde_json::Value::as_bool) != Some(true) {
            return Err(Refusal::Forbidden);
        }
        hidden += 1;
    }
    Ok(hidden)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrote {
    Create,
    Update,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Create,
    Write { id: u64, body: String },
    Delete(Vec<u64>),
    Settled { url: String, newer: bool },
}

/// What is to be done next about the comments that are there, by ascending id.
fn step(ours: &[Ours], letter: &Letter, wrote: bool) -> Step {
    let Some((keep, others)) = ours.split_first() else { return Step::Create };
    let newest =
        ours.iter().max_by_key(|comment| comment.marker.run).filter(|newest| newest.marker.run > letter.marker.run);
    match newest {
        Some(newest) if newest.marker.run > keep.marker.run => {
            return Step::Write { id: keep.id, body: newest.body.clone() };
        }
        None if !stands(&keep.marker, &letter.marker, wrote) => {
            return Step::Write { id: keep.id, body: letter.body.clone() };
        }
        _ => {}
    }
    if others.is_empty() {
        Step::Settled { url: keep.url.clone(), newer: newest.is_some() }
    } else {
        Step::Delete(others.iter().map(|comment| comment.id).collect())
    }
}

/// Whether the comment says what ours says. Two jobs of one run with one spec are not set against each other.
fn stands(there: &Marker, ours: &Marker, wrote: bool) -> bool {
    there == ours || (wrote && there.run == ours.run)
}

fn told(url: String, newer: bool, wrote: Option<Wrote>) -> Told {
    match (newer, wrote) {
        (true, _) => Told::Newer(url),
        (false, Some(Wrote::Create)) => Told::Created(url),
        (false, Some(Wrote::Update)) => Told::Updated(url),
        (false, None) => Told::Unneeded(Some(url)),
    }
}

/// Whether a compatible verdict would be all that there is to tell: one with remarks has another word.
fn is_old_news(marker: &Marker, ours: &[Ours]) -> bool {
    let newest = ours.iter().max_by_key(|comment| comment.marker.run);
    ["compatible", "unchanged"].contains(&marker.verdict.as_str())
        && newest.is_none_or(|newest| newest.marker.verdict == marker.verdict)
}

/// Whose comments are ours. An app's own token answers here; a workflow's token writes under a known name.
async fn identity(api: &Api<'_>) -> String {
    let answer = api.graphql("query { viewer { login } }", &serde_json::json!({})).await.ok();
    let login = answer.as_ref().and_then(|answer| answer.pointer("/data/viewer/login")?.as_str());
    login.unwrap_or(WORKFLOW_TOKEN).to_owned()
}

/// Our comments of this audit, by ascending id. What others write counts for nothing, whatever it holds.
async fn find(api: &Api<'_>, number: u64, me: &str, audit: &str) -> Result<Vec<Ours>, Refusal> {
    let comments: Vec<Comment> = api.list(&format!("issues/{number}/comments")).await?;
    let mut ours: Vec<Ours> = comments.into_iter().filter_map(|comment| own(comment, me, audit)).collect();
    ours.sort_by_key(|comment| comment.id);
    Ok(ours)
}

fn own(comment: Comment, me: &str, audit: &str) -> Option<Ours> {
    let body = comment.body?;
    let mine = comment.user.is_some_and(|user| user.login.eq_ignore_ascii_case(me));
    let marker = Marker::last_in(&body).filter(|marker| mine && marker.audit == audit)?;
    Some(Ours { id: comment.id, node: comment.node_id, url: page(comment.html_url), body, marker })
}

/// A page's address as it can be written into outputs: a plain one, or none.
fn page(url: String) -> String {
    let plain = url.starts_with("http") && url.bytes().all(|byte| byte.is_ascii_graphic());
    if plain { url } else { String::new() }
}

async fn create(api: &Api<'_>, number: u64, letter: &Letter) -> Result<(), Refusal> {
    let body = serde_json::json!({ "body": letter.body });
    api.create::<Comment>(&format!("issues/{number}/comments"), &body).await.map(|_| ())
}

/// Writes into a comment. One that is gone by now is no fault: the next look tells.
async fn write(api: &Api<'_>, id: u64, body: &str) -> Result<(), Refusal> {
    let body = serde_json::json!({ "body": body });
    match api.patch::<Comment>(&format!("issues/comments/{id}"), &body).await {
        Ok(_) | Err(Refusal::NotFound) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}

async fn delete(api: &Api<'_>, ids: &[u64]) -> Result<(), Refusal> {
    for id in ids {
        api.delete(&format!("issues/comments/{id}")).await?;
    }
    Ok(())
}
