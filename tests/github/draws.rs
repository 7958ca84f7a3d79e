//! An audit that is drawn again on one pull request says so, and one content is judged once.

use crate::fake::{Fake, compatible, incompatible, options, told, told_failure};
use crate::workflow::{ANOTHER_DOCUMENT, CHURN, Job};
use churngate::model::Digest;
use churngate::publish::{CommentMode, Failed, MarkKind, Options, Outcome, Outdated, Surroundings};
use churngate::report::AuditResult;

/// The same result from other answers.
pub fn drawn(mut result: AuditResult, draw: u32) -> AuditResult {
    result.record.heads = vec![("answers".to_owned(), Digest::of(draw.to_string().as_bytes()))];
    result
}

fn without_fingerprints(mut result: AuditResult) -> AuditResult {
    result.snapshots[0].fingerprint = None;
    result
}

pub fn last_status(fake: &Fake) -> (String, String) {
    let state = fake.state.lock().unwrap();
    let status = state.statuses.last().unwrap();
    let text = |name: &str| status[name].as_str().unwrap().to_owned();
    (text("state"), text("description"))
}

#[tokio::test]
async fn an_earlier_incompatible_verdict_on_the_same_content_stands() {
    let fake = Fake::start().await;
    told(&drawn(incompatible(), 1), &fake.around(1), &options()).await;
    let failed = Failed { name: "docs-search".to_owned(), exploratory: false, exit_code: 4, message: String::new() };
    told_failure(&failed, &fake.around(2), &options()).await;
    assert!(fake.bodies()[0].contains("## ⛔ No verdict"), "{:?}", fake.bodies());
    for run in [3, 4] {
        let publication = told(&drawn(compatible(), run), &fake.around(run.into()), &options()).await;
        assert!(publication.stands && publication.is_complete(), "{publication:?}");
        let (state, description) = last_status(&fake);
        assert_eq!(state, "failure");
        assert!(
            description.starts_with("incompatible when it was drawn before, and that stands; now compatible: "),
            "{description}"
        );
        let bodies = fake.bodies();
        assert!(
            bodies.len() == 1 && bodies[0].starts_with("## ⛔ Incompatible: the verdict of an earlier draw stands"),
            "{bodies:?}"
        );
        assert!(
            bodies[0].contains("Drawn again it is **compatible**") && bodies[0].contains("verdict=incompatible"),
            "{bodies:?}"
        );
    }
    // Where somebody who may has deleted the comment, the draw of the next commit counts: this one stays marked.
    fake.state.lock().unwrap().comments.clear();
    assert!(told(&drawn(compatible(), 5), &fake.around(5), &options()).await.stands);
    assert_eq!(last_status(&fake).0, "failure");
    fake.state.lock().unwrap().comments.clear();
    assert!(!told(&drawn(compatible(), 6), &fake.around_at(6, &"c".repeat(40)), &options()).await.stands);
    assert_eq!(last_status(&fake).0, "success");
}

#[tokio::test]
async fn a_draw_of_what_may_have_changed_counts_and_says_that_it_is_not_the_first() {
    let fake = Fake::start().await;
    told(&drawn(without_fingerprints(incompatible()), 1), &fake.around(1), &options()).await;
    for (run, before) in [(2, "incompatible"), (3, "incompatible, compatible")] {
        let publication =
            told(&drawn(without_fingerprints(compatible()), run), &fake.around(run.into()), &options()).await;
        assert_eq!((publication.stands, &publication.comment), (false, &Outcome::Done("updated")));
        let (state, description) = last_status(&fake);
        assert_eq!(state, "success");
        assert!(description.contains(&format!("; drawn before: {before} [")), "{description}");
        assert!(fake.bodies()[0].contains(&format!("was drawn before: {before}. The rule's")), "{:?}", fake.bodies());
    }
}

#[tokio::test]
async fn another_audit_a_run_that_is_found_again_and_an_own_rule_are_held_to_no_earlier_draw() {
    let fake = Fake::start().await;
    let first = drawn(incompatible(), 1);
    told(&first, &fake.around(1), &options()).await;
    let again = told(&first, &fake.around(2), &options()).await;
    assert!(!again.stands && !fake.bodies()[0].contains("drawn before"), "{:?}", fake.bodies());
    let mut other = drawn(compatible(), 2);
    other.audited = Some(Digest::of(b"another"));
    assert!(!told(&other, &fake.around(3), &options()).await.stands);
    assert_eq!(last_status(&fake).0, "success");
    assert!(!fake.bodies()[0].contains("drawn before"), "{:?}", fake.bodies());
    // Changing the inputs and changing them back is a draw all the same.
    assert!(told(&drawn(compatible(), 3), &fake.around(4), &options()).await.stands);
    let exploring = Options { exploratory: true, ..options() };
    told(&drawn(incompatible(), 4), &fake.around(5), &exploring).await;
    assert!(!told(&drawn(compatible(), 5), &fake.around(6), &exploring).await.stands);
    assert_eq!(last_status(&fake).0, "success");
}

#[tokio::test]
async fn a_run_that_is_published_once_more_is_held_to_what_was_drawn_after_it() {
    for mark in [MarkKind::Status, MarkKind::Check] {
        for comment in [CommentMode::Always, CommentMode::OnChange, CommentMode::Never] {
            let wanted = Options { mark, comment, ..options() };
            let (passing, blocking) = (drawn(compatible(), 1), drawn(incompatible(), 2));
            // As the run that it was, and found again by a newer one.
            for (run, newest) in [(1, false), (3, true)] {
                let fake = Fake::start().await;
                for (result, run) in [(&passing, 1), (&blocking, 2)] {
                    assert!(!told(result, &fake.around(run), &wanted).await.stands);
                }
                let once_more = told(&passing, &fake.around(run), &wanted).await;
                let case = format!("{mark:?} {comment:?} {run}: {once_more:?} {:?}", fake.bodies());
                assert!(once_more.stands && matches!(once_more.mark, Outcome::Done(_)) == newest, "{case}");
                let state = fake.state.lock().unwrap();
                let marks = state.statuses.iter().map(|status| &status["state"]);
                let marks = marks.chain(state.checks.iter().map(|check| &check["conclusion"]));
                assert_eq!(marks.last().unwrap(), "failure", "{case}");
            }
        }
    }
}

/// Of two draws at once it is not the one that was begun last which counts.
#[tokio::test]
async fn an_older_run_that_blocks_is_told_although_a_newer_one_of_the_same_audit_passed() {
    for mark in [MarkKind::Status, MarkKind::Check] {
        for (frozen, expected) in [(true, "failure"), (false, "success")] {
            let kept = |result: AuditResult| if frozen { result } else { without_fingerprints(result) };
            let fake = Fake::start().await;
            let wanted = Options { mark, ..options() };
            told(&drawn(kept(compatible()), 1), &fake.around(9), &wanted).await;
            told(&drawn(kept(incompatible()), 2), &fake.around(8), &wanted).await;
            let state = fake.state.lock().unwrap();
            let marks = state.statuses.iter().map(|status| &status["state"]);
            let marks = marks.chain(state.checks.iter().map(|check| &check["conclusion"]));
            assert_eq!(marks.last().unwrap(), expected, "{mark:?} {frozen}");
        }
    }
}

#[tokio::test]
async fn an_earlier_attempt_that_finishes_last_leaves_the_later_ones_mark() {
    for mark in [MarkKind::Status, MarkKind::Check] {
        let fake = Fake::start().await;
        let wanted = Options { mark, ..options() };
        let attempt = |run_attempt| Surroundings { run_attempt, ..fake.around(1) };
        told(&drawn(incompatible(), 1), &attempt(2), &wanted).await;
        let mut other = drawn(compatible(), 2);
        other.audited = Some(Digest::of(b"another"));
        let earlier = told(&other, &attempt(1), &wanted).await;
        assert_eq!(earlier.mark, Outcome::Left("a newer run has marked the commit"), "{earlier:?}");
        assert!(matches!(told(&other, &attempt(3), &wanted).await.mark, Outcome::Done(_)));
    }
}

#[tokio::test]
async fn a_hidden_comment_about_an_earlier_commit_still_tells_its_draws() {
    let fake = Fake::start().await;
    let hiding = Options { outdated: Outdated::Hide, ..options() };
    told(&drawn(incompatible(), 1), &fake.around_at(1, &"c".repeat(40)), &hiding).await;
    assert!(told(&drawn(compatible(), 2), &fake.around(2), &hiding).await.stands);
    assert_eq!(fake.bodies().len(), 2);
    assert!(told(&drawn(compatible(), 3), &fake.around(3), &hiding).await.stands);
}

#[tokio::test]
async fn what_others_write_about_draws_counts_for_nothing() {
    let fake = Fake::start().await;
    told(&drawn(incompatible(), 1), &fake.around(1), &options()).await;
    let body = fake.bodies()[0].clone();
    {
        let mut state = fake.state.lock().unwrap();
        state.comments.clear();
        let planted = state.comment("somebody", &body);
        let echoed = state.comment("echo[bot]", &body);
        state.comments = vec![planted, echoed];
    }
    // What the commit's own mark says does count.
    let elsewhere = fake.around_at(2, &"c".repeat(40));
    assert!(!told(&drawn(compatible(), 2), &elsewhere, &options()).await.stands);
}

#[tokio::test]
async fn a_job_that_is_run_again_draws_anew_unless_its_run_was_kept() {
    let job = Job::new(&[]).await;
    let head = job.change(&[CHURN]);
    let kept = tempfile::tempdir().unwrap();
    let runs = [("INPUT_RUNS", kept.path().to_str().unwrap())];
    for _ in 0..2 {
        let ended = job.pull_request(&head, &runs);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(!job.description().contains("drawn before"), "{}", job.description());
    }
    let ended = job.pull_request(&head, &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(job.description().contains("; drawn before: incompatible ["), "{}", job.description());
}

/// What is drawn until it passes stands at no verdict: the base branch moves on by itself.
#[tokio::test]
async fn an_unrelated_commit_on_the_base_branch_makes_no_new_audit_of_it() {
    for kind in ["status", "check"] {
        let job = Job::new(&[]).await;
        let head = job.change(&[ANOTHER_DOCUMENT]);
        let set = [("INPUT_COMMENT", "always"), ("INPUT_STATUS", kind)];
        assert_eq!(job.pull_request(&head, &set).code, Some(0));
        let run = job.fake.bodies()[0].split_once(" draws=").unwrap().1.to_owned();
        blocked_by_another_draw(&job);
        job.git(&["checkout", "--quiet", "main"]);
        job.commit(&[("README.md", "Unrelated."), ("corpus/picture.png", "Nothing that is read.")]);
        let ended = job.pull_request(&head, &set);
        assert_eq!((ended.code, ended.output("verdict").as_str()), (Some(1), "incompatible"), "{ended:?}");
        // It is another run all the same: the protocol names the commit.
        assert!(!job.fake.bodies()[0].contains(run.split('.').nth(1).unwrap()), "{:?}", job.fake.bodies());
        // What is audited is another thing once a document is.
        let head = job.change(&[ANOTHER_DOCUMENT, ("corpus/d.md", "Nothing of note either.")]);
        assert_eq!(job.pull_request(&head, &set).code, Some(0));
    }
}

/// Puts an incompatible draw of the same audit in the place of the one in the comment.
fn blocked_by_another_draw(job: &Job) {
    let mut state = job.fake.state.lock().unwrap();
    let body = state.comments[0]["body"].as_str().unwrap().to_owned();
    let (before, draw) = body.split_once(" draws=").unwrap();
    let (audited, _) = draw.split_once('.').unwrap();
    state.comments[0]["body"] = format!("{before} draws={audited}.another.incompatible -->").into();
}

#[tokio::test]
async fn a_job_that_passes_where_an_earlier_verdict_stands_does_not_pass() {
    let job = Job::new(&[]).await;
    let head = job.change(&[ANOTHER_DOCUMENT]);
    job.check_out(&head);
    let act = || job.act("pull_request", &job.of_pull_request(&head), "", &[("INPUT_COMMENT", "always")]);
    assert_eq!(act().code, Some(0));
    blocked_by_another_draw(&job);
    let ended = act();
    assert_eq!((ended.code, ended.output("verdict").as_str()), (Some(1), "incompatible"), "{ended:?}");
    assert!(ended.said.contains("an earlier draw of this audit was incompatible"), "{ended:?}");
    assert_eq!(job.statuses()[1].2, "failure");
}
