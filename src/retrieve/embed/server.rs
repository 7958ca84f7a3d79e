//! An OpenAI-compatible embeddings server.

use super::embedder::{Came, Fault, read};
use crate::http::chat::{Facts, Tokens};
use crate::http::{Call, Context, HeaderText, Reply};
use crate::model::{Failure, FailureClass};
use crate::retrieve::engine::{refused, too_soon, unanswered};
use crate::retrieve::remote::Judged;
use crate::spec::EmbedServer;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Makes one call for so many texts.
pub(super) async fn make(server: &EmbedServer, call: &Call, wanted: usize, context: &Context) -> Came {
    let started = Instant::now();
    let came = context.send(call).await;
    let latency = started.elapsed();
    let reply = match came {
        Ok(reply) => reply,
        Err(error) => {
            let vectors = Err(fault(unanswered(error)));
            return Came { facts: Facts::default(), body: None, latency, vectors };
        }
    };
    let is_served = (200..=299).contains(&reply.status);
    let facts = facts(server, &reply, is_served);
    let vectors = if is_served {
        vectors(&reply.body, wanted).map_err(|reason| Fault::Invalid { reason, retry_after: None })
    } else {
        Err(fault(too_soon(&reply, || None).unwrap_or_else(|| refused(reply.status, None))))
    };
    Came { facts, body: Some(reply.body), latency, vectors }
}

/// What a reply without vectors counts as.
fn fault(judged: Judged) -> Fault {
    match judged {
        Judged::Fatal { reason, failure } => {
            let message = failure.message.replace("the search engine", "the embeddings server");
            Fault::Fatal { reason, failure: Failure { message, ..failure }.with_hint("check `retrieve.embed`") }
        }
        Judged::Invalid { reason, retry_after, .. } => Fault::Invalid { reason, retry_after },
        Judged::Accepted(_) => Fault::Invalid { reason: "no-vector", retry_after: None },
    }
}

/// What the server says of the call. Some count tokens under `prompt_tokens`, some in all alone: an embedder writes none.
fn facts(server: &EmbedServer, reply: &Reply, is_served: bool) -> Facts {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let counted = |name: &str| body.pointer(name).and_then(Value::as_u64);
    let input = counted("/usage/prompt_tokens").or_else(|| counted("/usage/total_tokens"));
    let model = body.get("model").and_then(Value::as_str).map(|name| name.chars().take(200).collect());
    Facts {
        status: Some(reply.status),
        served_model: model.filter(|_| is_served),
        tokens: input.map(|input| Tokens { input, ..Tokens::default() }),
        nano_usd: server.price.and_then(|price| Some(price.of(input?, 0))),
        ..Facts::default()
    }
}

/// The call for these texts.
///
/// # Errors
/// The key is not set.
pub(super) fn call(server: &EmbedServer, texts: &[String], context: &Context) -> Result<Call, Failure> {
    let mut body = json!({ "model": server.model, "input": texts, "encoding_format": "float" });
    if let Some(dimensions) = server.dimensions {
        body["dimensions"] = dimensions.into();
    }
    let plain = |name: &str| (name.to_owned(), HeaderText::Plain("application/json".to_owned()));
    let mut headers = vec![plain("accept"), plain("content-type")];
    if let Some(variable) = &server.key_env {
        let key = context.secrets.get(variable).ok_or_else(|| {
            Failure::new(FailureClass::Usage, format!("the environment variable `{variable}` is not set"))
                .with_hint("it holds the key of `retrieve.embed`")
        })?;
        let value = SecretString::from(format!("Bearer {}", key.expose_secret()));
        headers.push(("authorization".to_owned(), HeaderText::Secret(value)));
    }
    Ok(Call {
        method: "POST",
        url: format!("{}/embeddings", server.base_url),
        headers,
        body: Some(body.to_string().into_bytes()),
        timeout: Duration::from_secs(u64::from(server.timeout_seconds)),
    })
}

/// The vectors in the order of the texts: a server may give them in another one, and then says which is which.
fn vectors(body: &[u8], wanted: usize) -> Result<Vec<Vec<f64>>, &'static str> {
    let reply: Value = serde_json::from_slice(body).map_err(|_| "not-json")?;
    let data = reply.get("data").and_then(Value::as_array).ok_or("no-vector")?;
    let mut placed: Vec<(u64, &Value)> = Vec::new();
    for (place, entry) in data.iter().enumerate() {
        let index = entry.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
        placed.push((index, entry.get("embedding").ok_or("no-vector")?));
    }
    placed.sort_by_key(|(index, _)| *index);
    if placed.iter().enumerate().any(|(place, (index, _))| *index != place as u64) {
        return Err("vectors-missing");
    }
    let values: Vec<&Value> = placed.into_iter().map(|(_, value)| value).collect();
    read(&values, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_put_in_the_order_of_the_texts() {
        let body = json!({"model": "m", "data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1]}]});
        let read = vectors(body.to_string().as_bytes(), 2).unwrap();
        assert_eq!(read, [[1.0], [2.0]]);
    }

    #[test]
    fn anything_but_one_vector_a_text_is_invalid() {
        let bad = [
            (json!({"data": [{"embedding": [1]}]}), "vectors-missing"),
            (json!({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}), "vectors-missing"),
            (json!({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}), "vectors-of-several-lengths"),
            (json!({"data": [{"embedding": []}, {"embedding": []}]}), "vectors-of-several-lengths"),
            (json!({"data": [{"embedding": ["x"]}, {"embedding": [1]}]}), "no-vector"),
            (json!({"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}), "no-vector"),
            (json!({"error": {}}), "no-vector"),
        ];
        for (body, reason) in bad {
            assert_eq!(vectors(body.to_string().as_bytes(), 2), Err(reason), "{body}");
        }
        assert_eq!(vectors(b"<html>", 1), Err("not-json"));
    }
}
