//! A server that can be called: where calls go, which headers they carry, and which adapter writes and reads bodies.

use super::estimate::estimate;
use super::read::{Reading, Tokens, read};
use super::refusal::CONTENT;
use super::{Form, Message, Reason, completions, messages, responses};
use crate::http::{Call, CallError, Context, HeaderText, Reply, Secrets, json};
use crate::model::{Amount, Failure, FailureClass, KeyHeader, ModelServer, Price, Structured, Wire};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::time::Duration;

/// What is particular to one wire.
#[derive(Debug)]
pub struct Adapter {
    /// What stands behind the base URL.
    pub path: &'static str,
    /// The request's body, without what the spec adds to it.
    pub body: fn(&ModelServer, &[Message<'_>], Form<'_>) -> Map<String, Value>,
    /// What a reply counts as that came with a successful status, and its text, be it no answer.
    pub answer: fn(&Value) -> (Reason, Option<String>),
    /// The tokens of a reply's `usage`.
    pub tokens: fn(&Value) -> Option<Tokens>,
}

/// A server, its key, and what every request to it says.
#[derive(Clone, Debug)]
pub struct Endpoint {
    server: ModelServer,
    key: Option<SecretString>,
}

impl Endpoint {
    /// The server of a spec. `whose` names it in messages.
    ///
    /// # Errors
    /// The variable that should hold the key is not set.
    pub fn new(server: &ModelServer, secrets: &Secrets, whose: &str) -> Result<Self, Failure> {
        let held = |name: &str| secrets.get(name).cloned().ok_or_else(|| no_key(name, whose));
        let key = server.key_env.as_deref().map(held).transpose()?;
        Ok(Self { server: server.clone(), key })
    }

    /// The same without a key, where nothing is sent: no key stands in a body.
    #[must_use]
    pub fn unkeyed(server: &ModelServer) -> Self {
        Self { server: server.clone(), key: None }
    }

    /// The server as the spec has it.
    #[must_use]
    pub const fn server(&self) -> &ModelServer {
        &self.server
    }

    /// Whether answers are asked for as plain text.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.server.structured == Structured::Plain
    }

    /// The call that asks for one answer of this schema.
    #[must_use]
    pub fn call(&self, messages: &[Message<'_>], name: &str, schema: &Value) -> Call {
        let adapter = self.adapter();
        let mut body = (adapter.body)(&self.server, messages, Form::of(self.server.structured, name, schema));
        join(&mut body, &self.server.extra);
        Call {
            method: "POST",
            url: self.url(adapter.path),
            headers: self.headers(),
            body: Some(Value::Object(body).to_string().into_bytes()),
            timeout: Duration::from_secs(u64::from(self.server.timeout_seconds)),
            nonce: None,
        }
    }

    /// The names of the controls that `call` carries: the members of its body beside the model and what is said.
    #[must_use]
    pub fn controls(&self, call: &Call) -> Vec<String> {
        let body = call.body.as_deref().and_then(|body| serde_json::from_slice::<Map<String, Value>>(body).ok());
        let controls = body.unwrap_or_default().into_iter().map(|(name, _)| name);
        controls.filter(|name| name != "model" && !CONTENT.contains(&name.as_str())).collect()
    }

    /// What `call` takes at most, as far as can be told.
    #[must_use]
    pub fn estimate(&self, call: &Call) -> Amount {
        estimate(&self.server, call.body.as_ref().map_or(0, |body| body.len() as u64))
    }

    /// Makes one call, once. A reply whose answer spells a key over several parts is none.
    ///
    /// # Errors
    /// There is no complete reply, or none that may be kept.
    pub async fn send(&self, call: &Call, context: &Context) -> Result<Reply, CallError> {
        let pieces = |reply: &Reply| {
            let body = json(&reply.body).ok().filter(|_| (200..300).contains(&reply.status));
            (self.adapter().answer)(&body?).1
        };
        context.send_for_answer(call, pieces).await
    }

    /// Reads what came back for `call`.
    #[must_use]
    pub fn read(&self, call: &Call, came_back: &Result<Reply, CallError>, now: Timestamp) -> Reading {
        let mut reading = read(self.adapter(), call, came_back, now);
        let cost = |price: Price| reading.facts.tokens.map(|tokens| price.of(tokens.input, tokens.output));
        reading.facts.nano_usd = self.server.price.and_then(cost);
        reading
    }

    const fn adapter(&self) -> &'static Adapter {
        match self.server.wire {
            Wire::Completions => &completions::ADAPTER,
            Wire::Responses => &responses::ADAPTER,
            Wire::Messages => &messages::ADAPTER,
        }
    }

    fn url(&self, path: &str) -> String {
        let base = &self.server.base_url;
        match (&self.server.api_version, self.server.wire) {
            (Some(version), Wire::Completions | Wire::Responses) => format!("{base}/{path}?api-version={version}"),
            _ => format!("{base}/{path}"),
        }
    }

    fn headers(&self) -> Vec<(String, HeaderText)> {
        let plain = |name: &str, value: &str| (name.to_owned(), HeaderText::Plain(value.to_owned()));
        let mut headers = vec![plain("content-type", "application/json"), plain("accept", "application/json")];
        if let (Some(version), Wire::Messages) = (&self.server.api_version, self.server.wire) {
            headers.push(plain("anthropic-version", version));
        }
        headers.extend(self.key.as_ref().map(|key| self.key_header(key)));
        headers
    }

    fn key_header(&self, key: &SecretString) -> (String, HeaderText) {
        let (name, value) = match self.server.key_header {
            KeyHeader::Bearer => ("authorization", SecretString::from(format!("Bearer {}", key.expose_secret()))),
            KeyHeader::ApiKey => ("api-key", key.clone()),
            KeyHeader::XApiKey => ("x-api-key", key.clone()),
        };
        (name.to_owned(), HeaderText::Secret(value))
    }
}

/// Adds what the spec wants to be sent besides. Where a member is there already, only what it lacks is added to it.
fn join(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (None, _) => {
                body.insert(name.clone(), value.clone());
            }
            (Some(Value::Object(ours)), Value::Object(theirs)) => join(ours, theirs),
            (Some(_), _) => {}
        }
    }
}

fn no_key(name: &str, whose: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{name}` is not set"))
        .with_hint(format!("it must hold the {whose}'s key; `key_env` in the spec names it"))
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::*;
    use crate::model::{LimitName, OutputLimit};
    use serde_json::json;

    fn server(wire: Wire) -> ModelServer {
        ModelServer {
            key_env: Some("KEY".into()),
            output_limit: Some(OutputLimit { name: LimitName::MaxTokens, tokens: 64 }),
            ..ModelServer::new(wire, "m", "http://127.0.0.1:8000/v1")
        }
    }

    fn asked(server: &ModelServer) -> Call {
        let messages =
            [Message { role: Role::System, content: "be brief" }, Message { role: Role::User, content: "why?" }];
        let mut secrets = Secrets::default();
        secrets.insert("KEY", "sesame".to_owned().into());
        Endpoint::new(server, &secrets, "generator").unwrap().call(&messages, "answer", &json!({ "type": "object" }))
    }

    fn body(server: &ModelServer) -> Value {
        serde_json::from_slice(&asked(server).body.unwrap()).unwrap()
    }

    #[test]
    fn each_wire_has_its_path_and_its_headers() {
        let azure = ModelServer {
            api_version: Some("2024-10-21".into()),
            key_header: KeyHeader::ApiKey,
            base_url: "http://h/openai/deployments/d".into(),
            ..server(Wire::Completions)
        };
        let claude = ModelServer { api_version: Some("2026-10-21".into()), ..server(Wire::Messages) };
        for (server, url, header) in [
            (server(Wire::Completions), "http://127.0.0.1:8000/v1/chat/completions", "authorization"),
            (server(Wire::Responses), "http://127.0.0.1:8000/v1/responses", "authorization"),
            (azure, "http://h/openai/deployments/d/chat/completions?api-version=2024-10-21", "api-key"),
            (claude.clone(), "http://127.0.0.1:8000/v1/messages", "authorization"),
            (
                ModelServer { key_header: KeyHeader::XApiKey, ..claude },
                "http://127.0.0.1:8000/v1/messages",
                "x-api-key",
            ),
        ] {
            let call = asked(&server);
            assert_eq!(call.url, url);
            let secret: Vec<&str> = call
                .headers
                .iter()
                .filter(|(_, value)| matches!(value, HeaderText::Secret(_)))
                .map(|(name, _)| name.as_str())
                .collect();
            assert_eq!(secret, [header], "{url}");
            assert_eq!(call.headers.iter().any(|(name, _)| name == "anthropic-version"), server.wire == Wire::Messages);
            assert!(!format!("{call:?}").contains("sesame"));
        }
    }

    #[test]
    fn no_key_is_sent_where_none_is_named_and_a_missing_one_is_an_error() {
        let keyless = ModelServer { key_env: None, ..server(Wire::Completions) };
        assert!(asked(&keyless).headers.iter().all(|(_, value)| matches!(value, HeaderText::Plain(_))));
        let failure = Endpoint::new(&server(Wire::Completions), &Secrets::default(), "judge").unwrap_err();
        assert!(failure.to_string().contains("`KEY`") && failure.to_string().contains("judge"), "{failure}");
    }

    #[test]
    fn what_the_spec_adds_stands_beside_what_is_ours_and_replaces_none_of_it() {
        let extra = json!({ "seed": 7, "model": "other", "output_config": { "effort": "low", "format": 1 } });
        let extra = extra.as_object().unwrap().clone();
        let body = body(&ModelServer { extra, ..server(Wire::Messages) });
        assert_eq!((&body["seed"], &body["model"]), (&json!(7), &json!("m")));
        assert_eq!(body["output_config"]["effort"], "low");
        assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    }
}
