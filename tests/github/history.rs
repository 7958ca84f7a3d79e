//! What an audit was drawn as before is known from the pull request and from the commit, and what cannot be read is no pass.

use crate::draws::{drawn, last_status};
use crate::fake::{BOT, Fake, HEAD, compatible, incompatible, options, pull, refused, told, told_failure};
use churngate::gate::Verdict;
use churngate::publish::{CommentMode, Failed, MarkKind, Options, Outcome, Outdated, Surroundings};
use churngate::report::AuditResult;
use serde_json::json;

/// Waits too short to notice, many times over.
fn hurried() -> Options {
    let mut options = options();
    options.pace.first = std::time::Duration::from_millis(1);
    options.pace.again = std::time::Duration::from_millis(1);
    options
}

/// The surroundings of a job of this event about the head of pull request 5.
fn of_event(fake: &Fake, event: &str, run: u64) -> Surroundings {
    let payload = match event {
        "push" => json!({ "ref": "refs/heads/x", "after": HEAD, "head_commit": { "id": HEAD } }),
        "workflow_run" => json!({
            "repository": { "id": 1 },
            "workflow_run": {
                "head_sha": HEAD, "head_branch": "x", "pull_requests": null,
                "head_repository": { "id": 1, "owner": { "login": "octo" } }
            }
        }),
        "merge_group" => {
            json!({ "merge_group": { "head_sha": HEAD, "head_ref": "refs/heads/gh-readonly-queue/main/pr-5-x" } })
        }
        _ => return fake.around(run),
    };
    Surroundings { event_name: event.to_owned(), event_json: payload.to_string().into_bytes(), ..fake.around(run) }
}

/// The same on another pull request with the same head.
fn on_another(fake: &Fake, run: u64) -> Surroundings {
    fake.state.lock().unwrap().pulls.push(pull(6, HEAD, 1, "open"));
    let payload = json!({ "number": 6, "pull_request": { "number": 6, "head": { "sha": HEAD } } });
    Surroundings { event_json: payload.to_string().into_bytes(), ..fake.around(run) }
}

/// How the commit stands: the last status, or the last check run.
fn mark(fake: &Fake, kind: MarkKind) -> String {
    let state = fake.state.lock().unwrap();
    let (all, member) = match kind {
        MarkKind::Check => (&state.checks, "conclusion"),
        MarkKind::Status | MarkKind::None => (&state.statuses, "state"),
    };
    all.last().map_or_else(String::new, |mark| mark[member].as_str().unwrap().to_owned())
}

/// A server with an app's own token, which tells its name, and an incompatible draw on pull request 5.
async fn blocked(kind: MarkKind) -> Fake {
    let fake = Fake::start().await;
    {
        let mut state = fake.state.lock().unwrap();
        state.writer = Some(json!({ "user": { "login": "audits[bot]", "type": "Bot" } }));
        state.tells = true;
    }
    let first = Options { mark: kind, ..hurried() };
    assert!(told(&drawn(incompatible(), 1), &fake.around(1), &first).await.is_complete());
    fake.state.lock().unwrap().reads = 0;
    fake
}

fn failed() -> Failed {
    Failed { name: "docs-search".to_owned(), exploratory: false, exit_code: 4, message: String::new() }
}

/// Draws again where some of what is read cannot be; says whether the earlier draw was found, and how often something was read.
async fn redrawn(event: &str, wanted: &Options, unreadable: std::ops::Range<usize>) -> (bool, usize) {
    let fake = blocked(wanted.mark).await;
    fake.state.lock().unwrap().unreadable = unreadable.clone();
    let publication = told(&drawn(compatible(), 2), &of_event(&fake, event, 2), wanted).await;
    let case = format!("{event}, {:?}, {unreadable:?}: {publication:?} {:?}", wanted.mark, fake.bodies());
    assert!(["failure", "error"].contains(&mark(&fake, wanted.mark).as_str()), "{case}");
    // Whoever is not held to the earlier verdict is told that nothing is a pass.
    assert!(publication.stands || !publication.is_complete(), "{case}");
    let bodies = fake.bodies();
    assert!(!bodies.is_empty() && bodies.iter().all(|body| body.contains(".incompatible")), "{case}");
    let last = bodies.last().unwrap();
    assert!(
        last.contains("## ⛔ Incompatible") || last.contains("History unknown") || last.contains("run=1 "),
        "{case}"
    );
    let reads = fake.state.lock().unwrap().reads;
    // A failure that is told next keeps the draws as well, and so does what is drawn once more.
    fake.state.lock().unwrap().unreadable = unreadable.start + reads..unreadable.end + reads;
    told_failure(&failed(), &of_event(&fake, event, 3), wanted).await;
    assert!(fake.bodies().iter().all(|body| body.contains(".incompatible")), "{case}");
    fake.state.lock().unwrap().unreadable = 0..0;
    assert!(told(&drawn(compatible(), 4), &of_event(&fake, event, 4), wanted).await.stands, "{case}");
    assert_eq!(mark(&fake, wanted.mark), "failure", "{case}");
    (publication.stands, reads)
}

#[tokio::test]
async fn an_earlier_verdict_that_cannot_be_read_is_neither_passed_over_nor_lost() {
    let events = ["pull_request", "push", "workflow_run", "merge_group"].map(|event| (event, MarkKind::Status));
    for (event, mark) in events.into_iter().chain([("pull_request", MarkKind::Check)]) {
        let wanted = Options { mark, ..hurried() };
        let (stands, reads) = redrawn(event, &wanted, 0..0).await;
        assert!(stands && reads >= 4, "{event}: {reads}");
        let attempts = usize::try_from(wanted.pace.attempts).unwrap();
        for from in 0..reads {
            for times in [attempts - 1, attempts, 99] {
                let (stands, _) = redrawn(event, &wanted, from..from + times).await;
                assert!(stands || times >= attempts, "{event}: {from} {times}");
            }
        }
    }
    let hiding = Options { outdated: Outdated::Hide, ..hurried() };
    for from in 0..5 {
        redrawn("pull_request", &hiding, from..from + 3).await;
    }
}

#[tokio::test]
async fn without_a_mark_an_unknown_history_is_not_published_as_a_pass() {
    let fake = blocked(MarkKind::Status).await;
    let unmarked = Options { mark: MarkKind::None, ..hurried() };
    fake.state.lock().unwrap().unreadable = 1..4;
    let publication = told(&drawn(compatible(), 2), &fake.around(2), &unmarked).await;
    assert!(!publication.is_complete(), "{publication:?}");
    let said = publication.warnings().join("\n");
    assert!(
        said.contains("what the audit was drawn as before cannot be read (the server failed with status 502)"),
        "{said}"
    );
    assert!(said.contains("`churngate publish FOLDER`") && !said.contains("run the job again"), "{said}");
    assert!(fake.bodies()[0].contains("History unknown"), "{:?}", fake.bodies());
}

#[tokio::test]
async fn whoever_may_not_read_the_history_is_told_the_grant_and_passes_nothing() {
    let fake = Fake::start().await;
    fake.fail("GET", "comments", 99, refused(403, "Resource not accessible by integration"));
    let publication = told(&drawn(compatible(), 1), &fake.around(1), &hurried()).await;
    assert_eq!(last_status(&fake).0, "error");
    assert!(last_status(&fake).1.starts_with("history unknown: publish this run again; compatible: "));
    assert!(publication.warnings().iter().all(|warning| warning.contains("pull-requests: write")), "{publication:?}");
    // What blocks, or decides nothing, needs no history.
    told(&drawn(incompatible(), 2), &fake.around(2), &hurried()).await;
    assert_eq!(last_status(&fake).0, "failure");
    told(&drawn(compatible(), 3), &fake.around(3), &Options { exploratory: true, ..hurried() }).await;
    assert_eq!(last_status(&fake).0, "success");
}

#[tokio::test]
async fn a_pull_request_that_the_token_may_not_see_is_not_taken_for_none() {
    for event in ["push", "merge_group", "workflow_run"] {
        for status in [401, 403, 404, 410] {
            // The comment alone tells of the earlier draw.
            let fake = blocked(MarkKind::None).await;
            fake.fail("GET", "pulls", 99, refused(status, "Not Found"));
            let publication = told(&drawn(compatible(), 2), &of_event(&fake, event, 2), &hurried()).await;
            assert!(!publication.is_complete(), "{event} {status}: {publication:?}");
            assert_ne!(mark(&fake, MarkKind::Status), "success", "{event} {status}: {publication:?}");
        }
    }
}

#[tokio::test]
async fn a_verdict_stands_at_its_commit_whatever_pull_request_or_event_it_is_drawn_for_next() {
    for mark_kind in [MarkKind::Status, MarkKind::Check] {
        for comment in [CommentMode::Always, CommentMode::OnChange, CommentMode::Never] {
            let wanted = Options { mark: mark_kind, comment, ..hurried() };
            let fake = blocked(mark_kind).await;
            for run in [2, 3] {
                let publication = told(&drawn(compatible(), run), &on_another(&fake, run.into()), &wanted).await;
                assert!(publication.stands && publication.is_complete(), "{wanted:?}: {publication:?}");
                assert_eq!(mark(&fake, mark_kind), "failure", "{wanted:?}");
            }
            // Where it is the head of none, the mark is there all the same.
            fake.state.lock().unwrap().pulls.clear();
            let publication = told(&drawn(compatible(), 4), &of_event(&fake, "push", 4), &wanted).await;
            assert!(publication.stands, "{wanted:?}: {publication:?}");
            assert_eq!(mark(&fake, mark_kind), "failure", "{wanted:?}");
            let mut other = drawn(compatible(), 5);
            other.audited = Some(churngate::model::Digest::of(b"another"));
            assert!(!told(&other, &on_another(&fake, 5), &wanted).await.stands, "{wanted:?}");
        }
    }
}

#[tokio::test]
async fn the_comment_on_the_other_pull_request_keeps_the_draw_beyond_the_commit() {
    let fake = blocked(MarkKind::Status).await;
    told(&drawn(compatible(), 2), &on_another(&fake, 2), &hurried()).await;
    assert!(fake.bodies()[1].contains(".mark.incompatible,"), "{:?}", fake.bodies());
    let head = "c".repeat(40);
    let payload = json!({ "number": 6, "pull_request": { "number": 6, "head": { "sha": head } } });
    let around = Surroundings { event_json: payload.to_string().into_bytes(), ..fake.around(3) };
    let publication = told(&drawn(compatible(), 3), &around, &hurried()).await;
    assert!(publication.stands, "{publication:?}");
}

#[tokio::test]
async fn an_older_run_adds_its_draw_to_a_newer_ones_comment() {
    for outdated in [Outdated::Update, Outdated::Hide] {
        let fake = Fake::start().await;
        let wanted = Options { outdated, comment: CommentMode::Always, ..hurried() };
        told(&drawn(compatible(), 9), &fake.around_at(9, &"c".repeat(40)), &wanted).await;
        let before = fake.bodies()[0].clone();
        let older = told(&drawn(incompatible(), 8), &fake.around_at(8, &"d".repeat(40)), &wanted).await;
        assert_eq!(older.comment, Outcome::Left("a newer run has written the comment"));
        let after = fake.bodies()[0].clone();
        let (text, draws) = after.split_once(" draws=").unwrap();
        assert!(before.starts_with(text) && draws.contains(".incompatible"), "{before}\n{after}");
        assert!(told(&drawn(compatible(), 10), &fake.around_at(10, &"e".repeat(40)), &wanted).await.stands);
    }
}

/// A result of this verdict, of this draw.
fn of_verdict(verdict: Verdict, rule: &str, same_content: bool, draw: u32) -> AuditResult {
    let mut result = drawn(incompatible(), draw);
    result.decision.verdict = verdict;
    rule.clone_into(&mut result.decision.inconclusive);
    result.same_content = same_content;
    result
}

#[tokio::test]
async fn exit_output_mark_and_headline_agree_whatever_was_drawn_before() {
    let verdicts = [Verdict::Compatible, Verdict::Incompatible, Verdict::Inconclusive];
    let folder = tempfile::tempdir().unwrap();
    for (before, later) in verdicts.iter().flat_map(|before| verdicts.map(|later| (*before, later))) {
        for (rule, same_content) in [("pass", false), ("warn", false), ("fail", false), ("fail", true)] {
            let fake = Fake::start().await;
            let wanted = Options { comment: CommentMode::Always, ..hurried() };
            told(&of_verdict(before, rule, same_content, 1), &fake.around(1), &wanted).await;
            let file = camino::Utf8PathBuf::from_path_buf(folder.path().join("outputs")).unwrap();
            let _absent = std::fs::remove_file(&file);
            let around = Surroundings { output_file: Some(file.clone()), ..fake.around(2) };
            let result = of_verdict(later, rule, same_content, 2);
            let publication = told(&result, &around, &wanted).await;
            let case = format!("{before:?}, {later:?}, {rule}, {same_content}: {:?} {publication:?}", fake.bodies());
            let incompatible = before == Verdict::Incompatible || later == Verdict::Incompatible;
            let undecided = later == Verdict::Inconclusive && rule == "fail" && !same_content;
            // The code of the run itself, and that of `publish`, of which the action's script takes 1 before 3.
            let code = match later {
                _ if publication.stands => 1,
                Verdict::Incompatible => 1,
                Verdict::Inconclusive if undecided => 3,
                Verdict::Inconclusive | Verdict::Compatible => 0,
            };
            assert_eq!(publication.stands, incompatible && later != Verdict::Incompatible, "{case}");
            assert_eq!(code, if incompatible { 1 } else { 3 * i32::from(undecided) }, "{case}");
            let expected = if incompatible || undecided { "failure" } else { "success" };
            assert_eq!(last_status(&fake).0, expected, "{case}");
            let words = ["incompatible", "compatible", "inconclusive"];
            let word = if incompatible {
                words[0]
            } else if later == Verdict::Compatible {
                words[1]
            } else {
                words[2]
            };
            assert!(last_status(&fake).1.starts_with(word), "{case}");
            let written = std::fs::read_to_string(&file).unwrap();
            assert_eq!(written.lines().nth(1), Some(word), "{case}");
            let headline = fake.bodies()[0].lines().find(|line| line.starts_with("## ")).unwrap().to_lowercase();
            let said = headline.split_whitespace().nth(2).unwrap();
            assert_eq!(said.starts_with("incompatible"), incompatible, "{case}");
        }
    }
}

#[tokio::test]
async fn marks_of_others_do_not_push_a_verdict_out_of_sight() {
    let fake = blocked(MarkKind::Status).await;
    {
        let mut state = fake.state.lock().unwrap();
        state.comments.clear();
        for number in 0..250 {
            let theirs =
                json!({ "sha": HEAD, "state": "success", "context": format!("ci/{number}"), "description": "x" });
            state.statuses.push(theirs);
        }
    }
    assert!(told(&drawn(compatible(), 2), &fake.around(2), &hurried()).await.stands);
}

/// A pull request of as many audits as a marker does not hold.
#[tokio::test]
async fn other_audits_do_not_push_a_verdict_out_of_the_comment() {
    let fake = Fake::start().await;
    told(&drawn(incompatible(), 1), &fake.around(1), &hurried()).await;
    for run in 2..60_u32 {
        let mut other = drawn(compatible(), run);
        other.audited = Some(churngate::model::Digest::of(run.to_string().as_bytes()));
        told(&other, &fake.around(run.into()), &hurried()).await;
    }
    let elsewhere = fake.around_at(60, &"c".repeat(40));
    assert!(told(&drawn(compatible(), 60), &elsewhere, &hurried()).await.stands);
}

#[tokio::test]
async fn one_run_makes_one_comment_whoever_writes_it_and_however_late_it_is_listed() {
    let app = json!({ "user": { "login": "audits[bot]", "type": "Bot" }, "performed_via_github_app": { "id": 1 } });
    let person = json!({ "user": { "login": "alice", "type": "User" }, "author_association": "COLLABORATOR" });
    let workflow = json!({ "user": { "login": BOT, "type": "Bot" } });
    let unknown = json!({ "user": { "login": "nobody", "type": "User" }, "author_association": "NONE" });
    for (writer, is_known) in [(app, true), (person, true), (workflow, true), (unknown, false)] {
        for (tells, late) in [(false, 0), (false, 2), (true, 0), (true, 1), (true, 2), (true, 3), (true, 99)] {
            let fake = Fake::start().await;
            {
                let mut state = fake.state.lock().unwrap();
                (state.writer, state.tells, state.late) = (Some(writer.clone()), tells, late);
            }
            let first = told(&drawn(incompatible(), 1), &fake.around(1), &hurried()).await;
            let case = format!("{writer} {tells} {late}: {first:?}");
            assert_eq!((&first.comment, fake.bodies().len()), (&Outcome::Done("created"), 1), "{case}");
            assert!(first.comment_url.unwrap().ends_with("#issuecomment-101"), "{case}");
            if late < 99 && (is_known || tells) {
                let elsewhere = fake.around_at(2, &"c".repeat(40));
                let second = told(&drawn(compatible(), 2), &elsewhere, &hurried()).await;
                assert_eq!((&second.comment, fake.bodies().len()), (&Outcome::Done("updated"), 1), "{case}");
                assert!(second.stands, "{case}");
            }
        }
    }
}
