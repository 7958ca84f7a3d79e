//! Servers over TLS and behind proxies: what stands in the way is told by its name, and asked again only where that could help.

mod harness;

use anyhow::{Context as _, Result};
use harness::authority::Authority;
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, stderr};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A server behind TLS.
struct Secure {
    port: u16,
    server: RawServer,
    /// Connections over TCP so far, whatever came of TLS.
    connections: Arc<AtomicUsize>,
}

fn answering() -> Result<RawServer> {
    RawServer::start(|request| {
        let message = json!({ "role": "assistant", "content": "{\"answer\":\"7\"}" });
        let choice = json!({ "finish_reason": "stop", "message": message });
        Reply::json(200, &json!({ "id": format!("r-{}", request.number), "model": "m-1", "choices": [choice] }))
    })
}

impl Secure {
    /// Shows this certificate of the authority, and hands on what it is sent to a server without TLS.
    fn start(authority: &Authority, name: &str) -> Result<Self> {
        let certificates = CertificateDer::pem_file_iter(authority.path(&format!("{name}.pem")))?;
        let key = PrivateKeyDer::from_pem_file(authority.path(&format!("{name}.key")))?;
        let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates.collect::<Result<_, _>>()?, key)?;
        let (acceptor, server) = (TlsAcceptor::from(Arc::new(config)), answering()?);
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let (port, connections) = (listener.local_addr()?.port(), Arc::new(AtomicUsize::new(0)));
        let (behind, counted) = (server.host.replace("http://", ""), Arc::clone(&connections));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || runtime.block_on(serve(listener, &acceptor, &behind, &counted)));
        Ok(Self { port, server, connections })
    }

    fn base_url(&self) -> String {
        format!("https://localhost:{}/v1", self.port)
    }
}

async fn serve(
    listener: std::net::TcpListener,
    acceptor: &TlsAcceptor,
    behind: &str,
    connections: &AtomicUsize,
) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (outside, _) = listener.accept().await?;
        connections.fetch_add(1, Ordering::SeqCst);
        let (acceptor, behind) = (acceptor.clone(), behind.to_owned());
        tokio::spawn(async move {
            let mut outside = acceptor.accept(outside).await?;
            let mut inside = TcpStream::connect(behind).await?;
            tokio::io::copy_bidirectional(&mut outside, &mut inside).await
        });
    }
}

/// Runs an audit whose generator has this address, with these variables.
fn run(base_url: &str, variables: &[(&str, &str)]) -> Result<Output> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        let model = format!("openai: {{ model: m, base_url: \"{base_url}\", timeout_seconds: 30 }}\n  max_attempts: 2");
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 12, seed: 1 }")
            .replace("reader: {}", &model)
    })?;
    let mut command = workspace.command();
    command.envs(variables.iter().copied());
    Ok(command.args(["run", "churngate.yaml"]).output()?)
}

/// The audit stops with exit code 4, and says all this.
fn stops(output: &Output, parts: &[&str]) -> Result<()> {
    let said = stderr(output);
    assert_eq!(code(output)?, 4, "{said}");
    for part in parts {
        assert!(said.contains(part), "`{part}` is missing in:\n{said}");
    }
    Ok(())
}

#[test]
fn a_certificate_of_an_own_authority_is_trusted_where_ssl_cert_file_names_it_and_asked_for_once_where_nothing_does()
-> Result<()> {
    let authority = Authority::new()?;
    authority.issue("server", "DNS:localhost", "2", "-sha256")?;
    let secure = Secure::start(&authority, "server")?;
    let refused = run(&secure.base_url(), &[])?;
    stops(&refused, &["tls-certificate", "SSL_CERT_FILE", "(a certificate that nothing here trusts)"])?;
    assert!(!stderr(&refused).contains("reachable"), "{}", stderr(&refused));
    let connections = secure.connections.load(Ordering::SeqCst);
    assert!(connections <= 8, "as many as may be in flight, and none again: {connections}");
    assert_eq!(secure.server.seen().len(), 0);

    let trusted = authority.path("ca.pem");
    let trusted = [("SSL_CERT_FILE", trusted.to_str().context("a path")?)];
    let output = run(&secure.base_url(), &trusted)?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));

    for (name, hosts, days) in [("other", "DNS:other.example", "2"), ("expired", "DNS:localhost", "-1")] {
        authority.issue(name, hosts, days, "-sha256")?;
        stops(
            &run(&Secure::start(&authority, name)?.base_url(), &trusted)?,
            &["tls-certificate", "of this host and in date"],
        )?;
    }
    Ok(())
}

#[test]
fn a_server_without_tls_is_not_asked_again() -> Result<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let (port, connections) = (listener.local_addr()?.port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            // As web servers answer what is no request; who hangs up on it is no matter of this test.
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    stops(&run(&format!("https://127.0.0.1:{port}/v1"), &[])?, &["tls-failed", "write `http://`"])?;
    let connections = connections.load(Ordering::SeqCst);
    assert!(connections <= 8, "as many as may be in flight, and none again: {connections}");
    Ok(())
}

#[test]
fn a_proxy_that_gives_no_connection_is_told_as_such_and_asked_again() -> Result<()> {
    let forbids = RawServer::start(|_| Reply::json(403, &json!({})))?;
    for proxy in ["http://127.0.0.1:1", &forbids.host] {
        for scheme in ["https", "http"] {
            if scheme == "http" && proxy == forbids.host {
                // Without encryption its refusal is a reply like any other.
                continue;
            }
            let variables = [("HTTPS_PROXY", proxy), ("HTTP_PROXY", proxy), ("NO_PROXY", "")];
            let output = run(&format!("{scheme}://models.invalid/v1"), &variables)?;
            stops(&output, &["proxy-failed", "HTTPS_PROXY", "NO_PROXY"])?;
            assert!(!stderr(&output).contains("connect-failed"), "{}", stderr(&output));
        }
    }
    assert!(forbids.seen().len() >= 20, "ten cells, twice each: {}", forbids.seen().len());
    Ok(())
}
