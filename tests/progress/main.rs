//! What is seen of a run under way: plain lines where there is no terminal, and a bar on one.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

#[path = "../harness/mod.rs"]
mod harness;

use anyhow::{Context as _, Result, ensure};
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, root};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Cells of the audit: three questions, two snapshots, two repeats.
const CELLS: usize = 12;
/// The width of the terminal.
const COLUMNS: usize = 80;

fn answered(request: &Request) -> Reply {
    let text = json!({ "answer": format!("answer {}", request.number) }).to_string();
    let choice = json!({ "finish_reason": "stop", "message": { "role": "assistant", "content": text } });
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10 });
    Reply::json(
        200,
        &json!({ "id": format!("r-{}", request.number), "model": "m", "choices": [choice], "usage": usage }),
    )
}

fn refused(wait: &str) -> Reply {
    Reply::Full(429, vec![("retry-after", wait.to_owned())], b"{}".to_vec())
}

fn workspace(server: &RawServer) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        let model = format!("openai: {{ model: m, base_url: \"{}/v1\" }}\n  unchanged_evidence: sample", server.host);
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 3, seed: 1 }")
            .replace("reader: {}", &model)
    })?;
    Ok(workspace)
}

/// The lines of standard error, each with when it came, until one is the last that is wanted; then the run is ended.
fn lines(workspace: &Workspace, tasks: &str, mut is_last: impl FnMut(&str) -> bool) -> Result<Vec<(Duration, String)>> {
    let mut command = workspace.command();
    command.args(["run", "churngate.yaml", "--tasks", tasks]).stdout(Stdio::null()).stderr(Stdio::piped());
    let (mut child, started) = (Ended(command.spawn()?), Instant::now());
    let mut said = Vec::new();
    for line in BufReader::new(child.0.stderr.take().context("a stream")?).lines() {
        said.push((started.elapsed(), line?));
        if is_last(&said[said.len() - 1].1) {
            return Ok(said);
        }
    }
    anyhow::bail!("the last line never came: {said:?}");
}

/// A process that ends with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_stage_tells_what_is_to_be_done_and_goes_on_telling_while_nothing_happens() -> Result<()> {
    let server = RawServer::start(|request| match request.number {
        0 => answered(request),
        1 => Reply::json(500, &json!({})),
        _ => Reply::Hang(Duration::from_mins(2)),
    })?;
    let mut told = 0;
    let said = lines(&workspace(&server)?, "2", |line| {
        told += usize::from(line.contains("in flight"));
        told == 2
    })?;
    ensure!(said.iter().any(|(_, line)| line == &format!("generate: {CELLS} to do")), "{said:?}");
    let [(first, one), (second, other)] = &said[said.len() - 2..] else { anyhow::bail!("{said:?}") };
    for line in [one, other] {
        ensure!(line.starts_with("generate: 1/12 done, "), "{line}");
        ensure!(line.contains("1 retry (server-error)") && line.contains("2 in flight for up to "), "{line}");
        ensure!(line.ends_with("110 tokens"), "{line}");
    }
    ensure!(second.saturating_sub(*first) < Duration::from_secs(20), "{said:?}");
    let age = |line: &str| line.split("up to ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    ensure!(age(other) >= age(one).map(|age| age + 8), "{one} {other}");
    Ok(())
}

#[test]
fn a_wait_is_told_while_it_lasts_and_no_longer() -> Result<()> {
    let server = RawServer::start(|request| {
        if request.number == 0 {
            return refused("14");
        }
        thread::sleep(Duration::from_secs(4));
        answered(request)
    })?;
    let said = lines(&workspace(&server)?, "1", |line| (2..12).any(|done| line.contains(&format!(" {done}/12 done"))))?;
    let waiting: Vec<bool> = said.iter().map(|(_, line)| line.contains("waiting")).collect();
    ensure!(said.iter().any(|(_, line)| line.contains("0/12 done") && line.contains("waiting")), "{said:?}");
    ensure!(!waiting[waiting.len() - 1], "{said:?}");
    Ok(())
}

/// What a terminal of so many columns is sent.
fn on_a_terminal(workspace: &Workspace) -> Result<Option<String>> {
    let program = workspace.command();
    let mut command = Command::new("python3");
    command.arg(root().join("tests/progress/terminal.py")).arg(COLUMNS.to_string()).arg(program.get_program());
    command.args(["run", "churngate.yaml", "--tasks", "1"]).current_dir(workspace.path("."));
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    match command.stderr(Stdio::inherit()).output() {
        Ok(output) => {
            ensure!(output.status.success(), "{:?}", output.status);
            Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
        }
        Err(error) => {
            ensure!(std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "python3 is not there: {error}");
            Ok(None)
        }
    }
}

/// What is sent between two movements of the cursor, without what colours it. A line that is as wide as the terminal ends by itself.
fn drawn(sent: &str) -> Vec<Vec<String>> {
    let (mut drawings, mut rest) = (vec![String::new()], sent.chars());
    while let Some(sign) = rest.next() {
        match sign {
            '\u{1b}' => {
                let _bracket = rest.next();
                let end = rest.by_ref().find(char::is_ascii_alphabetic).unwrap_or('m');
                if end != 'm' {
                    drawings.push(String::new());
                }
            }
            '\r' | '\n' => drawings.push(String::new()),
            sign => drawings.last_mut().unwrap().push(sign),
        }
    }
    let rows = |drawing: &String| {
        let signs: Vec<char> = drawing.chars().collect();
        signs.chunks(COLUMNS).map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
    };
    drawings.iter().filter(|drawing| !drawing.trim().is_empty()).map(rows).collect()
}

#[test]
fn a_bar_shows_retries_what_is_waited_for_and_what_is_spent_as_they_change_and_fits_the_terminal() -> Result<()> {
    let server = RawServer::start(|request| match request.number {
        0 => refused("3"),
        1 => Reply::json(500, &json!({})),
        _ => {
            thread::sleep(Duration::from_millis(700));
            answered(request)
        }
    })?;
    let Some(sent) = on_a_terminal(&workspace(&server)?)? else { return Ok(()) };
    let drawings = drawn(&sent);
    let bars: Vec<&Vec<String>> = drawings.iter().filter(|rows| rows[0].contains("/12 ")).collect();
    ensure!(bars.len() > 10 && bars.iter().all(|rows| rows.len() == 2), "a bar and a line below it: {bars:?}");
    let drawn: Vec<&String> = drawings.iter().flatten().collect();
    let has = |part: &str| drawn.iter().any(|line| line.contains(part));
    for part in [
        "generate ",
        "0/12",
        "9/12",
        "waiting ",
        "1 retry (rate-limited)",
        "2 retries (last server-error)",
        "in flight",
    ] {
        ensure!(has(part), "`{part}` is missing in {drawn:?}");
    }
    let amounts: BTreeSet<&str> =
        drawn.iter().filter_map(|line| line.split(", ").find(|part| part.ends_with(" tokens"))).collect();
    ensure!(amounts.len() >= 4, "what is spent grows: {amounts:?}");
    let last_wait = drawn.iter().rposition(|line| line.contains("waiting")).unwrap();
    let half =
        drawn.iter().position(|line| line.starts_with("generate ") && line.contains("6/12")).context("half of it")?;
    ensure!(last_wait < half, "a wait that is over is shown no longer: {:?}", &drawn[half..]);
    Ok(())
}
