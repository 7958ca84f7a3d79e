//! What must not be shown is nowhere that a job shows anything: not in its log either.

use crate::workflow::{Ended, Job, SPEC};

/// Texts that stand in the audit, and from which disclosure on they may be shown.
const PLANTED: [(&str, usize); 4] =
    [("Chrome support widgets", 1), ("4711.0815", 2), ("4711.2222", 2), ("supports widgets. Zanzibar", 2)];
const OLD: (&str, &str) = ("corpus/a.md", "Since version 4711.0815 Chrome supports widgets. Zanzibar.");
const NEW: (&str, &str) = ("corpus/a.md", "Since version 4711.2222 Chrome supports widgets. Zanzibar.");

/// Everything that the job shows, with what it told the server; of the log alone first.
fn shown(job: &Job, ended: &Ended) -> [String; 2] {
    let state = job.fake.state.lock().unwrap();
    let told = format!("{:?} {:?} {:?}", state.comments, state.statuses, state.checks);
    [ended.said.clone(), format!("{}{}{told}", ended.summary, ended.outputs())]
}

#[tokio::test]
async fn each_disclosure_holds_for_log_summary_comment_check_and_outputs() {
    let evidence = SPEC.split_once("generate:").unwrap().0.replace("name: rule", "name: evidence\nmode: evidence");
    for (level, disclosure) in ["ids", "questions", "answers"].iter().enumerate() {
        for (spec, mark) in [("churngate.yaml", "check"), ("churngate.yaml", "status"), ("evidence.yaml", "check")] {
            let job = Job::new(&[OLD, ("evidence.yaml", &evidence)]).await;
            let head = job.change(&[NEW]);
            let set = [
                ("INPUT_SPEC", spec),
                ("INPUT_STATUS", mark),
                ("INPUT_DISCLOSURE", *disclosure),
                ("INPUT_COMMENT", "always"),
            ];
            let ended = job.pull_request(&head, &set);
            assert_eq!(ended.output("published"), "true", "{ended:?}");
            let [log, elsewhere] = shown(&job, &ended);
            for (text, from) in PLANTED {
                if level < from {
                    assert!(
                        !log.contains(text) && !elsewhere.contains(text),
                        "{disclosure} {spec}: {text}\n{log}\n{elsewhere}"
                    );
                }
            }
            let asked = PLANTED[0].0;
            assert_eq!((log.contains(asked), elsewhere.contains(asked)), (level > 0, level > 0), "{disclosure}: {log}");
            assert!(log.contains("q1") && elsewhere.contains("q1"), "{disclosure}: {log}");
            if level == 2 {
                let told = |text: &str| elsewhere.contains(text) || spec == "evidence.yaml";
                assert!(PLANTED.iter().all(|(text, _)| told(text)), "{elsewhere}");
            }
        }
    }
}

#[tokio::test]
async fn each_disclosure_holds_where_shards_are_joined() {
    for (level, disclosure) in ["ids", "questions", "answers"].iter().enumerate() {
        let job = Job::new(&[OLD]).await;
        let head = job.change(&[NEW]);
        let kept = tempfile::tempdir().unwrap();
        let runs = kept.path().to_str().unwrap();
        let set = [("INPUT_RUNS", runs), ("INPUT_DISCLOSURE", *disclosure), ("INPUT_COMMENT", "always")];
        let shard = job.pull_request(&head, &[&set[..], &[("INPUT_SHARD", "1/1")]].concat());
        assert_eq!(shard.code, Some(0), "{shard:?}");
        let merge = [("INPUT_COMMAND", "merge"), ("INPUT_SHARDS", runs), ("INPUT_RUNS", "")];
        let ended = job.pull_request(&head, &[&set[..], &merge].concat());
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let [log, elsewhere] = shown(&job, &ended);
        for (text, from) in PLANTED {
            if level < from {
                assert!(!log.contains(text) && !elsewhere.contains(text), "{disclosure}: {text}\n{log}\n{elsewhere}");
            }
        }
        assert_eq!(log.contains(PLANTED[0].0), level > 0, "{disclosure}: {log}");
    }
}
