//! Ctrl-C, a request to end and a closed terminal: calls in flight are finished and kept, nothing is asked twice, and the program says how to
//! go on.

use crate::fixture::{QUESTIONS, records, server, workspace};
use crate::harness::{code, server::Server, stderr};
use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use serde_json::{Value, json};
use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

#[test]
fn an_interrupted_run_finishes_what_is_in_flight_and_goes_on_where_it_stopped() -> Result<()> {
    for signal in signals() {
        let server = server(Duration::from_millis(200))?;
        let workspace = workspace(&server, "j")?;
        let child =
            workspace.command().args(["run", "churngate.yaml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        until_asked(&server)?;
        send(signal, child.id())?;
        if signal == "-HUP" {
            // The shell says it, and then the system does: nobody asks to stop at once.
            thread::sleep(Duration::from_millis(20));
            send(signal, child.id())?;
        }
        let output = child.wait_with_output()?;
        assert_eq!(code(&output)?, 4, "{signal}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("interrupted: waiting up to 30 seconds for the calls in flight"), "{said}");
        assert!(said.contains("hint: run the same command again to go on"), "{said}");

        let folder = workspace.run_folder()?;
        let left = records_so_far(Utf8Path::from_path(&folder).context("no UTF-8")?)?;
        assert_eq!(left.attempts, left.outcomes, "an attempt without its outcome");
        assert!(left.attempts < 4 * QUESTIONS, "nothing was interrupted");
        assert_eq!(server.count(), (left.attempts - left.not_sent) as u64);
        let resumed = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
        assert!([0, 1].contains(&code(&resumed)?), "{}", stderr(&resumed));
        let run = Utf8Path::from_path(&folder).context("no UTF-8")?;
        let asked = ["answers.jsonl", "judgments.jsonl"].map(|ledger| records(run, ledger));
        let attempts: usize =
            asked.into_iter().flatten().flatten().filter(|record| record["type"] == "attempt").count();
        assert_eq!(server.count(), (attempts - left.not_sent) as u64, "something was asked twice");
        // What stood in line is neither a call nor a retry.
        assert!(left.not_sent > 0, "no call stood in line");
        let result: Value = serde_json::from_slice(&std::fs::read(folder.join("result.json"))?)?;
        let record = &result["record"];
        assert_eq!(record["attempts"], server.count(), "{record}");
        assert_eq!((&record["not_sent"], &record["retries"]), (&left.not_sent.into(), &json!([])), "{record}");
        let report = std::fs::read_to_string(folder.join("report.md"))?;
        assert!(report.contains("that no call followed: the audit ended first"), "{report}");
        assert!(!report.contains("not-sent"), "{report}");
        let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
        assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    }
    Ok(())
}

#[test]
fn a_process_that_is_to_outlive_its_terminal_does() -> Result<()> {
    let server = server(Duration::from_millis(100))?;
    let workspace = workspace(&server, "j")?;
    let program = workspace.command().get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.current_dir(workspace.path(".")).args(["-c", "trap '' HUP; exec \"$0\" run --quiet churngate.yaml"]);
    let child = shell.arg(program).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    until_asked(&server)?;
    send("-HUP", child.id())?;
    let output = child.wait_with_output()?;
    assert!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    assert!(!stderr(&output).contains("interrupted"), "{}", stderr(&output));
    Ok(())
}

/// What ends a run early. A closed terminal does not where these tests are to outlive theirs.
fn signals() -> Vec<&'static str> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let hears = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 1 == 0);
    ["-INT", "-TERM"].into_iter().chain(hears.then_some("-HUP")).collect()
}

fn send(signal: &str, to: u32) -> Result<()> {
    ensure!(Command::new("kill").args([signal, &to.to_string()]).status()?.success(), "no signal");
    Ok(())
}

fn until_asked(server: &Server) -> Result<()> {
    let begun = Instant::now();
    while server.count() < 3 {
        ensure!(begun.elapsed() < Duration::from_mins(1), "nothing was asked");
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// What a ledger that is not sealed has so many of.
struct Left {
    attempts: usize,
    outcomes: usize,
    /// Outcomes of attempts that waited for their turn.
    not_sent: usize,
}

fn records_so_far(run: &Utf8Path) -> Result<Left> {
    let text = std::fs::read_to_string(run.join("answers.jsonl"))?;
    let of = |words: &str| text.lines().filter(|line| line.contains(words)).count();
    Ok(Left {
        attempts: of("\"type\":\"attempt\""),
        outcomes: of("\"type\":\"outcome\""),
        not_sent: of("\"not-sent\""),
    })
}
