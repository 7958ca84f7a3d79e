//! Why GitHub did not do what it was asked, and what a person can do about it. Carries no text from the server.

use super::Pace;
use crate::http::wish::{clock, retry_after};
use crate::http::{CallError, Reply};
use jiff::Timestamp;
use std::time::Duration;

/// Why a call came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The token may only read.
    #[error("the token may not write")]
    ReadOnly,
    /// The conversation is locked.
    #[error("the conversation is locked")]
    Locked,
    /// Forbidden for another reason.
    #[error("the server forbids it")]
    Forbidden,
    /// The token is not valid.
    #[error("the token is not accepted")]
    BadToken,
    /// There is no such thing, or the token may not see it.
    #[error("the server finds nothing there, or the token may not see it")]
    NotFound,
    /// Issues are disabled.
    #[error("the server says that it is gone")]
    Gone,
    /// The server finds fault with the request.
    #[error("the server finds fault with the request")]
    Unprocessable,
    /// A limit on calls, for longer than is waited.
    #[error("the server's limit on calls is reached")]
    RateLimited,
    /// An error of the server's.
    #[error("the server failed with status {0}")]
    Server(u16),
    /// Another status.
    #[error("the server answered with status {0}")]
    Unexpected(u16),
    /// The reply is not what the interface promises.
    #[error("the server's reply cannot be read")]
    BadReply,
    /// A list with more pages than are read.
    #[error("the server's list is longer than is read")]
    TooLong,
    /// A list that changes while it is read, time and again.
    #[error("the server's list changes while it is read")]
    Unsettled,
    /// A comment of ours whose hidden line was changed.
    #[error(
        "a comment on this audit has a hidden line that somebody changed: restore the comment from its earlier versions, or delete it"
    )]
    Damaged,
    /// No complete reply.
    #[error("{0}")]
    Call(CallError),
    /// There is no token, or the surroundings do not name a repository.
    #[error("there is no token or no repository to publish with")]
    NoAccess,
}

/// A job that is run again is no remedy where it would draw every answer anew.
const KEPT: &str = "publish the run that was kept, `churngate publish FOLDER`; a job that is run again makes a new draw, and pays \
                    for it, unless it finds the run in `runs`";

/// A grant that a token needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Comments on pull requests.
    PullRequests,
    /// Commit statuses.
    Statuses,
    /// Check runs.
    Checks,
}

impl Permission {
    const fn key(self) -> &'static str {
        match self {
            Self::PullRequests => "pull-requests",
            Self::Statuses => "statuses",
            Self::Checks => "checks",
        }
    }
}

impl Refusal {
    /// What the user can do, where there is something: the lines to add to the workflow.
    #[must_use]
    pub fn hint(self, needed: Permission) -> Option<String> {
        let key = needed.key();
        match self {
            Self::ReadOnly | Self::Forbidden | Self::NotFound => Some(format!(
                "add these lines to the job, or, for pull requests from forks, publish from a second workflow:\n  \
                 permissions:\n    {key}: write"
            )),
            Self::BadToken | Self::NoAccess => Some("pass `token: ${{ github.token }}`".to_owned()),
            Self::RateLimited | Self::Server(_) | Self::Unsettled | Self::Damaged | Self::Call(_) => {
                Some(KEPT.to_owned())
            }
            _ => None,
        }
    }

    /// Whether this is the server's own word, which it would give again, and no fault that passes.
    pub(super) const fn is_final(self) -> bool {
        !matches!(
            self,
            Self::RateLimited | Self::Server(_) | Self::BadReply | Self::TooLong | Self::Unsettled | Self::Call(_)
        )
    }
}

/// What to do after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is done.
    Done,
    /// Ask again after this time; if that is too long, it came to this.
    Again(Duration, Refusal),
    /// It came to this.
    Refused(Refusal),
}

/// Reads the reply to the `number`th attempt, from 0.
#[must_use]
pub fn next(reply: &Reply, number: u32, pace: &Pace, now: Timestamp) -> Next {
    match reply.status {
        200..=299 => Next::Done,
        403 | 429 => limited_or_forbidden(reply, pace, now),
        401 => Next::Refused(Refusal::BadToken),
        404 => Next::Refused(Refusal::NotFound),
        410 => Next::Refused(Refusal::Gone),
        422 => Next::Refused(Refusal::Unprocessable),
        status @ 500..=599 => Next::Again(pace.after(number), Refusal::Server(status)),
        status => Next::Refused(Refusal::Unexpected(status)),
    }
}

/// Tells a limit, which passes, from a prohibition, which does not. A limit may come without any header.
fn limited_or_forbidden(reply: &Reply, pace: &Pace, now: Timestamp) -> Next {
    let message = message(reply);
    if let Some(wait) = retry_after(reply, now) {
        return Next::Again(wait, Refusal::RateLimited);
    }
    if reply.header("x-ratelimit-remaining") == Some("0") {
        return Next::Again(until_reset(reply, now).unwrap_or(pace.secondary), Refusal::RateLimited);
    }
    let limit = ["rate limit", "abuse detection"].iter().any(|words| message.contains(words));
    match reply.status {
        429 => Next::Again(pace.secondary, Refusal::RateLimited),
        _ if limit => Next::Again(pace.secondary, Refusal::RateLimited),
        _ if message.contains("not accessible by") => Next::Refused(Refusal::ReadOnly),
        _ if message.contains("locked") => Next::Refused(Refusal::Locked),
        _ => Next::Refused(Refusal::Forbidden),
    }
}

/// The message of an error, in lower case; read to tell errors apart, never shown.
fn message(reply: &Reply) -> String {
    let body = serde_json::from_slice::<serde_json::Value>(&reply.body).unwrap_or_default();
    body.get("message").and_then(serde_json::Value::as_str).unwrap_or_default().to_lowercase()
}

fn until_reset(reply: &Reply, now: Timestamp) -> Option<Duration> {
    let then: i64 = reply.header("x-ratelimit-reset")?.trim().parse().ok()?;
    let now = clock(reply, now).as_second();
    Some(Duration::from_secs(u64::try_from(then.saturating_sub(now)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(status: u16, headers: &[(&str, &str)], message: &str) -> Next {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = serde_json::json!({ "message": message }).to_string().into_bytes();
        let reply = Reply { status, headers, body, latency: Duration::ZERO };
        next(&reply, 1, &Pace::default(), Timestamp::from_second(1000).unwrap())
    }

    const fn limit(seconds: u64) -> Next {
        Next::Again(Duration::from_secs(seconds), Refusal::RateLimited)
    }

    #[test]
    fn limits_are_waited_for_as_long_as_the_server_says() {
        assert_eq!(after(429, &[("retry-after", "7")], ""), limit(7));
        assert_eq!(after(403, &[("retry-after", "8")], "You have exceeded a secondary rate limit"), limit(8));
        assert_eq!(after(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")], ""), limit(30));
        assert_eq!(after(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "9")], ""), limit(0));
    }

    #[test]
    fn limits_without_a_time_are_waited_for_a_minute() {
        assert_eq!(after(429, &[], ""), limit(60));
        assert_eq!(after(403, &[], "You have exceeded a secondary rate limit. Please wait"), limit(60));
        assert_eq!(after(403, &[("x-ratelimit-remaining", "0")], ""), limit(60));
    }

    #[test]
    fn prohibitions_are_final() {
        let refused = |message| after(403, &[("x-ratelimit-remaining", "4999")], message);
        assert_eq!(refused("Resource not accessible by integration"), Next::Refused(Refusal::ReadOnly));
        assert_eq!(refused("Resource not accessible by personal access token"), Next::Refused(Refusal::ReadOnly));
        assert_eq!(refused("Unable to create comment because issue is locked."), Next::Refused(Refusal::Locked));
        assert_eq!(refused("Forbidden"), Next::Refused(Refusal::Forbidden));
    }

    #[test]
    fn each_status_has_its_meaning() {
        assert_eq!(after(201, &[], ""), Next::Done);
        assert_eq!(after(401, &[], ""), Next::Refused(Refusal::BadToken));
        assert_eq!(after(404, &[], ""), Next::Refused(Refusal::NotFound));
        assert_eq!(after(410, &[], ""), Next::Refused(Refusal::Gone));
        assert_eq!(after(422, &[], ""), Next::Refused(Refusal::Unprocessable));
        assert_eq!(after(418, &[], ""), Next::Refused(Refusal::Unexpected(418)));
        assert_eq!(after(502, &[], ""), Next::Again(Duration::from_secs(2), Refusal::Server(502)));
    }

    #[test]
    fn what_failed_once_is_published_from_the_run_that_was_kept() {
        for refusal in [Refusal::RateLimited, Refusal::Server(502), Refusal::Call(CallError::Timeout)] {
            for needed in [Permission::PullRequests, Permission::Statuses, Permission::Checks] {
                let hint = refusal.hint(needed).unwrap();
                assert!(hint.starts_with("publish the run that was kept, `churngate publish FOLDER`; "), "{hint}");
                assert!(hint.contains("a job that is run again makes a new draw"), "{hint}");
            }
        }
    }

    #[test]
    fn a_read_only_token_is_told_the_lines_to_add() {
        let hint = Refusal::ReadOnly.hint(Permission::Statuses).unwrap();
        assert!(hint.contains("permissions:\n    statuses: write"), "{hint}");
    }
}
