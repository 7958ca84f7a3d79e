//! A commit status: the verdict in one line at the commit.

use super::api::Api;
use super::budget::{CONTEXT, DESCRIPTION};
use super::event::Sha;
use super::refusal::Refusal;
use super::text::within_chars;
use super::wording::{Standing, line, standing};
use crate::report::AuditResult;
use serde_json::{Value, json};

/// The status that the result gives the commit.
#[must_use]
pub fn body(result: &AuditResult, exploratory: bool, page: Option<&str>) -> Value {
    let state = match standing(&result.decision, exploratory) {
        Standing::Pass | Standing::Warn => "success",
        Standing::Block => "failure",
    };
    let context = within_chars(&format!("churngate/{}", result.name), CONTEXT);
    let description = line(result, exploratory, DESCRIPTION);
    let mut body = json!({ "state": state, "description": description, "context": context });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("target_url".to_owned(), Value::from(page));
    }
    body
}

/// Gives the commit its status. The newest of one context counts, so that making it twice does no harm.
///
/// # Errors
/// The server refuses.
pub async fn mark(api: &Api<'_>, sha: &Sha, body: &Value) -> Result<(), Refusal> {
    api.post::<Value>(&format!("statuses/{sha}"), body).await.map(|_| ())
}
