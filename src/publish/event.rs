//! Event -> what it is about: the commit to mark and the pull request to tell. Pure; the payload is not trusted.

use serde::Deserialize;
use std::fmt;

/// A commit's name: 40 or 64 lower-case hexadecimal digits, not all of them zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sha(String);

impl Sha {
    /// Reads a commit's name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let named = matches!(text.len(), 40 | 64) && digits && text.bytes().any(|byte| byte != b'0');
        named.then(|| Self(text.to_owned()))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A commit, and perhaps a pull request.
    Commit {
        /// The commit to mark.
        sha: Sha,
        /// Which pull request it belongs to.
        pull_request: Candidate,
    },
    /// A pull request that somebody names where the event is about no commit: its head is the commit to mark.
    PullRequest(u64),
    /// Nothing that could be marked: the result is neutral. The reason is a phrase of ours.
    Nothing(&'static str),
    /// Something that cannot be read: what was to be published is not. The reason is a phrase of ours.
    Unreadable(&'static str),
}

/// A pull request, as far as the event tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// There is none.
    None,
    /// The event is this pull request's own.
    Known(u64),
    /// Somebody says that it is this one; its head has to be the commit.
    Claimed(u64),
    /// One that waits in the merge queue: it is open, and its head is not the commit.
    Queued(u64),
    /// The open one whose head is the commit.
    OfCommit,
    /// The open one from this branch, whose head is the commit and lies in this repository.
    OfBranch {
        /// `owner:branch`, as written in the payload.
        head: String,
        /// The id of the repository the branch lies in.
        repository: u64,
    },
}

#[derive(Deserialize)]
struct Payload {
    number: Option<u64>,
    pull_request: Option<PullRequest>,
    merge_group: Option<MergeGroup>,
    workflow_run: Option<WorkflowRun>,
    deleted: Option<bool>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    after: Option<String>,
    head_commit: Option<Commit>,
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct PullRequest {
    number: Option<u64>,
    head: Head,
    base: Option<Base>,
}

#[derive(Deserialize)]
struct Base {
    #[serde(rename = "ref")]
    branch: Option<String>,
}

#[derive(Deserialize)]
struct Head {
    sha: String,
}

#[derive(Deserialize)]
struct MergeGroup {
    head_sha: String,
    head_ref: String,
    base_ref: Option<String>,
}

#[derive(Deserialize)]
struct Commit {
    id: String,
}

#[derive(Deserialize)]
struct Repository {
    id: u64,
    owner: Option<Owner>,
    default_branch: Option<String>,
}

#[derive(Deserialize)]
struct Owner {
    login: String,
}

#[derive(Deserialize)]
struct WorkflowRun {
    head_sha: String,
    head_branch: Option<String>,
    head_repository: Option<Repository>,
    pull_requests: Option<Vec<RunPullRequest>>,
}

#[derive(Deserialize)]
struct RunPullRequest {
    number: u64,
    head: Head,
    base: RunBase,
}

#[derive(Deserialize)]
struct RunBase {
    repo: RunRepository,
}

#[derive(Deserialize)]
struct RunRepository {
    id: u64,
}

/// What an event is about. `sha` is the commit that the workflow runs for.
#[must_use]
pub fn subject(event_name: &str, payload: &[u8], sha: &str) -> Subject {
    let about_sha = || commit(sha, Candidate::None);
    if matches!(event_name, "schedule" | "workflow_dispatch" | "repository_dispatch") {
        return about_sha();
    }
    let Ok(payload) = serde_json::from_slice::<Payload>(payload) else {
        return match event_name {
            "" => Subject::Nothing("there is no event"),
            _ => Subject::Unreadable("the event's payload cannot be read"),
        };
    };
    match event_name {
        "pull_request" | "pull_request_target" | "pull_request_review" | "pull_request_review_comment" => {
            of_pull_request(&payload)
        }
        "merge_group" => of_merge_group(&payload),
        "push" => of_push(&payload, sha),
        "workflow_run" => of_workflow_run(&payload),
        _ => Subject::Nothing("this event names no commit that an audit could mark"),
    }
}

/// Whether the workflow runs for the default branch: what lies there was agreed to. `sha` of such an event is its tip.
#[must_use]
pub fn is_of_default_branch(event_name: &str, payload: &[u8]) -> bool {
    if matches!(event_name, "schedule" | "repository_dispatch") {
        return true;
    }
    let Ok(payload) = serde_json::from_slice::<Payload>(payload) else { return false };
    let branch = payload.reference.as_deref().and_then(|reference| reference.strip_prefix("refs/heads/"));
    let default = payload.repository.as_ref().and_then(|repository| repository.default_branch.as_deref());
    matches!(event_name, "push" | "workflow_dispatch") && branch.is_some() && branch == default
}

/// The branch whose rule an event's audit is judged by, where the event tells: what a pull request or a merge group goes into, else
/// the default branch.
#[must_use]
pub fn base_branch(event_name: &str, payload: &[u8]) -> Option<String> {
    let payload = serde_json::from_slice::<Payload>(payload).ok()?;
    if event_name.starts_with("pull_request") {
        return payload.pull_request?.base?.branch;
    }
    if event_name == "merge_group" {
        let base = payload.merge_group?.base_ref?;
        return Some(base.strip_prefix("refs/heads/").unwrap_or(&base).to_owned());
    }
    payload.repository?.default_branch
}

fn commit(sha: &str, pull_request: Candidate) -> Subject {
    match Sha::parse(sha) {
        Some(sha) => Subject::Commit { sha, pull_request },
        None => Subject::Nothing("the event names no commit"),
    }
}

/// The head's commit: the test merge that the workflow runs for is seen by nobody.
fn of_pull_request(payload: &Payload) -> Subject {
    let Some(request) = &payload.pull_request else {
        return Subject::Nothing("the event names no pull request");
    };
    match payload.number.or(request.number) {
        Some(number) => commit(&request.head.sha, Candidate::Known(number)),
        None => Subject::Nothing("the event names no pull request"),
    }
}

fn of_merge_group(payload: &Payload) -> Subject {
    let Some(group) = &payload.merge_group else {
        return Subject::Nothing("the event names no merge group");
    };
    let queued = queued_number(&group.head_ref).map_or(Candidate::None, Candidate::Queued);
    commit(&group.head_sha, queued)
}

/// `refs/heads/gh-readonly-queue/main/pr-104-<sha>` -> 104.
fn queued_number(head_ref: &str) -> Option<u64> {
    let branch = head_ref.strip_prefix("refs/heads/gh-readonly-queue/")?;
    let (_, last) = branch.rsplit_once('/')?;
    last.strip_prefix("pr-")?.split('-').next()?.parse().ok()
}

/// For a pushed annotated tag `after` is the tag itself; the commit is the head commit.
fn of_push(payload: &Payload, sha: &str) -> Subject {
    if payload.deleted == Some(true) {
        return Subject::Nothing("a branch or tag was deleted");
    }
    let head = payload.head_commit.as_ref().map(|head| head.id.as_str());
    commit(head.or(payload.after.as_deref()).unwrap_or(sha), Candidate::OfCommit)
}

/// The list of pull requests is empty for forks, and may name pull requests of other repositories.
fn of_workflow_run(payload: &Payload) -> Subject {
    let Some(run) = &payload.workflow_run else {
        return Subject::Nothing("the event names no workflow run");
    };
    let here = payload.repository.as_ref().map(|repository| repository.id);
    let mut listed = run.pull_requests.iter().flatten();
    let listed = listed.find(|request| Some(request.base.repo.id) == here && request.head.sha == run.head_sha);
    commit(&run.head_sha, listed.map_or_else(|| of_branch(run), |request| Candidate::Claimed(request.number)))
}

fn of_branch(run: &WorkflowRun) -> Candidate {
    let owner = run.head_repository.as_ref().and_then(|repository| Some((repository.owner.as_ref()?, repository.id)));
    match (owner, &run.head_branch) {
        (Some((owner, repository)), Some(branch)) => {
            Candidate::OfBranch { head: format!("{}:{branch}", owner.login), repository }
        }
        _ => Candidate::OfCommit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn about(event: &str, payload: &serde_json::Value) -> Subject {
        subject(event, payload.to_string().as_bytes(), A)
    }

    fn found(sha: &str, pull_request: Candidate) -> Subject {
        Subject::Commit { sha: Sha::parse(sha).unwrap(), pull_request }
    }

    #[test]
    fn commits_are_forty_or_sixty_four_digits() {
        assert!(Sha::parse(A).is_some());
        assert!(Sha::parse(&"1".repeat(64)).is_some());
        for bad in ["", "abc", &A.to_uppercase(), &"0".repeat(40), &"g".repeat(40), &format!("{A}/")] {
            assert_eq!(Sha::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_pull_request_is_marked_at_its_head_and_never_at_the_test_merge() {
        let payload = serde_json::json!({ "number": 5, "pull_request": { "number": 5, "head": { "sha": B } } });
        for event in ["pull_request", "pull_request_target", "pull_request_review"] {
            assert_eq!(about(event, &payload), found(B, Candidate::Known(5)));
        }
    }

    #[test]
    fn a_merge_group_names_the_pull_request_in_its_branch() {
        let group = |head_ref: &str| serde_json::json!({ "merge_group": { "head_sha": B, "head_ref": head_ref } });
        let queued = group(&format!("refs/heads/gh-readonly-queue/release/1.2/pr-104-{A}"));
        assert_eq!(about("merge_group", &queued), found(B, Candidate::Queued(104)));
        assert_eq!(about("merge_group", &group("refs/heads/pr-104-x")), found(B, Candidate::None));
    }

    #[test]
    fn the_rule_is_that_of_the_branch_which_is_merged_into_else_of_the_default_branch() {
        let branch = |event: &str, payload: serde_json::Value| base_branch(event, payload.to_string().as_bytes());
        let head = serde_json::json!({ "sha": B });
        let here = serde_json::json!({ "id": 1, "default_branch": "main" });
        for base in [serde_json::json!({ "ref": "v2" }), serde_json::json!({}), serde_json::Value::Null] {
            let told = base.get("ref").map(|_| "v2".to_owned());
            let request = serde_json::json!({ "head": head, "base": base });
            let payload = serde_json::json!({ "number": 5, "pull_request": request, "repository": here });
            assert_eq!(branch("pull_request", payload.clone()), told);
            assert_eq!(branch("pull_request_target", payload), told);
        }
        let group = serde_json::json!({ "head_sha": B, "head_ref": "x", "base_ref": "refs/heads/v2" });
        assert_eq!(branch("merge_group", serde_json::json!({ "merge_group": group })), Some("v2".to_owned()));
        for event in ["push", "workflow_run", "schedule", "issue_comment", "anything"] {
            let payload = serde_json::json!({ "ref": "refs/heads/x", "repository": here });
            assert_eq!(branch(event, payload), Some("main".to_owned()));
            assert_eq!(branch(event, serde_json::json!({})), None);
        }
        assert_eq!(base_branch("push", b"{"), None);
    }

    #[test]
    fn a_push_is_marked_at_its_commit_and_a_deletion_at_none() {
        let tag = serde_json::json!({ "after": A, "deleted": false, "head_commit": { "id": B } });
        assert_eq!(about("push", &tag), found(B, Candidate::OfCommit));
        let gone = serde_json::json!({ "after": "0".repeat(40), "deleted": true, "head_commit": null });
        assert_eq!(about("push", &gone), Subject::Nothing("a branch or tag was deleted"));
    }

    #[test]
    fn a_workflow_run_from_a_fork_is_found_by_its_branch() {
        let payload = serde_json::json!({
            "repository": { "id": 1 },
            "workflow_run": {
                "head_sha": B, "head_branch": "patch-1", "pull_requests": [],
                "head_repository": { "id": 9, "owner": { "login": "someone" } }
            }
        });
        let candidate = Candidate::OfBranch { head: "someone:patch-1".to_owned(), repository: 9 };
        assert_eq!(about("workflow_run", &payload), found(B, candidate));
    }

    #[test]
    fn a_workflow_run_claims_only_pull_requests_of_this_repository() {
        let listed = |base: u64, head: &str| {
            serde_json::json!({
                "repository": { "id": 1 },
                "workflow_run": {
                    "head_sha": B, "head_branch": null, "head_repository": null,
                    "pull_requests": [{ "number": 8, "head": { "sha": head }, "base": { "repo": { "id": base } } }]
                }
            })
        };
        assert_eq!(about("workflow_run", &listed(1, B)), found(B, Candidate::Claimed(8)));
        assert_eq!(about("workflow_run", &listed(2, B)), found(B, Candidate::OfCommit));
        assert_eq!(about("workflow_run", &listed(1, A)), found(B, Candidate::OfCommit));
    }

    #[test]
    fn what_is_null_in_a_payload_is_absent_in_it() {
        let request = serde_json::json!({ "number": 5, "head": { "sha": B } });
        let listed = serde_json::json!([{ "number": 8, "head": { "sha": B }, "base": { "repo": { "id": 1 } } }]);
        let head_repository = serde_json::json!({ "id": 9, "owner": { "login": "someone" }, "default_branch": "x" });
        let whole = serde_json::json!({
            "number": 5, "pull_request": request, "deleted": false, "ref": "refs/heads/x", "after": A,
            "head_commit": { "id": B }, "repository": { "id": 1, "owner": { "login": "octo" }, "default_branch": "x" },
            "merge_group": { "head_sha": B, "head_ref": "refs/heads/x" },
            "workflow_run": {
                "head_sha": B, "head_branch": "x", "head_repository": head_repository, "pull_requests": listed
            }
        });
        let of_top = whole.as_object().unwrap().keys().map(|key| (String::new(), key.clone()));
        let inner = [("/pull_request", "number"), ("/repository", "owner"), ("/repository", "default_branch")];
        let of_run = ["head_branch", "head_repository", "pull_requests"].map(|key| ("/workflow_run", key));
        let of_head = ["owner", "default_branch"].map(|key| ("/workflow_run/head_repository", key));
        let inner = inner.into_iter().chain(of_run).chain(of_head).map(|(at, key)| (at.to_owned(), key.to_owned()));
        for (at, key) in of_top.chain(inner) {
            let with = |value: Option<serde_json::Value>| {
                let mut payload = whole.clone();
                let members = payload.pointer_mut(&at).unwrap().as_object_mut().unwrap();
                members.remove(&key);
                members.extend(value.map(|value| (key.clone(), value)));
                payload
            };
            let (null, absent) = (with(Some(serde_json::Value::Null)), with(None));
            for event in ["pull_request", "merge_group", "push", "workflow_run", "issue_comment"] {
                let (about_null, about_absent) = (about(event, &null), about(event, &absent));
                assert_eq!(about_null, about_absent, "{event} {at}/{key}");
                assert!(!matches!(about_null, Subject::Unreadable(_)), "{event} {at}/{key}");
            }
        }
    }

    #[test]
    fn schedules_and_dispatches_are_about_the_tip() {
        for event in ["schedule", "workflow_dispatch"] {
            assert_eq!(subject(event, b"", A), found(A, Candidate::None));
        }
    }

    #[test]
    fn only_the_default_branch_has_been_agreed_to() {
        let payload = |reference: &str| {
            serde_json::json!({ "ref": reference, "repository": { "id": 1, "default_branch": "main" } }).to_string()
        };
        let agreed = |event: &str, reference: &str| is_of_default_branch(event, payload(reference).as_bytes());
        for event in ["push", "workflow_dispatch"] {
            assert!(agreed(event, "refs/heads/main"), "{event}");
            for other in ["refs/heads/patch", "refs/heads/x/main", "refs/tags/main", "main", ""] {
                assert!(!agreed(event, other), "{event} {other}");
            }
            assert!(!is_of_default_branch(event, b"{}") && !is_of_default_branch(event, b""), "{event}");
        }
        assert!(is_of_default_branch("schedule", b""));
        for event in ["pull_request", "pull_request_target", "merge_group", "workflow_run", ""] {
            assert!(!agreed(event, "refs/heads/main"), "{event}");
        }
    }

    #[test]
    fn what_names_nothing_is_neutral() {
        for (event, payload) in [
            ("", ""),
            ("pull_request", "{}"),
            ("pull_request", r#"{"number":1,"pull_request":{"head":{"sha":"../x"}}}"#),
            ("merge_group", "{}"),
            ("workflow_run", "{}"),
            ("issue_comment", "{}"),
            ("", "{}"),
        ] {
            assert!(matches!(subject(event, payload.as_bytes(), A), Subject::Nothing(_)), "{event} {payload}");
        }
    }

    #[test]
    fn a_payload_that_cannot_be_read_is_not_one_of_nothing() {
        for (event, payload) in [("pull_request", "{"), ("push", ""), ("issue_comment", "[]")] {
            let subject = subject(event, payload.as_bytes(), A);
            assert_eq!(subject, Subject::Unreadable("the event's payload cannot be read"), "{event} {payload}");
        }
    }
}
