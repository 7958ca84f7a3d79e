//! The one comment of an audit on a pull request: found again by its marker, updated in place.
//!
//! There is no way to write a comment only if nobody else has, so every write is followed by another look, until what
//! stands there is the newest of all: the comment with the lowest id stays, and holds the text of the newest run. An older run
//! may have looked before that write and write after it, so what was written is looked at once more a little later.
//!
//! Nothing is written into a comment but the text that this process rendered. What a comment says is at most given back to that
//! comment, with more draws below it: people may have edited it, and nobody's words are carried elsewhere in our name.

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
    /// Whether a newer run was given the time to bring its text into the first comment.
    waited: bool,
}

/// Our comments of this audit.
#[derive(Debug, Default)]
struct Found {
    /// Those that are whole, by ascending id.
    ours: Vec<Ours>,
    /// Whether there is one whose marker somebody changed, so that nobody knows what it told.
    is_damaged: bool,
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
    /// The server refuses, or a comment cannot be read.
    pub(super) async fn draws(&self) -> Result<Draws, Refusal> {
        match self.find().await? {
            Found { is_damaged: true, .. } => Err(Refusal::Damaged),
            Found { ours, .. } => Ok(joined(&ours)),
        }
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
            let all = self.find().await?.ours;
            if all.iter().any(|comment| letter.marker.is_twin_of(&comment.marker)) {
                return Ok((Told::Twin, Ok(0)));
            }
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
                Step::Wait if !done.waited => {
                    // Twice as long as it takes the newer run to look at what it wrote.
                    self.api.pause().await;
                    self.api.pause().await;
                    done.waited = true;
                    continue;
                }
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
                Step::Wait => self.delete(&but_the_newest(&ours)).await?,
                Step::Delete(ids) => self.delete(&ids).await?,
                Step::Settled { url, newer } => {
                    return Ok((told(url, newer, done.wrote), self.hide(&earlier).await));
                }
            }
            done.looked_again = false;
        }
        Err(last)
    }

    /// Our comments of this audit. What others write counts for nothing, whatever it holds.
    async fn find(&self) -> Result<Found, Refusal> {
        let path = format!("issues/{}/comments", self.number);
        let comments: Vec<Comment> = self.api.settled(&path, |comment: &Comment| comment.id).await?;
        let mut found = Found::default();
        for comment in comments {
            self.take(comment, &mut found);
        }
        found.ours.sort_by_key(|comment| comment.id);
        Ok(found)
    }

    fn take(&self, Comment { id, body, html_url, node_id, author }: Comment, found: &mut Found) {
        let Some(body) = body.filter(|_| self.me.is(&author)) else { return };
        match Marker::below(&body) {
            Ok(Some((text, marker))) if marker.audit == self.audit => {
                found.ours.push(Ours { id, node: node_id, url: page(html_url), text: text.to_owned(), marker });
            }
            Ok(_) => {}
            Err(damaged) => found.is_damaged |= damaged.may_be_of(&self.audit),
        }
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
    Write {
        id: u64,
        body: String,
    },
    Delete(Vec<u64>),
    /// A newer run may be about to bring its text into the first comment; where it is not, all but the newest go.
    Wait,
    Settled {
        url: String,
        newer: bool,
    },
}

/// What is to be done next about the comments that are there, by ascending id. No draw that is known is ever lost.
fn step(ours: &[Ours], letter: &Letter, draws: &Draws, wrote: bool) -> Step {
    let Some((keep, others)) = ours.split_first() else { return Step::Create };
    if let Some(newest) = newest(ours).filter(|newest| newest.marker.run > letter.marker.run) {
        return beside(newest, keep, others, draws);
    }
    let stays = stands(&keep.marker, &letter.marker, wrote);
    let marker = if stays { &keep.marker } else { &letter.marker };
    if *marker != keep.marker || !keep.marker.draws.hold(draws) {
        let text = if marker.text == letter.marker.text { &letter.text } else { &keep.text };
        return Step::Write { id: keep.id, body: body(text, marker, draws) };
    }
    settled(keep, others, false)
}

/// The same where a newer run has written: its text is its own to bring into the first comment.
fn beside(newest: &Ours, keep: &Ours, others: &[Ours], draws: &Draws) -> Step {
    if !newest.marker.draws.hold(draws) {
        return Step::Write { id: newest.id, body: body(&newest.text, &newest.marker, draws) };
    }
    if newest.id == keep.id { settled(keep, others, true) } else { Step::Wait }
}

fn settled(keep: &Ours, others: &[Ours], newer: bool) -> Step {
    if others.is_empty() {
        Step::Settled { url: keep.url.clone(), newer }
    } else {
        Step::Delete(others.iter().map(|comment| comment.id).collect())
    }
}

fn newest(ours: &[Ours]) -> Option<&Ours> {
    ours.iter().max_by_key(|comment| comment.marker.run)
}

fn but_the_newest(ours: &[Ours]) -> Vec<u64> {
    let newest = newest(ours).map(|comment| comment.id);
    ours.iter().map(|comment| comment.id).filter(|id| Some(*id) != newest).collect()
}

/// Whether the comment says what ours says. Two jobs of one run with one spec are not set against each other.
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
    ["compatible", "unchanged"].contains(&marker.verdict.as_str())
        && newest(ours).is_none_or(|newest| newest.marker.verdict == marker.verdict)
}

/// A page's address as it can be written into outputs: a plain one, or none.
fn page(url: String) -> String {
    let plain = url.starts_with("http") && url.bytes().all(|byte| byte.is_ascii_graphic());
    if plain { url } else { String::new() }
}
