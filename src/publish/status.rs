//! A commit status: the verdict in one line at the commit.

use super::api::Api;
use super::budget::{CONTEXT, DESCRIPTION};
use super::event::Sha;
use super::notice::Notice;
use super::refusal::Refusal;
use super::text::within_chars;
use super::wording::Standing;
use serde_json::{Value, json};

/// The status that the notice gives the commit.
pub(super) fn body(notice: &Notice, page: Option<&str>) -> Value {
    let state = match notice.standing {
        Standing::Pass | Standing::Warn => "success",
        Standing::Block => "failure",
        Standing::Error => "error",
    };
    let context = within_chars(&format!("churngate/{}", notice.name), CONTEXT);
    let mut body =
        json!({ "state": state, "description": within_chars(&notice.line, DESCRIPTION), "context": context });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("target_url".to_owned(), Value::from(page));
    }
    body
}

/// Gives the commit its status. The newest of one context counts, so that making it twice does no harm.
///
/// # Errors
/// The server refuses.
pub(super) async fn mark(api: &Api<'_>, sha: &Sha, body: &Value) -> Result<(), Refusal> {
    api.post::<Value>(&format!("statuses/{sha}"), body).await.map(|_| ())
}
