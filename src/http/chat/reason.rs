//! The table "what counts as what" for chat completions. `docs/outcomes.md` shows the same table.

use crate::http::CallError;
use crate::model::{Failure, FailureClass};

/// What an attempt counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountsAs {
    /// An answer: never asked again.
    Accepted,
    /// No answer, through no fault of the model: asked again.
    Invalid,
    /// The audit cannot go on.
    Fatal,
}

/// Why an attempt counts as what it counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A text.
    Answered,
    /// A refusal in the model's words.
    Refused,
    /// A refusal by the server's content filter, without words.
    Filtered,
    /// No complete reply.
    NoReply(CallError),
    /// Nothing in the body.
    EmptyBody,
    /// A body that is not UTF-8.
    NotUtf8,
    /// A body that is not a JSON object, such as an HTML page.
    NotJson,
    /// A stream of events that nobody asked for.
    EventStream,
    /// An error in the body of a successful status.
    ErrorInBody,
    /// No choice.
    NoChoices,
    /// Cut off at the token limit.
    CutByLength,
    /// Broken off, or not known to be whole.
    NotFinished,
    /// A tool call in place of a text.
    NoText,
    /// A reasoning text and no answer.
    ReasoningOnly,
    /// No text.
    EmptyContent,
    /// The server gave up waiting.
    ServerTimeout,
    /// A conflict with another request.
    Conflict,
    /// Too many requests.
    RateLimited,
    /// An error of the server's own.
    ServerError,
    /// A status that fits nowhere else.
    UnexpectedStatus,
    /// The key is refused.
    KeyRefused,
    /// Nothing left to spend.
    QuotaUsedUp,
    /// The key may not do this.
    Forbidden,
    /// No such model, or no such path.
    ModelUnknown,
    /// The prompt does not fit.
    PromptTooLong,
    /// The request is refused for another cause.
    RequestRefused,
}

impl Reason {
    /// Every one, in the table's order.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let accepted = [Self::Answered, Self::Refused, Self::Filtered];
        let calls = CallError::ALL.map(Self::NoReply);
        let bodies = [
            Self::EmptyBody,
            Self::NotUtf8,
            Self::NotJson,
            Self::EventStream,
            Self::ErrorInBody,
            Self::NoChoices,
            Self::CutByLength,
            Self::NotFinished,
            Self::NoText,
            Self::ReasoningOnly,
            Self::EmptyContent,
        ];
        let statuses = [
            Self::ServerTimeout,
            Self::Conflict,
            Self::RateLimited,
            Self::ServerError,
            Self::UnexpectedStatus,
            Self::KeyRefused,
            Self::QuotaUsedUp,
            Self::Forbidden,
            Self::ModelUnknown,
            Self::PromptTooLong,
            Self::RequestRefused,
        ];
        accepted.into_iter().chain(calls).chain(bodies).chain(statuses).collect()
    }

    /// The table's row: the short code that ledgers and reports use, what it counts as, and when it arises.
    #[must_use]
    pub const fn row(self) -> (&'static str, CountsAs, &'static str) {
        use CountsAs::{Accepted, Fatal, Invalid};
        match self {
            Self::Answered => ("answered", Accepted, "text in `choices[0].message.content`, `UNKNOWN` included"),
            Self::Refused => ("refused", Accepted, "text in `choices[0].message.refusal`"),
            Self::Filtered => (
                "filtered",
                Accepted,
                "`finish_reason: content_filter`, or an error that says that a content filter made it",
            ),
            Self::NoReply(error) => no_reply(error),
            Self::EmptyBody => ("empty-body", Invalid, "2xx with an empty body"),
            Self::NotUtf8 => ("not-utf8", Invalid, "2xx with bytes that are not UTF-8"),
            Self::NotJson => ("not-json", Invalid, "2xx with anything but a JSON object, such as an HTML page"),
            Self::EventStream => ("event-stream", Fatal, "2xx with a stream of events in place of one JSON reply"),
            Self::ErrorInBody => ("error-in-body", Invalid, "2xx with an `error` in the body"),
            Self::NoChoices => ("no-choices", Invalid, "`choices` missing, `null` or `[]`"),
            Self::CutByLength => ("cut-by-length", Invalid, "`finish_reason: length`"),
            Self::NotFinished => {
                ("not-finished", Invalid, "a `finish_reason` that is not known to end a whole text, such as `abort`")
            }
            Self::NoText => ("no-text", Invalid, "a tool call, whatever is said before it"),
            Self::ReasoningOnly => {
                ("reasoning-only", Invalid, "a reasoning text, in `content` as well, and nothing behind it")
            }
            Self::EmptyContent => ("empty-content", Invalid, "`content` missing, `null` or blank"),
            Self::ServerTimeout => ("server-timeout", Invalid, "408"),
            Self::Conflict => ("conflict", Invalid, "409 or 425"),
            Self::RateLimited => ("rate-limited", Invalid, "429"),
            Self::ServerError => ("server-error", Invalid, "5xx"),
            Self::UnexpectedStatus => ("unexpected-status", Invalid, "1xx or 3xx that is no redirect"),
            Self::KeyRefused => ("key-refused", Fatal, "401"),
            Self::QuotaUsedUp => {
                ("quota-used-up", Fatal, "402, or 429 with a code that says that the quota is used up")
            }
            Self::Forbidden => ("forbidden", Fatal, "403"),
            Self::ModelUnknown => ("model-unknown", Fatal, "404 or 410, or 400 with code `model_not_found`"),
            Self::PromptTooLong => ("prompt-too-long", Fatal, "413, or 400 with a code that says so"),
            Self::RequestRefused => ("request-refused", Fatal, "400 and every other 4xx"),
        }
    }

    /// The short code that ledgers and reports use.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.row().0
    }

    /// What it counts as.
    #[must_use]
    pub const fn counts_as(self) -> CountsAs {
        self.row().1
    }

    /// What the user can do about a fatal one.
    #[must_use]
    pub const fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::EventStream => {
                "its server, or what stands before it, streams unasked: have it give whole replies where `stream` is not asked for"
            }
            Self::KeyRefused => "check the key in the variable that `key_env` names",
            Self::QuotaUsedUp => "raise the account's quota, then run the same command again to go on",
            Self::Forbidden => "the key may not use this model or this server",
            Self::ModelUnknown => "check `model` and `base_url` in the spec",
            Self::PromptTooLong => "lower `top_k` or `max_chars` in the spec, or take a model with a larger context",
            Self::RequestRefused => "check `model`, `temperature`, `max_tokens`, `structured` and `extra` in the spec",
            Self::NoReply(error) => return error.remedy(),
            _ => return None,
        })
    }

    /// The failure that a fatal reason ends the audit with. `who` is the role of the server, such as `generator`;
    /// `parameter` is the member of our request that it refuses, if it says so.
    #[must_use]
    pub fn failure(self, who: &str, parameter: Option<&str>) -> Failure {
        let (code, _, when) = self.row();
        let about = parameter.map(|name| format!(", about `{name}`")).unwrap_or_default();
        let failure = Failure::new(FailureClass::Incomplete, format!("the {who} gave `{code}` ({when}){about}"));
        match (self, parameter) {
            (Self::RequestRefused, Some(control)) => failure.with_hint(without(control)),
            _ => self.remedy().into_iter().fold(failure, Failure::with_hint),
        }
    }
}

/// What to do about a control that a server refuses. It is never left out by the program itself: cells that were asked
/// with it and cells that were not would not be answers of one generator.
fn without(control: &str) -> String {
    match control {
        "response_format" | "text" | "output_config" => {
            "write another form of `structured` in the spec: `json_object`, or `plain`".to_owned()
        }
        "max_tokens" => "remove `max_tokens` from the spec, or write `max_completion_tokens` in its place".to_owned(),
        "model" => "check `model` and `base_url` in the spec".to_owned(),
        other => format!("remove `{other}` from the spec, or give it a value that the server takes"),
    }
}

const fn no_reply(error: CallError) -> (&'static str, CountsAs, &'static str) {
    let counts_as = if error.may_pass() { CountsAs::Invalid } else { CountsAs::Fatal };
    let when = match error {
        CallError::Connect => "no connection",
        CallError::Proxy => "no connection through the proxy",
        CallError::Certificate => "a certificate that nothing here trusts",
        CallError::Tls => "no TLS that the server and this program both speak",
        CallError::Timeout => "out of time",
        CallError::Cut => "the connection broke before the reply was complete",
        CallError::TooLarge => "more bytes than the limit",
        CallError::KeyInAnswer => "an answer in pieces that spell a key together, of which nothing is kept",
        CallError::Malformed => "the request could not be built",
        CallError::Redirect => "301, 302, 303, 307 or 308",
        CallError::KeyInTheOpen => "the key would pass a proxy without encryption",
        CallError::Setup => "the system's certificate roots cannot be read",
        CallError::NotRecorded => "a replay, and the recording has no reply to the request",
        CallError::NotKept => "the recording cannot be written",
        CallError::NotSent => "no call, since the audit ended while it waited for its turn",
    };
    (error.code(), counts_as, when)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> String {
        let row = |reason: Reason| {
            let (code, counts_as, when) = reason.row();
            let counts_as = match counts_as {
                CountsAs::Accepted => "accepted",
                CountsAs::Invalid => "invalid",
                CountsAs::Fatal => "fatal",
            };
            format!("| {when} | {counts_as} | `{code}` |\n")
        };
        Reason::all().into_iter().map(row).collect()
    }

    #[test]
    fn the_documented_table_is_this_table() {
        let page = include_str!("../../../docs/outcomes.md");
        let table = table();
        assert!(page.contains(&table), "docs/outcomes.md must hold these rows:\n{table}");
    }
}
