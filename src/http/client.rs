//! The client itself.

use super::{Call, CallError, HeaderText, Reply, Tape, Unit, proxy, tls};
use crate::model::{Failure, FailureClass};
use bytes::Bytes;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Request, Response, Url};
use secrecy::ExposeSecret;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Limits that hold for every call.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Time to connect.
    pub connect_timeout: Duration,
    /// Time without a further byte of a body that has begun, or half of the call's own where that is longer. For its first one the
    /// whole time of the call is waited.
    pub read_timeout: Duration,
    /// The largest body that is read, in bytes.
    pub max_body_bytes: usize,
}

/// The client. Cheap to clone; clones share connections.
///
/// The connections and the system's certificate roots are set up by the first call that needs them, so that an audit that
/// calls nobody needs neither.
#[derive(Clone, Debug)]
pub struct Client {
    settings: HttpSettings,
    connections: Arc<Connections>,
    tape: Option<Arc<dyn Tape>>,
    unit: Unit,
}

/// The connections of one process. Each client reads the certificate roots of the system once, which takes as long as some
/// calls do: none is set up that nobody uses, and one that cannot be set up stays so.
#[derive(Debug, Default)]
struct Connections {
    /// Through proxies, where the environment says so.
    outside: OnceLock<Option<reqwest::Client>>,
    /// Without any, for the loopback interface.
    inside: OnceLock<Option<reqwest::Client>>,
    proxies: OnceLock<Matcher>,
}

impl Client {
    /// Builds the client.
    ///
    /// # Errors
    /// A limit of zero.
    pub fn new(settings: HttpSettings) -> Result<Self, Failure> {
        if settings.connect_timeout.is_zero() || settings.read_timeout.is_zero() || settings.max_body_bytes == 0 {
            return Err(Failure::new(FailureClass::Usage, "the limits of HTTP calls must be above zero"));
        }
        Ok(Self { settings, connections: Arc::default(), tape: None, unit: Unit::default() })
    }

    /// The same with a tape between it and the network.
    #[must_use]
    pub fn with_tape(self, tape: Arc<dyn Tape>) -> Self {
        Self { tape: Some(tape), ..self }
    }

    /// The same, for the calls of one unit of work.
    #[must_use]
    pub fn of(&self, unit: Unit) -> Self {
        Self { unit, ..self.clone() }
    }

    /// Its tape, where there is one.
    #[must_use]
    pub fn tape(&self) -> Option<&dyn Tape> {
        self.tape.as_deref()
    }

    /// Whether every call is answered from a recording and none is made.
    #[must_use]
    pub fn is_replaying(&self) -> bool {
        self.tape().is_some_and(Tape::replays)
    }

    /// Makes one call, once. Never follows a redirect, never retries. Where a tape answers, nothing is made.
    ///
    /// # Errors
    /// There is no complete reply. A reply of any status is no error here.
    pub async fn send(&self, call: &Call) -> Result<Reply, CallError> {
        self.send_checked(call, Ok).await
    }

    /// The same, of a reply that must pass a check before anybody has it: neither whoever calls nor a tape.
    ///
    /// # Errors
    /// There is no complete reply, or the check lets none pass.
    pub async fn send_checked(
        &self,
        call: &Call,
        check: impl FnOnce(Reply) -> Result<Reply, CallError>,
    ) -> Result<Reply, CallError> {
        let Some(tape) = self.tape() else { return self.make(call).await.and_then(check) };
        if let Some(played) = tape.play(call, &self.unit) {
            return played.and_then(check);
        }
        let came = self.make(call).await.and_then(check);
        tape.keep(call, &self.unit, &came);
        came
    }

    async fn make(&self, call: &Call) -> Result<Reply, CallError> {
        let request = request(call)?;
        let proxies = self.connections.proxies.get_or_init(Matcher::from_system);
        if proxy::reads_key(call, request.url(), proxies) {
            return Err(CallError::KeyInTheOpen);
        }
        let client = self.connections.to(request.url(), &self.settings).ok_or(CallError::Setup)?;
        let no_connection =
            if proxy::is_between(request.url(), proxies) { CallError::Proxy } else { CallError::Connect };
        let started = Instant::now();
        let exchange = async {
            let response = client.execute(request).await.map_err(|error| failed(&error, no_connection))?;
            read(response, self.settings.max_body_bytes, self.settings.read_timeout.max(call.timeout / 2)).await
        };
        let (status, headers, body) =
            tokio::time::timeout(call.timeout, exchange).await.unwrap_or(Err(CallError::Timeout))?;
        Ok(Reply { status, headers, body, latency: started.elapsed() })
    }
}

impl Connections {
    /// Those that lead to this address; nothing where they cannot be set up.
    fn to(&self, url: &Url, settings: &HttpSettings) -> Option<&reqwest::Client> {
        if proxy::is_loopback(url) {
            self.inside.get_or_init(|| built(builder(settings).no_proxy())).as_ref()
        } else {
            self.outside.get_or_init(|| built(builder(settings))).as_ref()
        }
    }
}

fn built(builder: reqwest::ClientBuilder) -> Option<reqwest::Client> {
    // One TLS provider serves the whole process. Another one that is installed already is as good.
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    builder.build().ok()
}

fn builder(settings: &HttpSettings) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("churngate/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(settings.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
}

fn request(call: &Call) -> Result<Request, CallError> {
    let method = Method::from_bytes(call.method.as_bytes()).map_err(|_| CallError::Malformed)?;
    let mut request = Request::new(method, parse_url(&call.url)?);
    for (name, value) in &call.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| CallError::Malformed)?;
        request.headers_mut().insert(name, header_value(value)?);
    }
    *request.body_mut() = call.body.clone().map(Into::into);
    Ok(request)
}

/// A URL with a user or a password in it is refused: it would carry a key into places where URLs are shown.
fn parse_url(text: &str) -> Result<Url, CallError> {
    let url = Url::parse(text).map_err(|_| CallError::Malformed)?;
    let clean = url.username().is_empty() && url.password().is_none() && url.has_host();
    if clean && matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(CallError::Malformed) }
}

fn header_value(value: &HeaderText) -> Result<HeaderValue, CallError> {
    let (text, secret) = match value {
        HeaderText::Plain(text) => (text.as_str(), false),
        HeaderText::Secret(text) => (text.expose_secret(), true),
    };
    let mut value = HeaderValue::from_str(text).map_err(|_| CallError::Malformed)?;
    value.set_sensitive(secret);
    Ok(value)
}

type Parts = (u16, Vec<(String, String)>, Vec<u8>);

/// The reply, of at most `limit` bytes. Once its body has begun, no more than `pause` passes without a further byte.
async fn read(mut response: Response, limit: usize, pause: Duration) -> Result<Parts, CallError> {
    let status = response.status().as_u16();
    if matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err(CallError::Redirect);
    }
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    // What says that it is too large is not waited for.
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(CallError::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = next_of(&mut response, (!body.is_empty()).then_some(pause)).await? {
        if chunk.len() > limit - body.len() {
            return Err(CallError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok((status, headers, body))
}

/// The next part of a body; nothing at its end.
async fn next_of(response: &mut Response, limit: Option<Duration>) -> Result<Option<Bytes>, CallError> {
    let part = response.chunk();
    let came = match limit {
        None => part.await,
        Some(limit) => tokio::time::timeout(limit, part).await.map_err(|_| CallError::Timeout)?,
    };
    came.map_err(|error| if error.is_timeout() { CallError::Timeout } else { CallError::Cut })
}

/// What an error of the library counts as before there is a reply. Its text is dropped: it may hold the URL.
fn failed(error: &reqwest::Error, no_connection: CallError) -> CallError {
    match error {
        error if error.is_connect() => unconnected(error, no_connection),
        error if error.is_timeout() => CallError::Timeout,
        error if error.is_builder() => CallError::Malformed,
        // The connection stood and broke before a reply came.
        _ => CallError::Cut,
    }
}

/// Why there is no connection. What is wrong with a certificate or with TLS stays so; a server that ends the handshake for a
/// trouble of its own may have none the next time.
fn unconnected(error: &reqwest::Error, no_connection: CallError) -> CallError {
    use rustls::{AlertDescription as Alert, Error};
    match tls::error_of(error) {
        Some(Error::InvalidCertificate(_)) => CallError::Certificate,
        Some(Error::AlertReceived(Alert::InternalError | Alert::CloseNotify | Alert::UserCanceled)) | None => {
            if error.is_timeout() && no_connection == CallError::Connect { CallError::Timeout } else { no_connection }
        }
        Some(_) => CallError::Tls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Answers one connection with these bytes, then waits for `hold` before it closes, and gives back what it was sent.
    async fn server(answer: &'static [u8], hold: Duration) -> (String, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut heard = vec![0_u8; 4096];
            let read = stream.read(&mut heard).await.unwrap();
            stream.write_all(answer).await.unwrap();
            tokio::time::sleep(hold).await;
            String::from_utf8_lossy(&heard[..read]).into_owned()
        });
        (url, served)
    }

    fn client() -> Client {
        client_that_waits(Duration::from_mins(1))
    }

    /// So long for a further part of a body.
    fn client_that_waits(read_timeout: Duration) -> Client {
        let connect_timeout = Duration::from_mins(1);
        Client::new(HttpSettings { connect_timeout, read_timeout, max_body_bytes: 16 }).unwrap()
    }

    /// Long enough for the slowest machine.
    fn get(url: &str) -> Call {
        let timeout = Duration::from_mins(2);
        Call { method: "GET", url: url.to_owned(), headers: Vec::new(), body: None, timeout, nonce: None }
    }

    async fn sent(answer: &'static [u8], hold: Duration) -> Result<Reply, CallError> {
        let (url, _served) = server(answer, hold).await;
        client().send(&get(&url)).await
    }

    #[tokio::test]
    async fn any_complete_reply_is_a_reply() {
        let reply =
            sent(b"HTTP/1.1 503 No\r\nRetry-After: 3\r\ncontent-length: 2\r\n\r\nno", Duration::ZERO).await.unwrap();
        assert_eq!((reply.status, reply.body.as_slice()), (503, b"no".as_slice()));
        assert_eq!(reply.header("retry-after"), Some("3"));
    }

    #[tokio::test]
    async fn incomplete_replies_are_told_apart() {
        let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
        assert_eq!(sent(cut, Duration::ZERO).await.unwrap_err(), CallError::Cut);
        let (url, _served) = server(cut, Duration::from_mins(2)).await;
        let short = Call { timeout: Duration::from_millis(300), ..get(&url) };
        assert_eq!(client().send(&short).await.unwrap_err(), CallError::Timeout);
        assert_eq!(sent(b"", Duration::ZERO).await.unwrap_err(), CallError::Cut);
        assert_eq!(sent(b"nonsense\r\n\r\n", Duration::ZERO).await.unwrap_err(), CallError::Cut);
        let large = b"HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n12345678901234567";
        assert_eq!(sent(large, Duration::ZERO).await.unwrap_err(), CallError::TooLarge);
        assert_eq!(client().send(&get("http://127.0.0.1:1/")).await.unwrap_err(), CallError::Connect);
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_given_up_long_before_the_call_is_out_of_time() {
        let (url, _served) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", Duration::from_mins(2)).await;
        let started = Instant::now();
        let client = client_that_waits(Duration::from_millis(200));
        let call = Call { timeout: Duration::from_secs(4), ..get(&url) };
        assert_eq!(client.send(&call).await.unwrap_err(), CallError::Timeout);
        let elapsed = started.elapsed();
        assert!((Duration::from_secs(2)..Duration::from_millis(3_800)).contains(&elapsed), "{elapsed:?}");
    }

    #[tokio::test]
    async fn who_thinks_before_the_reply_or_writes_slowly_has_the_whole_time_of_the_call() {
        let limit = Duration::from_secs(1);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let _served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _heard = stream.read(&mut vec![0_u8; 4096]).await.unwrap();
            // Longer than the limit before the head, before the body, and for the body as a whole.
            tokio::time::sleep(limit * 3 / 2).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n").await.unwrap();
            tokio::time::sleep(limit * 3 / 2).await;
            for _ in 0..6 {
                stream.write_all(b"x").await.unwrap();
                tokio::time::sleep(limit / 4).await;
            }
        });
        let reply = client_that_waits(limit).send(&get(&url)).await.unwrap();
        assert_eq!(reply.body, b"xxxxxx");
    }

    #[tokio::test]
    async fn redirects_are_not_followed() {
        let redirect = b"HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(sent(redirect, Duration::ZERO).await.unwrap_err(), CallError::Redirect);
    }

    #[tokio::test]
    async fn what_is_no_request_is_never_sent() {
        for url in ["", "ftp://host/", "http://user:key@127.0.0.1:1/", "file:///etc/passwd", "not a url"] {
            assert_eq!(client().send(&get(url)).await.unwrap_err(), CallError::Malformed, "{url}");
        }
        let mut call = get("http://127.0.0.1:1/");
        call.headers.push(("authorization".into(), HeaderText::Secret("Bearer a\nb".to_owned().into())));
        assert_eq!(client().send(&call).await.unwrap_err(), CallError::Malformed);
    }

    #[tokio::test]
    async fn keys_reach_the_server_and_no_debug_output() {
        let (url, served) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", Duration::ZERO).await;
        let mut call = get(&url);
        call.headers.push(("authorization".into(), HeaderText::Secret(SecretString::from("Bearer sesame".to_owned()))));
        assert!(client().send(&call).await.unwrap().body.is_empty());
        assert!(served.await.unwrap().contains("authorization: Bearer sesame"));
        assert!(!format!("{call:?} {:?}", request(&call).unwrap()).contains("sesame"));
    }
}
