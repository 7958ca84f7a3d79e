//! The stage with a program.

use super::fixture::{Audit, KEY};
use crate::model::FailureClass;

fn section(script: &str) -> String {
    let argv = serde_json::json!(["/bin/sh", "-c", script]);
    format!("{{ command: {{ argv: {argv}, env: [THE_KEY], timeout_seconds: 20 }}, max_attempts: 2 }}")
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_answers_from_what_it_reads() {
    // The first version that the evidence names, as JSON for even lengths of input and as plain text otherwise.
    let script = r#"in=$(cat); v=${in#*since version }; v=${v%%.*}; if [ $((${#in} % 2)) = 0 ]; then printf '{"answer": "%s"}' "$v"; else echo "$v"; fi"#;
    let audit = Audit::begun(8, &section(script)).await;
    audit.generate(None).await.unwrap();
    let answers = audit.answers();
    assert_eq!(answers.len(), 24);
    for (cell, answer) in answers {
        let number: usize = cell.question.0[1..].parse().unwrap();
        let version = if cell.snapshot.0 == "old" { number + 10 } else { number + 11 };
        assert_eq!(answer, version.to_string(), "{cell}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_sees_its_key_and_the_run_does_not() {
    let audit = Audit::begun(4, &section(r#"cat >/dev/null; echo "key $THE_KEY"; echo "$THE_KEY" >&2"#)).await;
    audit.generate(None).await.unwrap();
    assert!(audit.answers().values().all(|answer| answer == "key [key]"));
    audit.assert_absent(KEY);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_fails_is_no_answer() {
    let audit = Audit::begun(4, &section("cat >/dev/null; echo x; exit 3")).await;
    let failure = audit.generate(None).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(audit.answers().is_empty());
    assert_eq!(audit.faults().into_keys().collect::<Vec<_>>(), ["program-failed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_does_not_exist_stops_the_audit_at_once() {
    let audit = Audit::begun(4, "{ command: { argv: [/nonexistent/program] } }").await;
    let failure = audit.generate(None).await.unwrap_err();
    assert_eq!(failure.message, "the generator gave `program-not-started` (a program that cannot be started)");
}
