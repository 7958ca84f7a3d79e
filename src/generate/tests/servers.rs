//! A server that answers from the prompt, and misbehaves as it is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers};

/// What the server does with the n-th request for one prompt.
pub type Script = dyn Fn(usize, &str) -> Option<ResponseTemplate> + Send + Sync;

pub struct Scripted {
    script: Arc<Script>,
    seen: Mutex<HashMap<String, usize>>,
    pub good: Arc<Mutex<usize>>,
}

impl Respond for Scripted {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: serde_json::Value = request.body_json().unwrap();
        let prompt = body["messages"][1]["content"].as_str().unwrap().to_owned();
        let number = {
            let mut seen = self.seen.lock().unwrap();
            let number = seen.entry(prompt.clone()).or_default();
            *number += 1;
            *number - 1
        };
        (self.script)(number, &prompt).unwrap_or_else(|| {
            *self.good.lock().unwrap() += 1;
            completion(&answer(&prompt))
        })
    }
}

/// The first version that the prompt's evidence names.
pub fn answer(prompt: &str) -> String {
    let rest = prompt.split_once("since version ").unwrap().1;
    rest.chars().take_while(char::is_ascii_digit).collect()
}

pub fn completion(answer: &str) -> ResponseTemplate {
    let content = serde_json::json!({ "answer": answer }).to_string();
    let choice = serde_json::json!({ "message": { "role": "assistant", "content": content }, "finish_reason": "stop" });
    let usage = serde_json::json!({ "prompt_tokens": 9, "completion_tokens": 3 });
    ResponseTemplate::new(200)
        .set_body_json(serde_json::json!({ "id": "r", "model": "m-1", "choices": [choice], "usage": usage }))
}

pub fn raw(status: u16, body: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_raw(body.as_bytes().to_vec(), "application/json")
}

pub fn hang() -> ResponseTemplate {
    ResponseTemplate::new(200).set_delay(Duration::from_mins(10))
}

/// Starts a server; gives back the count of good answers it has given.
pub async fn start(
    script: impl Fn(usize, &str) -> Option<ResponseTemplate> + Send + Sync + 'static,
) -> (MockServer, Arc<Mutex<usize>>) {
    let server = MockServer::start().await;
    let good = Arc::new(Mutex::new(0));
    let scripted = Scripted { script: Arc::new(script), seen: Mutex::default(), good: Arc::clone(&good) };
    Mock::given(matchers::method("POST"))
        .and(matchers::path("/v1/chat/completions"))
        .and(matchers::header("authorization", format!("Bearer {}", super::fixture::KEY).as_str()))
        .respond_with(scripted)
        .mount(&server)
        .await;
    (server, good)
}

/// The `generate` section that calls this server. Its calls are never out of time, however slow the machine is.
pub fn section(server: &MockServer, more: &str) -> String {
    section_in_time(server, 300, more)
}

/// The same with calls that are out of time after so many seconds.
pub fn section_in_time(server: &MockServer, seconds: u32, more: &str) -> String {
    format!(
        "{{ openai: {{ model: m, base_url: \"{}/v1\", key_env: THE_KEY, timeout_seconds: {seconds} }}{more} }}",
        server.uri()
    )
}
