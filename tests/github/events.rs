//! Real payloads -> the commit and the pull request.

use churngate::publish::event::{Candidate, Sha, Subject, subject};
use serde_json::Value;
use std::path::Path;

/// The commit that the workflow runs for: a test merge or a branch's tip, which must not be marked by mistake.
const GITHUB_SHA: &str = "9999999999999999999999999999999999999999";

const FIXTURES: &str = include_str!("../fixtures/github/events.json");

/// All payloads: the few that are kept here, and the whole collection where the test tools are installed.
fn payloads() -> Vec<(String, Value)> {
    let kept: Vec<Value> = serde_json::from_str(FIXTURES).unwrap();
    let mut payloads: Vec<(String, Value)> =
        kept.into_iter().map(|entry| (entry["name"].as_str().unwrap().to_owned(), entry["payload"].clone())).collect();
    let whole = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/github-tools/node_modules/@octokit/webhooks-examples/api.github.com/index.json");
    let Ok(bytes) = std::fs::read(&whole) else {
        let required = std::env::var_os("CHURNGATE_REQUIRE_ALL").is_some();
        assert!(!required, "scripts/setup-github-tools has not installed the collection of payloads");
        println!("skipped: the whole collection is installed by scripts/setup-github-tools");
        return payloads;
    };
    let events: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for event in events {
        let name = event["name"].as_str().unwrap();
        payloads.extend(event["examples"].as_array().unwrap().iter().map(|one| (name.to_owned(), one.clone())));
    }
    payloads
}

/// What is expected, read from the payload by other means than the code's.
fn expected(name: &str, payload: &Value) -> Subject {
    let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let (sha, pull_request) = match name {
        "pull_request" => {
            let number = payload["pull_request"]["number"].as_u64().unwrap();
            (text("/pull_request/head/sha").unwrap(), Candidate::Known(number))
        }
        "merge_group" => (text("/merge_group/head_sha").unwrap(), Candidate::Queued(104)),
        "push" if payload["deleted"] == true => return Subject::Nothing("a branch or tag was deleted"),
        "push" => (text("/after").unwrap(), Candidate::OfCommit),
        "workflow_run" => {
            let owner = text("/workflow_run/head_repository/owner/login").unwrap();
            let head = format!("{owner}:{}", text("/workflow_run/head_branch").unwrap());
            let repository = payload["workflow_run"]["head_repository"]["id"].as_u64().unwrap();
            (text("/workflow_run/head_sha").unwrap(), Candidate::OfBranch { head, repository })
        }
        _ => (GITHUB_SHA.to_owned(), Candidate::None),
    };
    Subject::Commit { sha: Sha::parse(&sha).unwrap(), pull_request }
}

#[test]
fn every_payload_resolves_to_its_commit_and_pull_request() {
    let known = ["pull_request", "merge_group", "push", "workflow_run", "workflow_dispatch"];
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for (name, payload) in payloads() {
        if !known.contains(&name.as_str()) {
            continue;
        }
        *seen.entry(name.clone()).or_default() += 1;
        let bytes = payload.to_string().into_bytes();
        assert_eq!(subject(&name, &bytes, GITHUB_SHA), expected(&name, &payload), "{name}: {payload}");
        if name == "pull_request" {
            assert_eq!(subject("pull_request_target", &bytes, GITHUB_SHA), expected(&name, &payload));
        }
        // A schedule has no payload of its own: whatever is there, it is about the tip.
        assert_eq!(subject("schedule", &bytes, GITHUB_SHA), expected("schedule", &payload));
    }
    println!("{seen:?}");
    assert_eq!(seen.len(), known.len());
}

#[test]
fn every_other_event_is_neutral_and_none_is_a_crash() {
    for (name, payload) in payloads() {
        let bytes = payload.to_string().into_bytes();
        for event in [name.as_str(), "pull_request", "merge_group", "push", "workflow_run", "schedule"] {
            if let Subject::Commit { sha, .. } = subject(event, &bytes, GITHUB_SHA) {
                assert!(payload.to_string().contains(sha.as_str()) || sha.as_str() == GITHUB_SHA, "{event}: {payload}");
            }
        }
    }
}

#[test]
fn a_pull_request_from_a_fork_is_marked_at_its_own_head() {
    let (_, mut payload) = payloads().into_iter().find(|(name, _)| name == "pull_request").unwrap();
    let head = "d".repeat(40);
    payload["pull_request"]["head"]["sha"] = Value::from(head.clone());
    payload["pull_request"]["head"]["repo"]["fork"] = Value::from(true);
    payload["pull_request"]["head"]["repo"]["id"] = Value::from(77);
    let expected = Subject::Commit { sha: Sha::parse(&head).unwrap(), pull_request: Candidate::Known(2) };
    for event in ["pull_request", "pull_request_target"] {
        assert_eq!(subject(event, payload.to_string().as_bytes(), GITHUB_SHA), expected);
    }
    // A fork that was deleted has no repository.
    payload["pull_request"]["head"]["repo"] = Value::Null;
    assert_eq!(subject("pull_request", payload.to_string().as_bytes(), GITHUB_SHA), expected);
}

/// The run of a fork's workflow, made of a real payload: GitHub lists no pull request there.
#[test]
fn a_workflow_run_from_a_fork_is_marked_at_its_head_and_found_by_its_branch() {
    let (_, mut payload) = payloads().into_iter().find(|(name, _)| name == "workflow_run").unwrap();
    let head = "d".repeat(40);
    let run = &mut payload["workflow_run"];
    (run["head_sha"], run["head_branch"]) = (Value::from(head.clone()), Value::from("patch/1"));
    (run["head_repository"]["id"], run["head_repository"]["owner"]["login"]) = (Value::from(77), Value::from("forker"));
    run["pull_requests"] = Value::Array(Vec::new());
    let of_branch = Candidate::OfBranch { head: "forker:patch/1".to_owned(), repository: 77 };
    let expected = Subject::Commit { sha: Sha::parse(&head).unwrap(), pull_request: of_branch };
    assert_eq!(subject("workflow_run", payload.to_string().as_bytes(), GITHUB_SHA), expected);
}
