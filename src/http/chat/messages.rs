//! The wire of Anthropic Messages. It has no form for a JSON object without a schema: there the messages alone ask for it.

use super::endpoint::Adapter;
use super::finish::ended;
use super::{Form, Message, Reason, Role, Tokens};
use crate::model::ModelServer;
use serde_json::{Map, Value, json};

/// Messages.
pub static ADAPTER: Adapter = Adapter { path: "messages", body, answer: message, tokens };

fn body(server: &ModelServer, messages: &[Message<'_>], form: Form<'_>) -> Map<String, Value> {
    let said = |role: Role| messages.iter().filter(move |message| message.role == role).map(|message| message.content);
    let system = said(Role::System).collect::<Vec<_>>().join("\n\n");
    let users = said(Role::User).map(|content| json!({ "role": Role::User.as_str(), "content": content }));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(server.model));
    if let Some(limit) = server.output_limit {
        body.insert(limit.name.as_str().to_owned(), json!(limit.tokens));
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), json!(system));
    }
    body.insert("messages".to_owned(), users.collect());
    if let Some(temperature) = &server.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    if let Form::JsonSchema { schema, .. } = form {
        body.insert("output_config".to_owned(), json!({ "format": { "type": "json_schema", "schema": schema } }));
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
    let reason = match ended(&body["stop_reason"], Reason::NotFinished) {
        Reason::Answered if of("tool_use").next().is_some() => Reason::NoText,
        Reason::Answered if text.is_none() => silent(blocks),
        Reason::Refused if text.is_none() => Reason::Filtered,
        ended => ended,
    };
    (reason, text)
}

/// What a message without a text counts as that is said to be whole.
fn silent(blocks: &[Value]) -> Reason {
    let thinks = |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
    if blocks.iter().any(thinks) { Reason::ReasoningOnly } else { Reason::EmptyContent }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |name: &str| usage[name].as_u64();
    let cached = count("cache_read_input_tokens").unwrap_or(0);
    let written = count("cache_creation_input_tokens").unwrap_or(0);
    let read = count("input_tokens")?.saturating_add(cached).saturating_add(written);
    Some(Tokens { input: read, output: count("output_tokens")?, cached })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::chat::{Reading, read::read};
    use crate::http::{Call, Reply};
    use crate::model::{LimitName, OutputLimit, Wire};
    use jiff::Timestamp;
    use std::time::Duration;

    fn reading(status: u16, body: &str) -> Reading {
        let sent = br#"{"model":"m","temperature":1,"output_config":{}}"#.to_vec();
        let (url, timeout) = (String::new(), Duration::ZERO);
        let call = Call { method: "POST", url, headers: Vec::new(), body: Some(sent), timeout, nonce: None };
        let reply = Reply { status, headers: Vec::new(), body: body.into(), latency: Duration::ZERO };
        read(&ADAPTER, &call, &Ok(reply), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn the_request_is_as_the_wire_wants_it() {
        let schema = json!({ "type": "object" });
        let server = ModelServer {
            output_limit: Some(OutputLimit { name: LimitName::MaxTokens, tokens: 1024 }),
            ..ModelServer::new(Wire::Messages, "m", "")
        };
        let messages =
            [Message { role: Role::System, content: "be brief" }, Message { role: Role::User, content: "why?" }];
        insta::assert_snapshot!(
            Value::Object(body(&server, &messages, Form::JsonSchema { name: "answer", schema: &schema })),
            @r#"{"model":"m","max_tokens":1024,"system":"be brief","messages":[{"role":"user","content":"why?"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}"#
        );
        assert!(!body(&server, &messages[1..], Form::JsonObject).contains_key("system"));
    }

    #[test]
    fn a_refused_control_is_named_by_the_text_of_the_error() {
        for (said, named) in [
            ("temperature: Extra inputs are not permitted", Some("temperature")),
            ("output_config.format: Extra inputs are not permitted", Some("output_config")),
            ("`temperature` is deprecated for this model.", Some("temperature")),
            ("messages.0.content: too long", None),
            ("sesame: no", None),
        ] {
            let body = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": said } });
            let reading = reading(400, &body.to_string());
            assert_eq!((reading.reason, reading.parameter.as_deref()), (Reason::RequestRefused, named), "{said}");
        }
    }

    #[test]
    fn what_the_server_sends_counts_as_it_does_elsewhere() {
        let text = r#"{"type":"message","content":[{"type":"thinking","thinking":"h"},{"type":"text","text":"92"}],"stop_reason":"end_turn"}"#;
        assert_eq!((reading(200, text).reason, reading(200, text).text.as_deref()), (Reason::Answered, Some("92")));
        for (status, body, reason) in [
            (200, r#"{"content":[{"type":"text","text":"no"}],"stop_reason":"refusal"}"#, Reason::Refused),
            (200, r#"{"content":[],"stop_reason":"refusal"}"#, Reason::Filtered),
            (200, r#"{"content":[{"type":"text","text":"ha"}],"stop_reason":"max_tokens"}"#, Reason::CutByLength),
            (200, r#"{"content":[{"type":"text","text":"ha"}],"stop_reason":null}"#, Reason::NotFinished),
            (200, r#"{"content":[{"type":"text","text":"ha"}]}"#, Reason::NotFinished),
            (200, r#"{"content":[{"type":"text","text":"ha"}],"stop_reason":"new_word"}"#, Reason::NotFinished),
            (200, r#"{"content":[{"type":"tool_use"}],"stop_reason":"tool_use"}"#, Reason::NoText),
            (200, r#"{"content":[{"type":"text","text":"ha"}],"stop_reason":"pause_turn"}"#, Reason::NoText),
            (
                200,
                r#"{"content":[{"type":"text","text":"ha"},{"type":"tool_use"}],"stop_reason":"end_turn"}"#,
                Reason::NoText,
            ),
            (200, r#"{"content":[{"type":"text","text":"92"}],"stop_reason":"stop_sequence"}"#, Reason::Answered),
            (200, r#"{"content":[{"type":"redacted_thinking"}],"stop_reason":"end_turn"}"#, Reason::ReasoningOnly),
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
        let most = u64::MAX;
        let body =
            format!(r#"{{"usage":{{"input_tokens":{most},"output_tokens":{most},"cache_read_input_tokens":{most}}}}}"#);
        assert_eq!(reading(200, &body).facts.tokens, Some(Tokens { input: most, output: most, cached: most }));
    }
}
