//! A search engine over HTTP: a request template out, pointers into the reply back in.

mod encode;
mod reply;
mod template;

pub(super) use reply::{Pointers, documents_of};

use super::remote::{Judged, Made};
use crate::http::{Call, CallError, Context, HeaderText, Reply, Secrets, retry_after};
use crate::model::{Failure, FailureClass, Question};
use crate::spec::{HttpMethod, HttpRetrieveSpec};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::time::Duration;
use template::Filling;

/// One engine, as the spec describes it.
pub(super) struct Engine<'a> {
    pub spec: &'a HttpRetrieveSpec,
    pub top_k: u32,
    pub max_chars: u32,
}

impl Engine<'_> {
    /// The call for one question to one snapshot.
    ///
    /// # Errors
    /// The template names what there is not, or a key is not set.
    pub(super) fn call(
        &self,
        question: &Question,
        variables: &BTreeMap<String, String>,
        secrets: &Secrets,
    ) -> Result<Call, Failure> {
        let filling = Filling { question: &question.text, top_k: self.top_k, variables };
        let url = filling.url(&self.spec.url, &self.spec.query).map_err(|problem| in_template(&problem))?;
        let body = self
            .spec
            .body
            .as_ref()
            .map(|body| filling.value(body))
            .transpose()
            .map_err(|problem| in_template(&problem))?;
        let body = body.map(|body| body.to_string().into_bytes());
        let method = match self.spec.method {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
        };
        let timeout = Duration::from_secs(u64::from(self.spec.timeout_seconds));
        Ok(Call { method, url, headers: self.headers(secrets, body.is_some())?, body, timeout })
    }

    fn headers(&self, secrets: &Secrets, with_body: bool) -> Result<Vec<(String, HeaderText)>, Failure> {
        let plain = |(name, value): (&String, &String)| (name.clone(), HeaderText::Plain(value.clone()));
        let mut headers: Vec<_> = self.spec.headers.iter().map(plain).collect();
        for (name, wanted) in [("accept", true), ("content-type", with_body)] {
            if wanted && !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), HeaderText::Plain("application/json".to_owned())));
            }
        }
        for (name, header) in &self.spec.secret_headers {
            let key = secrets.get(&header.env).ok_or_else(|| not_set(&header.env))?;
            let value = SecretString::from(format!("{}{}", header.prefix, key.expose_secret()));
            headers.push((name.clone(), HeaderText::Secret(value)));
        }
        Ok(headers)
    }

    /// Makes the call once and says what it came to.
    pub(super) async fn make(&self, call: &Call, context: &Context) -> Made {
        match context.send(call).await {
            Ok(reply) => {
                let judged = self.judge(&reply);
                Made { status: Some(reply.status), body: Some(reply.body), latency: reply.latency, judged }
            }
            Err(error) => Made { status: None, body: None, latency: Duration::ZERO, judged: unanswered(error) },
        }
    }

    fn judge(&self, reply: &Reply) -> Judged {
        match reply.status {
            200..=299 => match reply::evidence(self.spec, &reply.body, self.top_k, self.max_chars) {
                Ok(evidence) => Judged::Accepted(evidence),
                Err(reason) => Judged::Invalid { reason, retry_after: None },
            },
            408 | 425 | 429 | 500..=599 => {
                let reason = match reply.status {
                    408 => "server-timeout",
                    425 | 429 => "rate-limited",
                    _ => "server-error",
                };
                Judged::Invalid { reason, retry_after: retry_after(reply, Timestamp::now()) }
            }
            status => refused(status),
        }
    }
}

/// A reply that no further attempt would change.
fn refused(status: u16) -> Judged {
    let (reason, hint) = match status {
        401 | 403 => ("key-refused", "check the key and its rights"),
        402 => ("quota-used-up", "the account has no quota left"),
        404 | 410 => ("index-unknown", "check the URL and the snapshot's variables"),
        _ => ("request-refused", "check `retrieve.http` against the engine's own description of its requests"),
    };
    let message = format!("the search engine answered with status {status} ({reason})");
    Judged::Fatal { reason, failure: Failure::new(FailureClass::Incomplete, message).with_hint(hint) }
}

fn unanswered(error: CallError) -> Judged {
    let reason = error.code();
    if error.may_pass() {
        return Judged::Invalid { reason, retry_after: None };
    }
    let message = format!("failed to call the search engine: {error}");
    Judged::Fatal { reason, failure: Failure::new(FailureClass::Incomplete, message) }
}

fn in_template(problem: &template::TemplateError) -> Failure {
    Failure::new(FailureClass::Usage, format!("failed to fill the template of `retrieve.http`: {problem}"))
        .with_hint("placeholders are `{{question}}`, `{{top_k}}` and `{{snapshot.NAME}}`, and `{NAME}` in the URL")
}

fn not_set(variable: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{variable}` is not set"))
        .with_hint("it holds the key that `retrieve.http` sends")
}
