//! `PGlite`: PostgreSQL as WebAssembly within Node, behind a port. It has one connection to itself, which it gives to whoever asks,
//! transaction after transaction.

use crate::audit::{audited, counted};
use crate::corpus::{QUESTIONS, TOP_K, questions};
use crate::harness::root;
use crate::postgres::{BEGIN, FULL_TEXT, NEAREST, STATE, asked, audit, command, tables};
use crate::python;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Where `scripts/setup-pglite` puts the packages.
fn packages() -> Result<Option<PathBuf>> {
    let folder = root().join("target/pglite");
    let found = folder.join("complete").exists().then_some(folder);
    python::required(found, "`scripts/setup-pglite` has not run")
}

/// A database in the memory of a process that ends with the test.
struct Server {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    fn start(packages: &Path) -> Result<Self> {
        let mut child = Command::new("node")
            .arg(python::script("pglite.mjs"))
            .arg(packages)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?).lines();
        let mut server = Self { child, input, output, port: 0 };
        server.port = server.line()?.parse()?;
        Ok(server)
    }

    fn line(&mut self) -> Result<String> {
        Ok(self.output.next().context("the server ended")??)
    }

    /// Runs SQL within the process; the rows of its last statement.
    fn sql(&mut self, sql: &str) -> Result<Vec<Vec<Value>>> {
        writeln!(self.input, "{}", json!(sql))?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    /// What the database itself finds: ids for each question.
    fn found(&mut self, schema: &str, query: &str) -> Result<Vec<Vec<String>>> {
        let mut found = Vec::new();
        for question in questions() {
            let rows = self.sql(&asked(schema, query, &question))?;
            let id = |row: Vec<Value>| Some(row.first()?.as_str()?.to_owned());
            found.push(rows.into_iter().map(id).collect::<Option<_>>().context("an id that is no text")?);
        }
        Ok(found)
    }
}

#[test]
fn two_schemas_of_pglite_are_audited_killed_and_resumed() -> Result<()> {
    let Some(packages) = packages()? else { return Ok(()) };
    let mut server = Server::start(&packages)?;
    server.sql(BEGIN)?;
    for release in [1, 2] {
        server.sql(&tables(&format!("docs_{release}"), release, &[]))?;
    }
    let url = format!("postgres://postgres:unused@127.0.0.1:{}/postgres", server.port);
    for query in [FULL_TEXT, NEAREST] {
        let workspace = audit(query, Some(STATE))?;
        let (folder, evidence) = audited(&workspace, &|| command(&workspace, &url))?;
        assert_eq!(evidence["old"], server.found("docs_1", query)?);
        assert_eq!(evidence["new"], server.found("docs_2", query)?);
        let full = evidence["old"].iter().filter(|ids| ids.len() == TOP_K).count();
        assert!(evidence["old"] != evidence["new"] && full > QUESTIONS / 2, "{full}");
        assert_eq!(counted(&folder)?, "schema=docs_2");
    }
    // Every table is as it was: what stood in a question was text.
    assert_eq!(server.sql("SELECT count(*)::text FROM docs_1.docs")?, [[json!("60")]]);
    Ok(())
}
