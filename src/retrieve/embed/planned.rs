//! What embedding takes at most, as far as it can be told beforehand.

use super::vectors::{BATCH, REFERENCE, text};
use crate::freeze::Protocol;
use crate::model::Amount;
use crate::retrieve::limits::STORED;
use crate::spec::{EmbedBackend, EmbedSpec, RetrieveBackend};

/// Bytes of text a token at least, as for language models.
const BYTES: u64 = 3;

/// The calls to an embedder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedding {
    /// Calls, without retries.
    pub calls: u64,
    /// Texts in all of them.
    pub texts: u64,
    /// What they take.
    pub amount: Amount,
}

impl Embedding {
    fn add(&mut self, spec: &EmbedSpec, texts: impl Iterator<Item = u64> + Clone) {
        self.calls += 1;
        self.texts += texts.clone().count() as u64;
        self.amount = self.amount.plus(most(spec, texts));
    }
}

/// The calls of a whole audit: the reference text twice, every question once, and a few stored documents of each snapshot that
/// may show some. Nothing where questions are not embedded.
#[must_use]
pub fn embedding(protocol: &Protocol) -> Embedding {
    let mut planned = Embedding::default();
    let Some(spec) = &protocol.spec.retrieve.embed else { return planned };
    for _ in 0..2 {
        planned.add(spec, std::iter::once(REFERENCE.len() as u64));
    }
    for batch in protocol.questions.chunks(BATCH) {
        planned.add(spec, batch.iter().map(|question| text(spec, question).len() as u64));
    }
    if shows_stored(protocol) {
        for _ in &protocol.spec.snapshots {
            planned.add(spec, (0..STORED).map(|_| u64::from(protocol.spec.retrieve.max_chars)));
        }
    }
    planned
}

/// Whether stored vectors are asked for.
pub(super) fn shows_stored(protocol: &Protocol) -> bool {
    let shown = match &protocol.spec.retrieve.backend {
        RetrieveBackend::Http(http) => http.sample.is_some(),
        RetrieveBackend::Sql(sql) => sql.sample.is_some(),
        RetrieveBackend::Command(_) | RetrieveBackend::Bm25(_) | RetrieveBackend::File | RetrieveBackend::Within => {
            false
        }
    };
    shown && protocol.spec.retrieve.embed.as_ref().is_some_and(|embed| embed.check)
}

/// What a call with texts of so many bytes takes at most. What a program takes is not known.
pub(super) fn most(spec: &EmbedSpec, bytes: impl Iterator<Item = u64>) -> Amount {
    let EmbedBackend::OpenAi(server) = &spec.backend else { return Amount::default() };
    // Each text begins and ends with a token of its own.
    let tokens = bytes.map(|bytes| bytes.div_ceil(BYTES).saturating_add(2)).fold(0, u64::saturating_add);
    Amount { tokens, nano_usd: server.price.map_or(0, |price| price.of(tokens, 0)) }
}
