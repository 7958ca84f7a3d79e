//! Stored documents with their vectors, to hold an embedder against.

use super::{Engine, refused, reply, request, too_soon, unanswered};
use crate::http::fill::{self, Expect, Filling};
use crate::http::{Attempted, Context, Reply, RetryPolicy, Wish, json, until_accepted};
use crate::model::{Failure, StageName};
use crate::retrieve::limits::{MAX_ATTEMPTS, STORED};
use crate::retrieve::remote::Judged;
use crate::spec::SampleSpec;
use serde_json::Value;
use std::collections::BTreeMap;

/// A stored document: the text that was embedded, and what came of it.
pub(in crate::retrieve) type Sample = (String, Vec<f64>);

/// A few stored documents of a snapshot, where the spec says how to ask for them; none where the engine shows none with a
/// vector, or does not answer well.
///
/// # Errors
/// The engine refuses, or the audit is cancelled.
pub(in crate::retrieve) async fn sample(
    engine: Engine<'_>,
    variables: &BTreeMap<String, String>,
    context: &Context,
) -> Result<Option<Vec<Sample>>, Failure> {
    let Some(spec) = &engine.spec.sample else { return Ok(None) };
    let filling =
        Filling { question: "", question_hash: "", nonce: None, top_k: engine.top_k, vector: None, variables };
    let call = request::call(engine.spec, &spec.request, &filling, &context.secrets)?;
    let attempt = async |_| match context.send(&call).await {
        Ok(reply) => judged(spec, &reply),
        Err(error) => attempted(unanswered(error, &call)),
    };
    let policy = RetryPolicy::for_one_call(MAX_ATTEMPTS);
    Ok(Some(until_accepted(policy, context, StageName::Retrieve, attempt).await?.unwrap_or_default()))
}

fn attempted(judged: Judged) -> Attempted<Vec<Sample>> {
    match judged {
        Judged::Accepted(_) => Attempted::Accepted(Vec::new()),
        Judged::Invalid { reason, wish, .. } => Attempted::Invalid { reason, wish },
        Judged::Fatal { failure, .. } => Attempted::Fatal(failure),
    }
}

fn judged(spec: &SampleSpec, reply: &Reply) -> Attempted<Vec<Sample>> {
    if !(200..=299).contains(&reply.status) {
        return attempted(too_soon(reply, || None).unwrap_or_else(|| refused(reply.status, None)));
    }
    let invalid = |reason| Attempted::Invalid { reason, wish: Wish::NONE };
    let Ok(value) = json(&reply.body) else { return invalid("not-json") };
    if !(Expect { ok: &spec.expect.ok, absent: &spec.expect.absent }).holds(&value) {
        return invalid("not-ok");
    }
    let items = reply::list(&spec.list, &value).unwrap_or_default();
    Attempted::Accepted(items.iter().filter_map(|item| one(spec, item)).take(STORED as usize).collect())
}

fn one(spec: &SampleSpec, item: &Value) -> Option<Sample> {
    let text = fill::one(item, &spec.text)?.as_str()?.to_owned();
    let vector = fill::one(item, &spec.vector)?;
    let numbers: Vec<f64> = vector.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    (!numbers.is_empty() && !text.is_empty()).then_some((text, numbers))
}
