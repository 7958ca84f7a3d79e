//! Content filters of many servers: by what they say that they refused a text, and no request.

use super::refusal::{error_codes, texts};
use serde_json::Value;

/// Codes and types of errors.
const CODES: [&str; 6] = [
    // Azure, and Xiaomi's MiMo.
    "content_filter",
    // OpenAI, LiteLLM and OpenRouter.
    "content_policy_violation",
    // OpenAI's safety system.
    "moderation_blocked",
    // Azure's inner error.
    "ResponsibleAIPolicyViolation",
    // Alibaba's Model Studio, and what stands before it.
    "data_inspection_failed",
    "DataInspectionFailed",
];

/// What errors begin with that have no code of their own.
const TEXTS: [&str; 6] = [
    // Anthropic, under `invalid_request_error`.
    "Output blocked by content filtering policy",
    // DeepSeek, under `invalid_request_error`.
    "Content Exists Risk",
    // OpenAI, under `invalid_prompt`, which is its code of malformed schemas as well.
    "Invalid prompt: your prompt was flagged",
    "Invalid prompt: we've limited access to this content",
    // Alibaba's, through proxies that drop the code.
    "<400> InternalError.Algo.DataInspectionFailed",
    // LiteLLM, for all of these.
    "litellm.ContentPolicyViolationError",
];

/// Whether an error is a content filter's. Where 403 tells of one, it names the input that it flagged; keys without rights have 403 as
/// well.
pub fn is_filter(status: u16, body: &Value) -> bool {
    let coded = error_codes(body).any(|code| CODES.contains(&code));
    let said = texts(body).any(|said| TEXTS.iter().any(|text| said.trim_start().starts_with(text)));
    let flagged = body.pointer("/error/metadata/flagged_input").is_some();
    match status {
        403 => coded || flagged,
        _ => coded || said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Call;
    use crate::http::chat::{Reason, refused};
    use serde_json::json;
    use std::time::Duration;

    fn read(status: u16, body: &Value) -> Reason {
        let body_sent = br#"{"model":"m","messages":[],"temperature":1,"response_format":{}}"#.to_vec();
        let url = String::new();
        let call = Call {
            method: "POST",
            url,
            headers: Vec::new(),
            body: Some(body_sent),
            timeout: Duration::ZERO,
            nonce: None,
        };
        refused(&call, status, body).0
    }

    fn error(message: &str, code: &str, param: &Value) -> Value {
        json!({ "error": { "message": message, "type": "invalid_request_error", "param": param, "code": code } })
    }

    #[test]
    fn a_filter_is_known_by_its_code_or_by_its_text() {
        let flagged =
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again";
        let none = Value::Null;
        for (status, body) in [
            (400, error("x", "content_filter", &json!("prompt"))),
            (400, error(flagged, "invalid_prompt", &none)),
            (400, error(flagged, "invalid_request_error", &none)),
            (
                400,
                error(
                    "Invalid prompt: we've limited access to this content for safety reasons.",
                    "invalid_prompt",
                    &none,
                ),
            ),
            (400, error("Content Exists Risk", "invalid_request_error", &none)),
            (400, json!({ "detail": "Content Exists Risk" })),
            (400, error("Your request was rejected by the safety system", "moderation_blocked", &none)),
            (
                400,
                json!({ "type": "error", "error": { "details": null, "type": "invalid_request_error", "message": "Output blocked by content filtering policy" } }),
            ),
            (
                400,
                json!({ "error": { "code": "data_inspection_failed", "param": null, "message": "Input data may contain inappropriate content.", "type": "data_inspection_failed" } }),
            ),
            (
                400,
                json!({ "error": { "message": "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content." } }),
            ),
            (
                400,
                json!({ "error": { "code": "421", "message": "Moderation Block", "param": "The request was rejected because it was considered high risk", "type": "content_filter" } }),
            ),
            (400, json!({ "error": { "message": "litellm.ContentPolicyViolationError: no", "code": "400" } })),
            (400, json!({ "error": { "code": 400, "innererror": { "code": "ResponsibleAIPolicyViolation" } } })),
            (
                403,
                json!({ "error": { "code": 403, "message": "Input was flagged", "metadata": { "reasons": ["violence"], "flagged_input": "..." } } }),
            ),
            (403, json!({ "error": { "code": "content_policy_violation" } })),
            (422, error("x", "content_filter", &none)),
        ] {
            assert_eq!(read(status, &body), Reason::Filtered, "{status} {body}");
        }
    }

    #[test]
    fn a_refused_request_never_passes_for_a_filtered_one() {
        let none = Value::Null;
        for (status, body, reason) in [
            // What blames one of our controls, whatever else it says.
            (400, error("Content Exists Risk", "content_filter", &json!("temperature")), Reason::RequestRefused),
            (400, json!({ "message": "Content Exists Risk", "param": "response_format" }), Reason::RequestRefused),
            (
                400,
                json!({ "detail": [{ "loc": ["body", "temperature"], "msg": "Content Exists Risk" }] }),
                Reason::RequestRefused,
            ),
            // What has such a code for another cause.
            (400, error("Invalid prompt: schema must have a type", "invalid_prompt", &none), Reason::RequestRefused),
            // What only repeats such words.
            (400, error("unknown value `Content Exists Risk`", "invalid_value", &none), Reason::RequestRefused),
            (400, error("no filter, and no risk", "invalid_request_error", &none), Reason::RequestRefused),
            (403, json!({ "error": { "code": 403, "message": "Content Exists Risk" } }), Reason::Forbidden),
            (403, json!({ "error": { "code": 403, "metadata": { "reasons": [] } } }), Reason::Forbidden),
            // What has a status of its own.
            (401, error("x", "content_filter", &none), Reason::KeyRefused),
            (404, error("x", "content_filter", &none), Reason::ModelUnknown),
            (429, error("x", "content_filter", &none), Reason::RateLimited),
            (500, error("Content Exists Risk", "content_filter", &none), Reason::ServerError),
        ] {
            assert_eq!(read(status, &body), reason, "{status} {body}");
        }
    }
}
