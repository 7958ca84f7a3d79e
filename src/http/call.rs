//! One call and what comes back.

use crate::model::Digest;
use secrecy::SecretString;
use std::time::Duration;

/// A header's value: plain, or a secret that is exposed only while the request is built.
#[derive(Clone, Debug)]
pub enum HeaderText {
    /// May be seen.
    Plain(String),
    /// Must not be seen.
    Secret(SecretString),
}

/// One HTTP call.
#[derive(Clone, Debug)]
pub struct Call {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The whole URL; never carries a key.
    pub url: String,
    /// Header names and values.
    pub headers: Vec<(String, HeaderText)>,
    /// The body's bytes, JSON where there is one.
    pub body: Option<Vec<u8>>,
    /// The time limit for the whole call.
    pub timeout: Duration,
    /// What stands in it for this one call alone, wherever it stands: without it, calls that ask the same are the same.
    pub nonce: Option<String>,
}

impl Call {
    /// The digest of what is sent, without headers and so without keys: method, URL and body, each preceded by its length.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_parts([self.method.as_bytes(), self.url.as_bytes(), self.body.as_deref().unwrap_or_default()])
    }

    /// The host and the port that are called, for messages.
    #[must_use]
    pub fn address(&self) -> String {
        let Ok(url) = reqwest::Url::parse(&self.url) else { return "an address that is none".to_owned() };
        let host = url.host_str().unwrap_or_default();
        url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

/// A complete reply: any status, its body within the size limit.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Header names in lower case, and their values where they are text.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// From the call's start to the last byte.
    pub latency: Duration,
}

/// Why there is no complete reply that could be kept. Carries no text from the server and no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CallError {
    /// No connection.
    #[error("connection failed")]
    Connect,
    /// No connection through a proxy that the environment names.
    #[error("the proxy gave no connection")]
    Proxy,
    /// A certificate that nothing trusts.
    #[error("the server's certificate is not trusted")]
    Certificate,
    /// No TLS that both speak.
    #[error("the server and this program agree on no TLS")]
    Tls,
    /// Out of time.
    #[error("timed out")]
    Timeout,
    /// The connection broke before the body was complete.
    #[error("the reply was cut off")]
    Cut,
    /// More bytes than the limit.
    #[error("the reply is larger than the limit")]
    TooLarge,
    /// A key stands in an answer that the reply holds in pieces: of all that came nothing is kept.
    #[error("a key stands in the pieces of the answer")]
    KeyInAnswer,
    /// The request could not be built: a bad URL or a header value that is none.
    #[error("the request could not be built")]
    Malformed,
    /// A redirect, which is never followed.
    #[error("the server answered with a redirect")]
    Redirect,
    /// A key would go through a proxy without encryption.
    #[error("a proxy would read the key")]
    KeyInTheOpen,
    /// The client could not be set up: the system's certificate roots cannot be read.
    #[error("the certificate roots of the system cannot be read")]
    Setup,
    /// A replay, and the recording has no such exchange. No call was made.
    #[error("the recording has no reply to this request")]
    NotRecorded,
    /// What calls came to can no longer be recorded. No call was made.
    #[error("the recording cannot be written")]
    NotKept,
    /// The audit ended while the call, recorded already, waited for its turn. No call was made.
    #[error("the audit ended before the call was made")]
    NotSent,
}

impl CallError {
    /// Every one, for tables.
    pub const ALL: [Self; 15] = [
        Self::Connect,
        Self::Proxy,
        Self::Certificate,
        Self::Tls,
        Self::Timeout,
        Self::Cut,
        Self::TooLarge,
        Self::KeyInAnswer,
        Self::Malformed,
        Self::Redirect,
        Self::KeyInTheOpen,
        Self::Setup,
        Self::NotRecorded,
        Self::NotKept,
        Self::NotSent,
    ];

    /// Whether another attempt can come to something else.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        use CallError::{Connect, Cut, KeyInAnswer, NotSent, Proxy, Timeout, TooLarge};
        matches!(self, Connect | Proxy | Timeout | Cut | TooLarge | KeyInAnswer | NotSent)
    }

    /// What the user can do about one that no further attempt would change.
    #[must_use]
    pub const fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Certificate => {
                "let the variable SSL_CERT_FILE name a PEM file with the authority that issued it, where that is one of your own; \
                 else see that the certificate is of this host and in date"
            }
            Self::Tls => {
                "see that the server speaks TLS 1.2 or 1.3 at this address; where it speaks none, write `http://`"
            }
            Self::Redirect => "write the address that the server redirects to as `base_url`",
            Self::Malformed => "check `base_url` in the spec, and the key for line breaks",
            Self::KeyInTheOpen => "write `https://` in `base_url`, or name the server's host in the variable NO_PROXY",
            Self::Setup => "install the system's certificate roots (`ca-certificates`)",
            Self::NotRecorded => "record the audit again with `--record` and a fresh folder",
            Self::NotKept => "make room for the recording, then run the same command again to go on",
            Self::Connect
            | Self::Proxy
            | Self::Timeout
            | Self::Cut
            | Self::TooLarge
            | Self::KeyInAnswer
            | Self::NotSent => return None,
        })
    }

    /// Whether an outcome of this code says that its attempt was recorded and no call followed.
    #[must_use]
    pub fn is_not_sent(code: &str) -> bool {
        [Self::NotSent, Self::NotRecorded, Self::NotKept].into_iter().any(|error| error.code() == code)
    }

    /// The short code that ledgers and reports use.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Connect => "connect-failed",
            Self::Proxy => "proxy-failed",
            Self::Certificate => "tls-certificate",
            Self::Tls => "tls-failed",
            Self::Timeout => "timed-out",
            Self::Cut => "reply-cut",
            Self::TooLarge => "reply-too-large",
            Self::KeyInAnswer => "key-in-answer",
            Self::Malformed => "request-malformed",
            Self::Redirect => "redirected",
            Self::KeyInTheOpen => "key-through-proxy",
            Self::Setup => "no-certificate-roots",
            Self::NotRecorded => "not-recorded",
            Self::NotKept => "not-kept",
            Self::NotSent => "not-sent",
        }
    }
}

impl Reply {
    /// The first header of this name (in lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
