//! The pace of calls, seen by the servers that are called, through the real binary.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::{Context as _, Result, ensure};
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, stderr};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// The calls in flight that the spec allows.
const MOST: usize = 12;
/// The calls in flight that a server takes at first.
const TAKES: usize = 3;

/// What one server counts.
#[derive(Default)]
struct Counts {
    now: usize,
    /// Of each call: how many were in flight with it when it came, and whether it was refused.
    calls: Vec<(usize, bool)>,
    answered: usize,
}

/// Takes [`TAKES`] calls at once until it has answered so many, and any number from then on.
struct Door {
    until: usize,
    counts: Mutex<Counts>,
    came: Condvar,
}

impl Door {
    fn until(until: usize) -> Arc<Self> {
        Arc::new(Self { until, counts: Mutex::default(), came: Condvar::new() })
    }

    /// Lets a call through, or refuses it. The first ones wait for one another, so that they are in flight together.
    fn pass(&self) -> bool {
        let mut counts = self.counts.lock().unwrap();
        counts.now += 1;
        let (number, at_once) = (counts.calls.len(), counts.now);
        let refused = at_once > TAKES && counts.answered < self.until;
        counts.calls.push((at_once, refused));
        self.came.notify_all();
        if number < MOST {
            let all_here = |counts: &mut Counts| counts.calls.len() < MOST;
            counts = self.came.wait_timeout_while(counts, Duration::from_secs(30), all_here).unwrap().0;
        }
        drop(counts);
        thread::sleep(Duration::from_millis(20));
        let mut counts = self.counts.lock().unwrap();
        counts.now -= 1;
        counts.answered += usize::from(!refused);
        !refused
    }

    /// What it counted until the last refusal, and after it.
    fn seen(&self) -> (Vec<usize>, Vec<usize>, usize) {
        let counts = self.counts.lock().unwrap();
        let last = counts.calls.iter().rposition(|(_, refused)| *refused).map_or(0, |at| at + 1);
        let at_once = |calls: &[(usize, bool)]| calls.iter().map(|(at_once, _)| *at_once).collect();
        let refused = counts.calls.iter().filter(|(_, refused)| *refused).count();
        (at_once(&counts.calls[..last]), at_once(&counts.calls[last..]), refused)
    }
}

fn is_judged(request: &Request) -> bool {
    request.body.to_string().contains("\"labels\"")
}

/// An answer that is like no other, or the label `same` for every pair.
fn answered(request: &Request) -> Reply {
    let text = if is_judged(request) {
        let pairs = request.body.pointer("/response_format/json_schema/schema/required").unwrap().as_array().unwrap();
        let labels = pairs.iter().map(|pair| (pair.as_str().unwrap().to_owned(), json!("same")));
        Value::Object(labels.collect())
    } else {
        json!({ "answer": format!("answer {}", request.number) })
    };
    let message = json!({ "role": "assistant", "content": text.to_string() });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    Reply::json(200, &json!({ "id": format!("r-{}", request.number), "model": "m-1", "choices": [choice] }))
}

/// The quickstart with so many questions; this is said of the generator's and the judge's server.
fn workspace(server: &RawServer, questions: usize, more: &str) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    let model = format!("openai: {{ model: m, base_url: \"{}/v1\"{more} }}", server.host);
    let with = format!("{model}\n  concurrency: {MOST}");
    workspace.edit("churngate.yaml", |spec| {
        spec.replace(
            "file: questions.jsonl",
            &format!("file: questions.jsonl\n  select: {{ count: {questions}, seed: 1 }}"),
        )
        .replace("reader: {}", &format!("unchanged_evidence: sample\n  {with}"))
        .replace("embedded: {}", &with)
    })?;
    Ok(workspace)
}

/// A refusal as servers send it.
fn refusal(status: u16, wish: Option<&str>) -> Reply {
    let body = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "slow down" } });
    let headers = wish.map(|wish| ("retry-after-ms", wish.to_owned())).into_iter().collect();
    Reply::Full(status, headers, body.to_string().into_bytes())
}

#[test]
fn calls_in_flight_become_fewer_where_a_server_refuses_them_and_more_again_where_it_takes_them() -> Result<()> {
    let refusals = [(429, None), (529, None), (503, Some("300")), (500, Some("300"))];
    side_by_side(refusals.map(|(status, wish)| move || adapts(status, wish)))
}

/// Does all of this at once: most of the time nothing happens but waiting.
fn side_by_side<F: Fn() -> Result<()> + Send, const N: usize>(all: [F; N]) -> Result<()> {
    thread::scope(|scope| all.map(|one| scope.spawn(one)).map(|one| one.join().unwrap()).into_iter().collect())
}

fn adapts(status: u16, wish: Option<&'static str>) -> Result<()> {
    let doors = [Door::until(120), Door::until(30)];
    let (generator, judge) = (Arc::clone(&doors[0]), Arc::clone(&doors[1]));
    let server = RawServer::start(move |request| {
        let door = if is_judged(request) { &judge } else { &generator };
        if door.pass() { answered(request) } else { refusal(status, wish) }
    })?;
    let workspace = workspace(&server, 90, "")?;
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{status}: {}", stderr(&output));
    let counted: u64 = doors.iter().map(|door| door.seen().2 as u64).sum();
    ensure!(retries(&workspace)? == counted, "{counted} calls were refused: {}", retries(&workspace)?);
    for (door, whose) in doors.iter().zip(["generator", "judge"]) {
        let (throttled, free, refused) = door.seen();
        ensure!(throttled.len() > MOST, "the {whose} was throttled: {throttled:?}");
        assert_eq!(throttled[..MOST].iter().max(), Some(&MOST), "{whose}: as many as the spec allows at first");
        let late = throttled[throttled.len() / 2..].iter().max().copied().unwrap_or(0);
        assert!(late <= MOST / 2, "{whose}: {late} in flight at a server that takes {TAKES}: {throttled:?}");
        let risen = free.iter().max().copied().unwrap_or(0);
        assert!(risen > MOST / 2, "{whose}: no more than {risen} once the server takes them: {free:?}");
        assert!(throttled.iter().chain(&free).all(|at_once| *at_once <= MOST), "{whose}: beyond the spec");
        // The first wave is refused for one cause; afterwards it is one call in several that finds out how many are taken.
        let later = refused - (MOST - TAKES);
        assert!(later * 3 < throttled.len(), "{whose}: {later} of {} calls were refused", throttled.len());
    }
    Ok(())
}

/// How many attempts came to nothing, as the result has it.
fn retries(workspace: &Workspace) -> Result<u64> {
    let result: Value = serde_json::from_slice(&std::fs::read(workspace.run_folder()?.join("result.json"))?)?;
    let counts = result["record"]["retries"].as_array().context("no retries")?;
    Ok(counts.iter().filter_map(|count| count[1].as_u64()).sum())
}

/// A server that takes a call every so often, and refuses what comes in between.
fn limiting(every: Duration, refuse: fn() -> Reply) -> Result<(RawServer, Arc<Mutex<u64>>)> {
    let (refused, next) = (Arc::new(Mutex::new(0)), Mutex::new(None::<Instant>));
    let count = Arc::clone(&refused);
    let server = RawServer::start(move |request| {
        let mut next = next.lock().unwrap();
        if next.is_some_and(|next| next > Instant::now()) {
            *count.lock().unwrap() += 1;
            return refuse();
        }
        *next = Some(Instant::now() + every);
        answered(request)
    })?;
    Ok((server, refused))
}

#[test]
fn a_limit_by_the_minute_leaves_no_cell_without_an_answer() -> Result<()> {
    let refusals: [fn() -> Reply; 2] = [|| refusal(429, None), || refusal(429, Some("0"))];
    side_by_side(refusals.map(|refuse| move || is_complete(refuse)))
}

/// More cells than may be in flight: each is refused for the others' sake, more often than it may fail.
fn is_complete(refuse: fn() -> Reply) -> Result<()> {
    let (server, refused) = limiting(Duration::from_millis(700), refuse)?;
    let workspace = workspace(&server, 4, "")?;
    workspace.edit("churngate.yaml", |spec| with_attempts(&spec, 2))?;
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let (refused, asked) = (*refused.lock().unwrap(), server.seen().len() as u64);
    ensure!(refused > 0 && refused * 5 < asked * 4, "{refused} of {asked} calls were refused");
    ensure!(retries(&workspace)? == refused, "{refused} calls were refused: {}", retries(&workspace)?);
    Ok(())
}

/// The spec with so many attempts.
fn with_attempts(spec: &str, attempts: u32) -> String {
    spec.replace(&format!("concurrency: {MOST}"), &format!("concurrency: {MOST}\n  max_attempts: {attempts}"))
}

#[test]
fn a_wish_in_the_body_holds_up_every_call() -> Result<()> {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&calls);
    let server = RawServer::start(move |request| {
        log.lock().unwrap().push(Instant::now());
        let info = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s" });
        let error = json!({ "code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED", "details": [info] });
        if request.number == 0 { Reply::json(429, &json!([{ "error": error }])) } else { answered(request) }
    })?;
    let output = workspace(&server, 3, "")?.churngate(&["run", "churngate.yaml", "--tasks", "1"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let calls = calls.lock().unwrap();
    assert!(calls[1] - calls[0] >= Duration::from_millis(2_500), "{:?}", calls[1] - calls[0]);
    Ok(())
}

/// In seconds since 1970 as an HTTP date.
fn http_date(seconds: u64) -> String {
    let time = jiff::Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap();
    jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&time).unwrap()
}

/// An audit of three questions of which the first call is refused.
struct Refused {
    workspace: Workspace,
    server: RawServer,
    /// The moments of its calls.
    calls: Arc<Mutex<Vec<Instant>>>,
}

/// The refusal has this header.
fn refused_once(name: &'static str, value: &str) -> Result<Refused> {
    let (calls, value) = (Arc::new(Mutex::new(Vec::new())), value.to_owned());
    let log = Arc::clone(&calls);
    let server = RawServer::start(move |request| {
        log.lock().unwrap().push(Instant::now());
        match request.number {
            0 => Reply::Full(429, vec![(name, value.clone())], b"{}".to_vec()),
            _ => answered(request),
        }
    })?;
    Ok(Refused { workspace: workspace(&server, 3, "")?, server, calls })
}

#[test]
fn a_wish_for_a_wait_is_granted_in_seconds_and_milliseconds() -> Result<()> {
    for (name, value, least) in [("retry-after", "2", 2_000), ("retry-after-ms", "1700", 1_700)] {
        let Refused { workspace, server: _server, calls } = refused_once(name, value)?;
        let output = workspace.churngate(&["run", "churngate.yaml", "--tasks", "1"])?;
        assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
        let calls = calls.lock().unwrap();
        assert!(calls[1] - calls[0] >= Duration::from_millis(least), "{name} {value}: {:?}", calls[1] - calls[0]);
    }
    Ok(())
}

/// In seconds since 1970.
fn now() -> Result<u64> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs())
}

#[test]
fn a_wish_for_a_wait_is_granted_as_a_date() -> Result<()> {
    let soon = now()? + 10;
    let Refused { workspace, .. } = refused_once("retry-after", &http_date(soon))?;
    let output = workspace.churngate(&["run", "churngate.yaml", "--tasks", "1"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    assert!(now()? >= soon, "the date was waited for");
    Ok(())
}

#[test]
fn a_date_is_meant_by_the_servers_clock() -> Result<()> {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&calls);
    let server = RawServer::start(move |request| {
        log.lock().unwrap().push(Instant::now());
        let ahead = now().unwrap() + 3_600;
        let headers = vec![("date", http_date(ahead)), ("retry-after", http_date(ahead + 2))];
        if request.number == 0 { Reply::Full(429, headers, b"{}".to_vec()) } else { answered(request) }
    })?;
    let output = workspace(&server, 3, "")?.churngate(&["run", "churngate.yaml", "--tasks", "1"])?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let calls = calls.lock().unwrap();
    let waited = (calls[1] - calls[0]).as_secs_f64();
    assert!((2.0..30.0).contains(&waited), "{waited} s");
    Ok(())
}

#[test]
fn what_cannot_be_meant_as_a_wait_holds_nothing_up() -> Result<()> {
    for value in ["-1", "soon", "99999999999999999999999999"] {
        let Refused { workspace, .. } = refused_once("retry-after", value)?;
        let output = workspace.churngate(&["run", "churngate.yaml"])?;
        assert!(matches!(code(&output)?, 0 | 1), "{value}: {}", stderr(&output));
    }
    for (limit, remaining, reset) in [("-1", "-1", "0"), ("0", "0", "3600"), ("60", "-1", "1h"), ("60", "0", "later")] {
        let server = RawServer::start(move |request| {
            let Reply::Full(status, _, body) = answered(request) else { return answered(request) };
            let headers = vec![
                ("x-ratelimit-limit-requests", limit.to_owned()),
                ("x-ratelimit-remaining-requests", remaining.to_owned()),
                ("x-ratelimit-reset-requests", reset.to_owned()),
                ("anthropic-ratelimit-tokens-limit", limit.to_owned()),
                ("anthropic-ratelimit-tokens-remaining", remaining.to_owned()),
                ("anthropic-ratelimit-tokens-reset", reset.to_owned()),
            ];
            Reply::Full(status, headers, body)
        })?;
        let output = workspace(&server, 3, "")?.churngate(&["run", "churngate.yaml"])?;
        assert!(matches!(code(&output)?, 0 | 1), "{limit} {remaining} {reset}: {}", stderr(&output));
        assert!(!stderr(&output).contains("waiting"), "{limit} {remaining} {reset}: {}", stderr(&output));
    }
    Ok(())
}

#[test]
fn a_wait_of_hours_stops_the_audit_which_goes_on_later() -> Result<()> {
    for (name, value) in [
        ("retry-after", "86400".to_owned()),
        ("retry-after-ms", "9999999999".to_owned()),
        ("retry-after", http_date(4_102_444_800)),
    ] {
        let Refused { workspace, server, .. } = refused_once(name, &value)?;
        let run = || workspace.churngate(&["run", "churngate.yaml", "--tasks", "1"]);
        let output = run()?;
        assert_eq!(code(&output)?, 4, "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("longer than the audit may") && said.contains("later to go on"), "{said}");
        assert_eq!(server.seen().len(), 1, "nobody else asks meanwhile");
        let output = run()?;
        assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
        let answers = server.seen().iter().filter(|request| !is_judged(request)).count();
        assert_eq!(answers, 1 + 12, "each cell was asked once more");
    }
    Ok(())
}

#[test]
fn a_wait_of_hours_that_the_last_attempt_of_a_cell_is_told_stops_the_audit_as_well() -> Result<()> {
    let Refused { workspace, server, .. } = refused_once("retry-after", "99999")?;
    workspace.edit("churngate.yaml", |spec| with_attempts(&spec, 1))?;
    let run = || workspace.churngate(&["run", "churngate.yaml", "--tasks", "1"]);
    let output = run()?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("99999 s, longer than the audit may") && said.contains("later to go on"), "{said}");
    assert_eq!(server.seen().len(), 1, "nobody else asks meanwhile");
    let output = run()?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let answers = server.seen().iter().filter(|request| !is_judged(request)).count();
    assert_eq!(answers, 1 + 12, "each cell was asked, the refused one once more");
    Ok(())
}

/// Runs until a line of standard error has this in it, then ends the run.
fn hears(workspace: &Workspace, part: &str) -> Result<()> {
    let mut child = workspace
        .command()
        .args(["run", "churngate.yaml", "--tasks", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(child.stderr.take().context("a stream")?).lines();
    let mut said = Vec::new();
    for line in lines {
        said.push(line?);
        if said.last().is_some_and(|line| line.contains(part)) {
            child.kill()?;
            child.wait()?;
            return Ok(());
        }
    }
    anyhow::bail!("`{part}` was not said: {said:?}, {:?}", child.wait()?);
}

#[test]
fn long_waits_are_told_in_plain_lines_with_what_is_waited_for_and_how_long() -> Result<()> {
    hears(&refused_once("retry-after", "60")?.workspace, "generate: waiting 6")?;
    let server = RawServer::start(answered)?;
    hears(&workspace(&server, 3, ", rate_limit: { requests_per_minute: 1 }")?, "s for rate_limit")?;
    let server = RawServer::start(|request| {
        let Reply::Full(status, _, body) = answered(request) else { return answered(request) };
        let headers = vec![
            ("x-ratelimit-limit-requests", "1".to_owned()),
            ("x-ratelimit-remaining-requests", "0".to_owned()),
            ("x-ratelimit-reset-requests", "45s".to_owned()),
        ];
        Reply::Full(status, headers, body)
    })?;
    hears(&workspace(&server, 3, "")?, "s for the server's limits")
}
