//! What changed in the evidence alone: no answer, no judge, no verdict.

mod formats;
mod json;
#[cfg(test)]
mod tests;
mod text;

use super::result::{EvidenceLine, SnapshotSummary};
use crate::analyze::Overlap;
use crate::model::{Digest, QuestionId};

pub use formats::{DIFF_FORMATS, DiffFormat, diff_html, diff_line, diff_markdown_within};
pub use json::diff_json;
pub use text::diff_text;

/// The version of the JSON that is written.
pub const DIFF_FORMAT: &str = "1.0";

/// The change of evidence between the old and the new snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceDiff {
    /// The audit's name.
    pub name: String,
    /// The protocol's digest: a whole audit of it takes the same evidence.
    pub protocol: Digest,
    /// The physical snapshots.
    pub snapshots: Vec<SnapshotSummary>,
    /// The retrieval backend, in words.
    pub retrieve: String,
    /// Whether the engine's replies were read from a recording.
    pub replayed: bool,
    /// How much both snapshots share.
    pub overlap: Overlap,
    /// How much the old snapshot and the placebo share, where there is one.
    pub placebo: Option<Overlap>,
    /// What must be said before any figure, such as what a change edits of the rule.
    pub caveats: Vec<String>,
    /// Questions and snapshots whose two passes differ.
    pub mismatched: u64,
    /// Questions with other documents or another order, those whose evidence changed most first.
    pub at_risk: Vec<QuestionAtRisk>,
    /// What a whole audit would take.
    pub cost: AuditCost,
}

/// A question whose evidence changed.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionAtRisk {
    /// The question.
    pub question: QuestionId,
    /// Its text.
    pub text: String,
    /// How much changed, from 0 to 1: see [`turnover`](crate::analyze::risk::turnover).
    pub turnover: f64,
    /// Documents that both have, by content.
    pub shared: u64,
    /// Documents that only the old evidence has, best first.
    pub lost: Vec<EvidenceLine>,
    /// Documents that only the new evidence has, best first.
    pub gained: Vec<EvidenceLine>,
}

/// What a whole audit of the same spec would take at most, without retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCost {
    /// Questions that would be asked.
    pub asked: u64,
    /// Questions that would not, since their prompts are byte-identical.
    pub unasked: u64,
    /// Answers to generate.
    pub answers: u64,
    /// Packets to judge.
    pub packets: u64,
    /// External calls.
    pub calls: u64,
}
