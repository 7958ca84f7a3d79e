//! One call to the embedder's server, in the form of the audit's own, whose vector nobody keeps.

use super::embedder::{Came, Fault};
use super::server::{self, WHOSE};
use super::vectors::REFERENCE;
use crate::freeze::Protocol;
use crate::http::Context;
use crate::http::chat::Probed;
use crate::model::{Failure, FailureClass};
use crate::spec::EmbedBackend;

/// Asks once, for the vector of the reference text. `None` where no server embeds the questions.
///
/// # Errors
/// Its key is not set.
pub async fn probe(protocol: &Protocol, context: &Context) -> Result<Option<Probed>, Failure> {
    let Some(EmbedBackend::OpenAi(server)) = protocol.spec.retrieve.embed.as_ref().map(|embed| &embed.backend) else {
        return Ok(None);
    };
    let call = server::call(server, &[REFERENCE.to_owned()], context)?;
    let Came { facts, latency, vectors, .. } = server::make(server, &call, 1, context).await;
    let (dimensions, failure) = match vectors {
        Ok(vectors) => (vectors.first().map(Vec::len), None),
        Err(fault) => (None, Some(failed(fault))),
    };
    let controls = server.dimensions.iter().map(|_| "dimensions".to_owned()).collect();
    Ok(Some(Probed { whose: WHOSE, controls, facts, dimensions, latency, failure }))
}

fn failed(fault: Fault) -> Failure {
    match fault {
        Fault::Fatal { failure, .. } => failure,
        Fault::Invalid { reason, .. } => {
            Failure::new(FailureClass::Incomplete, format!("the {WHOSE} gave `{reason}`, which is no vector"))
                .with_hint("an audit asks again; docs/outcomes.md says what the reason means")
        }
    }
}
