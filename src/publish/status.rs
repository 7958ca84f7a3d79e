//! A commit status: the verdict in one line at the commit.

use super::api::Api;
use super::budget::{CONTEXT, DESCRIPTION};
use super::event::Sha;
use super::marks::{self, Marks};
use super::notice::Notice;
use super::refusal::Refusal;
use super::text::within_chars;
use super::wording::Standing;
use serde_json::{Value, json};

/// What the status is called.
pub(super) fn context(notice: &Notice) -> String {
    within_chars(&notice.context, CONTEXT)
}

/// The status that the notice gives the commit.
fn body(notice: &Notice, page: Option<&str>) -> Value {
    let state = match notice.standing {
        Standing::Pass | Standing::Warn | Standing::Told => "success",
        Standing::Block => "failure",
        Standing::Error => "error",
    };
    let context = context(notice);
    let mut body = json!({ "state": state, "description": notice.line_within(DESCRIPTION), "context": context });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("target_url".to_owned(), Value::from(page));
    }
    body
}

/// Gives the commit its status, unless a newer run has given it one. Where one came in between, it is put back on top: where
/// that cannot be looked up, it is as if there were none. Says whether the status is ours.
///
/// # Errors
/// The server refuses.
pub(super) async fn mark(
    api: &Api<'_>,
    sha: &Sha,
    notice: &Notice,
    run: (u64, u64),
    page: Option<&str>,
    before: &Marks,
) -> Result<bool, Refusal> {
    if before.newer(run).is_some() {
        return Ok(false);
    }
    let path = format!("statuses/{sha}");
    api.post::<Value>(&path, &body(notice, page)).await?;
    let after = marks::statuses(api, sha, &context(notice), page).await.unwrap_or_default();
    match after.newer(run) {
        Some(newer) => api.post::<Value>(&path, newer).await.map(|_| false),
        None => Ok(true),
    }
}
