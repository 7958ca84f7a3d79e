//! What a status other than 2xx says. Of a server's words only codes, fixed texts and names of our own are looked for: none of
//! them gets any further.

use super::Reason;
use super::filter::is_filter;
use crate::http::Call;
use serde_json::{Map, Value};

/// Members of a request that are no controls: errors name them for what stands in them.
pub const CONTENT: [&str; 3] = ["messages", "input", "system"];

/// Members whose names are words of the language, so that they name no control unless they stand as a name.
const WORDS: [&str; 4] = ["model", "text", "user", "n"];

/// Codes and types by which servers tell causes apart that share a status.
const QUOTA: [&str; 5] = [
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_hard_limit_reached",
    "enforced_spend_limit_reached",
    "billing_error",
];
const TOO_LONG: [&str; 3] = ["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"];
const NO_MODEL: [&str; 2] = ["model_not_found", "invalid_model"];
/// Gemini's reason for what others answer with 401.
const KEY: [&str; 1] = ["API_KEY_INVALID"];

/// Where servers say what is wrong, as a text.
const SAID: [&str; 5] = ["/error/message", "/message", "/error", "/detail", "/detail/0/msg"];

/// What a status other than 2xx counts as, for a call of any kind; and the member of our request that the server refuses, if
/// it names one that we sent. `body` is null where it is no JSON.
#[must_use]
pub fn refused(call: &Call, status: u16, body: &Value) -> (Reason, Option<String>) {
    let body = unwrapped(body);
    let sent = controls(call);
    // What a server blames on a control of ours is never the work of a filter, whatever else it says.
    let blamed = listed(&sent, body);
    let reason = match refusal(status, body) {
        Reason::RequestRefused | Reason::Forbidden if blamed.is_none() && is_filter(status, body) => Reason::Filtered,
        reason => reason,
    };
    let named = || blamed.clone().or_else(|| texts(body).find_map(|said| mentioned(&sent, said)));
    (reason, if reason == Reason::RequestRefused { named() } else { None })
}

/// Gemini's compatible address wraps its errors in a list of one.
fn unwrapped(body: &Value) -> &Value {
    match body.as_array().map(Vec::as_slice) {
        Some([inner]) if inner.is_object() => inner,
        _ => body,
    }
}

fn refusal(status: u16, body: &Value) -> Reason {
    let says = |codes: &[&str]| error_codes(body).any(|code| codes.contains(&code));
    match status {
        400 if says(&TOO_LONG) => Reason::PromptTooLong,
        400 if says(&NO_MODEL) => Reason::ModelUnknown,
        400 if says(&KEY) => Reason::KeyRefused,
        400 | 429 if says(&QUOTA) => Reason::QuotaUsedUp,
        401 => Reason::KeyRefused,
        402 => Reason::QuotaUsedUp,
        403 => Reason::Forbidden,
        404 | 410 => Reason::ModelUnknown,
        408 => Reason::ServerTimeout,
        409 | 425 => Reason::Conflict,
        413 => Reason::PromptTooLong,
        429 => Reason::RateLimited,
        400..500 => Reason::RequestRefused,
        500..600 => Reason::ServerError,
        _ => Reason::UnexpectedStatus,
    }
}

/// The codes and types that an error gives itself.
pub fn error_codes(body: &Value) -> impl Iterator<Item = &str> {
    let listed = body.pointer("/error/details").and_then(Value::as_array).into_iter().flatten();
    ["/error/code", "/error/type", "/error/innererror/code", "/error/details/error_code"]
        .into_iter()
        .filter_map(|pointer| body.pointer(pointer)?.as_str())
        .chain(listed.filter_map(|detail| detail["reason"].as_str()))
}

/// What an error says in words.
pub fn texts(body: &Value) -> impl Iterator<Item = &str> {
    SAID.into_iter().filter_map(|pointer| body.pointer(pointer)?.as_str())
}

/// The names of the controls that we sent, the longest first: `max_tokens` stands in no other name, but others may.
fn controls(call: &Call) -> Vec<String> {
    let sent = call.body.as_deref().and_then(|body| serde_json::from_slice::<Map<String, Value>>(body).ok());
    let names = sent.unwrap_or_default().into_iter().map(|(name, _)| name);
    let mut names: Vec<String> = names.filter(|name| !CONTENT.contains(&name.as_str())).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

/// The control of ours that an error names where it is made to name one.
fn listed(sent: &[String], body: &Value) -> Option<String> {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let places = ["/detail", "/message/detail"].into_iter().filter_map(|pointer| body.pointer(pointer)?.as_array());
    let places = places.flatten().filter_map(|place| place.pointer("/loc/1")?.as_str());
    [text("/error/param"), text("/param")].into_iter().flatten().chain(places).find_map(|named| head(sent, named))
}

/// The control of ours that a path begins with.
fn head(sent: &[String], path: &str) -> Option<String> {
    let head = path.split(['.', '[', ':']).next().unwrap_or_default().trim();
    sent.iter().find(|name| name.as_str() == head).cloned()
}

/// The control of ours that a text is about: the one that it begins with, else one that it quotes, else one that is a word of it.
fn mentioned(sent: &[String], said: &str) -> Option<String> {
    let quoted = |name: &&String| ['`', '\'', '"'].iter().any(|mark| is_word(said, name, Some(*mark)));
    let named = |name: &&String| !WORDS.contains(&name.as_str()) && is_word(said, name, None);
    head(sent, said).or_else(|| sent.iter().find(quoted).or_else(|| sent.iter().find(named)).cloned())
}

/// Whether a name stands in a text as a whole word, in whatever case; where a mark is given, behind it, with more of a path perhaps.
fn is_word(text: &str, name: &str, mark: Option<char>) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let text = text.to_ascii_lowercase();
    text.match_indices(&name.to_ascii_lowercase()).any(|(at, found)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + found.len()..].chars().next());
        let begins = mark.map_or_else(|| !before.is_some_and(part), |mark| before == Some(mark));
        begins && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn call(sent: &Value) -> Call {
        let body = Some(sent.to_string().into_bytes());
        let url = String::new();
        Call { method: "POST", url, headers: Vec::new(), body, timeout: Duration::ZERO, nonce: None }
    }

    fn sent() -> Value {
        json!({ "model": "m", "messages": [], "temperature": 1, "max_tokens": 9, "max_completion_tokens": 9, "seed": 7, "response_format": {}, "reasoning": {}, "text": {} })
    }

    fn read(status: u16, body: &Value) -> (Reason, Option<String>) {
        refused(&call(&sent()), status, body)
    }

    #[test]
    fn a_refused_control_is_named_in_whatever_way_a_server_says_it() {
        for (body, named) in [
            (json!({ "error": { "param": "temperature", "message": "no" } }), Some("temperature")),
            (json!({ "error": { "param": "model.x[0]", "message": "no" } }), Some("model")),
            (json!({ "error": { "param": "messages[0].content", "message": "no" } }), None),
            (json!({ "error": { "param": "sesame", "message": "no" } }), None),
            // Gemini's compatible address.
            (
                json!([{ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "Invalid JSON payload received. Unknown name \"seed\": Cannot find field." } }]),
                Some("seed"),
            ),
            // LM Studio and Ollama give the error as a text.
            (json!({ "error": "'response_format.type' must be 'json_schema' or 'text'" }), Some("response_format")),
            (
                json!({ "error": { "message": "invalid temperature: must be number", "param": null } }),
                Some("temperature"),
            ),
            // Mistral, and servers on FastAPI.
            (
                json!({ "object": "error", "message": { "detail": [{ "loc": ["body", "seed"], "msg": "Extra inputs are not permitted" }] } }),
                Some("seed"),
            ),
            (
                json!({ "detail": [{ "loc": ["body", "messages"] }, { "loc": ["body", "seed"], "msg": "extra" }] }),
                Some("seed"),
            ),
            (json!({ "detail": "max_tokens is too large" }), Some("max_tokens")),
            // vLLM.
            (
                json!({ "object": "error", "message": "must be in [0, 2], got 9", "param": "temperature", "code": 400 }),
                Some("temperature"),
            ),
            // DeepSeek.
            (
                json!({ "error": { "message": "This response_format type is unavailable now", "param": null, "code": "invalid_request_error" } }),
                Some("response_format"),
            ),
            // LiteLLM.
            (
                json!({ "error": { "message": "UnsupportedParamsError: mistral does not support parameters: ['seed'], for model=m.", "param": "None", "code": "400" } }),
                Some("seed"),
            ),
            // OpenRouter.
            (
                json!({ "error": { "code": 400, "message": "Reasoning is mandatory for this endpoint and cannot be disabled." } }),
                Some("reasoning"),
            ),
            (
                json!({ "error": { "message": "Use 'max_completion_tokens' in place of 'max_tokens'" } }),
                Some("max_completion_tokens"),
            ),
            (json!({ "error": { "message": "max_tokens_to_sample and seeds are not ours" } }), None),
            (json!({ "error": { "message": "this model's text is not for the user" } }), None),
            (json!({ "error": { "message": "the `model` is not served" } }), Some("model")),
            (json!({ "error": 7, "message": [], "detail": {} }), None),
            (json!([]), None),
            (Value::Null, None),
        ] {
            let expected = (Reason::RequestRefused, named.map(str::to_owned));
            assert_eq!((read(400, &body), read(422, &body)), (expected.clone(), expected), "{body}");
        }
    }

    #[test]
    fn codes_count_wherever_they_stand() {
        let invalid =
            json!({ "code": 400, "status": "INVALID_ARGUMENT", "details": [{ "reason": "API_KEY_INVALID" }] });
        for (status, body, reason) in [
            (400, json!([{ "error": invalid }]), Reason::KeyRefused),
            (429, json!([{ "error": { "code": "insufficient_quota" } }]), Reason::QuotaUsedUp),
            (429, json!([{ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED" } }]), Reason::RateLimited),
            (400, json!([{ "error": { "code": "model_not_found" } }, {}]), Reason::RequestRefused),
        ] {
            assert_eq!(read(status, &body).0, reason, "{body}");
        }
    }
}
