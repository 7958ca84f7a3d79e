//! A check run: the verdict with the report at the commit, and remarks at the lines of its files.

use super::api::Api;
use super::budget::{CHECK, PER_REQUEST, TITLE};
use super::event::Sha;
use super::marks::{self, Marked};
use super::notice::Notice;
use super::refusal::Refusal;
use super::wording::Standing;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Created {
    id: u64,
}

/// The check run that the notice gives the commit, with its first remarks.
fn body(notice: &Notice, sha: &Sha, run: (u64, u64), page: Option<&str>) -> Value {
    let conclusion = match notice.standing {
        Standing::Pass => "success",
        Standing::Warn | Standing::Told => "neutral",
        Standing::Block | Standing::Error => "failure",
    };
    let mut body = json!({
        "name": notice.context,
        "external_id": notice.maker(run).external_id(),
        "head_sha": sha.as_str(),
        "status": "completed",
        "conclusion": conclusion,
        "output": output(notice, 0),
    });
    if let (Some(page), Some(members)) = (page, body.as_object_mut()) {
        members.insert("details_url".to_owned(), Value::from(page));
    }
    body
}

/// Title, summary and the remarks from this one on that fit one request.
fn output(notice: &Notice, from: usize) -> Value {
    let remarks: Vec<Value> =
        notice.annotations.iter().skip(from).take(PER_REQUEST).map(super::lines::Annotation::json).collect();
    json!({
        "title": notice.line_within(TITLE),
        "summary": notice.markdown_within(CHECK),
        "annotations": remarks,
    })
}

/// Gives the commit its check run, and looks whether another spec of its name, or another base branch's rule, has given it one as well: what
/// cannot be looked up is not there.
///
/// # Errors
/// The server refuses the check run itself.
pub(super) async fn mark(
    api: &Api<'_>,
    notice: &Notice,
    sha: &Sha,
    run: (u64, u64),
    page: Option<&str>,
) -> Result<Marked, Refusal> {
    let made = make(api, notice, sha, run, page).await?;
    if notice.is_twin {
        return Ok(Marked::Twin);
    }
    let after = marks::checks(api, sha, &notice.context).await.unwrap_or_default();
    Ok(match notice.held_by(&after) {
        _ if after.are_of_two(notice.spec.as_deref()) => Marked::Twin,
        Some(elsewhere) => Marked::Elsewhere(elsewhere),
        None => made,
    })
}

/// Makes it. The newest of one name counts, so that making it twice does no harm. Remarks beyond the first request's are added one
/// request after the other.
async fn make(
    api: &Api<'_>,
    notice: &Notice,
    sha: &Sha,
    run: (u64, u64),
    page: Option<&str>,
) -> Result<Marked, Refusal> {
    if notice.annotations.len() <= PER_REQUEST {
        return api.post::<Value>("check-runs", &body(notice, sha, run, page)).await.map(|_| Marked::Whole);
    }
    let created: Created = api.post("check-runs", &body(notice, sha, run, page)).await?;
    for from in (PER_REQUEST..notice.annotations.len()).step_by(PER_REQUEST) {
        let more = json!({ "output": output(notice, from) });
        if let Err(refusal) = api.patch::<Value>(&format!("check-runs/{}", created.id), &more).await {
            return Ok(Marked::WithoutAllRemarks(refusal));
        }
    }
    Ok(Marked::Whole)
}
