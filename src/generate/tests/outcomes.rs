//! The stage against a server: every kind of fault, and what must come out all the same.

use super::fixture::{Audit, KEY};
use super::servers::{completion, hang, raw, section, section_in_time, start};
use crate::ledger::record::Record;
use crate::model::{Event, FailureClass};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wiremock::ResponseTemplate;

/// One fault for each question of the audit below, by its number.
fn fault(question: usize) -> Option<ResponseTemplate> {
    Some(match question {
        1 => ResponseTemplate::new(429).insert_header("retry-after-ms", "2100"),
        2 => raw(500, "oh no"),
        5 => raw(200, r#"{"choices":[{"mess"#),
        6 => raw(200, r#"{"choices":[]}"#),
        7 => raw(200, r#"{"error":{"message":"overloaded"}}"#),
        9 => raw(200, "<!doctype html><title>Sign in</title>"),
        10 => raw(200, ""),
        11 => raw(200, r#"{"choices":[{"message":{"content":"","reasoning_content":"hm"}}]}"#),
        13 => raw(200, r#"{"choices":[{"message":{"content":"half"},"finish_reason":"length"}]}"#),
        14 => raw(200, r#"{"choices":[{"message":{"content":"not the JSON that was asked for"}}]}"#),
        15 => ResponseTemplate::new(200).set_body_bytes(b"{\"choices\":\xff".to_vec()),
        17 => completion(&"9".repeat(600)),
        18 => completion("  "),
        19 => raw(200, r#"{"choices":[{"message":{"content":"{\"answer\":\"ha\"}"},"finish_reason":"abort"}]}"#),
        _ => return None,
    })
}

fn question(prompt: &str) -> usize {
    let rest = prompt.rsplit_once("support Thing").unwrap().1;
    rest.trim_end().trim_end_matches('?').parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_full_of_faults_gives_the_answers_of_one_without() {
    let (healthy, _) = start(|_, _| None).await;
    let whole = Audit::begun(20, &section(&healthy, "")).await;
    whole.generate(None).await.unwrap();
    assert_eq!((whole.answers().len(), whole.faults().len()), (15 * 2 * 2, 0));
    // The first two requests of each prompt go wrong.
    let (faulty, good) = start(|number, prompt| if number < 2 { fault(question(prompt)) } else { None }).await;
    let audit = Audit::begun(20, &section(&faulty, "")).await;
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers(), whole.answers());
    assert_eq!(*good.lock().unwrap(), 60, "an accepted cell was asked again");
    let wanted = [
        "answer-empty",
        "answer-malformed",
        "answer-too-long",
        "cut-by-length",
        "empty-body",
        "error-in-body",
        "no-choices",
        "not-finished",
        "not-json",
        "not-utf8",
        "rate-limited",
        "reasoning-only",
        "server-error",
    ];
    let mut wanted: BTreeMap<String, usize> = wanted.into_iter().map(|code| (code.to_owned(), 4)).collect();
    wanted.insert("not-json".to_owned(), 8);
    assert_eq!(audit.faults(), wanted);
    let heard = audit.ears.heard.lock().unwrap().clone();
    let honoured = |event: &Event| matches!(event, Event::Retrying { reason: "rate-limited", wait, .. } if (2_100..=2_625).contains(&wait.as_millis()));
    assert_eq!(heard.iter().filter(|event| honoured(event)).count(), 4);
    audit.assert_absent(KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_never_answered_is_out_of_time_and_made_again() {
    let (server, _) = start(|number, prompt| (number < 2 && question(prompt) == 3).then(hang)).await;
    // On a slow machine other calls are out of time as well; they have attempts enough.
    let audit = Audit::begun(4, &section_in_time(&server, 1, ", max_attempts: 50")).await;
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers().len(), 12);
    let faults = audit.faults();
    assert!(faults["timed-out"] >= 4 && faults.len() == 1, "{faults:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_answers_and_are_not_asked_again() {
    const AZURE: &str = r#"{"error":{"code":"content_filter","message":"no"}}"#;
    const ANTHROPIC: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#;
    const DEEPSEEK: &str = r#"{"error":{"code":"invalid_request_error","message":"Content Exists Risk"}}"#;
    const OPENAI: &str =
        r#"{"error":{"code":"invalid_prompt","message":"Invalid prompt: your prompt was flagged as potentially"}}"#;
    let refusal = r#"{"choices":[{"message":{"content":null,"refusal":"I cannot say"},"finish_reason":"stop"}]}"#;
    let (server, _) = start(move |number, prompt| {
        Some(match question(prompt) {
            1 => raw(200, refusal),
            2 => raw(400, [AZURE, ANTHROPIC, DEEPSEEK, OPENAI][number % 4]),
            _ => completion("UNKNOWN"),
        })
    })
    .await;
    let audit = Audit::begun(4, &section(&server, "")).await;
    audit.generate(None).await.unwrap();
    let mut said: Vec<_> = audit.answers().into_values().collect();
    said.dedup();
    assert_eq!(said, ["I cannot say", "[refused by the content filter]", "UNKNOWN"]);
    assert!(audit.faults().is_empty());
    assert_eq!(server.received_requests().await.unwrap().len(), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_stops_at_once_and_is_shown_nowhere() {
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}","model":"{KEY}"}},"model":"{KEY}"}}"#);
    let (server, _) = start(move |_, _| Some(raw(401, &body))).await;
    let audit = Audit::begun(40, &section(&server, "")).await;
    let failure = audit.generate(None).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert_eq!(
        failure.to_string(),
        "the generator gave `key-refused` (401)\nhint: check the key in the variable that `key_env` names"
    );
    assert!(server.received_requests().await.unwrap().len() <= 8);
    let mut faults = audit.faults();
    faults.remove("not-sent");
    assert_eq!(faults.into_keys().collect::<Vec<_>>(), ["key-refused"]);
    audit.assert_absent(KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_is_on_disk_before_its_request_arrives() {
    let path = Arc::new(OnceLock::<camino::Utf8PathBuf>::new());
    let requests = Arc::new(AtomicUsize::new(0));
    let (at, seen) = (Arc::clone(&path), Arc::clone(&requests));
    let (server, _) = start(move |_, _| {
        let arrived = seen.fetch_add(1, Ordering::SeqCst) + 1;
        let ledger = fs_err::read_to_string(at.get().unwrap().join("answers.jsonl")).unwrap();
        let recorded = ledger.lines().filter(|line| line.contains(r#""type":"attempt""#)).count();
        (recorded < arrived).then(|| raw(401, ""))
    })
    .await;
    let audit = Audit::begun(12, &section(&server, "")).await;
    path.set(audit.path.clone()).unwrap();
    audit.generate(None).await.unwrap();
    assert_eq!(requests.load(Ordering::SeqCst), 36);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_finishes_its_calls_and_goes_on_without_asking_again() {
    let slow = |_: usize, prompt: &str| {
        let answer = super::servers::answer(prompt);
        Some(completion(&answer).set_delay(Duration::from_millis(20)))
    };
    let (server, _) = start(slow).await;
    let audit = Audit::begun(40, &section(&server, "")).await;
    let failure = audit.generate(Some(10)).await.unwrap_err();
    assert_eq!(failure.to_string(), "interrupted\nhint: run the same command again to go on");
    let answered = audit.answers().len();
    assert!((10..40).contains(&answered), "{answered}");
    assert_eq!(server.received_requests().await.unwrap().len(), answered, "a call in flight was thrown away");
    audit.generate(None).await.unwrap();
    assert_eq!((audit.answers().len(), server.received_requests().await.unwrap().len()), (120, 120));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_recorded_and_waits_for_its_turn_when_the_audit_ends_was_not_sent() {
    let path = Arc::new(OnceLock::<camino::Utf8PathBuf>::new());
    let requests = Arc::new(AtomicUsize::new(0));
    let (at, seen) = (Arc::clone(&path), Arc::clone(&requests));
    let attempts = move || {
        let ledger = fs_err::read_to_string(at.get().unwrap().join("answers.jsonl")).unwrap();
        ledger.matches(r#""type":"attempt""#).count()
    };
    // Eight calls at once are refused for good, once the eight behind them are on record.
    let (server, _) = start(move |_, _| {
        seen.fetch_add(1, Ordering::SeqCst);
        for _ in 0..2_000 {
            if attempts() == 16 {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(raw(401, ""))
    })
    .await;
    let audit = Audit::begun(12, &section(&server, "")).await;
    path.set(audit.path.clone()).unwrap();
    assert_eq!(audit.generate(None).await.unwrap_err().class, FailureClass::Incomplete);
    assert_eq!(requests.load(Ordering::SeqCst), 8);
    assert_eq!(audit.faults(), [("key-refused", 8), ("not-sent", 8)].map(|(code, n)| (code.to_owned(), n)).into());
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_missing_cells_leave_the_ledger_open_for_the_next_run() {
    let ill = Arc::new(AtomicUsize::new(1));
    let state = Arc::clone(&ill);
    let (server, _) = start(move |_, prompt| {
        (state.load(Ordering::SeqCst) == 1 && question(prompt) == 3).then(|| ResponseTemplate::new(500))
    })
    .await;
    let audit = Audit::begun(8, &section(&server, ", max_attempts: 2")).await;
    let failure = audit.generate(None).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert_eq!(
        failure.message,
        "2 of 12 cells of snapshot `old` hold no answer, more than is tolerated (server-error 8)"
    );
    assert_eq!(audit.faults(), BTreeMap::from([("server-error".to_owned(), 8)]));
    ill.store(0, Ordering::SeqCst);
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers().len(), 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_takes_its_question_away_is_weighed_by_the_questions_too() {
    // Two cells in 24 stay empty, and with them two questions in eight.
    let refused = Mutex::new(BTreeSet::new());
    let (server, _) = start(move |_, prompt| {
        let asked = question(prompt);
        let fails = [3, 5].contains(&asked) && refused.lock().unwrap().insert(asked);
        fails.then(|| ResponseTemplate::new(500))
    })
    .await;
    let mut audit = Audit::begun(8, &section(&server, ", max_attempts: 1")).await;
    audit.frozen.protocol.spec.tolerance.invalid_cells = "20pp".parse().unwrap();
    let failure = audit.generate(None).await.unwrap_err();
    assert_eq!(
        failure.message,
        "2 of 8 questions would be left out for want of an answer, more than is tolerated (server-error 2)"
    );
    assert_eq!(failure.class, FailureClass::Incomplete);
    audit.generate(None).await.unwrap();
    assert_eq!(audit.answers().len(), 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_server_stops_the_audit_before_every_cell_has_waited_for_it() {
    // Nobody listens there.
    let generate = "{ openai: { model: m, base_url: \"http://127.0.0.1:1/v1\", key_env: THE_KEY }, max_attempts: 2 }";
    let audit = Audit::begun(400, generate).await;
    let failure = audit.generate(None).await.unwrap_err();
    assert!(failure.message.starts_with("the generator gave no answer at all to the first 10 cells ("), "{failure}");
    assert!(failure.message.contains(" (connect-failed "), "{failure}");
    // The first attempts of those in flight and in line, and the second ones of ten.
    assert!(audit.faults()["connect-failed"] <= 2 * 8 + 10, "{:?}", audit.faults());
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_cells_are_explained_by_the_codes_of_all_attempts_of_the_process() {
    let (server, _) = start(|number, _| Some(raw(if number == 0 { 200 } else { 500 }, "<html>"))).await;
    let audit = Audit::begun(2, &section(&server, ", max_attempts: 2")).await;
    for counts in ["(server-error 6, not-json 2)", "(server-error 8)"] {
        let failure = audit.generate(None).await.unwrap_err();
        let wanted = format!("2 of 2 cells of snapshot `old` hold no answer, more than is tolerated {counts}");
        assert_eq!(failure.message, wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_moves_during_the_audit_stops_it_for_good() {
    let (server, _) = start(|_, prompt| {
        let moved = raw(200, r#"{"model":"m-2","choices":[{"message":{"content":"{\"answer\":\"1\"}"}}]}"#);
        (question(prompt) == 3).then_some(moved)
    })
    .await;
    let audit = Audit::begun(8, &section(&server, "")).await;
    for _ in 0..2 {
        let failure = audit.generate(None).await.unwrap_err();
        assert!(failure.message.contains("changed the model"), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_that_answers_in_place_of_the_model_stops_the_audit_for_good() {
    let cached = |answer: &str, id: &str| {
        let content = serde_json::json!({ "answer": answer }).to_string();
        let body = serde_json::json!({ "id": id, "choices": [{ "message": { "content": content } }] });
        raw(200, &body.to_string())
    };
    // The same prompt gets the same response, id and all.
    let (server, _) = start(move |_, prompt| {
        Some(cached(&super::servers::answer(prompt), &format!("chatcmpl-0123456789abcdef-{}", question(prompt))))
    })
    .await;
    let audit = Audit::begun(8, &section(&server, "")).await;
    for _ in 0..2 {
        let failure = audit.generate(None).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete);
        assert!(failure.message.contains("a cache answered"), "{failure}");
        assert!(server.received_requests().await.unwrap().len() < 32);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_calls_is_kept_to_the_call() {
    let (server, _) = start(|_, _| None).await;
    let mut audit = Audit::begun(8, &section(&server, "")).await;
    audit.calls = Some(5);
    let failure = audit.generate(None).await.unwrap_err();
    assert_eq!(failure.message, "the budget of calls is used up");
    assert_eq!((server.received_requests().await.unwrap().len(), audit.answers().len()), (5, 5));
    audit.calls = None;
    audit.generate(None).await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budgets_time_ends_a_wait_for_the_rate_and_nothing_is_counted_by_halves() {
    let (server, _) = start(|_, _| None).await;
    let slow = format!(
        "{{ openai: {{ model: m, base_url: \"{}/v1\", key_env: THE_KEY, rate_limit: {{ requests_per_minute: 1 }} }} }}",
        server.uri()
    );
    let mut audit = Audit::begun(4, &slow).await;
    audit.time = Duration::from_millis(700);
    for process in 1..=2 {
        let failure = audit.generate(None).await.unwrap_err();
        assert_eq!(
            (failure.class, failure.message.as_str()),
            (FailureClass::Incomplete, "the budget of minutes is used up")
        );
        let asked = server.received_requests().await.unwrap().len();
        let attempts = audit.records().into_iter().filter(|(_, record)| matches!(record, Record::Attempt(_))).count();
        let made = attempts - audit.faults()["not-sent"];
        assert_eq!((audit.answers().len(), made), (asked, asked), "what was made was answered");
        assert!(asked <= process, "the next process goes on with what is left");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_is_recorded_and_nothing_of_the_snapshot_is_told() {
    let (server, _) = start(|_, _| None).await;
    let audit = Audit::begun(4, &section(&server, "")).await;
    audit.generate(None).await.unwrap();
    let outcome = audit.records().into_iter().find_map(|(_, record)| match record {
        Record::Outcome(outcome) => Some(outcome),
        _ => None,
    });
    let outcome = outcome.unwrap();
    assert_eq!((outcome.status, outcome.served_model.as_deref()), (Some(200), Some("m-1")));
    assert_eq!(outcome.usage.map(|usage| (usage.input, usage.output, usage.cached)), Some((9, 3, 0)));
    assert!(outcome.body.is_some());
    for request in server.received_requests().await.unwrap() {
        let told = format!("{:?} {}", request.headers, String::from_utf8_lossy(&request.body)).to_lowercase();
        for word in ["snapshot", "\"old\"", "\"new\"", "\"repeat\"", "gold"] {
            assert!(!told.contains(word), "{word}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_limits_the_rate_is_asked_at_its_own_pace() {
    let refusal = || ResponseTemplate::new(429).insert_header("retry-after-ms", "30");
    // Counts, and reads no clock: the first two requests of each prompt are one too many, whatever the machine's speed.
    let (server, good) = start(move |number, _| (number < 2).then(refusal)).await;
    let audit = Audit::begun(40, &section(&server, "")).await;
    audit.generate(None).await.unwrap();
    assert_eq!((audit.answers().len(), *good.lock().unwrap()), (120, 120));
    assert_eq!(audit.faults(), BTreeMap::from([("rate-limited".to_owned(), 120)]));
    let heard = audit.ears.heard.lock().unwrap().clone();
    let waits: Vec<Duration> = heard
        .iter()
        .filter_map(|event| match event {
            Event::Retrying { reason: "rate-limited", wait, .. } => Some(*wait),
            _ => None,
        })
        .collect();
    // What the server asks for is less than the pace of our own, which is kept.
    assert!(waits.len() == 120 && waits.iter().all(|wait| wait.as_millis() >= 500), "{waits:?}");
}

/// A server that cuts its first replies in the middle; wiremock cannot.
async fn cutting(cut: usize) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for number in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 65_536];
            let mut read = 0;
            while !String::from_utf8_lossy(&request[..read]).contains("response_format") {
                read += stream.read(&mut request[read..]).await.unwrap();
            }
            let body = r#"{"choices":[{"message":{"content":"{\"answer\":\"1\"}"}}]}"#;
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let sent = if number < cut { &body[..20] } else { body };
            stream.write_all(format!("{head}{sent}").as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_are_cut_off_are_asked_for_again() {
    let address = cutting(5).await;
    let audit = Audit::begun(4, &format!("{{ openai: {{ model: m, base_url: \"http://{address}/v1\" }} }}")).await;
    audit.generate(None).await.unwrap();
    assert_eq!((audit.answers().len(), audit.faults()), (12, BTreeMap::from([("reply-cut".to_owned(), 5)])));
}
