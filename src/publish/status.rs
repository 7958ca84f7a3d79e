//! A commit status: the verdict in one line at the commit.

use super::api::Api;
use super::budget::{CONTEXT, DESCRIPTION};
use super::event::Sha;
use super::newer;
use super::notice::Notice;
use super::refusal::Refusal;
use super::text::within_chars;
use super::twin;
use super::wording::Standing;
use serde_json::{Value, json};

/// The status that the notice gives the commit.
fn body(notice: &Notice, page: Option<&str>) -> Value {
    let state = match notice.standing {
        Standing::Pass | Standing::Warn | Standing::Told => "success",
        Standing::Block => "failure",
        Standing::Error => "error",
    };
    let context = within_chars(&notice.context, CONTEXT);
    let mut body =
        json!({ "state": state, "description": within_chars(&notice.line, DESCRIPTION), "context": context });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("target_url".to_owned(), Value::from(twin::address(page, notice.spec.as_deref())));
    }
    body
}

/// Gives the commit its status, unless a newer run has given it one. Where one came in between, it is put back on top.
/// Says whether the status is ours.
///
/// # Errors
/// The server refuses.
pub(super) async fn mark(api: &Api<'_>, sha: &Sha, notice: &Notice, page: Option<&str>) -> Result<bool, Refusal> {
    let body = body(notice, page);
    let context = body.get("context").and_then(Value::as_str).unwrap_or_default();
    let path = format!("statuses/{sha}");
    // Where two specs have one name, neither mark of theirs may be better.
    let Some(page) = page.filter(|_| !notice.is_twin) else {
        return api.post::<Value>(&path, &body).await.map(|_| true);
    };
    if newer::status(api, sha, context, page).await.is_some() {
        return Ok(false);
    }
    api.post::<Value>(&path, &body).await?;
    match newer::status(api, sha, context, page).await {
        Some(newer) => api.post::<Value>(&path, &newer).await.map(|_| false),
        None => Ok(true),
    }
}
