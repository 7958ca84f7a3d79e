//! The wire of OpenAI Responses.

use super::endpoint::Adapter;
use super::finish::ended;
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
    let items = body["output"].as_array().map_or(&[][..], Vec::as_slice);
    let (reason, text) = written(items);
    match body["status"].as_str() {
        Some("failed" | "cancelled" | "queued" | "in_progress") => (Reason::ErrorInBody, text),
        Some("completed") if items.is_empty() => (Reason::NoChoices, text),
        Some("completed") => (reason, text),
        Some("incomplete") => (incomplete(&body["incomplete_details"]["reason"]), text),
        _ => (Reason::NotFinished, text),
    }
}

fn incomplete(why: &Value) -> Reason {
    match ended(why, Reason::NotFinished) {
        Reason::Answered | Reason::Refused => Reason::NotFinished,
        reason => reason,
    }
}

/// What the items of a complete response come to.
fn written(items: &[Value]) -> (Reason, Option<String>) {
    let messages = spoken(items);
    let said = |kind: &str, member: &str| {
        let parts = messages.iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
        let text: String = parts.filter(|part| part["type"] == kind).filter_map(|part| part[member].as_str()).collect();
        Some(text).filter(|text| !text.trim().is_empty())
    };
    let (text, refusal) = (said("output_text", "text"), said("refusal", "refusal"));
    let reason = match (&text, &refusal) {
        _ if messages.iter().any(|message| ended(&message["status"], Reason::Answered) != Reason::Answered) => {
            Reason::NotFinished
        }
        (_, Some(_)) => Reason::Refused,
        _ if items.iter().any(is_for_us) => Reason::NoText,
        (Some(_), _) => Reason::Answered,
        (None, _) => silent(items),
    };
    (reason, refusal.or(text))
}

/// The messages that are the answer: those that are said to be final, where any is, and no remarks on the way there.
fn spoken(items: &[Value]) -> Vec<&Value> {
    let messages = || items.iter().filter(|item| item["type"] == "message");
    let finals: Vec<&Value> = messages().filter(|message| message["phase"] == "final_answer").collect();
    if finals.is_empty() { messages().filter(|message| message["phase"] != "commentary").collect() } else { finals }
}

/// Whether an item calls a tool that is ours to run: of the server's own nothing is left to do.
fn is_for_us(item: &Value) -> bool {
    item["type"] == "function_call" || item["type"] == "custom_tool_call"
}

/// What a complete response without a text counts as.
fn silent(items: &[Value]) -> Reason {
    let of = |end: &str| items.iter().any(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with(end)));
    match () {
        () if of("_call") => Reason::NoText,
        () if of("reasoning") => Reason::ReasoningOnly,
        () => Reason::EmptyContent,
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
            (
                r#"{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}]}"#,
                Reason::Refused,
            ),
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
            (r#"{"status":"completed","output":[{"type":"function_call","name":"f"}]}"#, Reason::NoText),
            (r#"{"status":"completed","output":[{"type":"reasoning","summary":[]}]}"#, Reason::ReasoningOnly),
            (
                r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":" "}]}]}"#,
                Reason::EmptyContent,
            ),
        ] {
            assert_eq!(read(body).0, reason, "{body}");
        }
    }

    /// A message of one text.
    fn says(text: &str, more: &Value) -> Value {
        let mut message = json!({ "type": "message", "content": [{ "type": "output_text", "text": text }] });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    }

    fn output(items: &[Value]) -> Value {
        json!({ "status": "completed", "error": null, "incomplete_details": null, "output": items })
    }

    #[test]
    fn what_is_not_said_to_be_complete_is_no_answer() {
        for (status, reason) in [
            (json!("completed"), Reason::Answered),
            (json!(null), Reason::Answered),
            (json!("incomplete"), Reason::NotFinished),
            (json!("in_progress"), Reason::NotFinished),
        ] {
            assert_eq!(answer(&output(&[says("ha", &json!({ "status": status }))])).0, reason, "{status}");
            let refusal = json!({ "status": status, "content": [{ "type": "refusal", "refusal": "I" }] });
            let refused = if reason == Reason::Answered { Reason::Refused } else { reason };
            assert_eq!(answer(&output(&[says("", &refusal)])).0, refused, "{status}");
        }
        let mut body = output(&[says("ha", &json!({}))]);
        for (status, why, reason) in [
            (json!("incomplete"), json!("max_output_tokens"), Reason::CutByLength),
            (json!("incomplete"), json!("content_filter"), Reason::Filtered),
            (json!("incomplete"), json!("stop"), Reason::NotFinished),
            (json!("incomplete"), json!(null), Reason::NotFinished),
            (json!("in_progress"), json!(null), Reason::ErrorInBody),
            (json!("expired"), json!(null), Reason::NotFinished),
            (json!(null), json!(null), Reason::NotFinished),
        ] {
            (body["status"], body["incomplete_details"]) = (status, json!({ "reason": why }));
            assert_eq!(answer(&body).0, reason, "{body}");
        }
    }

    #[test]
    fn what_leads_to_a_call_of_our_tools_is_no_answer_and_what_follows_the_servers_own_is() {
        let text = || says("92", &json!({}));
        for kind in ["function_call", "custom_tool_call"] {
            assert_eq!(answer(&output(&[text(), json!({ "type": kind })])).0, Reason::NoText, "{kind}");
        }
        assert_eq!(answer(&output(&[json!({ "type": "web_search_call" }), text()])).0, Reason::Answered);
    }

    #[test]
    fn remarks_on_the_way_are_no_part_of_the_answer() {
        let of = |phase: &str, text: &str| says(text, &json!({ "phase": phase }));
        let (remark, plain) = (|| of("commentary", "Let me check."), || says("9", &json!({})));
        let (nine, two) = (|| of("final_answer", "9"), || of("final_answer", "2"));
        for (items, text) in [
            (vec![remark(), nine(), two()], Some("92")),
            (vec![nine(), remark()], Some("9")),
            (vec![plain(), remark(), two()], Some("2")),
            (vec![remark(), plain()], Some("9")),
            (vec![plain(), of("a new word", "2")], Some("92")),
            (vec![remark()], None),
        ] {
            let reason = if text.is_some() { Reason::Answered } else { Reason::EmptyContent };
            assert_eq!(answer(&output(&items)), (reason, text.map(str::to_owned)), "{items:?}");
        }
        let half = says("Let", &json!({ "phase": "commentary", "status": "incomplete" }));
        assert_eq!(answer(&output(&[half, nine()])).0, Reason::Answered);
    }

    #[test]
    fn tokens_are_those_of_the_usage() {
        let usage = json!({ "input_tokens": 9, "input_tokens_details": { "cached_tokens": 4 }, "output_tokens": 2 });
        assert_eq!(tokens(&usage), Some(Tokens { input: 9, output: 2, cached: 4 }));
        assert_eq!(tokens(&json!({ "input_tokens": 9 })), None);
    }
}
