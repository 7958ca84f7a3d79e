//! The Anthropic Messages wire, in the terms of [`chat`](super::chat): the same request in, the same readings out.

use super::chat::{Endpoint, Form, Message, Reading, Reason, Role, Tokens, read_with};
use super::{Call, CallError, HeaderText, Reply};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The version of the interface. Later ones refuse `temperature`.
const VERSION: &str = "2023-06-01";
/// What is sent as `max_tokens`, which the interface demands, where the endpoint names none.
const MAX_TOKENS: u32 = 1024;

/// The call that asks for one message. The interface has no form for a JSON object without a schema: there the
/// messages alone ask for it.
#[must_use]
pub fn call(endpoint: &Endpoint, messages: &[Message<'_>], form: Form<'_>) -> Call {
    let plain = |name: &str, value: &str| (name.to_owned(), HeaderText::Plain(value.to_owned()));
    let mut headers = vec![
        plain("content-type", "application/json"),
        plain("accept", "application/json"),
        plain("anthropic-version", VERSION),
    ];
    headers.extend(endpoint.key.clone().map(|key| ("x-api-key".to_owned(), HeaderText::Secret(key))));
    Call {
        method: "POST",
        url: format!("{}/messages", endpoint.base_url),
        headers,
        body: Some(Value::Object(body(endpoint, messages, form)).to_string().into_bytes()),
        timeout: endpoint.timeout,
    }
}

/// Reads what came back for `call`.
#[must_use]
pub fn read(call: &Call, came_back: &Result<Reply, CallError>, now: Timestamp) -> Reading {
    read_with(call, came_back, now, message, tokens)
}

fn body(endpoint: &Endpoint, messages: &[Message<'_>], form: Form<'_>) -> Map<String, Value> {
    let said = |role: Role| messages.iter().filter(move |message| message.role == role).map(|message| message.content);
    let system = said(Role::System).collect::<Vec<_>>().join("\n\n");
    let users: Vec<Value> = said(Role::User).map(|content| json!({ "role": "user", "content": content })).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(endpoint.model));
    body.insert("max_tokens".to_owned(), json!(endpoint.max_tokens.unwrap_or(MAX_TOKENS)));
    if !system.is_empty() {
        body.insert("system".to_owned(), json!(system));
    }
    body.insert("messages".to_owned(), Value::Array(users));
    if let Some(temperature) = &endpoint.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    if let Form::JsonSchema { schema, .. } = form {
        body.insert("output_config".to_owned(), json!({ "format": { "type": "json_schema", "schema": schema } }));
    }
    for (name, value) in &endpoint.extra {
        body.entry(name.clone()).or_insert_with(|| value.clone());
    }
    body
}

/// What a message counts as that came with a successful status.
fn message(body: &Value) -> (Reason, Option<String>) {
    if body["type"] == "error" || !body["error"].is_null() {
        return (Reason::ErrorInBody, None);
    }
    let Some(blocks) = body["content"].as_array() else { return (Reason::NoChoices, None) };
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    let text: String = of("text").filter_map(|block| block["text"].as_str()).collect();
    let text = Some(text).filter(|text| !text.trim().is_empty());
    match (body["stop_reason"].as_str(), text) {
        (Some("refusal"), Some(text)) => (Reason::Refused, Some(text)),
        (Some("refusal"), None) => (Reason::Filtered, None),
        (Some("max_tokens" | "model_context_window_exceeded"), _) => (Reason::CutByLength, None),
        (Some("tool_use" | "pause_turn"), _) => (Reason::NoText, None),
        (_, Some(text)) => (Reason::Answered, Some(text)),
        _ if of("thinking").next().is_some() => (Reason::ReasoningOnly, None),
        _ => (Reason::EmptyContent, None),
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |name: &str| usage[name].as_u64();
    let cached = count("cache_read_input_tokens").unwrap_or(0);
    let written = count("cache_creation_input_tokens").unwrap_or(0);
    Some(Tokens { input: count("input_tokens")? + cached + written, output: count("output_tokens")?, cached })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn endpoint() -> Endpoint {
        Endpoint {
            base_url: "http://127.0.0.1:8000/v1".into(),
            key: Some("sesame".to_owned().into()),
            model: "m".into(),
            temperature: None,
            max_tokens: None,
            extra: Map::new(),
            timeout: Duration::from_secs(1),
        }
    }

    fn asked(form: Form<'_>) -> Call {
        let messages =
            [Message { role: Role::System, content: "be brief" }, Message { role: Role::User, content: "why?" }];
        call(&endpoint(), &messages, form)
    }

    fn reading(status: u16, body: &str) -> Reading {
        let reply = Reply { status, headers: Vec::new(), body: body.into(), latency: Duration::ZERO };
        read(&asked(Form::Plain), &Ok(reply), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn the_request_is_as_the_wire_wants_it() {
        let schema = json!({ "type": "object" });
        let call = asked(Form::JsonSchema { name: "answer", schema: &schema });
        assert_eq!(call.url, "http://127.0.0.1:8000/v1/messages");
        insta::assert_snapshot!(
            String::from_utf8(call.body.clone().unwrap()).unwrap(),
            @r#"{"model":"m","max_tokens":1024,"system":"be brief","messages":[{"role":"user","content":"why?"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}"#
        );
        assert!(call.headers.iter().any(|(name, value)| name == "x-api-key" && matches!(value, HeaderText::Secret(_))));
        assert!(!format!("{call:?}").contains("sesame"));
    }

    #[test]
    fn what_the_server_sends_counts_as_it_does_elsewhere() {
        let text = r#"{"type":"message","content":[{"type":"thinking","thinking":"h"},{"type":"text","text":"92"}],"stop_reason":"end_turn"}"#;
        assert_eq!((reading(200, text).reason, reading(200, text).text.as_deref()), (Reason::Answered, Some("92")));
        for (status, body, reason) in [
            (200, r#"{"content":[{"type":"text","text":"no"}],"stop_reason":"refusal"}"#, Reason::Refused),
            (200, r#"{"content":[],"stop_reason":"refusal"}"#, Reason::Filtered),
            (200, r#"{"content":[{"type":"text","text":"ha"}],"stop_reason":"max_tokens"}"#, Reason::CutByLength),
            (200, r#"{"content":[{"type":"tool_use"}],"stop_reason":"tool_use"}"#, Reason::NoText),
            (200, r#"{"content":[{"type":"thinking"}],"stop_reason":"end_turn"}"#, Reason::ReasoningOnly),
            (200, r#"{"content":[],"stop_reason":"end_turn"}"#, Reason::EmptyContent),
            (200, "{}", Reason::NoChoices),
            (200, r#"{"type":"error","error":{"type":"overloaded_error"}}"#, Reason::ErrorInBody),
            (200, "<html>", Reason::NotJson),
            (401, r#"{"type":"error","error":{"type":"authentication_error"}}"#, Reason::KeyRefused),
            (429, r#"{"error":{"type":"rate_limit_error"}}"#, Reason::RateLimited),
            (
                429,
                r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
                Reason::QuotaUsedUp,
            ),
            (404, r#"{"error":{"type":"not_found_error"}}"#, Reason::ModelUnknown),
            (529, r#"{"error":{"type":"overloaded_error"}}"#, Reason::ServerError),
        ] {
            assert_eq!(reading(status, body).reason, reason, "{status} {body}");
        }
    }

    #[test]
    fn tokens_count_what_was_read_from_the_cache_as_read() {
        let body = r#"{"id":"i","model":"m-1","content":[],"usage":{"input_tokens":5,"output_tokens":2,"cache_read_input_tokens":30,"cache_creation_input_tokens":7}}"#;
        let facts = reading(200, body).facts;
        assert_eq!(facts.tokens, Some(Tokens { input: 42, output: 2, cached: 30 }));
        assert_eq!((facts.served_model.as_deref(), facts.response_id.as_deref()), (Some("m-1"), Some("i")));
    }
}
