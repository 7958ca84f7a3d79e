//! What an event is about -> the commit and the pull request, checked against the interface.

use super::api::{Api, encoded};
use super::event::{Candidate, Sha, Subject};
use super::refusal::Refusal;
use serde::Deserialize;

/// What is marked and who is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The commit to mark.
    pub sha: Sha,
    /// The pull request to tell.
    pub pull_request: Option<u64>,
    /// Why there is no pull request although one was looked for.
    pub without: Option<&'static str>,
}

#[derive(Deserialize)]
struct PullRequest {
    number: u64,
    state: String,
    head: Head,
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
    let sha = match (head, &subject) {
        (Some(head), _) => Sha::parse(head),
        (None, Subject::Commit { sha, .. }) => Some(sha.clone()),
        (None, Subject::Nothing(_) | Subject::Unreadable(_)) => None,
    };
    match (sha, pull_request, subject) {
        (None, None, subject) if head.is_none() => subject,
        (None, _, _) => Subject::Nothing("the commit that was named is not a commit's full name"),
        (Some(sha), Some(number), _) => Subject::Commit { sha, pull_request: Candidate::Claimed(number) },
        (Some(sha), None, Subject::Commit { pull_request, .. }) if head.is_none() => {
            Subject::Commit { sha, pull_request }
        }
        (Some(sha), None, _) => Subject::Commit { sha, pull_request: Candidate::OfCommit },
    }
}

/// Finds the pull request, or why there is none.
///
/// # Errors
/// The server refuses.
pub async fn resolve(sha: Sha, candidate: Candidate, api: &Api<'_>) -> Result<Target, Refusal> {
    let found = match candidate {
        Candidate::None => None,
        Candidate::Known(number) => Some(Ok(number)),
        Candidate::Claimed(number) => Some(claimed(number, &sha, api).await?),
        Candidate::Queued(number) => Some(queued(number, api).await?),
        Candidate::OfCommit => Some(of_commit(&sha, api).await?),
        Candidate::OfBranch { head, repository } => Some(of_branch(&head, repository, &sha, api).await?),
    };
    let (pull_request, without) = match found {
        None => (None, None),
        Some(Ok(number)) => (Some(number), None),
        Some(Err(why)) => (None, Some(why)),
    };
    Ok(Target { sha, pull_request, without })
}

type Found = Result<u64, &'static str>;

/// The number may come from an artifact or from a person: the server has to say that its head is the commit.
async fn claimed(number: u64, sha: &Sha, api: &Api<'_>) -> Result<Found, Refusal> {
    let request: PullRequest = match api.get(&format!("pulls/{number}")).await {
        Ok(request) => request,
        Err(Refusal::NotFound) => return Ok(Err("there is no such pull request")),
        Err(refusal) => return Err(refusal),
    };
    let same = request.number == number && request.head.sha == sha.as_str();
    Ok(if same { Ok(number) } else { Err("the pull request's head is another commit") })
}

async fn queued(number: u64, api: &Api<'_>) -> Result<Found, Refusal> {
    let request: PullRequest = match api.get(&format!("pulls/{number}")).await {
        Ok(request) => request,
        Err(Refusal::NotFound) => return Ok(Err("there is no such pull request")),
        Err(refusal) => return Err(refusal),
    };
    Ok(if request.state == "open" { Ok(request.number) } else { Err("the queued pull request is closed") })
}

async fn of_commit(sha: &Sha, api: &Api<'_>) -> Result<Found, Refusal> {
    match api.list(&format!("commits/{sha}/pulls")).await {
        Ok(requests) => Ok(first_open(requests, sha, None)),
        // A commit that the server does not know has no pull request here.
        Err(Refusal::NotFound | Refusal::Unprocessable) => Ok(Err(NONE)),
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
    requests.into_iter().filter(fits).map(|request| request.number).min().ok_or(NONE)
}
