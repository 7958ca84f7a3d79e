//! What the caller names where the event does not: something is published there, or counts as not published.

use crate::fake::{Fake, HEAD, incompatible, options, pull, refused, told};
use crate::workflow::{CHURN, Job};
use churngate::publish::{Checkout, Options, Outcome, Publication, Surroundings};
use serde_json::{Value, json};

/// Events with their payloads, those without a commit among them.
fn events() -> Vec<(&'static str, Value)> {
    vec![
        ("issue_comment", json!({ "issue": { "number": 5, "pull_request": {} } })),
        ("issues", json!({ "issue": { "number": 9 } })),
        ("check_suite", json!({})),
        ("", json!({})),
        ("push", json!({ "deleted": true, "after": "0".repeat(40) })),
        ("push", json!({ "after": HEAD, "head_commit": { "id": HEAD } })),
        ("pull_request", json!({ "number": 5, "pull_request": { "number": 5, "head": { "sha": HEAD } } })),
        ("pull_request", json!({})),
        ("pull_request", json!([])),
        ("merge_group", json!({ "merge_group": { "head_sha": "c".repeat(40), "head_ref": "refs/heads/x" } })),
        ("workflow_run", json!({ "workflow_run": { "head_sha": HEAD } })),
        ("workflow_run", json!({})),
        ("workflow_dispatch", json!({ "ref": "refs/heads/main" })),
        ("schedule", json!({})),
    ]
}

fn posted(fake: &Fake) -> usize {
    let state = fake.state.lock().unwrap();
    state.comments.len() + state.statuses.len()
}

async fn publish(around: &Surroundings) -> (Publication, bool) {
    let folder = tempfile::tempdir().unwrap();
    let file = camino::Utf8PathBuf::from_path_buf(folder.path().join("outputs")).unwrap();
    let around = Surroundings { output_file: Some(file.clone()), ..around.clone() };
    let publication = told(&incompatible(), &around, &options()).await;
    let written = std::fs::read_to_string(file).unwrap();
    let (_, rest) = written.split_once("published<<").unwrap();
    (publication, rest.lines().nth(1) == Some("true"))
}

#[tokio::test]
async fn what_is_named_is_published_or_is_said_not_to_be() {
    let names: [(Option<u64>, Option<&str>); 6] = [
        (Some(5), None),
        (Some(99), None),
        (None, Some(HEAD)),
        (Some(5), Some(HEAD)),
        (None, Some("main")),
        (Some(5), Some("main")),
    ];
    for (event, payload) in events() {
        for (pull_request, head) in names {
            let fake = Fake::start().await;
            let around = Surroundings {
                event_name: event.to_owned(),
                event_json: payload.to_string().into_bytes(),
                pull_request,
                head: head.map(str::to_owned),
                ..fake.around(1)
            };
            let (publication, published) = publish(&around).await;
            let case = format!("{event} {payload} {pull_request:?} {head:?}: {publication:?}");
            assert_eq!(published, publication.is_complete(), "{case}");
            assert!(!published || posted(&fake) > 0, "{case}");
            if head == Some(HEAD) || (pull_request, head) == (Some(5), None) {
                assert!(published, "{case}");
            }
            if head == Some("main") {
                let said = publication.warnings().join("\n");
                assert!(said.contains("the commit that was named is not a commit's full name"), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn the_head_of_a_pull_request_that_is_named_alone_is_asked_for_and_held_against_the_checkout() {
    let fake = Fake::start().await;
    let around = Surroundings { event_name: "issue_comment".to_owned(), pull_request: Some(5), ..fake.around(1) };
    let told_of = |commit: &str| {
        let mut wanted = options();
        wanted.audited.checkout = Some(Checkout { commit: commit.to_owned(), parents: vec!["d".repeat(40)] });
        wanted
    };
    let wrong: Options = told_of(&"c".repeat(40));
    let publication = told(&incompatible(), &around, &wrong).await;
    assert!(!publication.is_complete() && posted(&fake) == 0, "{publication:?}");
    let said = publication.warnings().join("\n");
    assert!(said.contains(&format!("and not `{HEAD}`")), "{said}");
    let publication = told(&incompatible(), &around, &told_of(HEAD)).await;
    assert_eq!((&publication.comment, &publication.mark), (&Outcome::Done("created"), &Outcome::Done("status")));
    assert_eq!(fake.state.lock().unwrap().statuses[0]["sha"], HEAD);
    // Whose rule it is, is asked of it as of any other change.
    let mut own = told_of(HEAD);
    own.audited.own_rule = true;
    told(&incompatible(), &around, &own).await;
    assert_eq!(fake.state.lock().unwrap().statuses[1]["context"], "churngate/docs-search/exploratory");
    for (pulls, reply, words) in [
        (Vec::new(), None, "there is no such pull request"),
        (vec![pull(5, "x", 1, "open")], None, "the server's reply cannot be read"),
        (Vec::new(), Some(refused(403, "Resource not accessible by integration")), "the token may not write"),
    ] {
        let mut state = fake.state.lock().unwrap();
        state.pulls = pulls;
        drop(state);
        if let Some(reply) = reply {
            fake.fail("GET", "pulls", 9, reply);
        }
        let publication = told(&incompatible(), &around, &options()).await;
        let said = publication.warnings().join("\n");
        assert!(!publication.is_complete() && said.contains(words), "{said}");
    }
}

#[tokio::test]
async fn a_job_of_an_event_without_a_commit_marks_the_pull_request_that_its_workflow_names() {
    let job = Job::new(&[]).await;
    let head = job.change(&[CHURN]);
    job.check_out(&head);
    let set = [("INPUT_PULL_REQUEST", "5"), ("INPUT_BASE", job.base.as_str()), ("INPUT_REQUIRE_PUBLISH", "true")];
    let ended = job.act("issue_comment", &json!({ "issue": { "number": 5 } }), &job.base, &set);
    let status = (head, "churngate/rule".to_owned(), "failure".to_owned());
    assert_eq!((ended.code, job.statuses()), (Some(1), vec![status]), "{ended:?}");
    assert_eq!((ended.output("published").as_str(), job.fake.bodies().len()), ("true", 1), "{ended:?}");
    job.check_out("main");
    let ended = job.act("issue_comment", &json!({ "issue": { "number": 5 } }), &job.base, &set);
    assert_eq!((ended.output("published").as_str(), job.statuses().len()), ("false", 1), "{ended:?}");
}
