//! PostgreSQL behind `PgBouncer` in transaction mode, over TLS: every transaction is on whichever of the server's connections
//! is free, and on all of them others have left prepared statements.

use crate::audit::{audited, counted, locked};
use crate::harness::authority::Authority;
use crate::harness::{code, stderr};
use crate::postgres::{self, FULL_TEXT, PASSWORD, STATE, Server, audit, plain_tables, unseen};
use crate::python;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Connections that the pooler has to the server.
const POOL: usize = 2;

/// Every column, one of a type that no client knows by its number; values in places of several types.
const EVERY_COLUMN: &str = "SELECT *, length(:question) AS size FROM {schema}.pages \
    WHERE to_tsvector('english', text) @@ plainto_tsquery('english', split_part(:question, ' ', 5)) AND id <> :question \
    ORDER BY abs(number - :top_k), id LIMIT :top_k";

const PAGES: &str = "CREATE VIEW {schema}.pages AS SELECT id, kind, ltrim(id, 'd')::bigint AS number, body AS text FROM {schema}.docs; \
    GRANT SELECT ON {schema}.pages TO reader;";

/// Names such as the PostgreSQL client's own, prepared by somebody else.
const FOREIGN: usize = 40;

/// A pooler in front of a server; ends with the test.
struct Pooler<'a> {
    server: &'a Server,
    port: u16,
    child: Child,
}

impl Drop for Pooler<'_> {
    fn drop(&mut self) {
        // It may have ended by itself. Where root started it, the child is `runuser`, which passes the signal on.
        drop(std::process::Command::new("kill").arg(self.child.id().to_string()).status());
        drop(self.child.wait());
    }
}

impl<'a> Pooler<'a> {
    fn start(program: &Path, server: &'a Server, authority: &Authority) -> Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = server.data();
        authority.give(&folder, &["pooler"])?;
        let place = |file: &str| folder.join(file).display().to_string();
        std::fs::write(
            folder.join("users.txt"),
            ["reader", "owner"].map(|user| format!("\"{user}\" \"{PASSWORD}\"\n")).concat(),
        )?;
        let settings = [
            "[databases]".to_owned(),
            format!("postgres = host=127.0.0.1 port={} dbname=postgres", server.port),
            "[pgbouncer]".to_owned(),
            format!("listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir ="),
            format!("auth_type = scram-sha-256\nauth_file = {}", place("users.txt")),
            format!("pool_mode = transaction\ndefault_pool_size = {POOL}\nmin_pool_size = {POOL}"),
            format!("client_tls_sslmode = require\nclient_tls_cert_file = {}", place("pooler.pem")),
            format!("client_tls_key_file = {}", place("pooler.key")),
        ];
        std::fs::write(folder.join("pooler.ini"), settings.join("\n"))?;
        server.give()?;
        let mut command = server.unprivileged(program);
        let child =
            command.args(["-q".to_owned(), place("pooler.ini")]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let pooler = Self { server, port, child };
        for _ in 0..600 {
            if pooler.server.sql_at(port, "SELECT 1").is_ok() {
                return Ok(pooler);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        anyhow::bail!("the pooler does not answer")
    }

    /// Runs SQL on all of the reader's connections at once, and gives back what each printed.
    fn on_all(&self, sql: &str) -> Result<Vec<String>> {
        let held = format!("BEGIN; SELECT pg_sleep(0.5); {sql}; COMMIT");
        std::thread::scope(|scope| {
            let asked: Vec<_> = (0..POOL).map(|_| scope.spawn(|| self.as_reader(&held))).collect();
            asked.into_iter().map(|asked| asked.join().map_err(|_| anyhow::anyhow!("psql"))?).collect()
        })
    }

    fn as_reader(&self, sql: &str) -> Result<String> {
        self.server.sql_as("reader", self.port, sql)
    }
}

fn program() -> Result<Option<PathBuf>> {
    let found = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(PathBuf::from).into_iter().find(|path| path.exists());
    python::required(found, "there is no pgbouncer")
}

#[test]
fn evidence_comes_through_a_pooler_whose_connections_others_have_used() -> Result<()> {
    let (Some(programs), Some(program)) = (postgres::system_programs()?, program()?) else { return Ok(()) };
    let server = Server::start(programs)?;
    let pages = |schema: &str| PAGES.replace("{schema}", schema);
    let tables = plain_tables("docs_1", 1) + &plain_tables("docs_2", 2) + &pages("docs_1") + &pages("docs_2");
    server
        .sql(&format!("CREATE TYPE kind AS ENUM ('page'); CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'; {tables}"))?;
    let authority = Authority::new()?;
    authority.issue("pooler", "DNS:localhost", "2", "-sha256")?;
    let pooler = Pooler::start(&program, &server, &authority)?;
    pooler.on_all(&foreign())?;

    let address = format!("postgres://reader:{PASSWORD}@localhost:{}/postgres", pooler.port);
    let url = format!("{address}?sslmode=verify-full&sslrootcert={}", authority.path("ca.pem").display());
    for query in [FULL_TEXT, EVERY_COLUMN] {
        let workspace = audit(query, Some(STATE))?;
        let (folder, evidence) = audited(&workspace, &|| postgres::command(&workspace, &url))?;
        assert_eq!(evidence["old"], server.found("docs_1", query)?);
        assert_eq!(evidence["new"], server.found("docs_2", query)?);
        assert_ne!(evidence["old"], evidence["new"]);
        assert_eq!((counted(&folder)?, locked(&folder)?), ("schema=docs_2".to_owned(), evidence));
        unseen(&workspace.path("."))?;
    }
    a_run_leaves_the_pool_as_it_was(&pooler, &url)?;
    a_slow_query_is_ended(&url)
}

/// What others prepare on a connection.
fn foreign() -> String {
    (0..FOREIGN).map(|number| format!("PREPARE s{number} AS SELECT 1")).collect::<Vec<_>>().join("; ")
}

/// What others prepared is still there, on each connection, and nothing else. The runs before were killed, and a pooler closes
/// the connection of whoever ends within a transaction: so all is prepared anew, and this run is left alone.
fn a_run_leaves_the_pool_as_it_was(pooler: &Pooler<'_>, url: &str) -> Result<()> {
    pooler.on_all(&format!("DEALLOCATE ALL; {}", foreign()))?;
    let workspace = audit(FULL_TEXT, Some(STATE))?;
    let output = postgres::command(&workspace, url).args(["run", "--quiet", "churngate.yaml"]).output()?;
    ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let left = "SELECT pg_backend_pid(), count(*), count(*) FILTER (WHERE statement LIKE 'PREPARE s%') FROM pg_prepared_statements";
    let left = pooler.on_all(left)?;
    let counts = format!("|{FOREIGN}|{FOREIGN}");
    ensure!(left.iter().all(|left| left.contains(&counts)), "{left:?}");
    ensure!(left[0] != left[1], "one connection was asked twice: {left:?}");
    Ok(())
}

/// The time limit holds for each transaction, wherever it is.
fn a_slow_query_is_ended(url: &str) -> Result<()> {
    let slow = "SELECT pg_sleep(30)::text AS id, :question AS text FROM {schema}.docs";
    let workspace = audit(slow, None)?;
    workspace.write("q.jsonl", "{\"question\": \"secret words\"}\n")?;
    workspace.edit("churngate.yaml", |spec| spec.replace("\"timeout_seconds\":20", "\"timeout_seconds\":1"))?;
    let output = postgres::command(&workspace, url).args(["run", "--quiet", "churngate.yaml"]).output()?;
    ensure!(code(&output)? == 4 && stderr(&output).contains("timeout"), "{}", stderr(&output));
    Ok(())
}
