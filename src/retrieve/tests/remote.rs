//! Search engines over HTTP and programs.

use super::harness::{Bench, CancelAfter, Heard, variables};
use crate::ledger::record::{Record, Verdict};
use crate::model::{Failure, FailureClass};
use crate::spec::{
    ExpectSpec, HttpMethod, HttpRetrieveSpec, ListSpec, OnMismatch, RequestSpec, RetrieveBackend, SecretHeader,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wiremock::matchers::{body_json, header, method, path, query_param};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

fn spec(server: &MockServer) -> HttpRetrieveSpec {
    let url = format!("{}/{{index}}/_search", server.uri());
    let body = json!({"size": "{{top_k}}", "query": {"match": {"text": "{{question}}"}}});
    HttpRetrieveSpec {
        origin: None,
        request: RequestSpec { method: HttpMethod::Post, url, query: BTreeMap::new(), body: Some(body) },
        headers: BTreeMap::from([("x-plain".to_owned(), "yes".to_owned())]),
        secret_headers: BTreeMap::from([(
            "authorization".to_owned(),
            SecretHeader { prefix: "ApiKey ".to_owned(), env: "ES_KEY".to_owned() },
        )]),
        list: ListSpec { items: "/hits/hits".to_owned(), ..ListSpec::default() },
        id: "/_id".to_owned(),
        text: "/_source/text".to_owned(),
        url_pointer: None,
        score: None,
        expect: ExpectSpec { ok: BTreeMap::from([("/timed_out".to_owned(), json!(false))]), absent: Vec::new() },
        error: None,
        probes: Vec::new(),
        sample: None,
        timeout_seconds: 120,
    }
}

fn bench(spec: HttpRetrieveSpec, questions: &[&str]) -> Bench {
    let backend = RetrieveBackend::Http(Box::new(spec));
    let (old, new) = (variables(&[("index", "docs v1")]), variables(&[("index", "docs_v2")]));
    let mut bench = Bench::new(backend, old, new, questions);
    let mut secrets = crate::http::Secrets::default();
    secrets.insert("ES_KEY", "sesame".to_owned().into());
    bench.context.secrets = Arc::new(secrets);
    bench
}

fn hits(ids: &[&str]) -> Value {
    let hit = |id: &&str| json!({"_id": id, "_source": {"text": format!("text of {id}")}});
    json!({"timed_out": false, "hits": {"hits": ids.iter().map(hit).collect::<Vec<_>>()}})
}

async fn answering(reply: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(reply).mount(&server).await;
    server
}

fn stored(bench: &Bench) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut folders = vec![bench.run_folder().into_std_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { bytes.extend(std::fs::read(path).unwrap()) }
        }
    }
    bytes
}

#[tokio::test]
async fn requests_carry_the_question_the_snapshot_and_the_key() {
    let server = MockServer::start().await;
    let question = "what \"is\" {{top_k}}?\u{0}";
    for (index, id) in [("/docs%20v1/_search", "a"), ("/docs_v2/_search", "b")] {
        Mock::given(method("POST"))
            .and(path(index))
            .and(header("authorization", "ApiKey sesame"))
            .and(header("x-plain", "yes"))
            .and(header("content-type", "application/json"))
            .and(body_json(json!({"size": 3, "query": {"match": {"text": question}}})))
            .respond_with(ResponseTemplate::new(200).set_body_json(hits(&[id, "c"])))
            .expect(2)
            .mount(&server)
            .await;
    }
    let bench = bench(spec(&server), &[question]);
    bench.run().await.unwrap();
    assert_eq!(bench.counts(), [4, 4, 0, 0, 2]);
    let locked: Vec<_> = bench.locked().into_values().collect();
    assert_eq!(locked, [["b", "c"], ["a", "c"]]);
    assert!(!stored(&bench).windows(6).any(|window| window == b"sesame"));
}

#[tokio::test]
async fn a_success_that_failed_is_tried_again() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let server = answering(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => ResponseTemplate::new(200).set_body_json(json!({"timed_out": true, "hits": {"hits": []}})),
        1 => ResponseTemplate::new(503).insert_header("retry-after", "0"),
        _ => ResponseTemplate::new(200).set_body_json(hits(&["a"])),
    })
    .await;
    let bench = bench(spec(&server), &["x"]);
    bench.run().await.unwrap();
    assert_eq!(bench.counts(), [6, 4, 2, 0, 2]);
    let reasons = bench.records().into_iter().filter_map(|record| match record {
        Record::Outcome(outcome) => match outcome.verdict {
            Verdict::Invalid(reason) => Some((outcome.status, reason)),
            _ => None,
        },
        _ => None,
    });
    let mut reasons: Vec<_> = reasons.collect();
    reasons.sort();
    assert_eq!(reasons, [(Some(200), "not-ok".to_owned()), (Some(503), "server-error".to_owned())]);
}

#[tokio::test]
async fn a_cancelled_stage_finishes_what_is_in_flight_and_asks_nothing_twice() {
    let server = answering(|_| ResponseTemplate::new(200).set_body_json(hits(&["a"]))).await;
    let questions: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let mut bench = bench(spec(&server), &questions.iter().map(String::as_str).collect::<Vec<_>>());
    for units in [1, 5, 50, i64::MAX] {
        CancelAfter::units(units, &mut bench.context);
        let outcome = bench.run().await.map_err(|failure| failure.message);
        assert_eq!(outcome.err().as_deref(), (units < i64::MAX).then_some("interrupted"));
        let [attempts, accepted, ..] = bench.counts();
        assert_eq!(attempts, accepted);
    }
    let distinct: BTreeSet<_> = bench.accepted().into_iter().collect();
    assert_eq!((bench.accepted().len(), distinct.len()), (80, 80));
    assert_eq!(server.received_requests().await.unwrap().len(), 80);
}

#[tokio::test]
async fn parameters_of_a_get_request_are_encoded() {
    let server = MockServer::start().await;
    let question = "a&b=c d/é?";
    Mock::given(method("GET"))
        .and(path("/search"))
        .and(query_param("q", question))
        .and(query_param("k", "3"))
        .and(query_param("index", "docs_v2"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!([{"id": 1, "text": "x"}])))
        .expect(2)
        .mount(&server)
        .await;
    let mut spec = spec(&server);
    (spec.request.method, spec.request.body) = (HttpMethod::Get, None);
    spec.request.url = format!("{}/search", server.uri());
    let query = [("q", "{{question}}"), ("k", "{{top_k}}"), ("index", "{{snapshot.index}}")];
    spec.request.query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (spec.list.items, spec.id, spec.text) = (String::new(), "/id".to_owned(), "/text".to_owned());
    spec.expect.ok.clear();
    let mut bench = bench(spec, &[question]);
    bench.spec.snapshots.remove(0);
    bench.run().await.unwrap();
    assert_eq!(bench.locked().into_values().collect::<Vec<_>>(), [["1"]]);
}

async fn failing(status: u16, body: &str) -> (Failure, [usize; 5]) {
    let body = body.to_owned();
    let server = answering(move |_| ResponseTemplate::new(status).set_body_string(body.clone())).await;
    let mut bench = bench(spec(&server), &["x", "y", "z"]);
    bench.context.concurrency = Some(1);
    let failure = bench.run().await.unwrap_err();
    let counts = bench.counts();
    (failure, counts)
}

#[tokio::test]
async fn a_refusal_stops_the_audit_at_once_and_is_not_quoted() {
    for (status, reason) in
        [(401, "key-refused"), (402, "quota-used-up"), (404, "index-unknown"), (400, "request-refused")]
    {
        let (failure, counts) = failing(status, "<script>secret</script>").await;
        assert_eq!(failure.class, FailureClass::Incomplete);
        assert!(failure.message.contains(reason) && !failure.to_string().contains("secret"), "{failure}");
        assert_eq!(counts, [1, 0, 0, 1, 0], "{status}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_after_a_few_questions() {
    let server = answering(|_| ResponseTemplate::new(500)).await;
    let questions: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let bench = bench(spec(&server), &questions.iter().map(String::as_str).collect::<Vec<_>>());
    let failure = bench.run().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.contains("got no valid reply in 5 attempts (server-error "), "{failure}");
    assert!(bench.counts()[0] < 100, "{:?}", bench.counts());
}

#[tokio::test]
async fn a_key_that_is_not_set_is_a_usage_error_before_any_call() {
    let server = answering(|_| ResponseTemplate::new(200)).await;
    let mut bench = bench(spec(&server), &["x"]);
    bench.context.secrets = Arc::default();
    let failure = bench.run().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Usage);
    assert_eq!(failure.message, "the environment variable `ES_KEY` is not set");
    assert_eq!(bench.counts(), [0; 5]);
}

#[tokio::test]
async fn retrieval_that_is_not_repeatable_stops_or_is_included_as_the_spec_says() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = answering(move |_| {
        let number = calls.fetch_add(1, Ordering::SeqCst);
        ResponseTemplate::new(200).set_body_json(hits(&[format!("d{number}").as_str()]))
    })
    .await;
    let mut bench = bench(spec(&server), &["x", "y"]);
    let failure = bench.run().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(
        failure.message.contains("snapshot `old`: two retrievals differ for 2 questions, first for `q0`"),
        "{failure}"
    );
    // The verdict on the passes is in the ledger: running again does not draw them anew.
    assert_eq!(bench.counts(), [8, 8, 0, 0, 4]);
    bench.run().await.unwrap_err();
    assert_eq!(bench.counts(), [8, 8, 0, 0, 4]);
    let hint = failure.hint.unwrap();
    assert!(hint.contains(&format!("remove the run folder `{}`", bench.run_folder())), "{hint}");
    assert!(hint.contains("set `retrieve.on_mismatch: include`"), "{hint}");
    std::fs::remove_dir_all(bench.run_folder()).unwrap();
    bench.spec.retrieve.on_mismatch = OnMismatch::Include;
    bench.run().await.unwrap();
    let matched = bench.records().into_iter().filter_map(|record| match record {
        Record::Note(note) => Some(note.matched),
        _ => None,
    });
    assert_eq!(matched.collect::<Vec<_>>(), [false; 4]);
}

#[tokio::test]
async fn evidence_of_a_server_that_is_reused_is_told_of() {
    let server = answering(|_| ResponseTemplate::new(200).set_body_json(hits(&["d"]))).await;
    let mut bench = bench(spec(&server), &["x"]);
    let heard = Heard::by(&mut bench.context);
    bench.run().await.unwrap();
    assert_eq!(heard.notes(), Vec::<String>::new());
    bench.run().await.unwrap();
    let said = format!(
        "the evidence of the snapshots `old`, `new` was retrieved earlier and is reused; remove the run folder `{}` if an \
         index changed under its name",
        bench.run_folder()
    );
    assert_eq!(heard.notes(), [said]);
}

#[cfg(unix)]
mod programs {
    use super::*;
    use crate::spec::CommandSpec;

    fn program(script: &str) -> Bench {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let backend =
            RetrieveBackend::Command(CommandSpec { argv, timeout_seconds: 120, env: vec!["TOKEN".to_owned()] });
        let (old, new) = (variables(&[("index", "v1")]), variables(&[("index", "v2")]));
        let mut bench = Bench::new(backend, old, new, &["what is \"it\"; $(id)?"]);
        let mut secrets = crate::http::Secrets::default();
        secrets.insert("TOKEN", "sesame-open".to_owned().into());
        bench.context.secrets = Arc::new(secrets);
        bench
    }

    #[tokio::test]
    async fn a_program_reads_json_and_writes_documents() {
        let script = r#"text=$(tr -d '"{}\\'); printf '{"documents":[{"id":1,"text":"%s %s"}]}' "$text" "$TOKEN""#;
        let bench = program(script);
        bench.run().await.unwrap();
        assert_eq!(bench.counts(), [4, 4, 0, 0, 2]);
        let stored = String::from_utf8_lossy(&stored(&bench)).into_owned();
        assert!(stored.contains("question:what is it; $(id)?,top_k:3,snapshot:index:v1 [key]"), "{stored}");
        assert!(!stored.contains("sesame-open"));
    }

    #[tokio::test]
    async fn a_program_that_cannot_be_started_stops_the_audit() {
        let mut bench = program("");
        bench.spec.retrieve.backend = RetrieveBackend::Command(CommandSpec {
            argv: vec!["/nonexistent/program".to_owned()],
            timeout_seconds: 1,
            env: Vec::new(),
        });
        let failure = bench.run().await.unwrap_err();
        assert_eq!(failure.message, "failed to run `retrieve.command`: the program could not be started");
    }
}
