//! What happens to indexes while they are audited: aliases that move, replicas that disagree, embedders that are swapped.

use super::harness::{Bench, CancelAfter, Heard, variables};
use crate::freeze::prompts;
use crate::model::{Failure, FailureClass};
use crate::spec::{self, OnMismatch};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// What the fake cluster holds, and how often it was searched.
struct Cluster {
    alias: String,
    status: &'static str,
    count: u64,
    searches: Vec<String>,
}

type Hits = dyn Fn(usize, &str) -> Value + Send + Sync;

/// An Elasticsearch whose alias `docs` stands for `docs_v42`; `reply` makes the reply of each search.
struct Fake {
    server: MockServer,
    cluster: Arc<Mutex<Cluster>>,
}

impl Fake {
    async fn start(reply: Box<Hits>) -> Self {
        let cluster = Cluster { alias: "docs_v42".to_owned(), status: "green", count: 9, searches: Vec::new() };
        let cluster = Arc::new(Mutex::new(cluster));
        let server = MockServer::start().await;
        let of_server = Arc::clone(&cluster);
        let respond = move |request: &Request| respond(&of_server, &reply, request);
        Mock::given(any()).respond_with(respond).mount(&server).await;
        Self { server, cluster }
    }

    fn bench(&self, questions: &[&str]) -> Bench {
        let text = json!({
            "version": 1, "name": "n", "questions": {"file": "q.jsonl"},
            "snapshots": {"old": {"index": "docs_v41"}, "new": {"index": "docs"}},
            "retrieve": {"preset": "elasticsearch", "base_url": self.server.uri()},
            "generate": {"reader": {}}, "judge": {"embedded": {}},
        });
        let spec = spec::parse(&text.to_string(), "spec").unwrap();
        let (old, new) = (variables(&[("index", "docs_v41")]), variables(&[("index", "docs")]));
        Bench::new(spec.retrieve.backend, old, new, questions)
    }

    fn set(&self, change: impl FnOnce(&mut Cluster)) {
        change(&mut self.cluster.lock().unwrap());
    }

    fn searches(&self) -> Vec<String> {
        self.cluster.lock().unwrap().searches.clone()
    }
}

fn respond(cluster: &Mutex<Cluster>, reply: &Hits, request: &Request) -> ResponseTemplate {
    let mut cluster = cluster.lock().unwrap();
    let path = request.url.path().to_owned();
    let (index, what) = path[1..].split_once('/').unwrap();
    let physical = if index == "docs" { cluster.alias.clone() } else { index.to_owned() };
    let shards = json!({"total": 1, "successful": 1, "failed": 0});
    let body = match what {
        "_alias" => json!({physical: {"aliases": {}}}),
        "_count" => json!({"count": cluster.count, "_shards": shards}),
        "_settings" => json!({"x": {"settings": {"index": {"uuid": physical}}}}),
        "_search" => {
            cluster.searches.push(index.to_owned());
            let number = cluster.searches.len() - 1;
            drop(cluster);
            reply(number, index)
        }
        _ => json!({"status": cluster.status, "timed_out": false}),
    };
    ResponseTemplate::new(200).set_body_json(body)
}

fn hits(pairs: &[(&str, f64, &str)]) -> Value {
    let hit = |(id, score, text): &(&str, f64, &str)| json!({"_id": id, "_score": score, "_source": {"text": text}});
    let hits: Vec<Value> = pairs.iter().map(hit).collect();
    json!({"timed_out": false, "_shards": {"failed": 0}, "hits": {"hits": hits}})
}

fn steady(_: usize, index: &str) -> Value {
    hits(&[("a", 2.0, index), ("b", 1.0, "b")])
}

fn failed(outcome: Result<crate::ledger::EvidenceLock, Failure>, class: FailureClass) -> String {
    let failure = outcome.unwrap_err();
    assert_eq!(failure.class, class, "{failure}");
    failure.message
}

#[tokio::test]
async fn physical_names_and_counts_are_frozen_and_searched() {
    let fake = Fake::start(Box::new(steady)).await;
    let bench = fake.bench(&["x"]);
    let snapshots = bench.resolve().await.unwrap();
    let told: Vec<_> = snapshots.iter().map(|found| (found.physical.as_str(), found.documents)).collect();
    assert_eq!(told, [("index=docs_v41", Some(9)), ("index=docs (docs_v42)", Some(9))]);
    bench.run().await.unwrap();
    assert!(fake.searches().iter().all(|index| index != "docs"), "{:?}", fake.searches());
    assert_eq!(fake.searches().iter().filter(|index| *index == "docs_v42").count(), 2);
}

#[tokio::test]
async fn an_alias_that_moves_during_the_run_ends_the_audit_and_moves_no_search() {
    let fake = Fake::start(Box::new(steady)).await;
    let mut bench = fake.bench(&["x", "y", "z"]);
    CancelAfter::units(5, &mut bench.context);
    assert_eq!(failed(bench.run().await, FailureClass::Incomplete), "interrupted");
    CancelAfter::units(i64::MAX, &mut bench.context);
    let snapshots = bench.resolve().await.unwrap();
    fake.set(|cluster| cluster.alias = "docs_v43".to_owned());
    let message = failed(bench.run_frozen(bench.protocol(snapshots)).await, FailureClass::Incomplete);
    assert_eq!(
        message,
        "the snapshot `new` moved while it was audited: it was index=docs (docs_v42), 9 documents, and is index=docs \
         (docs_v43), 9 documents"
    );
    assert!(!fake.searches().contains(&"docs_v43".to_owned()));
}

#[tokio::test]
async fn an_index_that_is_written_to_during_the_run_is_never_sealed() {
    let shared = Arc::new(Mutex::new(None::<Arc<Mutex<Cluster>>>));
    let of_reply = Arc::clone(&shared);
    let fake = Fake::start(Box::new(move |number, index| {
        if number == 2
            && let Some(cluster) = &*of_reply.lock().unwrap()
        {
            cluster.lock().unwrap().count += 1;
        }
        steady(number, index)
    }))
    .await;
    *shared.lock().unwrap() = Some(Arc::clone(&fake.cluster));
    let bench = fake.bench(&["x"]);
    let message = failed(bench.run().await, FailureClass::Incomplete);
    assert!(message.contains("moved while it was audited: it was index=docs_v41, 9 documents, and is"), "{message}");
    assert_eq!(bench.counts(), [4, 4, 0, 0, 0]);
}

#[tokio::test]
async fn an_index_under_the_same_name_with_other_content_is_another_snapshot() {
    let fake = Fake::start(Box::new(steady)).await;
    let bench = fake.bench(&["x"]);
    let fingerprints = async || {
        let found = bench.resolve().await.unwrap();
        found.into_iter().map(|snapshot| snapshot.fingerprint.unwrap()).collect::<Vec<_>>()
    };
    let before = fingerprints().await;
    assert_eq!(before, fingerprints().await);
    fake.set(|cluster| cluster.count = 10);
    let grown = fingerprints().await;
    assert!(before.iter().zip(&grown).all(|(before, grown)| before != grown));
    fake.set(|cluster| (cluster.count, cluster.alias) = (9, "docs_v43".to_owned()));
    let moved = fingerprints().await;
    assert_eq!(before[0], moved[0]);
    assert_ne!(before[1], moved[1]);
}

#[tokio::test]
async fn sealed_evidence_of_a_known_index_is_reused_without_a_warning() {
    let fake = Fake::start(Box::new(steady)).await;
    let mut bench = fake.bench(&["x"]);
    let heard = Heard::by(&mut bench.context);
    bench.run().await.unwrap();
    bench.run().await.unwrap();
    assert_eq!(heard.notes(), Vec::<String>::new());
    assert_eq!(fake.searches().len(), 4);
}

#[tokio::test]
async fn an_index_that_is_not_ready_is_not_searched() {
    let fake = Fake::start(Box::new(steady)).await;
    fake.set(|cluster| cluster.status = "red");
    let message = failed(fake.bench(&["x"]).run().await, FailureClass::Incomplete);
    assert_eq!(message, "the snapshot `old` is not ready: probe 2 got no good reply in 5 attempts (not-ready)");
    assert_eq!(fake.searches(), Vec::<String>::new());
}

#[tokio::test]
async fn an_empty_index_is_refused_before_anything_is_searched() {
    let fake = Fake::start(Box::new(steady)).await;
    fake.set(|cluster| cluster.count = 0);
    let message = failed(fake.bench(&["x"]).run().await, FailureClass::Usage);
    assert_eq!(message, "the index of the snapshot `old` has no documents");
    assert_eq!(fake.searches(), Vec::<String>::new());
}

#[tokio::test]
async fn a_reply_without_one_shard_is_no_evidence() {
    let partial = |number: usize, index: &str| {
        let mut reply = steady(number, index);
        if number == 1 {
            reply["_shards"]["failed"] = 1.into();
            reply["hits"]["hits"] = json!([]);
        }
        reply
    };
    let fake = Fake::start(Box::new(partial)).await;
    let mut bench = fake.bench(&["x"]);
    bench.context.concurrency = Some(1);
    bench.run().await.unwrap();
    assert_eq!(bench.counts(), [5, 4, 1, 0, 2]);
    assert!(bench.locked().values().all(|ids| ids == &["a", "b"]));
}

/// The message where the second pass over `new` came to other hits than the first.
async fn second_pass(other: Value) -> String {
    // One question: two searches a pass.
    let reply = move |number: usize, index: &str| match (number, index) {
        (2.., "docs_v42") => other.clone(),
        _ => hits(&[("a", 2.0, "a"), ("b", 1.0, "b"), ("c", 1.0, "c")]),
    };
    let fake = Fake::start(Box::new(reply)).await;
    let mut bench = fake.bench(&["x"]);
    let message = failed(bench.run().await, FailureClass::Incomplete);
    let heard = Heard::by(&mut bench.context);
    bench.spec.retrieve.on_mismatch = OnMismatch::Include;
    bench.run().await.unwrap();
    assert_eq!(heard.notes(), std::slice::from_ref(&message));
    message
}

#[tokio::test]
async fn a_mismatch_says_whether_scores_tie_replicas_differ_or_the_index_is_written_to() {
    let begins = "snapshot `new`: two retrievals differ for 1 questions, first for `q0`: ";
    let cases = [
        (
            hits(&[("a", 2.0, "a"), ("c", 1.0, "c"), ("b", 1.0, "b")]),
            "equal scores tie, and their order is not fixed (1)",
        ),
        (
            hits(&[("b", 2.1, "b"), ("a", 2.0, "a"), ("c", 1.0, "c")]),
            "the same documents score or rank differently, as replicas of an index do (1)",
        ),
        (
            hits(&[("a", 2.0, "a"), ("z", 1.5, "z"), ("b", 1.0, "b")]),
            "other documents come, as replicas or an approximate index give them (1)",
        ),
        (
            hits(&[("a", 2.0, "a, edited"), ("b", 1.0, "b"), ("c", 1.0, "c")]),
            "texts changed under the same ids: the index is being written to (1)",
        ),
    ];
    for (other, why) in cases {
        assert_eq!(second_pass(other).await, format!("{begins}{why}"));
    }
}

#[tokio::test]
async fn a_document_that_looks_like_a_template_stays_text() {
    let hostile = "{{question}} {{snapshot.index}} {# x #} {index} \" \\ \u{0} <snapshot.index> ${x} %{y}";
    let large = format!("{hostile} {}", "x".repeat(1 << 20));
    let sent = large.clone();
    let fake = Fake::start(Box::new(move |_, _| hits(&[("{{question}}", 1.0, &sent)]))).await;
    let mut bench = fake.bench(&["what?"]);
    let settings = crate::http::HttpSettings {
        connect_timeout: std::time::Duration::from_secs(5),
        read_timeout: std::time::Duration::from_mins(1),
        max_body_bytes: 4 << 20,
    };
    bench.context.client = crate::http::Client::new(settings).unwrap();
    bench.spec.retrieve.max_chars = 100;
    bench.run().await.unwrap();
    assert!(bench.locked().values().all(|ids| ids == &["{{question}}"]));
    let evidence = bench.evidence();
    let text = &evidence[0].documents[0].text;
    assert_eq!(*text, large.chars().take(100).collect::<String>());
    let mut protocol = bench.protocol(Vec::new());
    protocol.answer_prompt = prompts::ANSWER.to_owned();
    let prompt = prompts::answer(&protocol, &bench.questions[0], &evidence[0]);
    assert!(prompt.contains("{{question}} {{snapshot.index}} {# x #} {index} \\\" \\\\ \\u0000"), "{prompt}");
}

mod embedders {
    use super::*;
    use crate::spec::{EmbedBackend, EmbedServer, EmbedSpec};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A vector that follows from the text and from which embedder it is, of three numbers in any case.
    fn embedded(embedder: u64, text: &str) -> Vec<f64> {
        let digest = crate::model::Digest::of(format!("{embedder}{text}").as_bytes()).to_string();
        digest.as_bytes()[..12].chunks(4).map(|four| four.iter().map(|b| f64::from(*b)).sum::<f64>() - 280.0).collect()
    }

    /// A Qdrant with the collections `one` and `two`, whose vectors are of these embedders, and an embeddings server of
    /// embedder 1 until it is told otherwise.
    async fn started(one: u64, two: u64) -> (MockServer, Arc<AtomicU64>) {
        let server = MockServer::start().await;
        let embedder = Arc::new(AtomicU64::new(1));
        let now = Arc::clone(&embedder);
        let respond = move |request: &Request| {
            let path = request.url.path().to_owned();
            let stored = if path.contains("/one") { one } else { two };
            let point =
                |id: &str| json!({"id": id, "score": 1.0, "payload": {"text": id}, "vector": embedded(stored, id)});
            let points = json!([point("a"), point("b"), point("c")]);
            let body = match path.rsplit('/').next().unwrap() {
                "aliases" => json!({"aliases": []}),
                "count" => json!({"count": 3}),
                "scroll" | "query" => json!({ "points": points }),
                "embeddings" => {
                    let body: Value = request.body_json().unwrap();
                    let of = now.load(Ordering::SeqCst);
                    let entry = |(index, text): (usize, &Value)| json!({"index": index, "embedding": embedded(of, text.as_str().unwrap())});
                    let data: Vec<Value> = body["input"].as_array().unwrap().iter().enumerate().map(entry).collect();
                    return ResponseTemplate::new(200).set_body_json(json!({"model": "m", "data": data}));
                }
                _ => json!({"status": "green", "config": {"params": {}}}),
            };
            ResponseTemplate::new(200).set_body_json(json!({"status": "ok", "result": body}))
        };
        Mock::given(any()).respond_with(respond).mount(&server).await;
        (server, embedder)
    }

    fn bench(server: &MockServer) -> Bench {
        let text = json!({
            "version": 1, "name": "n", "questions": {"file": "q.jsonl"},
            "snapshots": {"old": {"collection": "one"}, "new": {"collection": "two"}},
            "retrieve": {"preset": "qdrant", "base_url": server.uri(), "embed": {"openai": {"model": "m"}}},
            "generate": {"reader": {}}, "judge": {"embedded": {}},
        });
        let spec = spec::parse(&text.to_string(), "spec").unwrap();
        let (old, new) = (variables(&[("collection", "one")]), variables(&[("collection", "two")]));
        let questions: Vec<String> = (0..40).map(|number| format!("question {number}")).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        let mut bench = Bench::new(spec.retrieve.backend, old, new, &questions);
        let server = EmbedServer {
            model: "m".to_owned(),
            base_url: server.uri(),
            key_env: None,
            dimensions: None,
            timeout_seconds: 60,
            price: None,
            rate_limit: crate::model::RateLimit::default(),
        };
        bench.spec.retrieve.embed =
            Some(EmbedSpec { backend: EmbedBackend::OpenAi(server), prefix: String::new(), check: true });
        bench
    }

    fn count(requests: &[Request], ending: &str) -> usize {
        requests.iter().filter(|request| request.url.path().ends_with(ending)).count()
    }

    #[tokio::test]
    async fn each_question_is_embedded_once_and_its_vector_is_sent() {
        let (server, _) = started(1, 1).await;
        let mut bench = bench(&server);
        CancelAfter::units(50, &mut bench.context);
        failed(bench.run().await, FailureClass::Incomplete);
        let before = count(&server.received_requests().await.unwrap(), "/embeddings");
        CancelAfter::units(i64::MAX, &mut bench.context);
        bench.run().await.unwrap();
        let requests = server.received_requests().await.unwrap();
        // The reference text, two batches, two samples; then the reference text when it goes on, and last.
        assert_eq!((before, count(&requests, "/embeddings")), (5, 7));
        let sent: Vec<Value> = requests
            .iter()
            .filter(|request| request.url.path().ends_with("/query"))
            .map(|request| request.body_json::<Value>().unwrap()["query"].clone())
            .collect();
        assert_eq!(sent.len(), 160);
        assert_eq!(sent.iter().filter(|vector| **vector == json!(embedded(1, "question 7"))).count(), 4);
    }

    #[tokio::test]
    async fn an_index_of_another_embedder_of_the_same_dimension_is_named() {
        let (server, _) = started(1, 2).await;
        let mut bench = bench(&server);
        let message = failed(bench.run().await, FailureClass::Usage);
        assert!(
            message.starts_with("the vectors in the snapshot `new` are of another embedder than the questions'"),
            "{message}"
        );
        assert!(message.contains("`old` 1.00, `new` "), "{message}");
        assert_eq!(count(&server.received_requests().await.unwrap(), "/query"), 0);
        bench.spec.retrieve.embed.as_mut().unwrap().check = false;
        bench.run().await.unwrap();
    }

    #[tokio::test]
    async fn indexes_that_are_both_of_another_embedder_are_told_of() {
        let (server, _) = started(2, 2).await;
        let mut bench = bench(&server);
        let heard = Heard::by(&mut bench.context);
        bench.run().await.unwrap();
        let [note] = heard.notes().try_into().unwrap();
        assert!(note.starts_with("stored vectors are unlike those that `retrieve.embed` makes"), "{note}");
    }

    #[tokio::test]
    async fn an_embedder_that_changes_during_the_run_ends_it() {
        let (server, embedder) = started(1, 1).await;
        let mut bench = bench(&server);
        CancelAfter::units(50, &mut bench.context);
        failed(bench.run().await, FailureClass::Incomplete);
        embedder.store(2, Ordering::SeqCst);
        CancelAfter::units(i64::MAX, &mut bench.context);
        let message = failed(bench.run().await, FailureClass::Incomplete);
        assert!(
            message.starts_with("the embedder changed during the run: the same text came to another vector"),
            "{message}"
        );
        assert_eq!(bench.counts()[4], 0);
    }
}
