use super::harness::{Asked, Run};
use crate::model::{FailureClass, Label};
use crate::spec::{CommandSpec, JudgeBackend};

const ASKED: &[Asked<'static>] =
    &[("q1", "which river", &[("old", &["the Rhine", "Rhine"]), ("new", &["$(touch x)", "Rhine"])])];

fn program(script: &str) -> JudgeBackend {
    let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    JudgeBackend::Command(CommandSpec { argv, timeout_seconds: 120, env: Vec::new() })
}

#[tokio::test]
async fn a_program_judges_what_it_is_given_on_standard_input() {
    let script = r#"grep -q '"question":"which river"' && echo '{"A-B":"same","A-C":"same","B-C":"different"}'"#;
    let run = Run::with(ASKED, program(script)).await;
    run.judge().await.unwrap();
    let labels = run.labels();
    assert_eq!(labels.len(), 3);
    assert_eq!(labels.values().filter(|label| **label == Label::Same).count(), 2);
}

#[tokio::test]
async fn whatever_else_a_program_does_is_an_invalid_judgment() {
    for (script, reason) in [
        ("exit 1", "program-failed"),
        ("echo same", "judgment-not-labels"),
        ("printf '\\377'", "not-utf8"),
        ("echo '{\"A-B\":\"same\"}'", "judgment-pair-missing"),
    ] {
        let mut run = Run::with(ASKED, program(script)).await;
        run.frozen.protocol.spec.judge.max_attempts = 1;
        let failure = run.judge().await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete);
        let counted = format!("1 of 1 packets of different answers have no judgment ({reason} 1)");
        assert_eq!(failure.message, counted);
        assert_eq!(run.outcomes(), [reason], "{script}");
        assert!(run.labels().is_empty());
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_stops_the_audit_at_once() {
    let spec = CommandSpec { argv: vec!["/no/such/program".into()], timeout_seconds: 5, env: Vec::new() };
    let run = Run::with(ASKED, JudgeBackend::Command(spec)).await;
    let failure = run.judge().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.contains("could not be started"), "{failure}");
    assert_eq!(run.outcomes(), ["program-not-started"]);
}
