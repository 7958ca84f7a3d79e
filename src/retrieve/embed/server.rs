//! An OpenAI-compatible embeddings server.

use super::embedder::{Came, Fault, read};
use crate::http::chat::{CountsAs, Facts, Reason, Tokens, refused, said_name};
use crate::http::{self, Call, Context, HeaderText, Reply, Wish, spare};
use crate::model::{Failure, FailureClass};
use crate::spec::EmbedServer;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Whose server it is, in messages.
pub(super) const WHOSE: &str = "embedder";

/// Makes one call for so many texts.
pub(super) async fn make(server: &EmbedServer, call: &Call, wanted: usize, context: &Context) -> Came {
    let started = Instant::now();
    let came = context.send(call).await;
    let latency = started.elapsed();
    let reply = match came {
        Ok(reply) => reply,
        Err(error) => {
            let vectors = Err(fault(Reason::NoReply(error), None, Wish::NONE));
            return Came { facts: Facts::default(), body: None, latency, vectors };
        }
    };
    let vectors = if is_served(&reply) {
        let vectors = vectors(&reply.body, wanted).map_err(|reason| Fault::Invalid { reason, wish: Wish::NONE });
        vectors.and_then(|vectors| as_long_as_asked(server, vectors))
    } else {
        let body = http::json(&reply.body).unwrap_or_default();
        let (reason, parameter) = refused(call, reply.status, &body);
        Err(fault(reason, parameter.as_deref(), Wish::of(&reply, Timestamp::now())))
    };
    Came { facts: facts(server, &reply), body: Some(reply.body), latency, vectors }
}

fn is_served(reply: &Reply) -> bool {
    (200..=299).contains(&reply.status)
}

/// What a reply without vectors counts as. `parameter` is the member of our request that the server refuses, if it says so.
fn fault(reason: Reason, parameter: Option<&str>, wish: Wish) -> Fault {
    // A content filter answers for a language model, and leaves nothing that could pass for a vector.
    let reason = if reason.counts_as() == CountsAs::Accepted { Reason::RequestRefused } else { reason };
    if reason.counts_as() == CountsAs::Invalid {
        return Fault::Invalid { reason: reason.code(), wish };
    }
    let failure = reason.failure(WHOSE, parameter);
    let failure = match (reason, parameter) {
        (Reason::PromptTooLong, _) => failure.with_hint("take an embedder that reads longer questions and documents"),
        (Reason::RequestRefused, None) => failure.with_hint("check `model` and `dimensions` of `retrieve.embed`"),
        _ => failure,
    };
    Fault::Fatal { reason: reason.code(), failure }
}

/// A server that does not know `dimensions` passes them over.
fn as_long_as_asked(server: &EmbedServer, vectors: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, Fault> {
    let (Some(asked), Some(length)) = (server.dimensions, vectors.first().map(Vec::len)) else { return Ok(vectors) };
    if length == asked as usize {
        return Ok(vectors);
    }
    let message = format!("the {WHOSE} gave vectors of {length} numbers, where `dimensions` asks for {asked}");
    let failure = Failure::new(FailureClass::Usage, message)
        .with_hint("remove `dimensions` from `retrieve.embed`, or take a model that heeds it");
    Err(Fault::Fatal { reason: "dimensions-ignored", failure })
}

/// What the server says of the call. Some count tokens under `prompt_tokens`, some in all alone: an embedder writes none.
fn facts(server: &EmbedServer, reply: &Reply) -> Facts {
    let body = http::json(&reply.body).unwrap_or_default();
    let counted = |name: &str| body.pointer(name).and_then(Value::as_u64);
    let input = counted("/usage/prompt_tokens").or_else(|| counted("/usage/total_tokens"));
    Facts {
        status: Some(reply.status),
        served_model: said_name(&body["model"]).filter(|_| is_served(reply)),
        tokens: input.map(|input| Tokens { input, ..Tokens::default() }),
        nano_usd: server.price.and_then(|price| Some(price.of(input?, 0))),
        hold: spare::hold(reply, input.unwrap_or(0), Timestamp::now()),
        ..Facts::default()
    }
}

/// The call for these texts.
///
/// # Errors
/// The key is not set.
pub(super) fn call(server: &EmbedServer, texts: &[String], context: &Context) -> Result<Call, Failure> {
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
    Ok(Call { headers, ..bare(server, texts) })
}

/// The call without headers, and so without keys: what its digest is of.
pub(super) fn bare(server: &EmbedServer, texts: &[String]) -> Call {
    let mut body = json!({ "model": server.model, "input": texts, "encoding_format": "float" });
    if let Some(dimensions) = server.dimensions {
        body["dimensions"] = dimensions.into();
    }
    Call {
        method: "POST",
        url: format!("{}/embeddings", server.base_url),
        headers: Vec::new(),
        body: Some(body.to_string().into_bytes()),
        timeout: Duration::from_secs(u64::from(server.timeout_seconds)),
        nonce: None,
    }
}

/// The vectors in the order of the texts: a server may give them in another one, and then says which is which.
fn vectors(body: &[u8], wanted: usize) -> Result<Vec<Vec<f64>>, &'static str> {
    let reply = http::json(body).map_err(|_| "not-json")?;
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
        let marked = [b"\xef\xbb\xbf", body.to_string().as_bytes()].concat();
        assert_eq!(vectors(&marked, 2).unwrap(), read);
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
