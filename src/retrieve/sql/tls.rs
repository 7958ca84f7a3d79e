//! TLS for PostgreSQL: the one provider of this program, and the certificates that the system trusts.

use super::error::SqlError;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig};
use rustls_platform_verifier::ConfigVerifierExt as _;
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// What stands in the way of TLS, where that is what an error is about and no further attempt would change it.
pub(super) fn refused(error: &tokio_postgres::Error) -> Option<SqlError> {
    use CertificateError::{Expired, ExpiredContext, NotValidForName, NotValidForNameContext};
    let (code, what, hint) = match tls_error(error) {
        Some(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => (
            "tls-name",
            "the database's certificate is of another host than the address names",
            "write the host as its certificate has it; a certificate may be of a name and not of an IP address",
        ),
        Some(rustls::Error::InvalidCertificate(Expired | ExpiredContext { .. })) => {
            ("tls-certificate", "the database's certificate has expired", "let its operator renew it")
        }
        Some(rustls::Error::InvalidCertificate(_)) => (
            "tls-certificate",
            "the database's certificate is by no authority that this machine trusts",
            "let the variable `SSL_CERT_FILE` name the authority's certificate as a PEM file",
        ),
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

/// The error of TLS among the causes of this one.
fn tls_error(error: &tokio_postgres::Error) -> Option<&rustls::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let found = inner.and_then(|inner| inner.downcast_ref()).or_else(|| error.downcast_ref());
        if found.is_some() {
            return found;
        }
        cause = error.source();
    }
    None
}

/// Whether the server refused to speak TLS at all. The library has no other sign of it than these words.
fn says_no(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|cause| cause.to_string() == "server does not support TLS")
}

/// A connection before TLS: over TCP or a Unix socket.
pub(super) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// What makes a connection to this host a TLS one.
pub(super) struct Tls {
    /// The host's name, which its certificate must have.
    pub host: String,
}

/// A TLS connection.
pub(super) struct Stream(client::TlsStream<Box<dyn Io>>);

impl TlsConnect<Box<dyn Io>> for Tls {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, stream: Box<dyn Io>) -> Self::Future {
        Box::pin(async move {
            let config = ClientConfig::with_platform_verifier().map_err(io::Error::other)?;
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            TlsConnector::from(Arc::new(config)).connect(name, stream).await.map(Stream)
        })
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
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
