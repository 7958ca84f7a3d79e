//! TLS for PostgreSQL: the one provider of this program, and the authorities that the system or the address names.

use super::binding;
use super::error::SqlError;
use crate::http::tls::error_of;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt as _;
use std::error::Error;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// Whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those of the system's authorities, or of the file that `SSL_CERT_FILE` names.
    System,
    /// Those of this PEM file's authorities, and of no other.
    File(PathBuf),
}

/// The protocol as it is named where a connection begins with TLS, with nothing of PostgreSQL's before it: without this name the
/// server hangs up.
const NAME: &[u8] = b"postgresql";

/// What connections are made by; `is_direct` where they begin with TLS.
///
/// # Errors
/// There is no authority to trust: what is wrong, and what to do about it.
pub(super) fn client(trust: &Trust, is_direct: bool) -> Result<Arc<ClientConfig>, (&'static str, &'static str)> {
    let mut config = match trust {
        Trust::System => ClientConfig::with_platform_verifier().map_err(|_| {
            let hint = "install the system's certificates (`ca-certificates`), or let `SSL_CERT_FILE` name a PEM file that can be read";
            ("wants TLS, and this machine has no authority to hold a certificate against", hint)
        }),
        Trust::File(file) => authorities(file)
            .map(|roots| ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
            .ok_or((
                "has an `sslrootcert` that is no PEM file of certificates",
                "let it name the authority's certificate by a whole path, or take it out",
            )),
    }?;
    if is_direct {
        config.alpn_protocols = vec![NAME.to_vec()];
    }
    Ok(Arc::new(config))
}

fn authorities(file: &Path) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).ok()? {
        roots.add(certificate.ok()?).ok()?;
    }
    (!roots.is_empty()).then_some(roots)
}

/// What stands in the way of TLS, where that is what an error is about and no further attempt would change it.
pub(super) fn refused(error: &tokio_postgres::Error) -> Option<SqlError> {
    let (code, what, hint) = match error.source().and_then(error_of) {
        Some(rustls::Error::InvalidCertificate(reason)) => of_certificate(reason),
        Some(_) => (
            "tls-failed",
            "the database and this program agree on no TLS",
            "let the server speak TLS 1.2 or 1.3 and show a certificate with a subject alternative name",
        ),
        None if says_no(error) => (
            "tls-missing",
            "the database offers no TLS",
            "turn on `ssl` in the server; `sslmode=disable` in the address does without, where no network lies between",
        ),
        None => return None,
    };
    Some(SqlError::lasting(code, what, hint))
}

/// Why a certificate is refused, by what the library calls it.
fn of_certificate(reason: &CertificateError) -> (&'static str, &'static str, &'static str) {
    use CertificateError as Of;
    match reason {
        Of::NotValidForName | Of::NotValidForNameContext { .. } => (
            "tls-name",
            "the database's certificate is of another host than the address names",
            "write the host as its certificate has it; a certificate may be of a name and not of an IP address",
        ),
        Of::Expired | Of::ExpiredContext { .. } => {
            ("tls-certificate", "the database's certificate has expired", "let its operator renew it")
        }
        Of::NotValidYet | Of::NotValidYetContext { .. } => (
            "tls-certificate",
            "the database's certificate is not valid yet",
            "look at this machine's clock, then at the certificate",
        ),
        // An authority that was made anew under its old name signs otherwise.
        Of::UnknownIssuer | Of::BadSignature => (
            "tls-certificate",
            "the database's certificate is by no authority that is trusted here",
            "let `sslrootcert` in the address, or the variable `SSL_CERT_FILE`, name the authority's certificate as a PEM file",
        ),
        _ => (
            "tls-certificate",
            "the database's certificate is none of a server",
            "let the server show a certificate of its own, with a subject alternative name and without `CA:TRUE`",
        ),
    }
}

/// Whether the server refused to speak TLS at all. The library has no other sign of it than these words.
fn says_no(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|cause| cause.to_string() == "server does not support TLS")
}

/// A connection before TLS: over TCP or a Unix socket.
pub(super) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// What makes a connection to this host a TLS one.
#[derive(Clone)]
pub(super) struct Tls {
    /// The host's name, which its certificate must have.
    pub name: ServerName<'static>,
    /// What the certificate is held against.
    pub client: Arc<ClientConfig>,
}

/// A TLS connection.
pub(super) struct Stream(client::TlsStream<Box<dyn Io>>);

/// TLS where it is asked for.
pub(super) struct Asked(pub Option<Tls>);

impl TlsConnect<Box<dyn Io>> for Asked {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, stream: Box<dyn Io>) -> Self::Future {
        Box::pin(async move {
            let Tls { name, client } = self.0.ok_or_else(|| io::Error::other("no TLS was asked for"))?;
            TlsConnector::from(client).connect(name, stream).await.map(Stream)
        })
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        let certificates = self.0.get_ref().1.peer_certificates();
        let bound = certificates.and_then(|certificates| binding::end_point(certificates.first()?));
        bound.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
