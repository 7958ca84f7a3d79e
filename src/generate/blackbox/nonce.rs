//! An id for one call: another one in every call of every run, and the same for whoever has the ledger.

use super::Turn;
use crate::model::Digest;

/// What the id is drawn under.
const DOMAIN: &[u8] = b"churngate/nonce/1";

/// The id in the form of a UUID, which servers take wherever they take ids at all. The time of the attempt is in it, so that a
/// run that is begun anew never goes on with a conversation of the one before.
pub fn nonce(turn: &Turn<'_>) -> String {
    let Turn { protocol, cell, number, at_ms, .. } = turn;
    let (repeat, number, at_ms) = (cell.repeat.to_le_bytes(), number.to_le_bytes(), at_ms.to_le_bytes());
    let parts: [&[u8]; 7] =
        [DOMAIN, protocol.as_bytes(), cell.question.0.as_bytes(), cell.snapshot.0.as_bytes(), &repeat, &number, &at_ms];
    let drawn = Digest::of_parts(parts).to_string();
    let part = |from: usize, to: usize| drawn.get(from..to).unwrap_or_default().to_owned();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}
