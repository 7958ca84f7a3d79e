//! `retrieve.sql` against SQLite with FTS5, which is built in.

use crate::audit::{audited, counted, workspace as audit};
use crate::corpus::{Doc, QUESTIONS, TOP_K, documents, questions, words};
use crate::harness::{self, Workspace, code, stderr};
use anyhow::{Context as _, Result};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

fn workspace(snapshots: &Value, sql: &Value) -> Result<Workspace> {
    audit(snapshots, &json!({"sql": sql, "concurrency": 3}), QUESTIONS)
}

const FTS: &str =
    "SELECT id, body AS text, link AS url FROM {table} WHERE {table} MATCH :words ORDER BY rank, id LIMIT :top_k";

fn build(file: &Path, table: &str, documents: &[Doc]) -> Result<Connection> {
    let database = Connection::open(file)?;
    database.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {table} USING fts5(id UNINDEXED, body, link UNINDEXED); BEGIN"
    ))?;
    for Doc { id, text, url } in documents {
        database.execute(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3)"), [id, text, url])?;
    }
    database.execute_batch("COMMIT")?;
    Ok(database)
}

/// What the database itself finds for the words of each question.
fn found(database: &Connection, table: &str) -> Result<Vec<Vec<String>>> {
    let sql = format!("SELECT id FROM {table} WHERE {table} MATCH ?1 ORDER BY rank, id LIMIT {TOP_K}");
    let mut statement = database.prepare(&sql)?;
    questions()
        .iter()
        .map(|question| {
            Ok(statement.query_map([words(question).join(" OR ")], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
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
    assert_eq!(counted(&folder)?, "table=docs_2");
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
    // SQLite takes all of these for places of values, and would fill what nothing is bound to with NULL.
    for place in ["?", "?9", "$1", "$name", "@name", ":questions"] {
        let query = format!("SELECT id, body AS text FROM {{table}} WHERE body = :question OR {place}");
        let sql = json!({"sqlite": {"file": "a.db"}, "query": query});
        let output = workspace(&json!({"old": {"table": "a"}, "new": {"table": "b"}}), &sql)?
            .churngate(&["check", "churngate.yaml"])?;
        assert_eq!(code(&output)?, 2);
        let expected = format!("`query` has a place for a value of its own, `{place}`");
        assert!(stderr(&output).contains(&expected), "{expected}: {}", stderr(&output));
        assert!(stderr(&output).contains("churngate.yaml:1:"), "{}", stderr(&output));
    }
    Ok(())
}

/// A query that takes minutes holds a thread which cannot be dropped: whoever interrupts twice does not wait for it.
#[cfg(unix)]
#[test]
fn a_query_that_takes_minutes_does_not_hold_a_process_that_is_interrupted_twice() -> Result<()> {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                   SELECT :words AS id, count(*) AS text FROM n, {table}";
    let snapshots = json!({"old": {"table": "docs_1"}, "new": {"table": "docs_2"}});
    let workspace = workspace(&snapshots, &json!({"sqlite": {"file": "docs.db"}, "query": endless}))?;
    for table in ["docs_1", "docs_2"] {
        build(&workspace.path("docs.db"), table, &documents(1))?;
    }
    let mut child =
        workspace.command().args(["run", "churngate.yaml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut said = BufReader::new(child.stderr.take().context("no stderr")?).lines();
    let interrupt = || Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let asked = || {
        let ledger = std::fs::read_to_string(workspace.run_folder().ok()?.join("evidence.jsonl")).ok()?;
        ledger.contains("\"attempt\"").then_some(())
    };
    while asked().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let begun = Instant::now();
    interrupt()?;
    said.find(|line| line.as_ref().is_ok_and(|line| line.contains("interrupt again")))
        .context("nothing was said")??;
    interrupt()?;
    let status = child.wait()?;
    assert_eq!(status.code(), Some(4));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    Ok(())
}
