//! What an event is about -> the commit and the pull request, checked against the interface.

use super::api::{Api, encoded};
use super::event::{Candidate, Sha, Subject};
use super::refusal::Refusal;
use serde::Deserialize;

#[derive(Deserialize)]
struct PullRequest {
    number: u64,
    state: String,
    head: Head,
    base: Option<Base>,
}

#[derive(Deserialize)]
struct Base {
    #[serde(rename = "ref")]
    branch: Option<String>,
}

/// A pull request that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its number.
    pub number: u64,
    /// The branch that it goes into, where it was asked for.
    pub base: Option<String>,
}

impl PullRequest {
    fn told(self) -> Told {
        Told { number: self.number, base: self.base.and_then(|base| base.branch) }
    }
}

#[derive(Deserialize)]
struct Head {
    sha: String,
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    id: u64,
}

/// The subject, where the caller names a pull request or a commit that the event does not name.
#[must_use]
pub fn named(subject: Subject, pull_request: Option<u64>, head: Option<&str>) -> Subject {
    match (head.map(Sha::parse), pull_request, subject) {
        (Some(None), _, _) => Subject::Unreadable("the commit that was named is not a commit's full name"),
        (Some(Some(sha)), Some(number), _) | (None, Some(number), Subject::Commit { sha, .. }) => {
            Subject::Commit { sha, pull_request: Candidate::Claimed(number) }
        }
        (Some(Some(sha)), None, _) => Subject::Commit { sha, pull_request: Candidate::OfCommit },
        (None, Some(number), _) => Subject::PullRequest(number),
        (None, None, subject) => subject,
    }
}

/// A pull request, or why there is none.
pub type Found = Result<Told, &'static str>;

/// Finds the pull request that is told.
///
/// # Errors
/// The server refuses.
pub async fn resolve(sha: &Sha, candidate: Candidate, api: &Api<'_>) -> Result<Found, Refusal> {
    match candidate {
        Candidate::None => Ok(Err("the event has no pull request")),
        Candidate::Known(number) => Ok(Ok(Told { number, base: None })),
        Candidate::Claimed(number) => claimed(number, sha, api).await,
        Candidate::Queued(number) => queued(number, api).await,
        Candidate::OfCommit => of_commit(sha, api).await,
        Candidate::OfBranch { head, repository } => of_branch(&head, repository, sha, api).await,
    }
}

/// Why nobody is told.
pub const NO_REQUEST: &str = "there is no such pull request";

/// The head of a pull request; none where there is no such pull request.
///
/// # Errors
/// The server refuses.
pub async fn head(number: u64, api: &Api<'_>) -> Result<Option<Sha>, Refusal> {
    match request(number, api).await? {
        Some(request) => Sha::parse(&request.head.sha).map(Some).ok_or(Refusal::BadReply),
        None => Ok(None),
    }
}

async fn request(number: u64, api: &Api<'_>) -> Result<Option<PullRequest>, Refusal> {
    match api.get::<PullRequest>(&format!("pulls/{number}")).await {
        Ok(request) if request.number == number => Ok(Some(request)),
        Ok(_) => Err(Refusal::BadReply),
        Err(Refusal::NotFound) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// One that is known to be there. Where the server finds nothing, the token may not see it: nobody knows what stands there then.
async fn known(number: u64, api: &Api<'_>) -> Result<PullRequest, Refusal> {
    request(number, api).await?.ok_or(Refusal::NotFound)
}

/// The number may come from an artifact or from a person: the server has to say that its head is the commit.
async fn claimed(number: u64, sha: &Sha, api: &Api<'_>) -> Result<Found, Refusal> {
    let request = known(number, api).await?;
    let is_its_head = request.head.sha == sha.as_str();
    Ok(if is_its_head { Ok(request.told()) } else { Err("the pull request's head is another commit") })
}

async fn queued(number: u64, api: &Api<'_>) -> Result<Found, Refusal> {
    let request = known(number, api).await?;
    Ok(if request.state == "open" { Ok(request.told()) } else { Err("the queued pull request is closed") })
}

async fn of_commit(sha: &Sha, api: &Api<'_>) -> Result<Found, Refusal> {
    match api.list(&format!("commits/{sha}/pulls")).await {
        Ok(requests) => Ok(first_open(requests, sha, None)),
        // A commit that the server does not know has no pull request here. What it says not to find the token may not see.
        Err(Refusal::Unprocessable) => Ok(Err(NONE)),
        Err(refusal) => Err(refusal),
    }
}

async fn of_branch(head: &str, repository: u64, sha: &Sha, api: &Api<'_>) -> Result<Found, Refusal> {
    let requests = api.list(&format!("pulls?state=open&head={}", encoded(head))).await?;
    Ok(first_open(requests, sha, Some(repository)))
}

const NONE: &str = "no open pull request has this commit as its head";

fn first_open(requests: Vec<PullRequest>, sha: &Sha, repository: Option<u64>) -> Found {
    let fits = |request: &PullRequest| {
        let here = request.head.repo.as_ref().map(|found| found.id);
        let same = repository.is_none() || here == repository;
        request.state == "open" && request.head.sha == sha.as_str() && same
    };
    requests.into_iter().filter(fits).min_by_key(|request| request.number).map(PullRequest::told).ok_or(NONE)
}
