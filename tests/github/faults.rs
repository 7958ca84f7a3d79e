//! Faults at the interface: each with its end state, and the verdict unchanged.

use crate::fake::{Fake, Fault, incompatible, options, refused, told};
use churngate::publish::Outcome;
use std::time::Duration;
use wiremock::ResponseTemplate;

const COMMENTS: &str = "POST /repos/octo/repo/issues/5/comments";

fn why(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Failed { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

/// What the comment comes to where the next calls to create it fail like this, and how often it is tried.
async fn creating(times: u32, reply: ResponseTemplate) -> (Outcome, usize, usize) {
    let fake = Fake::start().await;
    fake.fail("POST", "comments", times, reply);
    let told = told_with_its_verdict(&fake).await;
    assert_eq!(told.mark, Outcome::Done("status"), "one part's fault is not another's");
    (told.comment, fake.count(COMMENTS), fake.bodies().len())
}

/// Publishes, and looks at the outputs: whatever happens to the rest, the verdict is the audit's, and what is said of the
/// publication is true.
async fn told_with_its_verdict(fake: &Fake) -> churngate::publish::Publication {
    let folder = tempfile::tempdir().unwrap();
    let file = camino::Utf8PathBuf::from_path_buf(folder.path().join("outputs")).unwrap();
    let mut around = fake.around(1);
    around.output_file = Some(file.clone());
    let told = told(&incompatible(), &around, &options()).await;
    let written = std::fs::read_to_string(file).unwrap();
    let value = |name: &str| {
        let (_, rest) = written.split_once(&format!("{name}<<")).unwrap();
        rest.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!((value("verdict"), value("published")), ("incompatible".to_owned(), told.is_complete().to_string()));
    assert_eq!(value("comment-url"), told.comment_url.clone().unwrap_or_default());
    told
}

#[tokio::test]
async fn final_refusals_are_not_repeated() {
    let (outcome, calls, _) = creating(9, refused(403, "Resource not accessible by integration")).await;
    assert_eq!((why(&outcome), calls), ("the token may not write", 1));
    for (status, words) in [
        (401, "the token is not accepted"),
        (404, "the server finds nothing there, or the token may not see it"),
        (410, "the server says that it is gone"),
        (422, "the server finds fault with the request"),
        (418, "the server answered with status 418"),
    ] {
        let (outcome, calls, comments) = creating(9, refused(status, "<script>::error::")).await;
        assert_eq!((why(&outcome), calls, comments), (words, 1, 0));
    }
    let (outcome, calls, _) = creating(9, refused(403, "Unable to create comment because issue is locked.")).await;
    assert_eq!((why(&outcome), calls), ("the conversation is locked", 1));
}

#[tokio::test]
async fn limits_are_waited_for() {
    for reply in [
        refused(429, "").insert_header("retry-after", "1"),
        refused(429, ""),
        refused(403, "You have exceeded a secondary rate limit"),
        refused(403, "").insert_header("x-ratelimit-remaining", "0").insert_header("x-ratelimit-reset", "0"),
    ] {
        let (outcome, calls, comments) = creating(1, reply).await;
        assert_eq!((outcome, calls, comments), (Outcome::Done("created"), 2, 1));
    }
}

#[tokio::test]
async fn limits_that_do_not_end_are_given_up() {
    let (outcome, calls, _) = creating(9, refused(429, "")).await;
    assert_eq!((why(&outcome), calls), ("the server's limit on calls is reached", 3));
    let (outcome, calls, _) = creating(9, refused(429, "").insert_header("retry-after", "3600")).await;
    assert_eq!((why(&outcome), calls), ("the server's limit on calls is reached", 1));
}

#[tokio::test]
async fn a_server_that_recovers_gets_one_comment() {
    for status in [500, 502, 503] {
        let (outcome, _, comments) = creating(1, ResponseTemplate::new(status)).await;
        assert_eq!((outcome, comments), (Outcome::Done("created"), 1));
    }
}

#[tokio::test]
async fn a_comment_that_was_made_behind_an_error_is_not_made_twice() {
    let slow = ResponseTemplate::new(201).set_delay(Duration::from_secs(3));
    for reply in [ResponseTemplate::new(502), slow, ResponseTemplate::new(201).set_body_string("no json")] {
        let fake = Fake::start().await;
        let fault = Fault { method: "POST", path: "comments", times: 1, acts: true, reply };
        fake.state.lock().unwrap().faults.push(fault);
        let told = told(&incompatible(), &fake.around(1), &options()).await;
        assert!(told.is_complete(), "{told:?}");
        assert_eq!((fake.bodies().len(), fake.count(COMMENTS)), (1, 1));
    }
}

#[tokio::test]
async fn a_server_that_stays_down_fails_every_part_and_nothing_else() {
    let fake = Fake::start().await;
    for method in ["GET", "POST"] {
        fake.fail(method, "/repos/", 99, ResponseTemplate::new(500));
    }
    let told = told_with_its_verdict(&fake).await;
    assert_eq!(why(&told.comment), "the server failed with status 500");
    assert_eq!(why(&told.mark), "the server failed with status 500");
    assert_eq!(fake.count("POST /repos/octo/repo/statuses"), 3);
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let fake = Fake::start().await;
    let hang = || ResponseTemplate::new(200).set_delay(Duration::from_secs(30));
    fake.fail("POST", "/repos/", 99, hang());
    fake.fail("GET", "/repos/", 99, hang());
    let told = told_with_its_verdict(&fake).await;
    assert_eq!((why(&told.comment), why(&told.mark)), ("timed out", "timed out"));
}

#[tokio::test]
async fn a_reply_that_is_none_and_a_redirect_are_refusals() {
    let fake = Fake::start().await;
    fake.fail("GET", "comments", 9, ResponseTemplate::new(200).set_body_string("{}"));
    let unreadable = told(&incompatible(), &fake.around(1), &options()).await;
    assert_eq!(why(&unreadable.comment), "the server's reply cannot be read");
    let moved = ResponseTemplate::new(301).insert_header("location", "https://elsewhere.example/");
    fake.fail("POST", "statuses", 9, moved);
    let redirected = told(&incompatible(), &fake.around(1), &options()).await;
    assert_eq!(why(&redirected.mark), "the server answered with a redirect");
}

#[tokio::test]
async fn a_comment_that_is_deleted_meanwhile_is_written_anew() {
    let fake = Fake::start().await;
    told(&incompatible(), &fake.around(1), &options()).await;
    let gone = Fault { method: "PATCH", path: "comments", times: 1, acts: false, reply: ResponseTemplate::new(404) };
    fake.state.lock().unwrap().faults.push(gone);
    let again = told(&incompatible(), &fake.around(2), &options()).await;
    assert!(again.is_complete(), "{again:?}");
    assert!(fake.bodies().len() == 1 && fake.bodies()[0].contains("run=2 "));
}

#[tokio::test]
async fn without_a_token_nothing_is_called() {
    let fake = Fake::start().await;
    let mut around = fake.around(1);
    around.token = None;
    let told = told(&incompatible(), &around, &options()).await;
    assert_eq!(why(&told.comment), "there is no token or no repository to publish with");
    assert!(fake.state.lock().unwrap().calls.is_empty());
}
