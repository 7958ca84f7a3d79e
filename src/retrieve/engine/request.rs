//! A request template to a call.

use crate::http::fill::{self, Filling, Template, TemplateError};
use crate::http::{Call, Secrets};
use crate::model::{Failure, FailureClass};
use crate::spec::{HttpRetrieveSpec, RequestSpec};
use std::time::Duration;

/// The call that this request comes to, with the headers of the engine.
pub(super) fn call(
    spec: &HttpRetrieveSpec,
    request: &RequestSpec,
    filling: &Filling<'_>,
    secrets: &Secrets,
) -> Result<Call, Failure> {
    let template = Template {
        method: request.method.as_str(),
        url: &request.url,
        query: &request.query,
        body: request.body.as_ref(),
        headers: &spec.headers,
        timeout: Duration::from_secs(u64::from(spec.timeout_seconds)),
    };
    let mut call = template.call(filling).map_err(|problem| in_template(&problem))?;
    for (name, header) in &spec.secret_headers {
        let key = secrets.get(&header.env).ok_or_else(|| not_set(&header.env))?;
        call.headers.push(fill::keyed(name, &header.prefix, key));
    }
    Ok(call)
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
