//! Two specs of one name: neither's mark or comment takes the place of the other's, and nothing passes by it.

use crate::fake::{Fake, HEAD, compatible, evidence, incompatible, options, told, told_evidence};
use crate::workflow::{CHURN, Job, SPEC};
use churngate::publish::{CommentMode, MarkKind, Options, Outcome, Publication, Surroundings};
use serde_json::Value;

const SAID: &str = "two specs are called `docs-search`";
const OTHER: &str = "cccccccccccccccccccccccccccccccccccccccc";

/// What one spec comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Incompatible,
    Compatible,
    Evidence,
}

async fn tell(came: Came, around: &Surroundings, wanted: &Options) -> Publication {
    match came {
        Came::Incompatible => told(&incompatible(), around, wanted).await,
        Came::Compatible => told(&compatible(), around, wanted).await,
        Came::Evidence => {
            let mut diff = evidence("x");
            "docs-search".clone_into(&mut diff.name);
            told_evidence(&diff, around, wanted).await
        }
    }
}

fn of(spec: &str, comment: CommentMode, mark: MarkKind) -> Options {
    Options { spec: Some(spec.to_owned()), comment, mark, ..options() }
}

/// The mark that counts: the last one.
fn mark(fake: &Fake) -> Value {
    let state = fake.state.lock().unwrap();
    match (state.statuses.last(), state.checks.last()) {
        (Some(status), None) => status["state"].clone(),
        (None, Some(check)) => check["conclusion"].clone(),
        marks => panic!("{marks:?}"),
    }
}

#[tokio::test]
async fn whichever_of_two_specs_comes_last_covers_nothing_and_fails() {
    let pairs = [
        (Came::Incompatible, Came::Compatible),
        (Came::Incompatible, Came::Evidence),
        (Came::Evidence, Came::Compatible),
    ];
    let both_orders = pairs.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
    for (first, last) in both_orders {
        for kind in [MarkKind::Status, MarkKind::Check] {
            for (mode, runs) in [CommentMode::Always, CommentMode::OnChange, CommentMode::Never].into_iter().zip([
                (1, 2),
                (4, 3),
                (5, 5),
            ]) {
                let fake = Fake::start().await;
                let one = tell(first, &fake.around(runs.0), &of("a/churngate.yaml", mode, kind)).await;
                assert!(one.is_complete(), "{one:?}");
                let before = fake.bodies();
                let other = tell(last, &fake.around(runs.1), &of("b/churngate.yaml", mode, kind)).await;
                let warnings = other.warnings().join("\n");
                assert!(
                    warnings.contains(SAID) && warnings.contains("a `name` of its own"),
                    "{first:?} {last:?} {other:?}"
                );
                assert_eq!(fake.bodies(), before, "{first:?} {last:?} {mode:?}");
                assert!(["failure", "error"].contains(&mark(&fake).as_str().unwrap()), "{first:?} {last:?} {kind:?}");
                // Nor does the first one pass, once it is run again.
                let again = tell(first, &fake.around(9), &of("a/churngate.yaml", mode, kind)).await;
                assert!(!again.is_complete(), "{again:?}");
                assert!(["failure", "error"].contains(&mark(&fake).as_str().unwrap()), "{first:?} {last:?} {kind:?}");
            }
        }
    }
}

#[tokio::test]
async fn two_specs_that_race_pass_nothing() {
    for kind in [MarkKind::Status, MarkKind::Check] {
        let fake = Fake::start().await;
        let (around, around_too) = (fake.around(1), fake.around(1));
        let (one, other) =
            (of("a/churngate.yaml", CommentMode::Always, kind), of("b/churngate.yaml", CommentMode::Always, kind));
        let (one, other) =
            tokio::join!(tell(Came::Compatible, &around, &one), tell(Came::Incompatible, &around_too, &other));
        assert!(!one.is_complete() || !other.is_complete(), "{one:?} {other:?}");
        assert!(["failure", "error"].contains(&mark(&fake).as_str().unwrap()));
    }
}

#[tokio::test]
async fn a_comment_alone_is_not_replaced_either() {
    let fake = Fake::start().await;
    let wanted = |spec| of(spec, CommentMode::Always, MarkKind::None);
    tell(Came::Incompatible, &fake.around(1), &wanted("a/churngate.yaml")).await;
    let before = fake.bodies();
    let other = tell(Came::Compatible, &fake.around(2), &wanted("b/churngate.yaml")).await;
    assert!(matches!(&other.comment, Outcome::Failed { why, .. } if why == SAID), "{other:?}");
    assert_eq!((fake.bodies(), other.mark), (before, Outcome::Left("not wanted")));
}

#[tokio::test]
async fn a_spec_that_was_moved_takes_over_what_it_said_of_an_earlier_commit() {
    for kind in [MarkKind::Status, MarkKind::Check] {
        let fake = Fake::start().await;
        let at = |spec| of(spec, CommentMode::Always, kind);
        tell(Came::Incompatible, &fake.around_at(1, OTHER), &at("a/churngate.yaml")).await;
        let moved = tell(Came::Compatible, &fake.around_at(2, HEAD), &at("audits/a.yaml")).await;
        assert_eq!((moved.is_complete(), &moved.comment), (true, &Outcome::Done("updated")), "{moved:?}");
        assert_eq!((fake.bodies().len(), mark(&fake).as_str().unwrap()), (1, "success"));
        let again = tell(Came::Compatible, &fake.around_at(3, HEAD), &at("audits/a.yaml")).await;
        assert!(again.is_complete(), "{again:?}");
    }
}

#[tokio::test]
async fn the_jobs_of_two_folders_with_one_name_do_not_cover_each_other() {
    let questions = "{\"id\": \"q1\", \"question\": \"Since which version does Chrome support widgets?\"}\n\
                     {\"id\": \"q2\", \"question\": \"Since which version does Safari support gadgets?\"}\n";
    let spec = SPEC.replace("path: corpus", "path: ../corpus");
    let whole = SPEC.replace("path: corpus", "path: ../other");
    let job = Job::new(&[
        ("a/churngate.yaml", &spec),
        ("a/questions.jsonl", questions),
        ("b/churngate.yaml", &whole),
        ("b/questions.jsonl", questions),
        ("other/a.md", "Since version 12 Chrome supports widgets."),
        ("other/b.md", "Since version 7 Safari supports gadgets."),
    ])
    .await;
    let head = job.change(&[CHURN, ("other/c.md", "Nothing of note.")]);
    let blocked = job.pull_request(&head, &[("INPUT_WORKING_DIRECTORY", "a")]);
    assert_eq!((blocked.code, job.statuses()[0].2.as_str()), (Some(1), "failure"), "{blocked:?}");
    for (required, code) in [("false", 0), ("true", 6)] {
        let set = [("INPUT_SPEC", "b/churngate.yaml"), ("INPUT_REQUIRE_PUBLISH", required)];
        let passed = job.pull_request(&head, &set);
        assert_eq!((passed.code, passed.output("published").as_str()), (Some(code), "false"), "{passed:?}");
        assert_eq!(passed.output("verdict"), "");
        assert!(passed.summary.starts_with("## ⛔ No mark: two specs are called `rule`"), "{passed:?}");
        assert_eq!((job.statuses().last().unwrap().2.as_str(), job.fake.bodies().len()), ("error", 1));
    }
}
