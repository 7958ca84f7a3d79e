//! What comes back: one function decides what a reply counts as.

use super::Reason;
use super::endpoint::Adapter;
use super::filter::is_filter;
use super::refusal::refused;
use super::thoughts::behind_thoughts;
use crate::http::{Call, CallError, Reply, Wish, begins_events, json, spare, unmarked};
use crate::model::Amount;
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What it counts as, and why.
    pub reason: Reason,
    /// The text of an answer or of a refusal in words, as the server sent it; nonempty after trimming.
    pub text: Option<String>,
    /// The member of our request that the server refuses, if it names one that we sent.
    pub parameter: Option<String>,
    /// What the server says of the next call, where this one came to nothing.
    pub wish: Wish,
    /// What the server says about itself.
    pub facts: Facts,
}

/// What a server says about one reply. Its texts are cut and free of control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// HTTP status.
    pub status: Option<u16>,
    /// The model it says it used.
    pub served_model: Option<String>,
    /// The fingerprint of its backend.
    pub fingerprint: Option<String>,
    /// The id of its response.
    pub response_id: Option<String>,
    /// Tokens, where it counts them.
    pub tokens: Option<Tokens>,
    /// What they cost in nano-dollars, by the spec's price.
    pub nano_usd: Option<u64>,
    /// How long its rate headers ask to hold further calls.
    pub hold: Option<Duration>,
}

impl Facts {
    /// What the call took, where the server says so.
    #[must_use]
    pub fn amount(&self) -> Option<Amount> {
        let Tokens { input, output, .. } = self.tokens?;
        Some(Amount { tokens: input.saturating_add(output), nano_usd: self.nano_usd.unwrap_or(0) })
    }
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from a prompt cache.
    pub cached: u64,
}

/// Reads what came back for `call` over the wire of this adapter.
#[must_use]
pub fn read(adapter: &Adapter, call: &Call, came_back: &Result<Reply, CallError>, now: Timestamp) -> Reading {
    let reply = match came_back {
        Ok(reply) => reply,
        Err(error) => return Reading::bare(Reason::NoReply(*error), Facts::default()),
    };
    let body = json(&reply.body).unwrap_or_default();
    let tokens = (adapter.tokens)(&body["usage"]);
    let taken = tokens.map_or(0, |tokens| tokens.input.saturating_add(tokens.output));
    let facts = Facts { tokens, hold: spare::hold(reply, taken, now), ..facts(reply.status, &body) };
    if (200..300).contains(&reply.status) {
        let (reason, text) = served(adapter, reply, &body);
        return Reading { text, ..Reading::bare(reason, facts) };
    }
    let (reason, parameter) = refused(call, reply.status, &body);
    Reading { parameter, wish: Wish::of(reply, now), ..Reading::bare(reason, facts) }
}

/// What a successful reply counts as, and its text where that is accepted.
fn served(adapter: &Adapter, reply: &Reply, body: &Value) -> (Reason, Option<String>) {
    if let Some(reason) = unreadable(reply, body) {
        return (reason, None);
    }
    match (adapter.answer)(body) {
        (Reason::Answered, text) => match text.as_deref().and_then(behind_thoughts) {
            Some(answer) => (Reason::Answered, Some(answer.to_owned())),
            None => (Reason::ReasoningOnly, None),
        },
        (Reason::Refused, text) => (Reason::Refused, text),
        // A filter may speak within a success.
        (Reason::ErrorInBody, _) if is_filter(400, body) => (Reason::Filtered, None),
        (reason, _) => (reason, None),
    }
}

impl Reading {
    fn bare(reason: Reason, facts: Facts) -> Self {
        Self { reason, text: None, parameter: None, wish: Wish::NONE, facts }
    }
}

/// Why a successful body is none that could be read, if so.
fn unreadable(reply: &Reply, body: &Value) -> Option<Reason> {
    let Ok(text) = std::str::from_utf8(unmarked(&reply.body)) else { return Some(Reason::NotUtf8) };
    match () {
        () if text.trim_ascii().is_empty() => Some(Reason::EmptyBody),
        () if body.is_object() => None,
        () if is_event_stream(reply) || begins_events(text) => Some(Reason::EventStream),
        () => Some(Reason::NotJson),
    }
}

fn is_event_stream(reply: &Reply) -> bool {
    reply
        .header("content-type")
        .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

fn facts(status: u16, body: &Value) -> Facts {
    Facts {
        status: Some(status),
        served_model: name(&body["model"]),
        fingerprint: name(&body["system_fingerprint"]),
        response_id: name(&body["id"]),
        ..Facts::default()
    }
}

/// The longest name that is kept of what a server says, in characters.
const LONGEST_NAME: usize = 128;

/// A name as a server says it: cut, and free of control characters. A key that these break was taken out of the reply before.
#[must_use]
pub fn name(value: &Value) -> Option<String> {
    let kept: String = value.as_str()?.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::chat::{CountsAs, completions::ADAPTER};
    use std::collections::HashSet;

    fn call() -> Call {
        let body = br#"{"model":"m","temperature":1}"#.to_vec();
        let url = String::new();
        Call { method: "POST", url, headers: Vec::new(), body: Some(body), timeout: Duration::ZERO, nonce: None }
    }

    fn reply(status: u16, body: &[u8]) -> Reply {
        let headers = vec![("retry-after".to_owned(), "2".to_owned())];
        Reply { status, headers, body: body.to_vec(), latency: Duration::ZERO }
    }

    fn reading(status: u16, body: &[u8]) -> Reading {
        read(&ADAPTER, &call(), &Ok(reply(status, body)), Timestamp::UNIX_EPOCH)
    }

    /// Bodies as servers send them, each with what it counts as.
    const SEEN: [(u16, &[u8], Reason); 50] = [
        (200, br#"{"choices":[{"message":{"content":"UNKNOWN"},"finish_reason":"stop"}]}"#, Reason::Answered),
        (200, br#"{"choices":[{"message":{"content":[{"type":"text","text":"12"}]}}],"error":null}"#, Reason::Answered),
        (
            200,
            br#"{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}"#,
            Reason::Refused,
        ),
        (200, br#"{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}"#, Reason::Filtered),
        (400, br#"{"error":{"code":"content_filter","message":"x"}}"#, Reason::Filtered),
        (200, br#"{"error":{"code":"content_filter","message":"x"}}"#, Reason::Filtered),
        (200, b"", Reason::EmptyBody),
        (204, b" \n", Reason::EmptyBody),
        (200, b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}", Reason::NotUtf8),
        (200, b"<!doctype html><title>Sign in</title>", Reason::NotJson),
        (200, br#"{"choices":[{"mess"#, Reason::NotJson),
        (200, b"[]", Reason::NotJson),
        (200, b"data: {}\n\n", Reason::EventStream),
        (200, br#"{"error":{"message":"overloaded"}}"#, Reason::ErrorInBody),
        (200, br#"{"choices":[{"finish_reason":"error","message":{"content":"half"}}]}"#, Reason::ErrorInBody),
        (200, b"{}", Reason::NoChoices),
        (200, br#"{"choices":null}"#, Reason::NoChoices),
        (200, br#"{"choices":[]}"#, Reason::NoChoices),
        (200, br#"{"choices":[{"message":{"content":"half of"},"finish_reason":"length"}]}"#, Reason::CutByLength),
        (200, br#"{"choices":[{"message":{"content":"half of"},"finish_reason":"abort"}]}"#, Reason::NotFinished),
        (200, br#"{"choices":[{"message":{"content":null,"tool_calls":[{}]}}]}"#, Reason::NoText),
        (200, br#"{"choices":[{"message":{"content":"","reasoning_content":"hm"}}]}"#, Reason::ReasoningOnly),
        (200, br#"{"choices":[{"message":{"content":"<think>hm</think> \n"}}]}"#, Reason::ReasoningOnly),
        (200, br#"{"choices":[{"message":{"content":"<think>hm"}}]}"#, Reason::ReasoningOnly),
        (200, br#"{"choices":[{"message":{"content":"<think>hm</think>92"}}]}"#, Reason::Answered),
        (200, br#"{"choices":[{"message":{"content":" \n"},"finish_reason":"stop"}]}"#, Reason::EmptyContent),
        (200, br#"{"choices":[{}]}"#, Reason::EmptyContent),
        (200, b"\xef\xbb\xbf{\"choices\":[{\"message\":{\"content\":\"92\"}}]}", Reason::Answered),
        (200, b"\xef\xbb\xbf", Reason::EmptyBody),
        (200, b"\xef\xbb\xbf<html>", Reason::NotJson),
        (429, b"\xef\xbb\xbf{\"error\":{\"code\":\"insufficient_quota\"}}", Reason::QuotaUsedUp),
        (400, br#"{"error":{"type":"exceed_context_size_error","code":400}}"#, Reason::PromptTooLong),
        (400, br#"{"error":{"code":"model_not_found"}}"#, Reason::ModelUnknown),
        (400, b"no JSON", Reason::RequestRefused),
        (401, b"", Reason::KeyRefused),
        (402, b"", Reason::QuotaUsedUp),
        (403, b"", Reason::Forbidden),
        (404, b"", Reason::ModelUnknown),
        (408, b"", Reason::ServerTimeout),
        (409, b"", Reason::Conflict),
        (410, b"", Reason::ModelUnknown),
        (413, b"", Reason::PromptTooLong),
        (422, br#"{"detail":[]}"#, Reason::RequestRefused),
        (429, br#"{"error":{"code":"rate_limit_exceeded"}}"#, Reason::RateLimited),
        (429, br#"{"error":{"type":"insufficient_quota"}}"#, Reason::QuotaUsedUp),
        (429, br#"{"error":"slow down"}"#, Reason::RateLimited),
        (500, b"", Reason::ServerError),
        (529, b"", Reason::ServerError),
        (304, b"", Reason::UnexpectedStatus),
        (100, b"", Reason::UnexpectedStatus),
    ];

    #[test]
    fn what_servers_send_counts_as_the_table_says() {
        for (status, body, reason) in SEEN {
            let reading = reading(status, body);
            assert_eq!(reading.reason, reason, "{status} {}", String::from_utf8_lossy(body));
            let has_words = matches!(reason, Reason::Answered | Reason::Refused);
            assert_eq!(reading.text.is_some(), has_words, "{reason:?}");
        }
    }

    #[test]
    fn a_stream_is_known_by_its_type_as_well_and_a_type_alone_makes_none() {
        let events = [("content-type".to_owned(), "Text/Event-Stream; charset=utf-8".to_owned())];
        for (body, reason) in [
            (": waiting\n\ndata: {}\n\n", Reason::EventStream),
            ("", Reason::EmptyBody),
            (r#"{"choices":[{"message":{"content":"92"}}]}"#, Reason::Answered),
        ] {
            let reply = Reply { headers: events.to_vec(), ..reply(200, body.as_bytes()) };
            assert_eq!(read(&ADAPTER, &call(), &Ok(reply), Timestamp::UNIX_EPOCH).reason, reason, "{body}");
        }
    }

    #[test]
    fn every_row_of_the_table_was_seen() {
        let seen: HashSet<Reason> = SEEN.iter().map(|(_, _, reason)| *reason).collect();
        for reason in Reason::all() {
            assert!(seen.contains(&reason) || matches!(reason, Reason::NoReply(_)), "{reason:?}");
        }
        for error in CallError::ALL {
            let reading = read(&ADAPTER, &call(), &Err(error), Timestamp::UNIX_EPOCH);
            assert_eq!((reading.reason, reading.facts.status), (Reason::NoReply(error), None));
        }
    }

    #[test]
    fn codes_are_unique_and_every_fatal_one_has_a_remedy() {
        let rows = Reason::all();
        let codes: HashSet<&str> = rows.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), rows.len());
        for reason in rows {
            assert_eq!(reason.remedy().is_some(), reason.counts_as() == CountsAs::Fatal, "{reason:?}");
        }
    }

    #[test]
    fn a_refused_parameter_is_named_and_nothing_else_of_what_the_server_says() {
        let body = br#"{"error":{"message":"Unsupported parameter: 'temperature' is not for you, sesame"}}"#;
        let Reading { reason, parameter, .. } = reading(400, body);
        assert_eq!((reason, parameter.as_deref()), (Reason::RequestRefused, Some("temperature")));
        let failure = reason.failure("generator", parameter.as_deref()).to_string();
        assert!(failure.contains("`temperature`") && !failure.contains("sesame"), "{failure}");
    }

    #[test]
    fn facts_are_kept_within_bounds() {
        let long = "m".repeat(500);
        let body = format!(
            r#"{{"id":"i\u001b[0m","model":"{long}","system_fingerprint":"","choices":[{{"message":{{"content":"a"}}}}],
            "usage":{{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{{"cached_tokens":3}}}}}}"#
        );
        let facts = reading(200, body.as_bytes()).facts;
        assert_eq!(facts.served_model.map(|model| model.len()), Some(LONGEST_NAME));
        assert_eq!((facts.fingerprint, facts.response_id.as_deref()), (None, Some("i[0m")));
        assert_eq!(facts.tokens, Some(Tokens { input: 7, output: 2, cached: 3 }));
    }

    #[test]
    fn the_answer_is_what_stands_behind_the_reasoning() {
        let body = br#"{"choices":[{"message":{"content":"<think>\nhm\n</think>\n\n{\"answer\":\"92\"}"}}]}"#;
        assert_eq!(reading(200, body).text.as_deref(), Some("\n\n{\"answer\":\"92\"}"));
    }

    #[test]
    fn waits_are_read_from_refusals_alone() {
        assert_eq!(reading(429, b"").wish, Wish { refused: true, wait: Some(Duration::from_secs(2)) });
        assert_eq!(reading(200, b"{}").wish, Wish::NONE);
    }
}
