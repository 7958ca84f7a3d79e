//! PostgreSQL over TLS, against the server of the system's package and authorities of this test: what the address asks for
//! is what happens, and what stands in the way is told by its name.

use crate::audit::{audited, locked};
use crate::harness::authority::Authority;
use crate::harness::{Workspace, code, stderr, stdout};
use crate::postgres::{self, FULL_TEXT, PASSWORD, STATE, Server, audit, plain_tables, unseen};
use anyhow::{Context as _, Result, ensure};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Who may ask: `reader` over TLS alone, `insider` in any way.
const RULES: &str =
    "hostssl all reader 127.0.0.1/32 scram-sha-256\nhost all insider,owner 127.0.0.1/32 scram-sha-256\n";

/// The words that a query ends with before its order, in whose place more can be asked.
const CONDITION: &str = "WHERE words @@ asked";

/// The server, the authority of its certificates, and one that it has nothing to do with.
struct Stage {
    server: Server,
    authority: Authority,
    stranger: Authority,
    /// What the server finds by itself in each release.
    found: [Vec<Vec<String>>; 2],
}

impl Stage {
    fn set_up(programs: PathBuf) -> Result<Self> {
        let (authority, stranger) = (Authority::new()?, Authority::new()?);
        authority.issue("server", "DNS:localhost,DNS:db.example", "2", "-sha256")?;
        authority.issue("longer", "DNS:localhost", "2", "-sha384")?;
        authority.issue("expired", "DNS:localhost", "-1", "-sha256")?;
        authority.issued_to_itself("itself", &["-addext", "subjectAltName=DNS:localhost"])?;
        let settings = ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key"];
        let server = Server::with(programs, &[], |data| {
            authority.give(data, &["server", "longer", "expired", "itself"])?;
            std::fs::write(data.join("postgresql.auto.conf"), settings.map(quoted).join("\n"))?;
            Ok(std::fs::write(data.join("pg_hba.conf"), RULES)?)
        })?;
        server.sql(&format!(
            "CREATE TYPE kind AS ENUM ('page'); CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'; \
             CREATE ROLE insider LOGIN PASSWORD '{PASSWORD}' IN ROLE reader; {}{}",
            plain_tables("docs_1", 1),
            plain_tables("docs_2", 2)
        ))?;
        let found = [server.found("docs_1", FULL_TEXT)?, server.found("docs_2", FULL_TEXT)?];
        Ok(Self { server, authority, stranger, found })
    }

    /// Changes settings while the server runs, until new connections have them.
    fn set(&self, settings: &[(&str, &str)]) -> Result<()> {
        for (name, value) in settings {
            self.server.sql(&format!("ALTER SYSTEM SET {name} = '{value}'"))?;
        }
        self.server.sql("SELECT pg_reload_conf()")?;
        let holds = |(name, value): &(&str, &str)| {
            self.server.sql(&format!("SHOW {name}")).is_ok_and(|shown| shown.trim() == *value)
        };
        for _ in 0..600 {
            if settings.iter().all(holds) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        anyhow::bail!("the server does not take {settings:?}")
    }

    /// The server shows another certificate.
    fn show(&self, certificate: &str) -> Result<()> {
        let (file, key) = (format!("{certificate}.pem"), format!("{certificate}.key"));
        self.set(&[("ssl_cert_file", &file), ("ssl_key_file", &key)])
    }

    /// An address on this machine, with these settings in it.
    fn at(&self, user: &str, host: &str, settings: &str) -> String {
        format!("postgres://{user}:{PASSWORD}@{host}:{}/postgres?{settings}", self.server.port)
    }

    /// The address of a host that is found without a name server.
    fn afar(&self, user: &str, host: &str, settings: &str) -> String {
        let port = self.server.port;
        format!(
            "host={host} hostaddr=127.0.0.1 port={port} user={user} password='{PASSWORD}' dbname=postgres {settings}"
        )
    }
}

/// As a file of settings has it.
fn quoted(setting: &str) -> String {
    setting.replace('=', " = '") + "'"
}

/// A query that finds nothing on a connection of the other kind.
fn over_tls(is_asked: bool) -> String {
    let kind = if is_asked { "" } else { "NOT " };
    FULL_TEXT.replace(
        CONDITION,
        &format!("{CONDITION} AND {kind}(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())"),
    )
}

/// A workspace of three questions.
fn small(query: &str) -> Result<Workspace> {
    let workspace = audit(query, Some(STATE))?;
    let questions = workspace.read("q.jsonl")?;
    let few: String = questions.split_inclusive('\n').take(3).collect();
    workspace.write("q.jsonl", few)?;
    Ok(workspace)
}

fn run(workspace: &Workspace, url: &str, trusted: Option<&Path>) -> Result<Output> {
    let mut command = postgres::command(workspace, url);
    command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
    if let Some(trusted) = trusted {
        command.env("SSL_CERT_FILE", trusted);
    }
    Ok(command.args(["run", "churngate.yaml"]).output()?)
}

/// Neither a file of the workspace nor what was printed has the password.
fn nothing_seen(workspace: &Workspace, output: &Output) -> Result<()> {
    let said = stdout(output) + &stderr(output);
    ensure!(!said.contains(PASSWORD), "the password was printed");
    unseen(&workspace.path("."))
}

/// The audit runs, over TLS or without, and its evidence is what the server finds by itself.
fn holds(stage: &Stage, url: &str, trusted: Option<&Path>, is_over_tls: bool) -> Result<()> {
    let workspace = small(&over_tls(is_over_tls))?;
    let output = run(&workspace, url, trusted)?;
    let shown = url.replace(PASSWORD, "PASSWORD");
    ensure!([0, 1].contains(&code(&output)?), "{shown}: {}", stderr(&output));
    let evidence = locked(&workspace.run_folder()?)?;
    for (snapshot, found) in ["old", "new"].into_iter().zip(&stage.found) {
        assert_eq!(evidence[snapshot], found[..3], "{shown}");
    }
    nothing_seen(&workspace, &output)
}

/// The audit stops before anything is spent, with this exit code, and says why, and where the address is.
fn refuses(url: &str, trusted: Option<&Path>, expected: i32, reasons: &[&str]) -> Result<()> {
    let workspace = small(FULL_TEXT)?;
    let output = run(&workspace, url, trusted)?;
    let (said, shown) = (stderr(&output), url.replace(PASSWORD, "PASSWORD"));
    ensure!(code(&output)? == expected, "{shown}: {}: {said}", code(&output)?);
    for reason in reasons.iter().chain(&["`DOCS_URL`", "hint: "]) {
        ensure!(said.contains(reason), "{shown}: {reason}: {said}");
    }
    ensure!(!workspace.path(".churngate").exists(), "{shown}: a run was begun");
    nothing_seen(&workspace, &output)
}

#[test]
fn tls_is_what_the_address_asks_for_and_whatever_stands_in_its_way_is_named() -> Result<()> {
    let Some(programs) = postgres::system_programs()? else { return Ok(()) };
    let stage = Stage::set_up(programs)?;
    modes_do_what_they_say(&stage)?;
    addresses_are_refused(&stage)?;
    certificates_are_refused(&stage)?;
    passwords_are_bound_to_certificates(&stage)?;
    tls_from_the_first_byte_names_the_protocol(&stage)?;
    stage.show("server")?;
    a_whole_audit(&stage)?;
    stage.set(&[("ssl", "off")])?;
    a_server_without_tls_is_refused(&stage)
}

fn modes_do_what_they_say(stage: &Stage) -> Result<()> {
    let trusted = stage.authority.path("ca.pem");
    let own = stage.authority.as_setting();
    holds(stage, &stage.at("reader", "localhost", "sslmode=verify-full"), Some(&trusted), true)?;
    for mode in ["verify-full", "verify-ca", "require"] {
        holds(stage, &stage.at("reader", "localhost", &format!("sslmode={mode}&{own}")), None, true)?;
    }
    // Another host is spoken to over TLS without a word, and `prefer` is such.
    holds(stage, &stage.afar("reader", "db.example", &own), None, true)?;
    holds(stage, &stage.afar("reader", "db.example", &format!("sslmode=prefer {own}")), None, true)?;
    // The address's own authorities are the only ones.
    holds(
        stage,
        &stage.at("reader", "localhost", &format!("sslmode=require&{own}")),
        Some(&stage.stranger.path("ca.pem")),
        true,
    )?;
    holds(stage, &stage.afar("insider", "db.example", "sslmode=disable"), None, false)?;
    holds(stage, &stage.at("insider", "localhost", ""), None, false)
}

fn addresses_are_refused(stage: &Stage) -> Result<()> {
    let own = stage.authority.as_setting();
    let missing = Path::new("/nonexistent.pem");
    let strict = stage.at("reader", "localhost", "sslmode=verify-full");
    for (settings, reason) in [
        ("sslmode=allow", "has an `sslmode` that is none of verify-full, verify-ca, require, prefer, disable"),
        ("sslmode=verify-full&sslrootcert=/nonexistent.pem", "has an `sslrootcert` that is no PEM file"),
        ("sslmode=verify-full&sslkey=mine.key", "has the setting `sslkey`, which is not read"),
        ("tls=1", "cannot be read"),
    ] {
        refuses(&stage.at("reader", "localhost", settings), None, 2, &[reason])?;
    }
    refuses(&strict, Some(missing), 2, &["no authority to hold a certificate against", "SSL_CERT_FILE"])?;
    // Whoever asks without TLS is told that the server may want it.
    for url in [stage.afar("reader", "db.example", "sslmode=disable"), stage.at("reader", "localhost", "")] {
        refuses(&url, None, 4, &["without TLS with SQLSTATE 28000 (key-refused)", "write `sslmode=require`"])?;
    }
    let wrong = stage.at("reader", "localhost", &format!("sslmode=require&{own}"));
    refuses(&wrong.replace(PASSWORD, "wrong"), None, 4, &["SQLSTATE 28P01 (key-refused)"])?;
    refuses(&wrong.replace(&format!(":{PASSWORD}"), ""), None, 4, &["wants a password, and the address has none"])
}

fn certificates_are_refused(stage: &Stage) -> Result<()> {
    let (own, other) = (stage.authority.as_setting(), stage.stranger.as_setting());
    let here = |authority: &str| stage.at("reader", "localhost", &format!("sslmode=verify-full&{authority}"));
    let another_host = "certificate is of another host than the address names";
    for mode in ["verify-full", "verify-ca", "require"] {
        refuses(&stage.at("reader", "127.0.0.1", &format!("sslmode={mode}&{own}")), None, 4, &[another_host])?;
    }
    refuses(&stage.afar("reader", "elsewhere.example", &own), None, 4, &[another_host])?;
    let unknown = ["by no authority that is trusted here", "sslrootcert", "SSL_CERT_FILE"];
    refuses(&here(&other), None, 4, &unknown)?;
    refuses(&here("x=").replace("&x=", ""), Some(&stage.stranger.path("ca.pem")), 4, &unknown)?;
    stage.show("expired")?;
    refuses(&here(&own), None, 4, &["certificate has expired"])?;
    stage.show("itself")?;
    refuses(
        &here(&format!("sslrootcert={}", stage.authority.path("itself.pem").display())),
        None,
        4,
        &["none of a server", "CA:TRUE"],
    )
}

/// SCRAM-SHA-256-PLUS, with the hashes that certificates are signed by.
fn passwords_are_bound_to_certificates(stage: &Stage) -> Result<()> {
    let bound = format!("channel_binding=require&{}", stage.authority.as_setting());
    for certificate in ["server", "longer"] {
        stage.show(certificate)?;
        holds(stage, &stage.at("reader", "localhost", &format!("sslmode=verify-full&{bound}")), None, true)?;
    }
    let url = stage.at("insider", "localhost", &format!("sslmode=disable&{bound}"));
    refuses(&url, None, 4, &["agree on no way to prove the password", "channel_binding=require"])
}

/// PostgreSQL hangs up, from version 17 on, where a connection that begins with TLS does not name it; earlier ones take no such
/// connection. So it is a server of TLS alone that tells what it was asked for.
fn tls_from_the_first_byte_names_the_protocol(stage: &Stage) -> Result<()> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut server = Command::new("openssl")
        .args(["s_server", "-alpn", "postgresql", "-cert", "server.pem", "-key", "server.key"])
        .args(["-naccept", "1", "-accept"])
        .arg(format!("127.0.0.1:{port}"))
        .current_dir(stage.authority.path("."))
        // It hangs up at the end of its input.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(server.stdout.take().context("no output")?).lines();
    ensure!(lines.by_ref().any(|line| line.is_ok_and(|line| line == "ACCEPT")), "the server does not listen");
    let settings = format!("sslnegotiation=direct&sslmode=require&{}", stage.authority.as_setting());
    let url =
        stage.at("reader", "localhost", &settings).replace(&format!(":{}/", stage.server.port), &format!(":{port}/"));
    let workspace = small(FULL_TEXT)?;
    let mut asked =
        postgres::command(&workspace, &url).args(["run", "--quiet", "churngate.yaml"]).stderr(Stdio::null()).spawn()?;
    let named = lines.any(|line| line.is_ok_and(|line| line == "ALPN protocols selected: postgresql"));
    asked.kill()?;
    asked.wait()?;
    server.kill()?;
    server.wait()?;
    ensure!(named, "the protocol is not named");
    refuses(
        &stage.at("reader", "localhost", "sslnegotiation=direct&sslmode=disable"),
        None,
        2,
        &["`sslnegotiation=direct` where there is no TLS", "write `sslmode=require`"],
    )
}

/// Killed, resumed, verified; every connection of it over TLS.
fn a_whole_audit(stage: &Stage) -> Result<()> {
    let workspace = audit(&over_tls(true), Some(STATE))?;
    let url = stage.at("reader", "localhost", &format!("sslmode=verify-full&{}", stage.authority.as_setting()));
    let (folder, evidence) = audited(&workspace, &|| postgres::command(&workspace, &url))?;
    assert_eq!([&evidence["old"], &evidence["new"]], stage.found.each_ref());
    assert_eq!(crate::audit::counted(&folder)?, "schema=docs_2");
    unseen(&workspace.path("."))
}

fn a_server_without_tls_is_refused(stage: &Stage) -> Result<()> {
    let own = stage.authority.as_setting();
    let offers_none = ["the database offers no TLS", "sslmode=disable"];
    for mode in ["verify-full", "verify-ca", "require"] {
        refuses(&stage.at("insider", "localhost", &format!("sslmode={mode}&{own}")), None, 4, &offers_none)?;
    }
    refuses(&stage.afar("insider", "db.example", &format!("sslmode=prefer {own}")), None, 4, &offers_none)?;
    holds(stage, &stage.afar("insider", "db.example", "sslmode=disable"), None, false)
}
