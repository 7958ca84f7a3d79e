//! A search engine over HTTP: request templates out, pointers into replies back in.

mod identity;
mod probe;
mod reply;
mod request;
mod sample;
mod status;
mod unready;

pub(super) use identity::Identity;
pub(super) use probe::identify;
#[cfg(test)]
pub(super) use probe::judged;
pub(super) use reply::{Pointers, documents_of, ranked};
pub(super) use sample::{Sample, sample};
pub(super) use status::{refused, too_soon, unanswered};

use super::remote::{Judged, Made};
use crate::http::fill::{Filling, words};
use crate::http::{Call, Context, Reply, Secrets, Wish};
use crate::model::{Digest, Failure, Question};
use crate::spec::HttpRetrieveSpec;
use std::collections::BTreeMap;
use std::time::Duration;

/// Characters of a question's digest that stand for it in requests.
const HASH: usize = 16;

/// One engine, as the spec describes it.
#[derive(Clone, Copy)]
pub(super) struct Engine<'a> {
    pub spec: &'a HttpRetrieveSpec,
    pub top_k: u32,
    pub max_chars: u32,
}

impl Engine<'_> {
    /// The call for one question, as a vector where the request takes one, to one snapshot.
    ///
    /// # Errors
    /// The template names what there is not, or a key is not set.
    pub(super) fn call(
        &self,
        question: &Question,
        vector: Option<&[f64]>,
        variables: &BTreeMap<String, String>,
        secrets: &Secrets,
    ) -> Result<Call, Failure> {
        let hash = Digest::of(question.id.0.as_bytes()).to_string();
        let filling = Filling {
            question: &question.text,
            question_hash: hash.get(..HASH).unwrap_or(&hash),
            nonce: None,
            top_k: self.top_k,
            vector,
            variables,
        };
        request::call(self.spec, &self.spec.request, &filling, secrets)
    }

    /// Makes the call once and says what it came to.
    pub(super) async fn make(&self, call: &Call, context: &Context) -> Made {
        match context.send_for_answer(call, |reply| reply::unpacked(&self.spec.list, &reply.body)).await {
            Ok(reply) => {
                let judged = self.judge(&reply);
                Made { status: Some(reply.status), body: Some(reply.body), latency: reply.latency, judged }
            }
            Err(error) => Made { status: None, body: None, latency: Duration::ZERO, judged: unanswered(error, call) },
        }
    }

    /// What a reply comes to.
    pub(super) fn judge(&self, reply: &Reply) -> Judged {
        let said = || self.spec.error.as_deref().and_then(|pointer| words(&reply.body, pointer));
        match reply.status {
            206 => Judged::Invalid { reason: "partial-reply", wish: Wish::NONE, said: said() },
            200..=299 => match reply::evidence(self.spec, &reply.body, self.top_k, self.max_chars) {
                Ok(evidence) => Judged::Accepted(evidence),
                Err(reason) => Judged::Invalid { reason, wish: Wish::NONE, said: said() },
            },
            _ => too_soon(reply, said).unwrap_or_else(|| refused(reply.status, said())),
        }
    }
}
