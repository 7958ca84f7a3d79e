//! One embedder, whatever it is: texts in, vectors of one length out.

use super::{program, server};
use crate::http::{Attempted, Context, RetryPolicy, until_accepted};
use crate::model::{Failure, FailureClass, StageName};
use crate::retrieve::limits::MAX_ATTEMPTS;
use crate::retrieve::stage::out_of_time;
use crate::spec::{EmbedBackend, EmbedSpec};
use serde_json::Value;

/// What an embedder made of some texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Embedded {
    /// One vector a text, all of one length.
    pub vectors: Vec<Vec<f64>>,
    /// The model that the server says it used.
    pub model: Option<String>,
}

/// Embeds these texts.
///
/// # Errors
/// It refuses or gives no valid vectors; the audit is cancelled or out of time.
pub(super) async fn embed(spec: &EmbedSpec, texts: &[String], context: &Context) -> Result<Embedded, Failure> {
    let mut last = "given-up";
    let attempt = async |_| {
        if let Err(failure) = out_of_time(context) {
            return Attempted::Fatal(failure);
        }
        let attempted = match &spec.backend {
            EmbedBackend::OpenAi(server) => server::attempt(server, texts, context).await,
            EmbedBackend::Command(command) => program::attempt(command, texts, context).await,
        };
        if let Attempted::Invalid { reason, .. } = &attempted {
            last = reason;
        }
        attempted
    };
    let accepted =
        until_accepted(RetryPolicy::for_servers(MAX_ATTEMPTS), context, StageName::Retrieve, attempt).await?;
    accepted.ok_or_else(|| {
        let message = format!("the embedder gave no valid vectors in {MAX_ATTEMPTS} attempts ({last})");
        Failure::new(FailureClass::Incomplete, message)
            .with_hint("run the same command again: what is embedded stays embedded")
    })
}

/// The vectors in these values, or a code for what is wrong with them.
pub(super) fn read(values: &[&Value], wanted: usize) -> Result<Vec<Vec<f64>>, &'static str> {
    if values.len() != wanted {
        return Err("vectors-missing");
    }
    let vector = |value: &&Value| value.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
    let vectors: Vec<Vec<f64>> = values.iter().map(vector).collect::<Option<_>>().ok_or("no-vector")?;
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err("vectors-of-several-lengths");
    }
    Ok(vectors)
}
