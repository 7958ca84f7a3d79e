//! What is sent.

use crate::http::{Call, HeaderText};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Number, Value, json};
use std::time::Duration;

/// A server, a model, and what every request to it says.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Up to and including `/v1`, without a trailing slash.
    pub base_url: String,
    /// The key; none is sent where absent.
    pub key: Option<SecretString>,
    /// The model's name.
    pub model: String,
    /// Sent where present, as it was written.
    pub temperature: Option<Number>,
    /// Sent as `max_tokens` where present.
    pub max_tokens: Option<u32>,
    /// Further members of the body. They never replace a member of ours.
    pub extra: Map<String, Value>,
    /// The time limit for the whole call.
    pub timeout: Duration,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The rules.
    System,
    /// The question.
    User,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: &'a str,
}

/// The form in which the answer is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// A strict JSON schema.
    JsonSchema {
        /// The schema's name: letters, digits, `_` and `-`, at most 64.
        name: &'a str,
        /// The schema: every object closed, every member required.
        schema: &'a Value,
    },
    /// A JSON object, described in the messages.
    JsonObject,
    /// Plain text.
    Plain,
}

impl Endpoint {
    /// The call that asks for one completion.
    #[must_use]
    pub fn call(&self, messages: &[Message<'_>], form: Form<'_>) -> Call {
        let mut headers = vec![
            ("content-type".to_owned(), HeaderText::Plain("application/json".to_owned())),
            ("accept".to_owned(), HeaderText::Plain("application/json".to_owned())),
        ];
        if let Some(key) = &self.key {
            let bearer = SecretString::from(format!("Bearer {}", key.expose_secret()));
            headers.push(("authorization".to_owned(), HeaderText::Secret(bearer)));
        }
        Call {
            method: "POST",
            url: format!("{}/chat/completions", self.base_url),
            headers,
            body: Some(Value::Object(self.body(messages, form)).to_string().into_bytes()),
            timeout: self.timeout,
        }
    }

    fn body(&self, messages: &[Message<'_>], form: Form<'_>) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("messages".to_owned(), messages.iter().map(Message::json).collect());
        if let Some(temperature) = &self.temperature {
            body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
        }
        if let Some(max_tokens) = self.max_tokens {
            body.insert("max_tokens".to_owned(), json!(max_tokens));
        }
        if let Some(format) = form.response_format() {
            body.insert("response_format".to_owned(), format);
        }
        for (name, value) in &self.extra {
            body.entry(name.clone()).or_insert_with(|| value.clone());
        }
        body
    }
}

impl Message<'_> {
    fn json(&self) -> Value {
        let role = match self.role {
            Role::System => "system",
            Role::User => "user",
        };
        json!({ "role": role, "content": self.content })
    }
}

impl Form<'_> {
    fn response_format(self) -> Option<Value> {
        match self {
            Self::JsonSchema { name, schema } => Some(
                json!({ "type": "json_schema", "json_schema": { "name": name, "strict": true, "schema": schema } }),
            ),
            Self::JsonObject => Some(json!({ "type": "json_object" })),
            Self::Plain => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint {
            base_url: "http://127.0.0.1:8000/v1".into(),
            key: Some("sesame".to_owned().into()),
            model: "m".into(),
            temperature: serde_json::from_str("1.0").ok(),
            max_tokens: Some(64),
            extra: serde_json::from_str(r#"{ "seed": 7, "model": "other" }"#).unwrap(),
            timeout: Duration::from_secs(1),
        }
    }

    fn body(form: Form<'_>) -> String {
        let messages =
            [Message { role: Role::System, content: "be brief" }, Message { role: Role::User, content: "why?" }];
        String::from_utf8(endpoint().call(&messages, form).body.unwrap()).unwrap()
    }

    #[test]
    fn the_body_is_as_the_wire_wants_it() {
        let schema = json!({ "type": "object" });
        insta::assert_snapshot!(
            body(Form::JsonSchema { name: "answer", schema: &schema }),
            @r#"{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"why?"}],"temperature":1.0,"max_tokens":64,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}},"seed":7}"#
        );
        assert!(body(Form::JsonObject).contains(r#""response_format":{"type":"json_object"}"#));
        assert!(!body(Form::Plain).contains("response_format"));
    }

    #[test]
    fn the_key_stands_in_a_secret_header_alone() {
        let call = endpoint().call(&[], Form::Plain);
        assert_eq!(call.url, "http://127.0.0.1:8000/v1/chat/completions");
        assert!(!format!("{call:?}").contains("sesame"));
        let keyless = Endpoint { key: None, ..endpoint() }.call(&[], Form::Plain);
        assert!(keyless.headers.iter().all(|(name, _)| name != "authorization"));
    }
}
