//! The preset `groonga` against a real server: two tables, an alias, a run that is killed and goes on, and an alias that
//! is moved. What the tables hold, the program says by itself, without the server.

use crate::audit::{audited, compared, counted, workspace};
use crate::corpus::{QUESTIONS, TOP_K, documents, questions, words};
use crate::harness::Workspace;
use crate::python::{piped, required};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server over a database in a folder of its own; ends with the test.
struct Groonga {
    folder: tempfile::TempDir,
    port: u16,
    child: Option<Child>,
}

impl Drop for Groonga {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Groonga {
    /// Builds the tables `docs_1` and `docs_2`, and the alias `docs` of the second, and serves them.
    fn start() -> Result<Self> {
        let (folder, port) = (tempfile::tempdir()?, std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let mut server = Self { folder, port, child: None };
        server.commands(&["-n"], &(1..=2).map(table).collect::<String>())?;
        let aliases = "table_create Aliases TABLE_HASH_KEY ShortText\n\
                       column_create Aliases real_name COLUMN_SCALAR ShortText\n\
                       config_set alias.column Aliases.real_name\n";
        server.commands(&[], aliases)?;
        server.point("docs_2")?;
        let mut command = Command::new("groonga");
        command.args(["-s", "--protocol", "http", "--bind-address", "127.0.0.1", "-p", &port.to_string()]);
        server.child = Some(command.arg(server.database()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        for _ in 0..600 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        anyhow::bail!("the server does not answer")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    /// Runs commands on the database, and gives back the reply to the last of them.
    fn commands(&self, options: &[&str], commands: &str) -> Result<Value> {
        let mut command = Command::new("groonga");
        let replies = piped(command.args(options).arg(self.database()), commands)?;
        ensure!(replies.is_null() || replies[0][0] == 0, "{replies}");
        Ok(replies)
    }

    /// Moves the alias.
    fn point(&self, table: &str) -> Result<()> {
        let rows = json!([{"_key": "docs", "real_name": table}]);
        self.commands(&[], &format!("load --table Aliases\n{rows}\n")).map(|_| ())
    }

    /// What the program itself finds for the words of each question.
    fn found(&self, table: &str) -> Result<Vec<Vec<String>>> {
        let one = |question: String| {
            let query = words(&question).join(" OR ").replace('"', "\\\"");
            let sorted = format!("--sort_keys -_score,_key --output_columns _key --limit {TOP_K}");
            let select = format!("select {table} --match_columns body --query \"{query}\" {sorted}\n");
            let reply = self.commands(&[], &select)?;
            let rows = reply[1][0].as_array().context("no rows")?.iter().skip(2);
            rows.map(|row| Ok(row[0].as_str().context("no key")?.to_owned())).collect()
        };
        questions().into_iter().map(one).collect()
    }

    fn workspace(&self, new: &str) -> Result<Workspace> {
        let retrieve = json!({
            "preset": "groonga", "base_url": format!("http://127.0.0.1:{}", self.port), "concurrency": 3,
            "with": {"text": "body", "url": "link"},
        });
        workspace(&json!({"old": {"table": "docs_1"}, "new": {"table": new}}), &retrieve, QUESTIONS)
    }
}

/// The commands that build the table of a release.
fn table(release: usize) -> String {
    let row = |doc: &crate::corpus::Doc| json!({"_key": doc.id, "body": doc.text, "link": doc.url});
    let rows: Vec<Value> = documents(release).iter().map(row).collect();
    format!(
        "table_create docs_{release} TABLE_HASH_KEY ShortText\n\
         column_create docs_{release} body COLUMN_SCALAR Text\n\
         column_create docs_{release} link COLUMN_SCALAR ShortText\n\
         table_create terms_{release} TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram --normalizer NormalizerAuto\n\
         column_create terms_{release} body COLUMN_INDEX|WITH_POSITION docs_{release} body\n\
         load --table docs_{release}\n{}\n",
        Value::Array(rows)
    )
}

#[test]
fn two_tables_of_groonga_are_audited_killed_resumed_and_an_alias_is_moved() -> Result<()> {
    let found = Command::new("groonga").arg("--version").output().ok();
    if required(found, "there is no `groonga` on the path")?.is_none() {
        return Ok(());
    }
    let server = Groonga::start()?;
    let workspace = server.workspace("docs")?;
    let (folder, evidence) = audited(&workspace, &|| workspace.command())?;
    assert_eq!(evidence["old"], server.found("docs_1")?);
    assert_eq!(evidence["new"], server.found("docs_2")?);
    assert!(evidence["old"] != evidence["new"] && evidence["old"].iter().filter(|ids| ids.len() == TOP_K).count() > 30);
    assert_eq!(counted(&folder)?, "table=docs (docs_2)");

    let before = compared(workspace.command())?;
    server.point("docs_1")?;
    let moved = compared(workspace.command())?;
    assert_ne!(moved["protocol"], before["protocol"]);
    assert_eq!(moved["snapshots"][1]["documents"], 60);
    Ok(())
}
