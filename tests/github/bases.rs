//! One commit that goes into several base branches, each with a rule of its own: what one of them blocks no other one passes.

use crate::draws::drawn;
use crate::fake::{Fake, HEAD, compatible, incompatible, options, pull, told, told_failure};
use churngate::model::Digest;
use churngate::publish::{CommentMode, Failed, MarkKind, Options, Outcome, Surroundings};
use churngate::report::AuditResult;
use serde_json::{Value, json};

/// The job of a pull request into this branch: 5 goes into `main`, 6 into any other one.
fn into(fake: &Fake, base: &str, run: u64) -> Surroundings {
    let number = if base == "main" { 5 } else { 6 };
    let request = json!({ "number": number, "head": { "sha": HEAD }, "base": { "ref": base } });
    let payload = json!({ "number": number, "pull_request": request });
    Surroundings { event_json: payload.to_string().into_bytes(), ..fake.around(run) }
}

/// A passing draw of an audit by another rule.
fn passing(draw: u32) -> AuditResult {
    AuditResult { audited: Some(Digest::of(draw.to_string().as_bytes())), ..drawn(compatible(), draw) }
}

/// The marks, the oldest first: how each stands, and what it says.
fn marks(fake: &Fake) -> Vec<(String, String)> {
    let state = fake.state.lock().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let statuses = state.statuses.iter().map(|status| (text(&status["state"]), text(&status["description"])));
    let checks = state.checks.iter().map(|check| (text(&check["conclusion"]), text(&check["output"]["title"])));
    statuses.chain(checks).collect()
}

fn last(fake: &Fake) -> String {
    marks(fake).last().unwrap().0.clone()
}

fn failed() -> Failed {
    Failed { name: "docs-search".to_owned(), exploratory: false, exit_code: 4, message: String::new() }
}

#[tokio::test]
async fn a_pass_by_another_base_branchs_rule_replaces_no_mark_that_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let file = camino::Utf8PathBuf::from_path_buf(folder.path().join("outputs")).unwrap();
    for mark in [MarkKind::Status, MarkKind::Check] {
        for comment in [CommentMode::Always, CommentMode::OnChange, CommentMode::Never] {
            for has_verdict in [true, false] {
                let fake = Fake::start().await;
                let wanted = Options { mark, comment, spec: Some("churngate.yaml".to_owned()), ..options() };
                if has_verdict {
                    told(&drawn(incompatible(), 1), &into(&fake, "main", 1), &wanted).await
                } else {
                    told_failure(&failed(), &into(&fake, "main", 1), &wanted).await
                };
                let before = last(&fake);
                for run in [2, 3] {
                    let _absent = std::fs::remove_file(&file);
                    let around = Surroundings { output_file: Some(file.clone()), ..into(&fake, "v2", run) };
                    let held = told(&passing(2), &around, &wanted).await;
                    let case = format!("{mark:?} {comment:?} {has_verdict} {run}: {held:?} {:?}", marks(&fake));
                    assert!(!held.is_complete() && !held.stands && last(&fake) == before, "{case}");
                    let said = held.warnings().join("\n");
                    assert!(
                        said.contains("for another base branch did not pass") && said.contains("empty one"),
                        "{case}"
                    );
                    let description = marks(&fake).last().unwrap().1.clone();
                    assert!(
                        description.starts_with("held by another base branch's audit; here compatible: "),
                        "{case}"
                    );
                    let outputs = std::fs::read_to_string(&file).unwrap();
                    assert!(outputs.starts_with("verdict<<") && outputs.lines().nth(1) == Some(""), "{outputs}");
                }
                for body in fake.bodies().iter().filter(|body| body.contains("Held")) {
                    assert!(body.starts_with("> **Held.** ") && !body.contains('✅'), "{body}");
                }
                assert_eq!(fake.bodies().iter().any(|body| body.contains("Held")), comment != CommentMode::Never);
                // What its own base comes to next takes its place, and holds nobody up any more.
                let passed = told(&passing(4), &into(&fake, "main", 4), &wanted).await;
                assert!(passed.is_complete() && last(&fake) == "success", "{passed:?} {:?}", marks(&fake));
                let passed = told(&passing(5), &into(&fake, "v2", 5), &wanted).await;
                assert!(passed.is_complete() && last(&fake) == "success", "{passed:?} {:?}", marks(&fake));
            }
        }
    }
}

#[tokio::test]
async fn what_blocks_is_told_although_a_newer_run_for_another_base_branch_passed() {
    for mark in [MarkKind::Status, MarkKind::Check] {
        let fake = Fake::start().await;
        let wanted = Options { mark, ..options() };
        told(&passing(1), &into(&fake, "v2", 9), &wanted).await;
        let older = told(&drawn(incompatible(), 2), &into(&fake, "main", 8), &wanted).await;
        assert!(matches!(older.mark, Outcome::Done(_)) && last(&fake) == "failure", "{older:?} {:?}", marks(&fake));
        // For its own base branch it would be the older one.
        let late = told(&passing(3), &into(&fake, "main", 7), &wanted).await;
        assert_eq!(
            (&late.mark, last(&fake).as_str()),
            (&Outcome::Left("a newer run has marked the commit"), "failure")
        );
    }
}

#[tokio::test]
async fn a_mark_that_blocks_and_comes_in_between_is_put_back_on_top() {
    let (fake, scratch) = (Fake::start().await, Fake::start().await);
    told(&drawn(incompatible(), 1), &into(&scratch, "main", 1), &options()).await;
    let rival = scratch.state.lock().unwrap().statuses[0].clone();
    fake.state.lock().unwrap().rival_statuses.push(rival);
    let held = told(&passing(2), &into(&fake, "v2", 2), &options()).await;
    let states: Vec<String> = marks(&fake).into_iter().map(|(state, _)| state).collect();
    assert_eq!((states, held.is_complete()), (["failure", "success", "failure"].map(str::to_owned).to_vec(), false));
}

#[tokio::test]
async fn a_publication_by_hand_is_held_to_the_base_branch_of_the_pull_request_that_it_names() {
    let fake = Fake::start().await;
    told(&drawn(incompatible(), 1), &into(&fake, "main", 1), &options()).await;
    let by_hand = |number| Surroundings {
        event_name: String::new(),
        event_json: Vec::new(),
        pull_request: Some(number),
        head: Some(HEAD.to_owned()),
        ..fake.around(2)
    };
    for (number, base) in [(5, "main"), (6, "v2")] {
        let mut request = pull(number, HEAD, 1, "open");
        request["base"] = json!({ "ref": base });
        fake.state.lock().unwrap().pulls.retain(|other| other["number"] != number);
        fake.state.lock().unwrap().pulls.push(request);
    }
    assert!(!told(&passing(2), &by_hand(6), &options()).await.is_complete());
    assert_eq!(last(&fake), "failure");
    assert!(told(&passing(2), &by_hand(5), &options()).await.is_complete());
    assert_eq!(last(&fake), "success");
}
