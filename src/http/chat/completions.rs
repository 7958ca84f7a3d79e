//! The wire of OpenAI-compatible chat completions.

use super::endpoint::Adapter;
use super::finish::ended;
use super::{Form, Message, Reason, Tokens};
use crate::model::ModelServer;
use serde_json::{Map, Value, json};

/// Chat completions.
pub static ADAPTER: Adapter = Adapter { path: "chat/completions", body, answer, tokens };

fn body(server: &ModelServer, messages: &[Message<'_>], form: Form<'_>) -> Map<String, Value> {
    let message = |message: &Message<'_>| json!({ "role": message.role.as_str(), "content": message.content });
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(server.model));
    body.insert("messages".to_owned(), messages.iter().map(message).collect());
    if let Some(temperature) = &server.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    if let Some(limit) = server.output_limit {
        body.insert(limit.name.as_str().to_owned(), json!(limit.tokens));
    }
    if let Some(format) = response_format(form) {
        body.insert("response_format".to_owned(), format);
    }
    body
}

fn response_format(form: Form<'_>) -> Option<Value> {
    match form {
        Form::JsonSchema { name, schema } => {
            Some(json!({ "type": "json_schema", "json_schema": { "name": name, "strict": true, "schema": schema } }))
        }
        Form::JsonObject => Some(json!({ "type": "json_object" })),
        Form::Plain => None,
    }
}

fn answer(body: &Value) -> (Reason, Option<String>) {
    if !body["error"].is_null() {
        return (Reason::ErrorInBody, None);
    }
    match body["choices"].get(0) {
        Some(choice) => first_choice(choice),
        None => (Reason::NoChoices, None),
    }
}

fn first_choice(choice: &Value) -> (Reason, Option<String>) {
    let message = &choice["message"];
    let (content, refusal) = (text(&message["content"]), text(&message["refusal"]));
    // Some servers never say how a text ended.
    let reason = match ended(&choice["finish_reason"], Reason::Answered) {
        _ if !choice["error"].is_null() => Reason::ErrorInBody,
        Reason::Answered | Reason::Refused | Reason::Filtered | Reason::NoText if refusal.is_some() => Reason::Refused,
        Reason::Answered if calls_a_tool(message) => Reason::NoText,
        Reason::Answered if content.is_none() => silent(message),
        Reason::Refused if content.is_none() => Reason::Filtered,
        ended => ended,
    };
    (reason, refusal.or(content))
}

fn calls_a_tool(message: &Value) -> bool {
    message["tool_calls"].get(0).is_some() || message["function_call"].is_object()
}

/// What a message without a text counts as that is said to be whole.
fn silent(message: &Value) -> Reason {
    let said = text(&message["reasoning_content"]).or_else(|| text(&message["reasoning"])).is_some();
    let thinks = |part: &Value| part["type"] == "thinking" || part["type"] == "reasoning";
    let thought = || message["content"].as_array().is_some_and(|parts| parts.iter().any(thinks));
    if said || thought() { Reason::ReasoningOnly } else { Reason::EmptyContent }
}

/// A text that is more than white space: a string, or the text parts of an array. Reasoning may be a part of its own.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter(|part| is_text(part)).filter_map(|part| part["text"].as_str()).collect()
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn is_text(part: &Value) -> bool {
    part["type"].as_str().is_none_or(|kind| matches!(kind, "text" | "output_text"))
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |pointer| usage.pointer(pointer).and_then(Value::as_u64);
    Some(Tokens {
        input: count("/prompt_tokens")?,
        output: count("/completion_tokens")?,
        cached: count("/prompt_tokens_details/cached_tokens").unwrap_or(0),
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
            temperature: serde_json::from_str("1.0").ok(),
            output_limit: Some(OutputLimit { name: LimitName::MaxTokens, tokens: 64 }),
            ..ModelServer::new(Wire::Completions, "m", "")
        };
        let messages =
            [Message { role: Role::System, content: "be brief" }, Message { role: Role::User, content: "why?" }];
        let body = |form| Value::Object(body(&server, &messages, form)).to_string();
        let schema = json!({ "type": "object" });
        insta::assert_snapshot!(
            body(Form::JsonSchema { name: "answer", schema: &schema }),
            @r#"{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"why?"}],"temperature":1.0,"max_tokens":64,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}}"#
        );
        assert!(body(Form::JsonObject).contains(r#""response_format":{"type":"json_object"}"#));
        assert!(!body(Form::Plain).contains("response_format"));
    }

    fn read(choice: &Value) -> (Reason, Option<String>) {
        answer(&json!({ "choices": [choice] }))
    }

    #[test]
    fn a_text_that_broke_off_is_no_answer() {
        for (finish, reason) in [
            (json!("stop"), Reason::Answered),
            (json!("eos"), Reason::Answered),
            (json!(null), Reason::Answered),
            (json!("length"), Reason::CutByLength),
            (json!("model_length"), Reason::CutByLength),
            (json!("insufficient_system_resource"), Reason::NotFinished),
            (json!("abort"), Reason::NotFinished),
            (json!("tool_calls"), Reason::NoText),
            (json!("content_filter: RECITATION"), Reason::Filtered),
            (json!("error"), Reason::ErrorInBody),
        ] {
            let said = |message: Value| read(&json!({ "finish_reason": finish, "message": message })).0;
            assert_eq!(said(json!({ "content": "The cap" })), reason, "{finish}");
            let silent = if reason == Reason::Answered { Reason::EmptyContent } else { reason };
            assert_eq!(said(json!({ "role": "assistant" })), silent, "{finish}");
            let refused = match reason {
                Reason::CutByLength | Reason::NotFinished | Reason::ErrorInBody => reason,
                _ => Reason::Refused,
            };
            assert_eq!(said(json!({ "content": null, "refusal": "I" })), refused, "{finish}");
        }
        assert_eq!(read(&json!({ "message": { "content": "The capital" } })).0, Reason::Answered, "nothing is said");
    }

    #[test]
    fn reasoning_that_is_a_part_of_its_own_is_no_part_of_the_answer() {
        for kind in ["thinking", "reasoning"] {
            let thought = json!({ "type": kind, "text": "hm", "thinking": [{ "type": "text", "text": "hm" }] });
            let content = json!([thought, { "type": "text", "text": "9" }, { "text": "2" }]);
            let answered = (Reason::Answered, Some("92".to_owned()));
            assert_eq!(read(&json!({ "message": { "content": content } })), answered, "{kind}");
            assert_eq!(read(&json!({ "message": { "content": [thought] } })), (Reason::ReasoningOnly, None), "{kind}");
        }
    }

    #[test]
    fn what_leads_to_a_call_of_a_tool_is_no_answer() {
        for call in [json!({ "tool_calls": [{}] }), json!({ "function_call": {} })] {
            let mut message = call.clone();
            message["content"] = json!("Let me look");
            assert_eq!(read(&json!({ "finish_reason": "stop", "message": message })).0, Reason::NoText, "{call}");
        }
        let message = json!({ "content": "92", "tool_calls": [], "function_call": null });
        assert_eq!(read(&json!({ "message": message })).0, Reason::Answered);
    }
}
