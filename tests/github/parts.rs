//! What is told besides the one comment: remarks at lines, hidden comments, audits without a verdict, artifacts.

use crate::fake::{Fake, Fault, HEAD, compatible, incompatible, options, refused, told, told_failure};
use churngate::model::QuestionId;
use churngate::publish::{CommentMode, Failed, Lines, MarkKind, Options, Outcome, Outdated, Place, outputs};
use churngate::report::AuditResult;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A result with this many flips, each of a question of its own that stands on a line of the question file.
fn flipping(count: usize) -> (AuditResult, Lines) {
    let mut result = incompatible();
    let flip = result.flips[0].clone();
    let id = |number: usize| QuestionId(format!("q-{number}"));
    result.flips =
        (0..count).map(|number| churngate::report::FlipDetail { question: id(number), ..flip.clone() }).collect();
    let place = |number: usize| Place { path: "audit/questions.jsonl".to_owned(), line: number as u64 + 1 };
    let questions: BTreeMap<_, _> = (0..count).map(|number| (id(number), place(number))).collect();
    (result, Lines { rule: Some(Place { path: "audit/churngate.yaml".to_owned(), line: 12 }), questions })
}

fn checking(lines: Lines) -> Options {
    Options { mark: MarkKind::Check, lines, ..options() }
}

#[tokio::test]
async fn flips_are_remarks_at_their_lines_fifty_a_request() {
    for (flips, requests) in [(0, 0), (49, 0), (50, 1), (120, 2)] {
        let fake = Fake::start().await;
        let (result, lines) = flipping(flips);
        let told = told(&result, &fake.around(1), &checking(lines)).await;
        assert_eq!(told.mark, Outcome::Done("check run"), "{told:?}");
        let state = fake.state.lock().unwrap();
        let remarks = state.checks[0]["output"]["annotations"].as_array().unwrap().clone();
        assert_eq!((remarks.len(), state.checks.len()), (flips + 1, 1));
        let patches =
            state.calls.iter().filter(|call| call.starts_with("PATCH") && call.contains("check-runs")).count();
        assert_eq!(patches, requests);
        let place = |remark: &Value| (remark["path"].clone(), remark["start_line"].as_u64().unwrap());
        assert_eq!(place(&remarks[0]), (json!("audit/churngate.yaml"), 12));
        for (number, remark) in remarks.iter().skip(1).enumerate() {
            assert_eq!(place(remark), (json!("audit/questions.jsonl"), number as u64 + 1));
        }
    }
}

#[tokio::test]
async fn a_check_run_stands_although_later_remarks_are_refused() {
    let fake = Fake::start().await;
    let (result, lines) = flipping(80);
    fake.fail("PATCH", "check-runs", 9, refused(422, ""));
    let told = told(&result, &fake.around(1), &checking(lines)).await;
    assert!(matches!(&told.mark, Outcome::Failed { why, .. } if why.contains("some remarks")), "{told:?}");
    let state = fake.state.lock().unwrap();
    assert_eq!((state.checks.len(), &state.checks[0]["conclusion"]), (1, &json!("failure")));
}

#[tokio::test]
async fn without_known_lines_a_check_run_has_no_remarks() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(1), &checking(Lines::default())).await;
    assert_eq!(fake.state.lock().unwrap().checks[0]["output"]["annotations"], json!([]));
}

const OTHER: &str = "cccccccccccccccccccccccccccccccccccccccc";

fn hiding() -> Options {
    Options { outdated: Outdated::Hide, comment: CommentMode::Always, ..options() }
}

#[tokio::test]
async fn the_comment_about_an_earlier_commit_is_hidden_and_a_new_one_written() {
    let fake = Fake::start().await;
    let first = told(&incompatible(), &fake.around_at(1, OTHER), &hiding()).await;
    assert_eq!((first.comment, first.outdated), (Outcome::Done("created"), Outcome::Left("there are none")));
    let second = told(&incompatible(), &fake.around_at(2, HEAD), &hiding()).await;
    assert_eq!((second.comment, second.outdated), (Outcome::Done("created"), Outcome::Done("hidden")));
    assert_eq!(fake.state.lock().unwrap().hidden, ["IC_101"]);
    // The same commit again is an update.
    let third = told(&compatible(), &fake.around_at(3, HEAD), &hiding()).await;
    assert_eq!(third.comment, Outcome::Done("updated"));
    assert_eq!(fake.bodies().len(), 2);
}

#[tokio::test]
async fn an_older_run_about_an_earlier_commit_writes_nothing_over_a_newer_one() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around_at(9, HEAD), &hiding()).await;
    let older = told(&incompatible(), &fake.around_at(8, OTHER), &hiding()).await;
    assert_eq!(older.comment, Outcome::Left("a newer run has written the comment"));
    assert_eq!(fake.bodies().len(), 1);
}

#[tokio::test]
async fn runs_of_two_commits_that_race_leave_one_comment_in_sight() {
    let fake = Fake::start().await;
    let (result, options) = (incompatible(), hiding());
    let (one, two) = (fake.around_at(11, OTHER), fake.around_at(12, HEAD));
    tokio::join!(told(&result, &one, &options), told(&result, &two, &options));
    let state = fake.state.lock().unwrap();
    let in_sight: Vec<&Value> = state
        .comments
        .iter()
        .filter(|comment| !state.hidden.contains(&comment["node_id"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(in_sight.len(), 1, "{:?}", state.comments);
    assert!(in_sight[0]["body"].as_str().unwrap().contains("run=12 "));
}

#[tokio::test]
async fn a_comment_that_cannot_be_hidden_is_a_warning() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around_at(1, OTHER), &hiding()).await;
    let forbidden = refused(403, "Resource not accessible by integration");
    fake.state.lock().unwrap().faults.push(Fault {
        method: "POST",
        path: "graphql",
        times: 9,
        acts: false,
        reply: forbidden,
    });
    let second = told(&incompatible(), &fake.around_at(2, HEAD), &hiding()).await;
    assert_eq!(second.comment, Outcome::Done("created"));
    assert!(matches!(second.outdated, Outcome::Failed { .. }) && !second.is_complete());
}

fn failed(exit_code: i32) -> Failed {
    let message =
        "the server `https://llm.example` gave status 503\nhint: run it again\n::error::x @org/team".to_owned();
    Failed { name: "docs-search".to_owned(), exploratory: false, exit_code, message }
}

#[tokio::test]
async fn an_audit_without_a_verdict_is_an_error_and_neither_churn_nor_a_pass() {
    for (exit_code, words) in [
        (2, "in error"),
        (4, "could not be completed"),
        (5, "does not hold"),
        (137, "ended unexpectedly, with exit code 137"),
    ] {
        let fake = Fake::start().await;
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| camino::Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
        let mut around = fake.around(1);
        (around.output_file, around.summary_file) = (Some(file("outputs")), Some(file("summary")));
        let told = told_failure(&failed(exit_code), &around, &options()).await;
        assert!(told.is_complete(), "{told:?}");
        let status = fake.state.lock().unwrap().statuses[0].clone();
        assert_eq!((&status["state"], &status["context"]), (&json!("error"), &json!("churngate/docs-search")));
        assert!(status["description"].as_str().unwrap().contains(words), "{status}");
        let summary = std::fs::read_to_string(file("summary")).unwrap();
        for place in [&fake.bodies()[0], &summary] {
            assert!(place.starts_with("## ⛔ No verdict: ") && place.contains(words), "{place}");
            assert!(place.contains("neither churn nor a pass") && place.contains("gave status 503"), "{place}");
        }
        let written = std::fs::read_to_string(file("outputs")).unwrap();
        for name in outputs::NAMES {
            assert!(written.contains(&format!("{name}<<churngate_")), "{name} is missing: {written}");
        }
        assert!(!written.contains("compatible"), "{written}");
        let check = Options { mark: MarkKind::Check, ..options() };
        told_failure(&failed(exit_code), &around, &check).await;
        assert_eq!(fake.state.lock().unwrap().checks[0]["conclusion"], "failure");
    }
}

#[tokio::test]
async fn a_pass_that_stands_there_does_not_outlive_a_failure_and_the_other_way_round() {
    let fake = Fake::start().await;
    let always = Options { comment: CommentMode::Always, ..options() };
    told(&compatible(), &fake.around(1), &always).await;
    told_failure(&failed(4), &fake.around(2), &options()).await;
    assert!(fake.bodies().len() == 1 && fake.bodies()[0].contains("No verdict"));
    let again = told(&compatible(), &fake.around(3), &options()).await;
    assert_eq!(again.comment, Outcome::Done("updated"), "{again:?}");
    assert!(!fake.bodies()[0].contains("No verdict"));
    // An older run that failed late changes nothing.
    told_failure(&failed(4), &fake.around(2), &options()).await;
    assert!(!fake.bodies()[0].contains("No verdict"));
}

#[tokio::test]
async fn an_artifact_marks_nothing_and_leaves_the_audits_own_comment_alone() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(1), &options()).await;
    let artifact = Options { artifact: true, comment: CommentMode::Always, ..options() };
    let told = told(&compatible(), &fake.around(2), &artifact).await;
    assert_eq!(told.mark, Outcome::Left("what came in an artifact marks no commit"));
    assert_eq!(told.comment, Outcome::Done("created"));
    let bodies = fake.bodies();
    assert!(bodies.len() == 2 && bodies[0].contains("run=1 ") && bodies[1].contains("audit=artifact%3Adocs-search"));
    assert_eq!(fake.state.lock().unwrap().statuses.len(), 1);
}

fn states(fake: &Fake) -> Vec<String> {
    let state = fake.state.lock().unwrap();
    state.statuses.iter().map(|status| status["state"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_older_run_that_finishes_last_leaves_the_newer_runs_mark() {
    for mark in [MarkKind::Status, MarkKind::Check] {
        let fake = Fake::start().await;
        let wanted = Options { mark, ..options() };
        told(&incompatible(), &fake.around(9), &wanted).await;
        let older = told(&compatible(), &fake.around(8), &wanted).await;
        assert_eq!(older.mark, Outcome::Left("a newer run has marked the commit"));
        assert!(older.is_complete());
        // The same run and later ones mark it again.
        assert!(matches!(told(&compatible(), &fake.around(9), &wanted).await.mark, Outcome::Done(_)));
        assert!(matches!(told(&compatible(), &fake.around(10), &wanted).await.mark, Outcome::Done(_)));
        let state = fake.state.lock().unwrap();
        assert_eq!((state.statuses.len(), state.checks.len()), if mark == MarkKind::Check { (0, 3) } else { (3, 0) });
    }
}

#[tokio::test]
async fn a_newer_status_that_comes_in_between_is_put_back_on_top() {
    let fake = Fake::start().await;
    let newer = json!({
        "sha": HEAD, "state": "failure", "context": "Churngate/docs-search", "description": "incompatible",
        "target_url": "https://github.example/octo/repo/actions/runs/12"
    });
    fake.state.lock().unwrap().rival_statuses.push(newer);
    let older = told(&compatible(), &fake.around(11), &options()).await;
    assert_eq!(older.mark, Outcome::Left("a newer run has marked the commit"));
    assert_eq!(states(&fake), ["failure", "success", "failure"]);
}

#[tokio::test]
async fn marks_of_other_audits_and_of_other_pages_are_none_of_ours() {
    let fake = Fake::start().await;
    for (context, page) in [
        ("churngate/other", "https://github.example/octo/repo/actions/runs/99"),
        ("churngate/docs-search", "https://evil.example/octo/repo/actions/runs/99"),
        ("churngate/docs-search", "https://github.example/octo/repo/actions/runs/99/x"),
        ("churngate/docs-search", "https://github.example/octo/repo/actions/runs/-1"),
    ] {
        let theirs =
            json!({ "sha": HEAD, "state": "success", "context": context, "description": "x", "target_url": page });
        fake.state.lock().unwrap().statuses.push(theirs);
    }
    assert_eq!(told(&incompatible(), &fake.around(7), &options()).await.mark, Outcome::Done("status"));
    assert_eq!(states(&fake).last().unwrap(), "failure");
    // A list that cannot be read keeps no status from being given.
    fake.fail("GET", "statuses", 9, refused(403, "x"));
    assert_eq!(told(&incompatible(), &fake.around(8), &options()).await.mark, Outcome::Done("status"));
}

#[tokio::test]
async fn remarks_show_no_text_that_must_not_be_shown() {
    let fake = Fake::start().await;
    let (result, lines) = flipping(1);
    let wanted = Options { disclosure: churngate::publish::Disclosure::Ids, ..checking(lines) };
    told(&result, &fake.around(1), &wanted).await;
    let check = fake.state.lock().unwrap().checks[0].to_string();
    for text in ["question text", "answer text", "gold text", "excerpt"] {
        assert!(!check.contains(text), "{text}: {check}");
    }
}
