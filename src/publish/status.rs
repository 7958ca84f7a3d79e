//! A commit status: the verdict in one line at the commit.

use super::api::Api;
use super::budget::{CONTEXT, DESCRIPTION};
use super::event::Sha;
use super::marks::{self, Marked};
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
fn body(notice: &Notice, run: (u64, u64), page: Option<&str>) -> Value {
    let state = match notice.standing {
        Standing::Pass | Standing::Warn | Standing::Told => "success",
        Standing::Block => "failure",
        Standing::Error => "error",
    };
    let context = context(notice);
    let mut body = json!({ "state": state, "description": notice.line_within(DESCRIPTION), "context": context });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("target_url".to_owned(), Value::from(notice.maker(run).address(page)));
    }
    body
}

/// Gives the commit its status. Where a newer run's came in between, it is put back on top: what cannot be looked up is not there.
///
/// # Errors
/// The server refuses.
pub(super) async fn mark(
    api: &Api<'_>,
    sha: &Sha,
    notice: &Notice,
    run: (u64, u64),
    page: Option<&str>,
) -> Result<Marked, Refusal> {
    let path = format!("statuses/{sha}");
    api.post::<Value>(&path, &body(notice, run, page)).await?;
    if notice.is_twin {
        return Ok(Marked::Twin);
    }
    let after = marks::statuses(api, sha, &context(notice), page).await.unwrap_or_default();
    match (notice.newer(&after, run), notice.held_by(&after)) {
        _ if after.are_of_two(notice.spec.as_deref()) => Ok(Marked::Twin),
        (Some(newer), _) => api.post::<Value>(&path, newer).await.map(|_| Marked::Newer),
        (None, Some(elsewhere)) => Ok(Marked::Elsewhere(elsewhere)),
        (None, None) => Ok(Marked::Whole),
    }
}
