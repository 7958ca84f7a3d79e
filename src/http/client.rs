//! The client itself.

use super::{Call, CallError, HeaderText, Reply};
use crate::model::{Failure, FailureClass};
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
    /// The largest body that is read, in bytes.
    pub max_body_bytes: usize,
}

/// The client. Cheap to clone; clones share connections.
///
/// The connections and the system's certificate roots are set up by the first call, so that an audit that calls
/// nobody needs neither.
#[derive(Clone, Debug)]
pub struct Client {
    settings: HttpSettings,
    inner: Arc<OnceLock<Option<reqwest::Client>>>,
}

impl Client {
    /// Builds the client.
    ///
    /// # Errors
    /// A limit of zero.
    pub fn new(settings: HttpSettings) -> Result<Self, Failure> {
        if settings.connect_timeout.is_zero() || settings.max_body_bytes == 0 {
            return Err(Failure::new(FailureClass::Usage, "the limits of HTTP calls must be above zero"));
        }
        Ok(Self { settings, inner: Arc::default() })
    }

    /// Makes one call, once. Never follows a redirect, never retries.
    ///
    /// # Errors
    /// There is no complete reply. A reply of any status is no error here.
    pub async fn send(&self, call: &Call) -> Result<Reply, CallError> {
        let client = self.inner.get_or_init(|| build(&self.settings)).as_ref().ok_or(CallError::Setup)?;
        let request = request(call)?;
        let started = Instant::now();
        let exchange = async {
            let response = client.execute(request).await.map_err(|error| failed(&error, CallError::Connect))?;
            read(response, self.settings.max_body_bytes).await
        };
        let (status, headers, body) =
            tokio::time::timeout(call.timeout, exchange).await.unwrap_or(Err(CallError::Timeout))?;
        Ok(Reply { status, headers, body, latency: started.elapsed() })
    }
}

/// One TLS provider serves the whole process. Another one that is installed already is as good.
fn build(settings: &HttpSettings) -> Option<reqwest::Client> {
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("churngate/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(settings.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .build()
        .ok()
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

async fn read(mut response: Response, limit: usize) -> Result<Parts, CallError> {
    let status = response.status().as_u16();
    if matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err(CallError::Redirect);
    }
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error, CallError::Cut))? {
        if chunk.len() > limit - body.len() {
            return Err(CallError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok((status, headers, body))
}

/// What an error of the library counts as. Its text is dropped: it may hold the URL.
fn failed(error: &reqwest::Error, otherwise: CallError) -> CallError {
    match error {
        error if error.is_timeout() => CallError::Timeout,
        error if error.is_connect() => CallError::Connect,
        error if error.is_builder() => CallError::Malformed,
        // The connection stood and broke before a reply came.
        error if error.is_request() => CallError::Cut,
        _ => otherwise,
    }
}
