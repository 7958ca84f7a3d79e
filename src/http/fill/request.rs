//! A request template to a call.

use super::{Filling, TemplateError};
use crate::http::{Call, HeaderText};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// A request as it is described, without keys.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The URL; `{name}` is a snapshot variable.
    pub url: &'a str,
    /// Query parameters.
    pub query: &'a BTreeMap<String, String>,
    /// The JSON body.
    pub body: Option<&'a Value>,
    /// Headers with plain values.
    pub headers: &'a BTreeMap<String, String>,
    /// The time limit for the whole call.
    pub timeout: Duration,
}

impl Template<'_> {
    /// The call that it comes to. JSON is asked for and announced where no header says otherwise.
    ///
    /// # Errors
    /// A placeholder or a variable that stands for nothing here.
    pub fn call(&self, filling: &Filling<'_>) -> Result<Call, TemplateError> {
        let url = filling.url(self.url, self.query)?;
        let body = self.body.map(|body| filling.value(body)).transpose()?.map(|body| body.to_string().into_bytes());
        let headers = self.headers(filling, body.is_some())?;
        let nonce = filling.nonce.map(str::to_owned);
        Ok(Call { method: self.method, url, headers, body, timeout: self.timeout, nonce })
    }

    fn headers(&self, filling: &Filling<'_>, with_body: bool) -> Result<Vec<(String, HeaderText)>, TemplateError> {
        let mut headers = Vec::new();
        for (name, value) in self.headers {
            headers.push((name.clone(), HeaderText::Plain(filling.plain(value)?)));
        }
        for (name, wanted) in [("accept", true), ("content-type", with_body)] {
            if wanted && !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), HeaderText::Plain("application/json".to_owned())));
            }
        }
        Ok(headers)
    }
}

/// A header that carries a key behind a prefix such as `Bearer `.
#[must_use]
pub fn keyed(name: &str, prefix: &str, key: &SecretString) -> (String, HeaderText) {
    let value = SecretString::from(format!("{prefix}{}", key.expose_secret()));
    (name.to_owned(), HeaderText::Secret(value))
}
