//! The one comment of an audit on a pull request: found again by its marker, updated in place.
//!
//! There is no way to write a comment only if nobody else has, so every write is followed by another look, until what
//! stands there is the newest of all: the comment with the lowest id stays, and holds the text of the newest run. An older run
//! may have looked before that write and write after it, so what was written is looked at once more a little later.

use super::api::{Api, is_uncertain};
use super::draws::Draws;
use super::identity::{Author, Me, identity};
use super::marker::Marker;
use super::options::CommentMode;
use super::refusal::Refusal;
use serde::Deserialize;

/// Looks at most. Each ends settled, or with a write after which somebody else may have written.
const LOOKS: u32 = 9;

/// Looks in vain for a comment that the server said it has made, before that is believed. Lists may be behind.
const LATE: u32 = 3;

/// What a comment came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// There was none; now there is one. Its page.
    Created(String),
    /// It holds the new text. Its page.
    Updated(String),
    /// It is a newer run's, and stays. Its page.
    Newer(String),
    /// Nothing that the reader does not know already. Its page, where there is one.
    Unneeded(Option<String>),
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
    #[serde(flatten)]
    author: Author,
}

/// One of ours, with what its marker says.
#[derive(Clone, Debug)]
struct Ours {
    id: u64,
    node: String,
    url: String,
    text: String,
    marker: Marker,
}

/// What is written: the text with its marker in the last line.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// The text.
    pub text: String,
    /// The marker.
    pub marker: Marker,
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

/// The comments of one audit on one pull request.
#[derive(Debug)]
pub(super) struct Thread<'a> {
    api: &'a Api<'a>,
    number: u64,
    audit: String,
    me: Me,
}

/// What has been done so far about the comment.
#[derive(Debug, Default)]
struct Done {
    wrote: Option<Wrote>,
    /// The page of the comment that the server said it has made. It is never made twice.
    made: Option<String>,
    /// Looks that did not find it.
    late: u32,
    /// Whether what was written has been looked at once more.
    looked_again: bool,
}

impl<'a> Thread<'a> {
    /// Asks whose comments are ours.
    ///
    /// # Errors
    /// The server fails, so that nobody knows.
    pub(super) async fn open(api: &'a Api<'a>, number: u64, audit: &str) -> Result<Self, Refusal> {
        Ok(Self { api, number, audit: audit.to_owned(), me: identity(api).await? })
    }

    /// What the audit was drawn as on the pull request so far, as its comments say.
    ///
    /// # Errors
    /// The server refuses.
    pub(super) async fn draws(&self) -> Result<Draws, Refusal> {
        Ok(joined(&self.find().await?))
    }

    /// Writes the comment, or leaves what is there; says how many comments were hidden, where that is wanted. Whatever is
    /// written has the draws of all comments that were found.
    ///
    /// [`CommentMode::OnChange`] leaves out what tells nothing new: a compatible verdict without any remark where no comment says
    /// otherwise.
    ///
    /// # Errors
    /// The server refuses.
    pub(super) async fn tell(
        mut self,
        letter: &Letter,
        mode: CommentMode,
        outdated: Outdated,
    ) -> Result<(Told, Result<usize, Refusal>), Refusal> {
        let (mut done, mut draws, mut last) = (Done::default(), letter.marker.draws.clone(), Refusal::BadReply);
        for _ in 0..LOOKS {
            let all = self.find().await?;
            if done.wrote.is_none() && mode == CommentMode::OnChange && is_old_news(&letter.marker, &all) {
                return Ok((Told::Unneeded(all.first().map(|comment| comment.url.clone())), Ok(0)));
            }
            draws = together(joined(&all), &draws);
            let (ours, earlier) = apart(all, letter, outdated);
            if let Some(newer) = earlier.iter().find(|comment| comment.marker.run > letter.marker.run) {
                if !newer.marker.draws.hold(&draws) {
                    self.write(newer.id, &body(&newer.text, &newer.marker, &draws)).await?;
                }
                return Ok((Told::Newer(newer.url.clone()), self.hide(&ours).await));
            }
            match step(&ours, letter, &draws, done.wrote.is_some()) {
                Step::Settled { .. } if done.wrote.is_some() && !done.looked_again => {
                    self.api.pause().await;
                    done.looked_again = true;
                    continue;
                }
                Step::Create if done.made.is_some() && done.late < LATE => {
                    self.api.pause().await;
                    done.late += 1;
                }
                Step::Create => match done.made {
                    Some(url) => return Ok((Told::Created(url), self.hide(&earlier).await)),
                    None => match self.create(&body(&letter.text, &letter.marker, &draws)).await {
                        Ok(url) => (done.wrote, done.made) = (Some(Wrote::Create), Some(url)),
                        // Nobody knows whether it was created: the next look tells, a little later.
                        Err(refusal) if is_uncertain(refusal) => {
                            self.api.pause().await;
                            last = refusal;
                        }
                        Err(refusal) => return Err(refusal),
                    },
                },
                Step::Write { id, body } => {
                    self.write(id, &body).await?;
                    done.wrote = done.wrote.or(Some(Wrote::Update));
                }
                Step::Delete(ids) => self.delete(&ids).await?,
                Step::Settled { url, newer } => {
                    return Ok((told(url, newer, done.wrote), self.hide(&earlier).await));
                }
            }
            done.looked_again = false;
        }
        Err(last)
    }

    /// Our comments of this audit, by ascending id. What others write counts for nothing, whatever it holds.
    async fn find(&self) -> Result<Vec<Ours>, Refusal> {
        let comments: Vec<Comment> = self.api.list(&format!("issues/{}/comments", self.number)).await?;
        let mut ours: Vec<Ours> = comments.into_iter().filter_map(|comment| self.own(comment)).collect();
        ours.sort_by_key(|comment| comment.id);
        Ok(ours)
    }

    fn own(&self, comment: Comment) -> Option<Ours> {
        let Comment { id, body, html_url, node_id, author } = comment;
        let body = body.filter(|_| self.me.is(&author))?;
        let (text, marker) = Marker::below(&body).filter(|(_, marker)| marker.audit == self.audit)?;
        Some(Ours { id, node: node_id, url: page(html_url), text: text.to_owned(), marker })
    }

    /// Makes the comment and gives back its page. From then on it is known whose comments are ours.
    async fn create(&mut self, body: &str) -> Result<String, Refusal> {
        let path = format!("issues/{}/comments", self.number);
        let made: Comment = self.api.create(&path, &serde_json::json!({ "body": body })).await?;
        self.me.learn(made.author);
        Ok(page(made.html_url))
    }

    /// Writes into a comment. One that is gone by now is no fault: the next look tells.
    async fn write(&self, id: u64, body: &str) -> Result<(), Refusal> {
        let body = serde_json::json!({ "body": body });
        match self.api.patch::<Comment>(&format!("issues/comments/{id}"), &body).await {
            Ok(_) | Err(Refusal::NotFound) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    async fn delete(&self, ids: &[u64]) -> Result<(), Refusal> {
        for id in ids {
            self.api.delete(&format!("issues/comments/{id}")).await?;
        }
        Ok(())
    }

    /// Hides comments as outdated. Hiding one twice changes nothing.
    async fn hide(&self, comments: &[Ours]) -> Result<usize, Refusal> {
        const HIDE: &str = "mutation($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) \
                            { minimizedComment { isMinimized } } }";
        let mut hidden = 0;
        for comment in comments.iter().rev().take(HIDDEN) {
            let answer = self.api.graphql(HIDE, &serde_json::json!({ "id": comment.node })).await?;
            let done = answer.pointer("/data/minimizeComment/minimizedComment/isMinimized");
            if done.and_then(serde_json::Value::as_bool) != Some(true) {
                return Err(Refusal::Forbidden);
            }
            hidden += 1;
        }
        Ok(hidden)
    }
}

/// The draws of all comments, those of the oldest run first.
fn joined(ours: &[Ours]) -> Draws {
    let mut markers: Vec<&Marker> = ours.iter().map(|comment| &comment.marker).collect();
    markers.sort_by_key(|marker| marker.run);
    markers.into_iter().fold(Draws::default(), |all, marker| together(all, &marker.draws))
}

fn together(mut draws: Draws, others: &Draws) -> Draws {
    draws.join(others);
    draws
}

/// A comment's body.
fn body(text: &str, marker: &Marker, draws: &Draws) -> String {
    format!("{text}\n\n{}", Marker { draws: draws.clone(), ..marker.clone() })
}

/// The comments that are written into, and those about other commits that are hidden.
fn apart(all: Vec<Ours>, letter: &Letter, outdated: Outdated) -> (Vec<Ours>, Vec<Ours>) {
    match outdated {
        Outdated::Update => (all, Vec::new()),
        Outdated::Hide => all.into_iter().partition(|comment| comment.marker.head == letter.marker.head),
    }
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

/// What is to be done next about the comments that are there, by ascending id. No draw that is known is ever lost.
fn step(ours: &[Ours], letter: &Letter, draws: &Draws, wrote: bool) -> Step {
    let Some((keep, others)) = ours.split_first() else { return Step::Create };
    let newest =
        ours.iter().max_by_key(|comment| comment.marker.run).filter(|newest| newest.marker.run > letter.marker.run);
    let (text, marker) = match newest {
        Some(newest) if newest.marker.run > keep.marker.run => (&newest.text, &newest.marker),
        None if !stands(&keep.marker, &letter.marker, wrote) => (&letter.text, &letter.marker),
        _ => (&keep.text, &keep.marker),
    };
    if *marker != keep.marker || !keep.marker.draws.hold(draws) {
        return Step::Write { id: keep.id, body: body(text, marker, draws) };
    }
    if others.is_empty() {
        Step::Settled { url: keep.url.clone(), newer: newest.is_some() }
    } else {
        Step::Delete(others.iter().map(|comment| comment.id).collect())
    }
}

/// Whether the comment says what ours says. Two jobs of one run with one audit's name are not set against each other.
fn stands(there: &Marker, ours: &Marker, wrote: bool) -> bool {
    let same = Marker { draws: there.draws.clone(), ..ours.clone() } == *there;
    same || (wrote && there.run == ours.run)
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

/// A page's address as it can be written into outputs: a plain one, or none.
fn page(url: String) -> String {
    let plain = url.starts_with("http") && url.bytes().all(|byte| byte.is_ascii_graphic());
    if plain { url } else { String::new() }
}
