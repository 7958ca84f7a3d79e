//! A check run: the verdict with the report at the commit.

use super::api::Api;
use super::budget::{CHECK, TITLE};
use super::event::Sha;
use super::refusal::Refusal;
use super::wording::{Standing, line, standing};
use crate::report::{self, AuditResult};
use serde_json::{Value, json};

/// The check run that the result gives the commit. `shown` is the result with the texts that may be shown.
#[must_use]
pub fn body(shown: &AuditResult, exploratory: bool, sha: &Sha, page: Option<&str>) -> Value {
    let conclusion = match standing(&shown.decision, exploratory) {
        Standing::Pass => "success",
        Standing::Warn => "neutral",
        Standing::Block => "failure",
    };
    let mut body = json!({
        "name": format!("churngate/{}", shown.name),
        "head_sha": sha.as_str(),
        "status": "completed",
        "conclusion": conclusion,
        "output": { "title": line(shown, exploratory, TITLE), "summary": report::markdown_within(shown, CHECK) },
    });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("details_url".to_owned(), Value::from(page));
    }
    body
}

/// Gives the commit its check run. The newest of one name counts, so that making it twice does no harm.
///
/// # Errors
/// The server refuses.
pub async fn mark(api: &Api<'_>, body: &Value) -> Result<(), Refusal> {
    api.post::<Value>("check-runs", body).await.map(|_| ())
}
