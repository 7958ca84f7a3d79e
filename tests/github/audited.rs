//! What is marked is what was audited, and by a rule that was agreed to.

use crate::workflow::{ANOTHER_DOCUMENT, CHURN, Job, SPEC};
use serde_json::json;

const REQUIRED: &str = "churngate/rule";
const EXPLORATORY: &str = "churngate/rule/exploratory";

fn status(sha: &str, context: &str, state: &str) -> (String, String, String) {
    (sha.to_owned(), context.to_owned(), state.to_owned())
}

#[tokio::test]
async fn the_head_of_a_pull_request_is_marked_where_it_or_its_test_merge_is_checked_out() {
    let job = Job::new(&[]).await;
    let head = job.change(&[CHURN]);
    let ended = job.pull_request(&head, &[]);
    assert_eq!((ended.code, job.statuses()), (Some(1), vec![status(&head, REQUIRED, "failure")]), "{ended:?}");
    job.check_out(&head);
    let ended = job.act("pull_request", &job.of_pull_request(&head), "", &[]);
    assert_eq!((ended.code, job.statuses().len()), (Some(1), 2), "{ended:?}");
    assert_eq!((ended.output("published"), job.fake.bodies().len()), ("true".to_owned(), 1), "{ended:?}");
}

#[tokio::test]
async fn a_shallow_test_merge_still_says_what_it_merges() {
    let job = Job::new(&[]).await;
    let head = job.change(&[CHURN]);
    let merge = job.merge(&head);
    let folder = camino::Utf8Path::from_path(job.path()).unwrap();
    std::fs::write(job.path().join(".git/shallow"), format!("{merge}\n")).unwrap();
    let commit = churngate::git::resolve(folder, "HEAD").unwrap();
    let parents = churngate::git::parents(folder, &commit).unwrap();
    assert_eq!(parents.iter().map(churngate::git::CommitId::as_str).collect::<Vec<_>>(), [job.base.as_str(), &head]);
    assert!(churngate::git::is_shallow(folder).unwrap());
}

#[tokio::test]
async fn what_was_not_checked_out_is_neither_marked_nor_told() {
    let job = Job::new(&[]).await;
    let head = job.change(&[CHURN]);
    job.pull_request(&head, &[]);
    let (statuses, bodies) = (job.statuses(), job.fake.bodies());
    // As actions/checkout does it for these events where nothing else is asked for.
    job.check_out("main");
    let dispatched = [("INPUT_PULL_REQUEST", "5"), ("INPUT_HEAD", head.as_str())];
    let events = [
        ("pull_request_target", job.of_pull_request(&head), &[][..]),
        ("workflow_dispatch", json!({ "ref": "refs/heads/main" }), &dispatched[..]),
        ("workflow_run", json!({ "workflow_run": { "head_sha": head } }), &[][..]),
    ];
    for (event, payload, set) in events {
        let ended = job.act(event, &payload, &job.base, &[set, &[("INPUT_REQUIRE_PUBLISH", "true")]].concat());
        assert_eq!((ended.code, ended.output("published").as_str()), (Some(6), "false"), "{event}: {ended:?}");
        let why = format!("commit `{}` was audited, and not `{head}`", job.base);
        assert!(ended.said.contains(&why) && ended.summary.contains(&why), "{event}: {ended:?}");
        assert_eq!((job.statuses(), job.fake.bodies()), (statuses.clone(), bodies.clone()), "{event}");
    }
    // The base is the first parent of a test merge, and not what was audited.
    let merge = job.merge(&head);
    let ended = job.act("workflow_dispatch", &json!({}), &merge, &[("INPUT_HEAD", &job.base)]);
    assert_eq!((ended.output("published").as_str(), job.statuses()), ("false", statuses), "{ended:?}");
}

#[tokio::test]
async fn a_push_is_judged_by_the_default_branchs_rule() {
    let job = Job::new(&[]).await;
    job.git(&["update-ref", "refs/remotes/origin/main", &job.base]);
    let looser = SPEC.replace("at_least: 3pp", "at_least: 99pp");
    let head = job.change(&[CHURN, ("churngate.yaml", &looser)]);
    let ended = job.pull_request(&head, &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let ended = job.push("change", &head);
    let marked = status(&head, REQUIRED, "failure");
    assert_eq!((ended.code, job.statuses()), (Some(1), vec![marked.clone(), marked]), "{ended:?}");
    assert!(job.fake.bodies()[0].contains("edits `churngate.yaml`"), "{:?}", job.fake.bodies());
}

#[tokio::test]
async fn a_push_without_a_rule_that_was_agreed_to_takes_no_mark_and_no_comment_of_the_pull_requests() {
    let job = Job::new(&[]).await;
    let looser = SPEC.replace("at_least: 3pp", "at_least: 99pp");
    let head = job.change(&[CHURN, ("churngate.yaml", &looser)]);
    job.pull_request(&head, &[]);
    let bodies = job.fake.bodies();
    // The clone has the pushed branch alone: `git: base` is the pushed commit itself.
    let ended = job.push("change", &head);
    let expected = [status(&head, REQUIRED, "failure"), status(&head, EXPLORATORY, "success")];
    assert_eq!((ended.code, job.statuses()), (Some(0), expected.to_vec()), "{ended:?}");
    let after = job.fake.bodies();
    assert_eq!((&after[..1], after.len()), (&bodies[..], 2), "{after:?}");
    assert!(after[1].contains("Exploratory: no base commit was named"), "{}", after[1]);
    assert_eq!((ended.output("verdict"), ended.output("exploratory")), (String::new(), "true".to_owned()), "{ended:?}");
    // So is one that cannot be completed, and an audit of a pull request whose workflow wants no base.
    let ended = job.act("push", &json!({ "ref": "refs/heads/change" }), &head, &[("INPUT_SPEC", "none.yaml")]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(job.statuses()[2], status(&head, "churngate/none/exploratory", "error"));
    job.pull_request(&head, &[("INPUT_BASE", "none")]);
    assert_eq!(job.statuses()[3], status(&head, EXPLORATORY, "success"));
}

/// An event that is about no commit says of none that its rule was agreed to.
#[tokio::test]
async fn whatever_is_not_the_default_branchs_own_commit_is_exploratory_without_a_base() {
    let job = Job::new(&[]).await;
    let looser = SPEC.replace("at_least: 3pp", "at_least: 99pp");
    let head = job.change(&[CHURN, ("churngate.yaml", &looser)]);
    job.check_out(&head);
    let events = [
        ("issue_comment", json!({ "issue": { "number": 5 } }), &job.base),
        ("create", json!({ "ref": "change" }), &head),
        ("release", json!({}), &head),
        ("schedule", json!({}), &job.base),
        ("workflow_dispatch", json!({ "ref": "refs/heads/main" }), &job.base),
        ("push", json!({ "ref": "refs/heads/main", "after": job.base, "head_commit": { "id": job.base } }), &job.base),
    ];
    for (event, payload, sha) in events {
        for spec in ["churngate.yaml", "none.yaml"] {
            let ended = job.act(event, &payload, sha, &[("INPUT_SPEC", spec)]);
            let outputs = (ended.output("verdict"), ended.output("exploratory"));
            // What failed names no checkout, so that the tip's own event is taken for the tip.
            let told = spec == "churngate.yaml" || ["issue_comment", "create", "release"].contains(&event);
            assert_eq!(outputs, (String::new(), told.to_string()), "{event} {spec}: {ended:?}");
        }
    }
    assert!(job.statuses().iter().all(|(_, context, _)| context == "churngate/none"), "{:?}", job.statuses());
}

#[tokio::test]
async fn the_default_branch_is_marked_by_its_own_rule() {
    let job = Job::new(&[]).await;
    let tip = job.commit(&[ANOTHER_DOCUMENT]);
    job.git(&["update-ref", "refs/remotes/origin/main", &tip]);
    job.push("main", &tip);
    job.act("schedule", &json!({}), &tip, &[]);
    job.act("workflow_dispatch", &json!({ "ref": "refs/heads/main" }), &tip, &[]);
    assert_eq!(job.statuses(), vec![status(&tip, REQUIRED, "success"); 3]);
}

#[tokio::test]
async fn a_change_that_removes_the_specs_folder_is_told_under_the_audits_own_name() {
    let questions = "{\"id\": \"q\", \"question\": \"Since when?\"}\n";
    let spec = SPEC.replace("path: corpus", "path: ../corpus");
    let job = Job::new(&[("audit/churngate.yaml", &spec), ("audit/questions.jsonl", questions)]).await;
    let set = [("INPUT_SPEC", "audit/churngate.yaml"), ("INPUT_COMMENT", "always")];
    let head = job.change(&[ANOTHER_DOCUMENT]);
    job.pull_request(&head, &set);
    assert!(job.fake.bodies()[0].contains("audit=rule"), "{:?}", job.fake.bodies());
    job.git(&["checkout", "--quiet", "change"]);
    std::fs::remove_dir_all(job.path().join("audit")).unwrap();
    let head = job.commit(&[]);
    let ended = job.pull_request(&head, &set);
    assert_eq!((ended.code, job.statuses()[1].clone()), (Some(2), status(&head, REQUIRED, "error")), "{ended:?}");
    let bodies = job.fake.bodies();
    assert!(bodies.len() == 1 && bodies[0].contains("## ⛔ No verdict"), "{bodies:?}");
}

#[tokio::test]
async fn an_old_snapshot_that_the_change_edits_is_told_in_the_comment_and_in_the_status() {
    let spec = SPEC.replace("old: { git: base, path: corpus }", "old: { path: old }");
    let old = [
        ("old/a.md", "Since version 12 Chrome supports widgets."),
        ("old/b.md", "Since version 7 Safari supports gadgets."),
    ];
    let job = Job::new(&[&[("churngate.yaml", spec.as_str())], &old[..]].concat()).await;
    let head = job.change(&[CHURN, ("old/a.md", CHURN.1), ANOTHER_DOCUMENT]);
    let ended = job.pull_request(&head, &[]);
    assert_eq!((ended.code, ended.output("verdict").as_str()), (Some(0), "compatible"), "{ended:?}");
    assert!(job.fake.bodies()[0].contains("This change edits old,"), "{:?}", job.fake.bodies());
    assert!(job.description().contains("; this change edits what the rule relies on ["), "{}", job.description());
}
