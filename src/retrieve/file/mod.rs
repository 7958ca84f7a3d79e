//! Evidence that was computed beforehand: one JSONL file a snapshot, one question a line.

mod error;
mod line;
mod opened;

pub(super) use error::EvidenceError;
pub(super) use opened::{EvidenceFile, check, digest};
