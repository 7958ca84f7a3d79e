//! The lines of a recording, as docs/recording.md describes them.

use crate::http::{CallError, Reply, Unit};
use crate::ledger::FormatVersion;
use crate::model::Digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version that is written.
pub(super) const FORMAT: FormatVersion = FormatVersion { major: 1, minor: 0 };
/// The longest line that is written or read, in bytes without its line feed: a request and a reply at their largest.
pub(super) const MAX_LINE: u64 = 128 << 20;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of the layout.
    pub recording: FormatVersion,
    /// The version of the program that began the recording.
    pub tool: String,
}

impl Header {
    /// The header of a recording that begins now.
    pub(super) fn new() -> Self {
        Self { recording: FORMAT, tool: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// One exchange.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    /// The unit of work by its parts; empty for calls of the audit as a whole.
    pub unit: Vec<String>,
    /// What was sent, without keys.
    pub request: Request,
    /// The digest of all of `request`.
    pub identity: Digest,
    /// The complete reply, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Kept>,
    /// Why there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Milliseconds from the call's start to the last byte of its reply; 0 without one.
    pub latency_ms: u64,
}

/// What stands for a unit of work, by its parts.
pub(super) fn of_parts(unit: &[String]) -> Digest {
    Digest::of_parts(unit.iter().map(String::as_bytes))
}

/// What was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub method: String,
    pub url: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// A complete reply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    pub status: u16,
    /// Those that the program reads.
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

/// Bytes: text where they are one that JSON writes shortly, and else in base 64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Body {
    Text(String),
    Base64(String),
}

impl Body {
    /// These bytes. Control characters would each take six bytes of a line.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let is_short = |text: &&str| !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
        match std::str::from_utf8(bytes).ok().filter(is_short) {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Base64(BASE64.encode(bytes)),
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Base64(text) => BASE64.decode(text).ok(),
        }
    }
}

impl Request {
    /// What tells it from other requests: every part preceded by its length, so that none runs into another.
    pub(super) fn identity(&self) -> Digest {
        let headers = self.headers.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let count = (self.headers.len() as u64).to_le_bytes();
        let (kind, body) = match &self.body {
            None => ("none", ""),
            Some(Body::Text(text)) => ("text", text.as_str()),
            Some(Body::Base64(text)) => ("base64", text.as_str()),
        };
        let parts = [self.method.as_str(), self.url.as_str()].into_iter().chain(headers).chain([kind, body]);
        Digest::of_parts(std::iter::once(count.as_slice()).chain(parts.map(str::as_bytes)))
    }
}

impl Exchange {
    /// What a call came to.
    pub(super) fn new(unit: &Unit, request: Request, came: Result<Kept, CallError>, latency: Duration) -> Self {
        let identity = request.identity();
        let (reply, fault) = match came {
            Ok(kept) => (Some(kept), None),
            Err(error) => (None, Some(error.code().to_owned())),
        };
        let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        Self { unit: unit.parts().to_vec(), request, identity, reply, fault, latency_ms }
    }

    /// Its line, with the line feed.
    pub(super) fn line(&self) -> Option<Vec<u8>> {
        let mut line = serde_json::to_vec(self).ok().filter(|line| line.len() as u64 <= MAX_LINE)?;
        line.push(b'\n');
        Some(line)
    }

    /// Reads a line, or says what is wrong with it.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let exchange: Self = serde_json::from_slice(line)
            .map_err(|error| format!("not an exchange of format {FORMAT}, at column {}", error.column()))?;
        if exchange.identity != exchange.request.identity() {
            return Err("the digest is not that of the request".to_owned());
        }
        exchange.came().map(|_| exchange)
    }

    /// What the call came to.
    ///
    /// # Errors
    /// The line says both, neither, or something that no call comes to.
    pub(super) fn came(&self) -> Result<Result<Reply, CallError>, String> {
        let latency = Duration::from_millis(self.latency_ms);
        match (&self.reply, self.fault.as_deref()) {
            (Some(kept), None) => {
                let body = kept.body.bytes().ok_or("the body of the reply is not in base 64")?;
                Ok(Ok(Reply { status: kept.status, headers: kept.headers.clone(), body, latency }))
            }
            (None, Some(code)) => {
                let fault = CallError::ALL.into_iter().find(|error| error.code() == code);
                fault.map(Err).ok_or_else(|| "a fault that no call comes to".to_owned())
            }
            _ => Err("neither one reply nor one fault".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: Option<&[u8]>) -> Request {
        let headers = vec![("accept".to_owned(), "application/json".to_owned())];
        Request { method: "POST".to_owned(), url: "http://h/v1?a=1".to_owned(), headers, body: body.map(Body::of) }
    }

    #[test]
    fn every_part_of_a_request_is_in_its_identity() {
        let one = request(Some(b"x"));
        let others = [
            Request { method: "GET".to_owned(), ..one.clone() },
            Request { url: "http://h/v1?a=2".to_owned(), ..one.clone() },
            Request { headers: Vec::new(), ..one.clone() },
            request(Some(b"y")),
            request(Some(b"")),
            request(None),
        ];
        assert!(others.iter().all(|other| other.identity() != one.identity()));
        assert_eq!(request(Some(b"x")).identity(), one.identity());
    }

    #[test]
    fn bytes_of_any_sort_come_back_as_they_were() {
        for bytes in [b"".as_slice(), b"{\"a\": 1}\r\n\t", b"\xff\x00", "ä\u{1}".as_bytes()] {
            let kept = Kept { status: 200, headers: Vec::new(), body: Body::of(bytes) };
            let exchange = Exchange::new(&Unit::default(), request(Some(bytes)), Ok(kept), Duration::from_millis(7));
            let line = exchange.line().unwrap();
            assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
            let reply = Exchange::parse(line.trim_ascii_end()).unwrap().came().unwrap().unwrap();
            assert_eq!((reply.body.as_slice(), reply.latency), (bytes, Duration::from_millis(7)));
        }
        assert!(matches!(Body::of("äöü\n".as_bytes()), Body::Text(_)) && matches!(Body::of(b"\0"), Body::Base64(_)));
    }

    #[test]
    fn faults_come_back_as_what_they_were() {
        for error in CallError::ALL {
            let exchange = Exchange::new(&Unit::default(), request(None), Err(error), Duration::ZERO);
            let line = exchange.line().unwrap();
            assert_eq!(Exchange::parse(line.trim_ascii_end()).unwrap().came().unwrap().unwrap_err(), error);
        }
    }

    #[test]
    fn lines_that_no_recorder_wrote_are_refused() {
        let line = Exchange::new(&Unit::default(), request(None), Err(CallError::Cut), Duration::ZERO).line().unwrap();
        let line = String::from_utf8(line).unwrap();
        for (from, to, said) in [
            ("\"POST\"", "\"PUT\"", "digest is not that of the request"),
            ("\"reply-cut\"", "\"reply-lost\"", "a fault that no call comes to"),
            (",\"fault\":\"reply-cut\"", "", "neither one reply nor one fault"),
            ("\"latency_ms\":0", "\"latency_ms\":-1", "not an exchange"),
            ("{\"unit\"", "{\"more\":1,\"unit\"", "not an exchange"),
            ("}\n", "", "not an exchange"),
        ] {
            let damaged = line.replacen(from, to, 1);
            assert_ne!(damaged, line, "{from}");
            let error = Exchange::parse(damaged.trim_end().as_bytes()).unwrap_err();
            assert!(error.contains(said), "{from}: {error}");
        }
    }
}
