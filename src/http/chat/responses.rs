//! The wire of OpenAI Responses.

use super::endpoint::Adapter;
use super::{Form, Message, Reason, Tokens};
use crate::model::ModelServer;
use serde_json::{Map, Value, json};

/// Responses.
pub static ADAPTER: Adapter = Adapter { path: "responses", body, answer, tokens };

fn body(server: &ModelServer, messages: &[Message<'_>], form: Form<'_>) -> Map<String, Value> {
    let message = |message: &Message<'_>| json!({ "role": message.role.as_str(), "content": message.content });
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(server.model));
    body.insert("input".to_owned(), messages.iter().map(message).collect());
    if let Some(temperature) = &server.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    if let Some(limit) = server.output_limit {
        body.insert(limit.name.as_str().to_owned(), json!(limit.tokens));
    }
    if let Some(format) = format(form) {
        body.insert("text".to_owned(), json!({ "format": format }));
    }
    body
}

fn format(form: Form<'_>) -> Option<Value> {
    match form {
        Form::JsonSchema { name, schema } => {
            Some(json!({ "type": "json_schema", "name": name, "strict": true, "schema": schema }))
        }
        Form::JsonObject => Some(json!({ "type": "json_object" })),
        Form::Plain => None,
    }
}

fn answer(body: &Value) -> (Reason, Option<String>) {
    if !body["error"].is_null() {
        return (Reason::ErrorInBody, None);
    }
    match (body["status"].as_str(), body.pointer("/incomplete_details/reason").and_then(Value::as_str)) {
        (Some("incomplete"), Some("content_filter")) => return (Reason::Filtered, None),
        (Some("incomplete"), _) => return (Reason::CutByLength, None),
        (Some("failed" | "cancelled" | "queued" | "in_progress"), _) => return (Reason::ErrorInBody, None),
        _ => {}
    }
    match body["output"].as_array() {
        Some(items) if !items.is_empty() => written(items),
        _ => (Reason::NoChoices, None),
    }
}

/// What the items of a complete response come to.
fn written(items: &[Value]) -> (Reason, Option<String>) {
    let is = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let parts = || is("message").flat_map(|message| message["content"].as_array().into_iter().flatten());
    let said = |kind: &str, member: &str| {
        let of_kind = parts().filter(|part| part["type"] == kind);
        let text: String = of_kind.filter_map(|part| part[member].as_str()).collect();
        Some(text).filter(|text| !text.trim().is_empty())
    };
    if let Some(refusal) = said("refusal", "refusal") {
        return (Reason::Refused, Some(refusal));
    }
    match said("output_text", "text") {
        Some(text) => (Reason::Answered, Some(text)),
        None if items.iter().any(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))) => {
            (Reason::NoText, None)
        }
        None if is("reasoning").next().is_some() => (Reason::ReasoningOnly, None),
        None => (Reason::EmptyContent, None),
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |pointer| usage.pointer(pointer).and_then(Value::as_u64);
    Some(Tokens {
        input: count("/input_tokens")?,
        output: count("/output_tokens")?,
        cached: count("/input_tokens_details/cached_tokens").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::chat::Role;
    use crate::model::{LimitName, OutputLimit, Wire};

    #[test]
    fn the_body_is_as_the_wire_wants_it() {
        let server = ModelServer {
            output_limit: Some(OutputLimit { name: LimitName::MaxOutputTokens, tokens: 64 }),
            ..ModelServer::new(Wire::Responses, "m", "")
        };
        let messages = [Message { role: Role::User, content: "why?" }];
        let schema = json!({ "type": "object" });
        insta::assert_snapshot!(
            Value::Object(body(&server, &messages, Form::JsonSchema { name: "answer", schema: &schema })),
            @r#"{"model":"m","input":[{"role":"user","content":"why?"}],"max_output_tokens":64,"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object"}}}}"#
        );
        assert!(!body(&server, &messages, Form::Plain).contains_key("text"));
    }

    #[test]
    fn what_the_server_sends_counts_as_it_does_elsewhere() {
        let text = r#"{"status":"completed","output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"9"},{"type":"output_text","text":"2"}]}]}"#;
        let read = |body: &str| answer(&serde_json::from_str(body).unwrap());
        assert_eq!(read(text), (Reason::Answered, Some("92".to_owned())));
        for (body, reason) in [
            (r#"{"output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}]}"#, Reason::Refused),
            (
                r#"{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}"#,
                Reason::Filtered,
            ),
            (
                r#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"ha"}]}]}"#,
                Reason::CutByLength,
            ),
            (r#"{"status":"failed","error":{"code":"server_error"}}"#, Reason::ErrorInBody),
            (r#"{"status":"queued","output":[]}"#, Reason::ErrorInBody),
            (r#"{"status":"completed","output":[]}"#, Reason::NoChoices),
            (r#"{"status":"completed"}"#, Reason::NoChoices),
            (r#"{"output":[{"type":"function_call","name":"f"}]}"#, Reason::NoText),
            (r#"{"output":[{"type":"reasoning","summary":[]}]}"#, Reason::ReasoningOnly),
            (r#"{"output":[{"type":"message","content":[{"type":"output_text","text":" "}]}]}"#, Reason::EmptyContent),
        ] {
            assert_eq!(read(body).0, reason, "{body}");
        }
    }

    #[test]
    fn tokens_are_those_of_the_usage() {
        let usage = json!({ "input_tokens": 9, "input_tokens_details": { "cached_tokens": 4 }, "output_tokens": 2 });
        assert_eq!(tokens(&usage), Some(Tokens { input: 9, output: 2, cached: 4 }));
        assert_eq!(tokens(&json!({ "input_tokens": 9 })), None);
    }
}
