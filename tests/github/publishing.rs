//! What stands on the pull request, at the commit and in the job's files afterwards.

use crate::fake::{BOT, Fake, HEAD, compatible, evidence, incompatible, options, pull, refused, told, told_evidence};
use churngate::publish::{CommentMode, Disclosure, MarkKind, Options, Outcome, outputs};
use churngate::report::{self, AuditResult, EvidenceDiff};
use serde_json::{Value, json};

fn updated(outcome: &Outcome) -> bool {
    *outcome == Outcome::Done("updated")
}

#[tokio::test]
async fn the_first_run_writes_one_comment_and_one_status_and_the_next_updates_them() {
    let fake = Fake::start().await;
    let first = told(&incompatible(), &fake.around(7), &options()).await;
    assert_eq!((&first.comment, &first.mark), (&Outcome::Done("created"), &Outcome::Done("status")));
    let url = "https://github.example/octo/repo/pull/5#issuecomment-101";
    assert_eq!(first.comment_url.as_deref(), Some(url));
    assert!(first.is_complete());

    let second = told(&compatible(), &fake.around(8), &options()).await;
    assert!(updated(&second.comment), "{second:?}");
    let bodies = fake.bodies();
    assert_eq!(bodies.len(), 1);
    assert!(bodies[0].contains("[run 8](https://github.example/octo/repo/actions/runs/8)"), "{}", bodies[0]);
    assert!(bodies[0].ends_with(" -->") && bodies[0].contains("Commit `bbbbbbbbbbbb`"));
    let statuses = fake.state.lock().unwrap().statuses.clone();
    assert_eq!(statuses.len(), 2);
    assert_eq!(statuses[0]["sha"], HEAD);
    assert_eq!(statuses[0]["context"], "churngate/docs-search");
    assert_eq!((&statuses[0]["state"], &statuses[1]["state"]), (&json!("failure"), &json!("success")));
    assert_eq!(statuses[0]["target_url"], "https://github.example/octo/repo/actions/runs/7?attempt=1");
}

#[tokio::test]
async fn the_same_run_again_writes_nothing() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(7), &options()).await;
    let again = told(&incompatible(), &fake.around(7), &options()).await;
    assert_eq!(again.comment, Outcome::Left("there is nothing new to tell"));
    assert_eq!(fake.count("PATCH"), 0);
}

#[tokio::test]
async fn the_comment_is_found_on_the_third_page() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(7), &options()).await;
    {
        let mut state = fake.state.lock().unwrap();
        let mut talk: Vec<_> = (0..250).map(|number| state.comment("somebody", &format!("remark {number}"))).collect();
        let ours = state.comments.pop().unwrap();
        talk.push(ours);
        state.comments = talk;
    }
    let again = told(&incompatible(), &fake.around(8), &options()).await;
    assert!(updated(&again.comment), "{again:?}");
    assert_eq!(fake.bodies().len(), 251);
}

#[tokio::test]
async fn a_marker_that_somebody_else_wrote_counts_for_nothing() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(7), &options()).await;
    {
        let mut state = fake.state.lock().unwrap();
        let body = state.comments[0]["body"].as_str().unwrap().replace("run=7", "run=99");
        let planted = state.comment("somebody", &body);
        let echoed = state.comment("echo[bot]", &body);
        state.comments = vec![planted, echoed];
    }
    let again = told(&incompatible(), &fake.around(8), &options()).await;
    assert_eq!(again.comment, Outcome::Done("created"));
    assert_eq!(fake.bodies().len(), 3);
}

#[tokio::test]
async fn comments_of_another_audit_stay() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(7), &options()).await;
    let mut other = incompatible();
    other.name = "other".to_owned();
    assert_eq!(told(&other, &fake.around(8), &options()).await.comment, Outcome::Done("created"));
    assert_eq!(fake.bodies().len(), 2);
}

#[tokio::test]
async fn an_older_run_that_finishes_last_leaves_the_newer_comment() {
    let fake = Fake::start().await;
    told(&compatible(), &fake.around(9), &always()).await;
    let older = told(&incompatible(), &fake.around(8), &options()).await;
    assert_eq!(older.comment, Outcome::Left("a newer run has written the comment"));
    assert!(older.is_complete());
    assert!(fake.bodies()[0].contains("run=9 ") && fake.bodies().len() == 1);
}

#[tokio::test]
async fn runs_that_race_end_with_one_comment_of_the_newest() {
    for _ in 0..5 {
        let fake = Fake::start().await;
        let (result, options) = (incompatible(), options());
        let (one, two, three) = (fake.around(11), fake.around(12), fake.around(10));
        tokio::join!(told(&result, &one, &options), told(&result, &two, &options), told(&result, &three, &options));
        let bodies = fake.bodies();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        assert!(bodies[0].contains("run=12 "), "{}", bodies[0]);
    }
}

#[tokio::test]
async fn a_newer_comment_that_comes_in_between_wins() {
    let fake = Fake::start().await;
    let scratch = Fake::start().await;
    told(&compatible(), &scratch.around(12), &always()).await;
    let body = scratch.bodies()[0].clone();
    let rival = fake.state.lock().unwrap().comment(BOT, &body);
    fake.state.lock().unwrap().rival.push(rival);
    let older = told(&incompatible(), &fake.around(11), &options()).await;
    assert_eq!(older.comment, Outcome::Left("a newer run has written the comment"));
    assert_eq!(fake.bodies(), [body]);
}

fn always() -> churngate::publish::Options {
    churngate::publish::Options { comment: CommentMode::Always, ..options() }
}

#[tokio::test]
async fn modes_say_when_a_comment_is_written() {
    let fake = Fake::start().await;
    let never = churngate::publish::Options { comment: CommentMode::Never, mark: MarkKind::None, ..options() };
    assert_eq!(told(&incompatible(), &fake.around(1), &never).await.comment, Outcome::Left("not wanted"));
    assert!(fake.state.lock().unwrap().calls.is_empty());

    let quiet = told(&compatible(), &fake.around(2), &options()).await;
    assert_eq!(quiet.comment, Outcome::Left("there is nothing new to tell"));
    assert_eq!(told(&incompatible(), &fake.around(3), &options()).await.comment, Outcome::Done("created"));
    assert!(updated(&told(&compatible(), &fake.around(4), &options()).await.comment));
    let quiet = told(&compatible(), &fake.around(5), &options()).await;
    assert_eq!(quiet.comment, Outcome::Left("there is nothing new to tell"));
    assert!(updated(&told(&compatible(), &fake.around(6), &always()).await.comment));
}

#[tokio::test]
async fn a_compatible_verdict_is_told_where_something_else_has_to_be_known() {
    let usual = report::usual::READER.to_owned();
    let remarked: [&dyn Fn(&mut AuditResult); 5] = [
        &|result| result.machinery.caveats.push("This change edits old.jsonl.".to_owned()),
        &|result| result.machinery.caveats.push(report::usual::ONE_SNAPSHOT.to_owned()),
        &|result| result.validity.excluded_questions = 3,
        &|result| result.validity.mismatched_evidence = 3,
        &|result| result.validity.served_models = vec![("old".to_owned(), vec!["a".to_owned(), "b".to_owned()])],
    ];
    for remark in remarked {
        let fake = Fake::start().await;
        let mut plain = compatible();
        plain.machinery.caveats.push(usual.clone());
        let quiet = told(&plain, &fake.around(1), &options()).await;
        assert_eq!(quiet.comment, Outcome::Left("there is nothing new to tell"));
        let mut result = plain.clone();
        remark(&mut result);
        assert_eq!(told(&result, &fake.around(2), &options()).await.comment, Outcome::Done("created"));
        assert!(updated(&told(&result, &fake.around(3), &options()).await.comment));
        // Once it is no longer so, the comment does not go on saying it.
        assert!(updated(&told(&plain, &fake.around(4), &options()).await.comment));
        let quiet = told(&plain, &fake.around(5), &options()).await;
        assert_eq!(quiet.comment, Outcome::Left("there is nothing new to tell"));
    }
}

#[tokio::test]
async fn corpora_of_one_content_are_told_where_something_else_has_to_be_known() {
    let fake = Fake::start().await;
    let mut result = incompatible();
    result.decision.verdict = churngate::gate::Verdict::Inconclusive;
    result.same_content = true;
    result.machinery.caveats = vec![report::usual::ONE_SNAPSHOT.to_owned()];
    let quiet = told(&result, &fake.around(1), &options()).await;
    assert_eq!(quiet.comment, Outcome::Left("there is nothing new to tell"), "it is the verdict itself");
    result.machinery.caveats.push("This change edits churngate.yaml.".to_owned());
    assert_eq!(told(&result, &fake.around(2), &options()).await.comment, Outcome::Done("created"));
}

#[tokio::test]
async fn evidence_alone_claims_no_verdict_in_any_place() {
    let hostile = "@team <img src=x> `x` | ::error::x\n## Compatible";
    let fake = Fake::start().await;
    let told = told_evidence(&evidence(hostile), &fake.around(7), &options()).await;
    assert_eq!((&told.comment, &told.mark), (&Outcome::Done("created"), &Outcome::Done("status")));
    let body = fake.bodies()[0].clone();
    assert!(body.starts_with("## 🔎 Evidence alone, no verdict: 1 of 2 questions changed"), "{body}");
    assert!(body.contains("verdict=changed") && body.contains("`<img`") && !body.contains("\n## Compatible"), "{body}");
    assert!(body.contains("lost.md") && body.contains("gained.md") && body.contains("5 calls"), "{body}");
    let status = fake.state.lock().unwrap().statuses[0].clone();
    assert_eq!((&status["state"], &status["context"]), (&json!("success"), &json!("churngate/docs-evidence")));
    assert_eq!(status["description"], "evidence: 1 of 2 questions changed; no verdict");

    let check = Fake::start().await;
    let options = Options { mark: MarkKind::Check, disclosure: Disclosure::Ids, ..options() };
    told_evidence(&evidence(hostile), &check.around(7), &options).await;
    assert_eq!(check.state.lock().unwrap().checks[0]["conclusion"], "neutral");
    let body = check.bodies()[0].clone();
    assert!(!body.contains("question @") && !body.contains("excerpt") && body.contains("q-1"), "{body}");
}

#[tokio::test]
async fn evidence_that_did_not_change_is_told_only_where_a_comment_says_otherwise() {
    let fake = Fake::start().await;
    let changed = evidence("");
    let unchanged = EvidenceDiff { at_risk: Vec::new(), caveats: Vec::new(), ..changed.clone() };
    let first = told_evidence(&unchanged, &fake.around(7), &options()).await;
    assert_eq!(first.comment, Outcome::Left("there is nothing new to tell"));
    told_evidence(&changed, &fake.around(8), &options()).await;
    assert!(updated(&told_evidence(&unchanged, &fake.around(9), &options()).await.comment));
    assert!(fake.bodies()[0].contains("verdict=unchanged") && fake.bodies()[0].contains("0 of 2 questions changed"));
    let remarked = EvidenceDiff { caveats: changed.caveats, ..unchanged };
    assert!(updated(&told_evidence(&remarked, &fake.around(10), &options()).await.comment));
}

#[tokio::test]
async fn a_check_run_takes_the_place_of_the_status() {
    let fake = Fake::start().await;
    let wanted = churngate::publish::Options { mark: MarkKind::Check, ..options() };
    let mut result = incompatible();
    result.flips = vec![result.flips[0].clone(); 5000];
    assert_eq!(told(&result, &fake.around(1), &wanted).await.mark, Outcome::Done("check run"));
    let state = fake.state.lock().unwrap();
    assert!(state.statuses.is_empty());
    let check = &state.checks[0];
    assert_eq!((&check["conclusion"], &check["head_sha"]), (&json!("failure"), &json!(HEAD)));
    assert_eq!(check["name"], "churngate/docs-search");
}

#[tokio::test]
async fn an_inconclusive_verdict_is_marked_by_its_rule() {
    let fake = Fake::start().await;
    let mut result = incompatible();
    result.decision.verdict = churngate::gate::Verdict::Inconclusive;
    for rule in ["pass", "warn", "fail"] {
        rule.clone_into(&mut result.decision.inconclusive);
        told(&result, &fake.around(1), &options()).await;
    }
    let states: Vec<_> = fake.state.lock().unwrap().statuses.iter().map(|status| status["state"].clone()).collect();
    assert_eq!(states, ["success", "success", "failure"]);
}

#[tokio::test]
async fn what_cannot_be_told_of_an_event_that_cannot_be_read_is_not_published() {
    let fake = Fake::start().await;
    let mut around = fake.around(1);
    around.event_json = b"{".to_vec();
    let publication = told(&incompatible(), &around, &options()).await;
    assert!(!publication.is_complete(), "{publication:?}");
    let said = publication.warnings().join("\n");
    assert!(said.contains("the comment was not published: the event's payload cannot be read"), "{said}");
    assert!(said.contains("the mark was not published"), "{said}");
    // Outside of GitHub there is none, and nothing is missing.
    around.event_name = String::new();
    assert!(told(&incompatible(), &around, &options()).await.is_complete());
}

#[tokio::test]
async fn an_exploratory_verdict_is_neutral() {
    let fake = Fake::start().await;
    for mark in [MarkKind::Status, MarkKind::Check] {
        let wanted = churngate::publish::Options { mark, exploratory: true, ..options() };
        told(&incompatible(), &fake.around(1), &wanted).await;
    }
    let state = fake.state.lock().unwrap();
    assert_eq!((&state.statuses[0]["state"], &state.checks[0]["conclusion"]), (&json!("success"), &json!("neutral")));
    assert!(state.statuses[0]["description"].as_str().unwrap().starts_with("exploratory, incompatible: "));
}

#[tokio::test]
async fn an_exploratory_verdict_writes_over_no_mark_and_no_comment_of_the_audit() {
    let fake = Fake::start().await;
    let exploring = churngate::publish::Options { exploratory: true, ..options() };
    for mark in [MarkKind::Status, MarkKind::Check] {
        for (run, wanted) in [(1, options()), (2, exploring.clone())] {
            let wanted = churngate::publish::Options { mark, ..wanted };
            told(&incompatible(), &fake.around(run), &wanted).await;
        }
    }
    let state = fake.state.lock().unwrap();
    let own = "churngate/docs-search/exploratory";
    let statuses: Vec<_> = state.statuses.iter().map(|status| (&status["context"], &status["state"])).collect();
    let expected = [(json!("churngate/docs-search"), json!("failure")), (json!(own), json!("success"))];
    assert_eq!(statuses, expected.each_ref().map(|(context, state)| (context, state)));
    assert_eq!((&state.checks[0]["name"], &state.checks[1]["name"]), (&json!("churngate/docs-search"), &json!(own)));
    let is_own = |comment: &Value| comment["body"].as_str().unwrap().contains("audit=exploratory%3Adocs-search");
    let told: Vec<bool> = state.comments.iter().map(is_own).collect();
    assert_eq!(told, [false, true]);
}

#[tokio::test]
async fn a_replay_marks_no_commit_and_has_a_comment_of_its_own() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(1), &options()).await;
    let mut replay = incompatible();
    replay.record.replayed = Some(true);
    for mark in [MarkKind::Status, MarkKind::Check] {
        let wanted = churngate::publish::Options { mark, ..options() };
        let publication = told(&replay, &fake.around(2), &wanted).await;
        assert_eq!(publication.mark, churngate::publish::Outcome::Left("a replay marks no commit"));
    }
    let (statuses, checks) = {
        let state = fake.state.lock().unwrap();
        (state.statuses.len(), state.checks.len())
    };
    assert_eq!((statuses, checks), (1, 0), "the audit's own mark alone");
    let bodies = fake.bodies();
    let replays: Vec<bool> = bodies.iter().map(|body| body.contains("A replay: every reply of a server")).collect();
    assert_eq!(replays, [false, true], "the audit's comment stands beside the replay's");
}

#[tokio::test]
async fn what_must_not_be_shown_is_nowhere() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut around = fake.around(1);
    let summary = camino::Utf8PathBuf::from_path_buf(folder.path().join("summary")).unwrap();
    around.summary_file = Some(summary.clone());
    let wanted = churngate::publish::Options { disclosure: Disclosure::Ids, mark: MarkKind::Check, ..options() };
    told(&incompatible(), &around, &wanted).await;
    let check = fake.state.lock().unwrap().checks[0].to_string();
    for place in [fake.bodies()[0].clone(), check, std::fs::read_to_string(summary).unwrap()] {
        assert!(place.contains("q-1"), "{place}");
        for text in ["question text", "answer text", "gold text", "excerpt"] {
            assert!(!place.contains(text), "{text}: {place}");
        }
    }
}

#[tokio::test]
async fn a_base_with_a_path_is_kept_and_the_apps_own_name_is_asked_for() {
    let fake = Fake::start().await;
    let mut around = fake.around(1);
    around.api_url = format!("{}/prefix/api/v3/", fake.server.uri());
    let told = told(&incompatible(), &around, &options()).await;
    assert!(told.is_complete(), "{told:?}");
    let calls = fake.state.lock().unwrap().calls.clone();
    assert!(calls.contains(&"POST /prefix/api/graphql".to_owned()), "{calls:?}");
    assert!(calls.contains(&"POST /prefix/api/v3/repos/octo/repo/issues/5/comments".to_owned()), "{calls:?}");
}

#[tokio::test]
async fn a_fork_is_found_by_its_branch_and_a_stranger_with_the_same_commit_is_not() {
    let fake = Fake::start().await;
    let mut around = fake.around(1);
    around.event_name = "workflow_run".to_owned();
    let run = |repository: u64| {
        json!({
            "repository": { "id": 1 },
            "workflow_run": {
                "head_sha": HEAD, "head_branch": "a&b=c", "pull_requests": [],
                "head_repository": { "id": repository, "owner": { "login": "forker" } }
            }
        })
    };
    fake.state.lock().unwrap().pulls =
        vec![pull(4, HEAD, 8, "open"), pull(5, HEAD, 9, "open"), pull(6, HEAD, 9, "closed")];
    around.event_json = run(9).to_string().into_bytes();
    assert_eq!(told(&incompatible(), &around, &options()).await.comment, Outcome::Done("created"));
    assert_eq!(fake.count("POST /repos/octo/repo/issues/5/comments"), 1);
    around.event_json = run(77).to_string().into_bytes();
    let stranger = told(&incompatible(), &around, &options()).await;
    assert_eq!(stranger.comment, Outcome::Left("no open pull request has this commit as its head"));
}

#[tokio::test]
async fn a_number_that_somebody_claims_has_to_have_the_commit_as_its_head() {
    let fake = Fake::start().await;
    let mut around = fake.around(1);
    around.event_name = "workflow_dispatch".to_owned();
    around.pull_request = Some(5);
    let wrong = told(&incompatible(), &around, &options()).await;
    assert_eq!(wrong.comment, Outcome::Left("the pull request's head is another commit"));
    around.head = Some(HEAD.to_owned());
    assert_eq!(told(&incompatible(), &around, &options()).await.comment, Outcome::Done("created"));
    around.pull_request = Some(99);
    let missing = told(&incompatible(), &around, &options()).await;
    // Its comments may tell of an earlier verdict that the token may not see.
    assert!(
        matches!(&missing.comment, Outcome::Failed { why, .. } if why.contains("finds nothing there")),
        "{missing:?}"
    );
    around.head = Some("refs/heads/main".to_owned());
    assert!(matches!(told(&incompatible(), &around, &options()).await.mark, Outcome::Failed { .. }));
}

#[tokio::test]
async fn a_merge_group_tells_the_pull_request_that_waits() {
    let fake = Fake::start().await;
    let mut around = fake.around(1);
    around.event_name = "merge_group".to_owned();
    let group = json!({ "merge_group": { "head_sha": "c".repeat(40), "head_ref": "refs/heads/gh-readonly-queue/main/pr-5-x" } });
    around.event_json = group.to_string().into_bytes();
    assert_eq!(told(&incompatible(), &around, &options()).await.comment, Outcome::Done("created"));
    assert_eq!(fake.state.lock().unwrap().statuses[0]["sha"], "c".repeat(40));
}

#[tokio::test]
async fn an_event_without_a_commit_publishes_to_files_only() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| camino::Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
    let mut around = fake.around(1);
    around.event_name = "issue_comment".to_owned();
    (around.output_file, around.summary_file) = (Some(file("outputs")), Some(file("summary")));
    let told = told(&incompatible(), &around, &options()).await;
    assert!(matches!((&told.comment, &told.mark), (Outcome::Left(_), Outcome::Left(_))) && told.is_complete());
    assert!(fake.state.lock().unwrap().calls.is_empty());
    let written = std::fs::read_to_string(file("outputs")).unwrap();
    for name in outputs::NAMES {
        assert!(written.contains(&format!("{name}<<churngate_")), "{name} is missing: {written}");
    }
    assert!(written.contains("\nincompatible\n") && written.contains("\ntrue\n"));
    assert!(std::fs::read_to_string(file("summary")).unwrap().contains("question text"));
}

#[tokio::test]
async fn a_read_only_token_leaves_verdict_summary_and_outputs() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| camino::Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
    for path in ["comments", "statuses"] {
        fake.fail("POST", path, 9, refused(403, "Resource not accessible by integration"));
    }
    let mut around = fake.around(1);
    (around.output_file, around.summary_file) = (Some(file("outputs")), Some(file("summary")));
    let told = told(&incompatible(), &around, &options()).await;
    assert!(!told.is_complete());
    assert_eq!((fake.count("POST /repos/octo/repo/issues"), fake.count("POST /repos/octo/repo/statuses")), (1, 1));
    let summary = std::fs::read_to_string(file("summary")).unwrap();
    assert!(summary.contains("pull-requests: write") && summary.contains("statuses: write"), "{summary}");
    let outputs = std::fs::read_to_string(file("outputs")).unwrap();
    assert!(outputs.contains("\nincompatible\n") && outputs.contains("\nfalse\n"), "{outputs}");
    assert!(told.warnings()[0].contains("the token may not write"));
}

#[tokio::test]
async fn a_summary_that_others_filled_is_kept_within_its_limit() {
    let fake = Fake::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = camino::Utf8PathBuf::from_path_buf(folder.path().join("summary")).unwrap();
    std::fs::write(&file, "x".repeat(1024 * 1024 - 20_000)).unwrap();
    let mut around = fake.around(1);
    around.summary_file = Some(file.clone());
    let mut result = incompatible();
    result.flips = vec![result.flips[0].clone(); 5000];
    assert_eq!(told(&result, &around, &options()).await.summary, Outcome::Done("written"));
    assert!(std::fs::metadata(&file).unwrap().len() <= 1024 * 1024);
    std::fs::write(&file, "x".repeat(1024 * 1024)).unwrap();
    assert!(matches!(told(&result, &around, &options()).await.summary, Outcome::Failed { .. }));
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 1024 * 1024);
}
