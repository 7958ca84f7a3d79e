//! What ends a job before its audit costs nothing, and is told like any other failure: never with an exit code of a verdict.

use crate::workflow::{ANOTHER_DOCUMENT, CHURN, Job, SPEC};
use churngate::publish::outputs::NAMES;

/// A job on pull request 5 with these inputs, which came to nothing: the exit code, and what is told on the pull request.
async fn told(set: &[(&str, &str)], expected: i32, words: &str) {
    let job = Job::new(&[]).await;
    let head = job.change(&[ANOTHER_DOCUMENT]);
    let ended = job.pull_request(&head, &[&[("INPUT_COMMENT", "always")], set].concat());
    assert_eq!(ended.code, Some(expected), "{set:?}: {ended:?}");
    let status = (head, "churngate/rule".to_owned(), "error".to_owned());
    assert_eq!(job.statuses(), [status], "{set:?}: {ended:?}");
    let bodies = job.fake.bodies();
    assert!(bodies.len() == 1 && bodies[0].starts_with("## ⛔ No verdict"), "{set:?}: {bodies:?}");
    assert!(bodies[0].contains(words) && ended.summary.contains(words), "{set:?}: {bodies:?}");
    assert_eq!((ended.output("verdict").as_str(), ended.output("published").as_str()), ("", "true"), "{set:?}");
    assert!(NAMES.iter().all(|name| ended.declares(name)) && !job.has_run(), "nothing was audited: {ended:?}");
}

#[tokio::test]
async fn a_wrong_word_in_an_input_is_found_before_anything_is_spent() {
    for (input, value, words) in [
        ("INPUT_COMMENT", "on_change", "`comment` is one of `always`, `on-change`, `never`"),
        ("INPUT_STATUS", "checks", "`status` is one of `status`, `check`, `none`"),
        ("INPUT_DISCLOSURE", "none", "`disclosure` is one of `ids`, `questions`, `answers`"),
        ("INPUT_OUTDATED", "x", "`outdated` is one of `update`, `hide`"),
        ("INPUT_REQUIRE_PUBLISH", "yes", "`require-publish` is one of `true`, `false`"),
        ("INPUT_PULL_REQUEST", "7x", "`pull-request` is a number"),
        ("INPUT_PULL_REQUEST", "99999999999999999999", "`pull-request` is a number"),
        ("INPUT_COMMAND", "rnu", "`command` is one of `run`, `check`, `merge`, `publish`"),
    ] {
        told(&[(input, value)], 2, words).await;
    }
    told(&[("INPUT_STATUS", "x"), ("INPUT_OUTDATED", "y")], 2, "`hide`; `status` is one of").await;
}

#[tokio::test]
async fn what_the_action_cannot_begin_with_is_told() {
    told(&[("INPUT_ARGS", "--bogus")], 2, "unexpected argument '--bogus'").await;
    told(&[("INPUT_COMMAND", "merge")], 2, "`shards` is the folder").await;
    told(&[("RUNNER_TEMP", "/dev/null/nowhere")], 4, "the action failed").await;
}

#[tokio::test]
async fn a_change_that_removes_the_working_directory_is_told_under_the_audits_own_name() {
    let job = Job::new(&[("audit/churngate.yaml", &SPEC.replace("name: rule", "name: other"))]).await;
    job.change(&[ANOTHER_DOCUMENT]);
    std::fs::remove_dir_all(job.path().join("audit")).unwrap();
    let head = job.commit(&[]);
    let ended = job.pull_request(&head, &[("INPUT_WORKING_DIRECTORY", "audit")]);
    let status = (head, "churngate/other".to_owned(), "error".to_owned());
    assert_eq!((ended.code, job.statuses()), (Some(2), vec![status]), "{ended:?}");
    assert!(ended.summary.contains("there is no folder `working-directory`") && !job.has_run(), "{ended:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_the_place_of_the_specs_folder_leads_to_no_other_audit_however_the_spec_is_named() {
    let spec = |name: &str| SPEC.replace("name: rule", &format!("name: {name}")).replace("path: corpus", "path: docs");
    let (one, other) = (spec("one"), spec("other"));
    let question = "{\"id\": \"q\", \"question\": \"Since when?\"}\n";
    let job = Job::new(&[
        ("packages/a/churngate.yaml", &one),
        ("packages/a/questions.jsonl", question),
        ("packages/a/docs/a.md", "Since version 12."),
        ("packages/b/churngate.yaml", &other),
        ("packages/b/questions.jsonl", question),
        ("packages/b/docs/a.md", "Since version 7."),
    ])
    .await;
    job.change(&[]);
    std::fs::rename(job.path().join("packages/a"), job.path().join("packages/a2")).unwrap();
    std::os::unix::fs::symlink("b", job.path().join("packages/a")).unwrap();
    let head = job.commit(&[("packages/a2/docs/a.md", "Nothing is known.")]);
    let status = (head.clone(), "churngate/one".to_owned(), "error".to_owned());
    for (number, set) in [
        [("INPUT_SPEC", "packages/a/churngate.yaml"), ("INPUT_WORKING_DIRECTORY", ".")],
        [("INPUT_SPEC", "churngate.yaml"), ("INPUT_WORKING_DIRECTORY", "packages/a")],
        [("INPUT_SPEC", "a/churngate.yaml"), ("INPUT_WORKING_DIRECTORY", "packages/b/..")],
    ]
    .iter()
    .enumerate()
    {
        let ended = job.pull_request(&head, set);
        assert_eq!((ended.code, job.statuses()), (Some(2), vec![status.clone(); number + 1]), "{ended:?}");
        assert!(ended.summary.contains("`packages/a` is a symbolic link") && !job.has_run(), "{ended:?}");
    }
}

#[tokio::test]
async fn a_commit_that_is_none_marks_nothing_and_spends_nothing() {
    let job = Job::new(&[]).await;
    let head = job.change(&[ANOTHER_DOCUMENT]);
    for wrong in ["main", "abc", &head.to_uppercase(), &head[..39]] {
        let ended = job.pull_request(&head, &[("INPUT_HEAD", wrong)]);
        assert_eq!((ended.code, job.statuses().len()), (Some(2), 0), "{ended:?}");
        assert!(ended.summary.contains("`head` is the full name of a commit") && !job.has_run(), "{ended:?}");
    }
    assert_eq!(job.pull_request(&head, &[("INPUT_HEAD", &head)]).code, Some(0));
}

#[tokio::test]
async fn a_shard_a_check_and_a_replay_that_cannot_begin_take_no_mark() {
    let job = Job::new(&[]).await;
    let head = job.change(&[ANOTHER_DOCUMENT]);
    for set in [("INPUT_SHARD", "1/2"), ("INPUT_COMMAND", "check"), ("INPUT_ARGS", "--replay=recording")] {
        let ended = job.pull_request(&head, &[set, ("INPUT_COMMENT", "on_change")]);
        assert_eq!((ended.code, job.statuses().len(), job.fake.bodies().len()), (Some(2), 0, 0), "{ended:?}");
        assert!(ended.summary.contains("could not be completed (exit code 2)"), "{ended:?}");
    }
}

#[tokio::test]
async fn a_token_between_line_breaks_publishes_and_one_that_is_none_is_found_before_anything_is_spent() {
    let job = Job::new(&[]).await;
    let head = job.change(&[ANOTHER_DOCUMENT]);
    for (number, token) in ["t0ken\n", " t0ken \n", "\n\tt0ken"].iter().enumerate() {
        let ended = job.pull_request(&head, &[("GITHUB_TOKEN", token)]);
        assert_eq!((ended.code, ended.output("published").as_str()), (Some(0), "true"), "{token:?}: {ended:?}");
        assert_eq!(job.statuses().len(), number + 1, "{token:?}: {ended:?}");
    }
    let job = Job::new(&[]).await;
    let head = job.change(&[ANOTHER_DOCUMENT]);
    for token in ["t0 ken", "t0ken\nt0ken", "t0ken\u{7}"] {
        let ended = job.pull_request(&head, &[("GITHUB_TOKEN", token)]);
        assert_eq!((ended.code, ended.output("published").as_str()), (Some(2), "false"), "{token:?}: {ended:?}");
        assert!(ended.summary.contains("`token` holds white space") && !job.has_run(), "{token:?}: {ended:?}");
        assert!(NAMES.iter().all(|name| ended.declares(name)) && job.statuses().is_empty(), "{token:?}: {ended:?}");
    }
}

#[tokio::test]
async fn an_event_that_cannot_be_read_leaves_verdict_summary_and_outputs() {
    let job = Job::new(&[]).await;
    for (change, expected, verdict) in [(ANOTHER_DOCUMENT, 0, "compatible"), (CHURN, 1, "incompatible")] {
        let head = job.change(&[change]);
        let folder = job.path().to_str().unwrap();
        for (event, required) in [("/nowhere", false), (folder, false), ("/nowhere", true)] {
            let code = if required && expected == 0 { 6 } else { expected };
            let set =
                [("GITHUB_EVENT_PATH", event), ("INPUT_REQUIRE_PUBLISH", if required { "true" } else { "false" })];
            let ended = job.pull_request(&head, &set);
            assert_eq!((ended.code, ended.output("verdict").as_str()), (Some(code), verdict), "{event}: {ended:?}");
            assert_eq!(
                (ended.output("published").as_str(), ended.output("questions").as_str()),
                ("false", "2"),
                "{ended:?}"
            );
            assert!(
                ended.summary.contains("stable flip") && ended.said.contains("failed to read the event"),
                "{ended:?}"
            );
        }
    }
    assert!(job.statuses().is_empty());
}
