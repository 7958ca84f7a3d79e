//! A snapshot that answers every question with nothing, behind each kind of backend: it is never sealed, and what somebody
//! sealed all the same does not verify.

use super::harness::{Bench, Heard, path, variables};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{self, Opened};
use crate::model::{FailureClass, Question};
use crate::retrieve::Check;
use crate::spec::{self, Bm25Spec, CommandSpec, RetrieveBackend, SnapshotSource, SqlEngine, SqlSpec};
use rusqlite::Connection;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// As few questions as tell.
const QUESTIONS: [&str; 10] = [
    "alpha 0?", "alpha 1?", "alpha 2?", "alpha 3?", "alpha 4?", "alpha 5?", "alpha 6?", "alpha 7?", "alpha 8?",
    "alpha 9?",
];

fn bench(backend: RetrieveBackend, [old, new]: [SnapshotSource; 2]) -> Bench {
    Bench::new(backend, old, new, &QUESTIONS)
}

fn tables() -> [SnapshotSource; 2] {
    ["filled", "empty"].map(|name| variables(&[("index", name)]))
}

/// Expects that the new snapshot stops the audit, whatever was retrieved of the old one, and that nothing is sealed.
async fn stops(bench: &Bench) {
    let failure = bench.run().await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete, "{failure}");
    assert_eq!(failure.message, "none of the 10 questions got a document from `new`");
    assert_eq!(bench.counts(), [40, 40, 0, 0, 20], "both passes of both are on record");
    let sealed = std::fs::read_to_string(bench.run_folder().join("evidence.jsonl")).unwrap().contains("\"seal\"");
    assert!(!sealed);
}

/// One document a question from the filled index.
fn found(request: &Request, document: &Value) -> Vec<Value> {
    let said = format!("{} {:?} {}", request.url, request.headers, String::from_utf8_lossy(&request.body));
    if said.contains("filled") { vec![document.clone()] } else { Vec::new() }
}

#[tokio::test]
async fn the_embedded_search_finds_nothing_in_a_corpus_about_something_else() {
    let bench = bench(RetrieveBackend::Bm25(Bm25Spec::default()), [path("old.jsonl"), path("new.jsonl")]);
    bench.write("old.jsonl", "{\"id\":\"a\",\"text\":\"alpha\"}\n");
    bench.write("new.jsonl", "{\"id\":\"b\",\"text\":\"beta\"}\n");
    stops(&bench).await;
}

#[tokio::test]
async fn a_file_of_evidence_has_no_documents() {
    let bench = bench(RetrieveBackend::File, [path("old.jsonl"), path("new.jsonl")]);
    let lines = |documents: Value| -> String {
        let line = |number: usize| json!({"question_id": format!("q{number}"), "documents": documents}).to_string();
        (0..QUESTIONS.len()).map(|number| line(number) + "\n").collect()
    };
    bench.write("old.jsonl", lines(json!([{"id": "a", "text": "alpha"}])));
    bench.write("new.jsonl", lines(json!([])));
    stops(&bench).await;
}

/// The backend of these keys, as a spec has it.
fn http(retrieve: &Value) -> RetrieveBackend {
    let text = json!({
        "version": 1, "name": "n", "questions": {"file": "q.jsonl"},
        "snapshots": {"old": {"index": "filled"}, "new": {"index": "empty"}},
        "retrieve": retrieve, "generate": {"reader": {}}, "judge": {"embedded": {}},
    });
    spec::parse(&text.to_string(), "spec").unwrap().retrieve.backend
}

#[tokio::test]
async fn an_engine_over_http_has_no_hits() {
    let server = MockServer::start().await;
    let reply = |request: &Request| {
        let documents = found(request, &json!({"id": "a", "text": "alpha"}));
        ResponseTemplate::new(200).set_body_json(json!({"documents": documents}))
    };
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let url = format!("{}/{{index}}/search", server.uri());
    let own = json!({"url": url, "body": {"q": "{{question}}"}, "items": "/documents", "id": "/id", "text": "/text"});
    stops(&bench(http(&json!({"http": own})), tables())).await;
}

#[tokio::test]
async fn a_function_behind_postgrest_gives_no_rows() {
    let server = MockServer::start().await;
    let reply = |request: &Request| {
        ResponseTemplate::new(200)
            .set_body_json(found(request, &json!({"id": 1, "content": "alpha", "similarity": 0.5})))
    };
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let snapshots = ["filled", "empty"].map(|name| variables(&[("schema", name)]));
    let text = json!({
        "version": 1, "name": "n", "questions": {"file": "q.jsonl"},
        "snapshots": {"old": {"schema": "filled"}, "new": {"schema": "empty"}},
        "retrieve": {"preset": "postgrest", "base_url": server.uri(), "with": {"url": ""}},
        "generate": {"reader": {}}, "judge": {"embedded": {}},
    });
    let backend = spec::parse(&text.to_string(), "spec").unwrap().retrieve.backend;
    stops(&bench(backend, snapshots)).await;
}

fn sqlite(query: &str) -> RetrieveBackend {
    RetrieveBackend::Sql(Box::new(SqlSpec {
        engine: SqlEngine::Sqlite { file: Some("docs.db".into()) },
        query: query.to_owned(),
        state: None,
        sample: None,
        timeout_seconds: 120,
    }))
}

#[tokio::test]
async fn a_table_of_a_database_is_empty() {
    let bench = bench(sqlite("SELECT id, text FROM {index} WHERE :question <> '' LIMIT :top_k"), tables());
    let database = Connection::open(bench.base().join("docs.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE filled (id, text); CREATE TABLE empty (id, text); INSERT INTO filled VALUES ('a', 'alpha')",
        )
        .unwrap();
    drop(database);
    stops(&bench).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_writes_no_documents() {
    let script = r#"case $(cat) in *filled*) echo '[{"id":"a","text":"alpha"}]' ;; *) echo '[]' ;; esac"#;
    let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let backend = RetrieveBackend::Command(CommandSpec { argv, timeout_seconds: 120, env: Vec::new() });
    stops(&bench(backend, tables())).await;
}

#[tokio::test]
async fn fewer_questions_may_all_be_without_documents_by_chance_and_it_is_told() {
    let backend = RetrieveBackend::Bm25(Bm25Spec::default());
    let mut bench = Bench::new(backend, path("old.jsonl"), path("new.jsonl"), &QUESTIONS[1..]);
    bench.write("old.jsonl", "{\"id\":\"a\",\"text\":\"alpha\"}\n");
    bench.write("new.jsonl", "{\"id\":\"b\",\"text\":\"beta\"}\n");
    let heard = Heard::by(&mut bench.context);
    bench.run().await.unwrap();
    let told = |note: &String| note.starts_with("none of the 9 questions got a document from `new`");
    assert!(heard.notes().iter().any(told), "{:?}", heard.notes());
}

#[tokio::test]
async fn evidence_of_a_barren_snapshot_that_was_sealed_all_the_same_does_not_verify() {
    let bench = bench(RetrieveBackend::Bm25(Bm25Spec::default()), [path("old.jsonl"), path("new.jsonl")]);
    bench.write("old.jsonl", "{\"id\":\"a\",\"text\":\"alpha\"}\n");
    bench.write("new.jsonl", "{\"id\":\"b\",\"text\":\"beta\"}\n");
    let protocol = bench.protocol(bench.resolve().await.unwrap());
    bench.run_frozen(protocol.clone()).await.unwrap_err();
    let folder = ledger::RunFolder::open_with(&bench.run_folder(), ledger::Durability::Off).unwrap();
    let Opened::Open(writer) = ledger::open::<EvidenceStage>(&folder, &folder.freeze(b"{}").unwrap()).unwrap() else {
        panic!("it is sealed already")
    };
    let lock = writer.seal().await.unwrap();
    let records: Vec<_> = (0..).zip(bench.records()).collect();
    let checked = |questions: &[Question]| {
        let mut check = Check::new(&protocol, &lock);
        for question in questions {
            let own = |(_, record): &&(u64, _)| about(record) == question.id;
            let own: Vec<_> = records.iter().filter(own).cloned().collect();
            check.count(check.question(question, &own).unwrap()).unwrap();
        }
        check.finish()
    };
    let failure = checked(&protocol.questions).unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.ends_with("cannot stand: none of the 10 questions got a document from `new`"), "{failure}");
    assert!(checked(&protocol.questions[1..]).is_ok(), "nine may be so by chance");
}

fn about(record: &ledger::record::EvidenceRecord) -> crate::model::QuestionId {
    match record {
        ledger::record::Record::Attempt(attempt) => attempt.of.question.clone(),
        ledger::record::Record::Outcome(outcome) => outcome.of.question.clone(),
        ledger::record::Record::Note(note) => note.question.clone(),
    }
}

#[tokio::test]
async fn a_cell_of_a_database_has_at_most_four_mebibytes() {
    let most = 4 << 20;
    for (bytes, refused) in [(most, false), (most + 1, true)] {
        let query = "SELECT id, text FROM {index} WHERE :question <> '' LIMIT :top_k";
        let mut bench = bench(sqlite(query), ["filled", "filled"].map(|name| variables(&[("index", name)])));
        bench.spec.retrieve.concurrency = 1;
        let database = Connection::open(bench.base().join("docs.db")).unwrap();
        database.execute_batch("CREATE TABLE filled (id, text)").unwrap();
        database.execute("INSERT INTO filled VALUES ('a', ?1)", ["x".repeat(bytes)]).unwrap();
        drop(database);
        match bench.run().await {
            Ok(_) => assert!(!refused, "{bytes} bytes were read"),
            Err(failure) => {
                assert!(refused && failure.message.contains("column 2"), "{bytes}: {failure}");
                assert!(failure.message.contains("a text above 4 MiB"), "{failure}");
                assert_eq!(bench.counts()[3], 1, "it stops at once");
            }
        }
    }
}
