//! What a call will take, before it is made: for budgets, rate limits and plans. What it did take is counted instead, once the
//! server has said so.

use crate::model::{Amount, ModelServer};

/// Bytes of text a token at least: English has about four, most other languages more than this.
const BYTES: u64 = 3;
/// Tokens that an answer is taken to have where the spec gives it no limit.
const WRITTEN: u64 = 256;

/// What a call with so many bytes of prompt takes at most, as far as can be told.
#[must_use]
pub fn estimate(server: &ModelServer, bytes: u64) -> Amount {
    let read = bytes.div_ceil(BYTES);
    let written = server.output_limit.map_or(WRITTEN, |limit| u64::from(limit.tokens));
    let nano_usd = server.price.map_or(0, |price| price.of(read, written));
    Amount { tokens: read.saturating_add(written), nano_usd }
}
