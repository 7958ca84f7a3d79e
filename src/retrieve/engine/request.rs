//! A request template to a call.

use crate::http::fill::{Filling, TemplateError};
use crate::http::{Call, HeaderText, Secrets};
use crate::model::{Failure, FailureClass};
use crate::spec::{HttpMethod, HttpRetrieveSpec, RequestSpec};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// The call that this request comes to, with the headers of the engine.
pub(super) fn call(
    spec: &HttpRetrieveSpec,
    request: &RequestSpec,
    filling: &Filling<'_>,
    secrets: &Secrets,
) -> Result<Call, Failure> {
    let url = filling.url(&request.url, &request.query).map_err(|problem| in_template(&problem))?;
    let body = request.body.as_ref().map(|body| filling.value(body)).transpose();
    let body = body.map_err(|problem| in_template(&problem))?.map(|body| body.to_string().into_bytes());
    let method = match request.method {
        HttpMethod::Get => "GET",
        HttpMethod::Post => "POST",
    };
    let timeout = Duration::from_secs(u64::from(spec.timeout_seconds));
    Ok(Call { method, url, headers: headers(spec, filling, secrets, body.is_some())?, body, timeout })
}

fn headers(
    spec: &HttpRetrieveSpec,
    filling: &Filling<'_>,
    secrets: &Secrets,
    with_body: bool,
) -> Result<Vec<(String, HeaderText)>, Failure> {
    let mut headers = Vec::new();
    for (name, value) in &spec.headers {
        let value = filling.plain(value).map_err(|problem| in_template(&problem))?;
        headers.push((name.clone(), HeaderText::Plain(value)));
    }
    for (name, wanted) in [("accept", true), ("content-type", with_body)] {
        if wanted && !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            headers.push((name.to_owned(), HeaderText::Plain("application/json".to_owned())));
        }
    }
    for (name, header) in &spec.secret_headers {
        let key = secrets.get(&header.env).ok_or_else(|| not_set(&header.env))?;
        let value = SecretString::from(format!("{}{}", header.prefix, key.expose_secret()));
        headers.push((name.clone(), HeaderText::Secret(value)));
    }
    Ok(headers)
}

fn in_template(problem: &TemplateError) -> Failure {
    Failure::new(FailureClass::Usage, format!("failed to fill the search engine's request: {problem}")).with_hint(
        "placeholders are `{{question}}`, `{{top_k}}`, `{{vector}}` and `{{snapshot.NAME}}`, and `{NAME}` in the URL",
    )
}

fn not_set(variable: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{variable}` is not set"))
        .with_hint("it holds the key that the search engine is sent")
}
