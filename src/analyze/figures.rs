//! Every figure of a result, as plain data.

use crate::model::{Answer, Confidence, Fraction, Kernel, QuestionId, SnapshotName};
use serde::{Deserialize, Serialize};

/// Everything that is computed from the observations of one audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// N: questions in the denominators.
    pub questions: u64,
    /// Questions that were asked.
    pub asked: u64,
    /// Questions counted with a contrast of zero because their rendered prompts are byte-identical.
    pub unchanged: u64,
    /// Repeats of the old and of the new snapshot.
    pub repeats: (u32, u32),
    /// The confidence level of every bound here.
    pub confidence: Confidence,
    /// The figures of each kernel: exact, then semantic.
    pub kernels: Vec<KernelFigures>,
    /// Stable flips under the semantic kernel, worst first.
    pub flips: Vec<Flip>,
    /// Correctness, where any question has gold.
    pub correctness: Option<Correctness>,
    /// Evidence turnover, where evidence is locked.
    pub overlap: Option<Overlap>,
    /// The same figures by tag, for diagnosis only.
    pub subgroups: Vec<Subgroup>,
    /// What a sample of this size can detect.
    pub power: Power,
    /// Adjacent pairs of snapshots, where there are rungs between old and new.
    pub ladder: Vec<Rung>,
}

/// The churn of one kernel between old and new.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelFigures {
    /// The kernel.
    pub kernel: Kernel,
    /// Mean agreement of repeats within the old snapshot (over asked questions and unchanged ones alike where known).
    pub within_old: Fraction,
    /// The same within the new snapshot.
    pub within_new: Fraction,
    /// Their mean with equal weights.
    pub within: Fraction,
    /// Mean agreement across.
    pub cross: Fraction,
    /// D̂ = within - cross, over all N questions.
    pub churn: Fraction,
    /// D̂ over the asked questions only.
    pub churn_asked: Fraction,
    /// The exact percentile lower confidence bound.
    pub lower_bound: Fraction,
    /// The exact two-sided percentile interval.
    pub interval: (Fraction, Fraction),
    /// The Dirichlet upper confidence bound, as a share of 1.
    pub upper_bound: f64,
    /// The share of the bootstrap distribution at or below zero.
    pub share_at_or_below_zero: f64,
    /// The p-value of the exact randomisation test.
    pub randomisation_p: f64,
    /// The preregistered stream of draws, as a cross-check.
    pub stream: Stream,
    /// Stable flips under this kernel.
    pub stable_flips: u64,
    /// The count corrected for noise, in halves (twice the value is an integer), where R = 2.
    pub corrected_flips: Option<f64>,
    /// Whether within agreement is below 10%, so that churn cannot be seen by this kernel.
    pub degenerate: bool,
}

/// Quantiles of the preregistered stream of draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Draws.
    pub draws: u32,
    /// Its lower bound.
    pub lower_bound: Fraction,
    /// Its interval.
    pub interval: (Fraction, Fraction),
    /// Its share at or below zero.
    pub share_at_or_below_zero: f64,
    /// Whether its three quantiles lie within one lattice unit of the exact ones.
    pub agrees: bool,
}

/// A question whose repeats agree within each snapshot and disagree in every cross pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flip {
    /// The question.
    pub question: QuestionId,
    /// An answer of the old snapshot (the first repeat's).
    pub old: Answer,
    /// An answer of the new snapshot.
    pub new: Answer,
    /// Whether any old answer matches gold; absent without gold.
    pub old_correct: Option<bool>,
    /// Whether any new answer matches gold.
    pub new_correct: Option<bool>,
    /// Shared documents by content; absent without evidence.
    pub shared_documents: Option<u64>,
}

/// Correctness against gold, over matched repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correctness {
    /// Questions with gold.
    pub questions: u64,
    /// Matched pairs of answers compared.
    pub comparisons: u64,
    /// Mean exact match, old and new.
    pub exact_match: (Fraction, Fraction),
    /// Mean token F1, old and new.
    pub f1: (f64, f64),
    /// Share of UNKNOWN answers, old and new, over all asked questions.
    pub unknown: (Fraction, Fraction),
    /// Flows where the judged meaning is the same.
    pub flows_same_meaning: Flows,
    /// Flows where the judged meaning is different.
    pub flows_changed_meaning: Flows,
}

/// How matched pairs of answers moved, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flows {
    /// Right before and after.
    pub kept: u64,
    /// Right before, wrong after.
    pub lost: u64,
    /// Wrong before, right after.
    pub gained: u64,
    /// Wrong before and after.
    pub wrong: u64,
}

/// Evidence turnover between old and new.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// Questions compared.
    pub questions: u64,
    /// By id.
    pub by_id: OverlapFigures,
    /// By content.
    pub by_content: OverlapFigures,
    /// Questions whose evidence is byte-identical (and so their prompts).
    pub identical_prompts: u64,
}

/// Overlap by one sort of key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapFigures {
    /// Mean number of shared documents.
    pub mean_shared: f64,
    /// Questions that share none.
    pub none: u64,
    /// Questions with the same set.
    pub same_set: u64,
    /// Questions with the same list.
    pub same_list: u64,
}

/// One tag's churn, for diagnosis only: it can neither rescue nor sink the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subgroup {
    /// The tag.
    pub tag: String,
    /// Questions.
    pub questions: u64,
    /// D̂ under the semantic kernel.
    pub churn: Fraction,
    /// Holm-adjusted p-value of the exact randomisation test.
    pub adjusted_p: f64,
    /// Stable flips.
    pub stable_flips: u64,
}

/// What a sample can detect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// The smallest D that is seen with 80% power, as a share of 1, from the observed spread.
    pub smallest_detectable: f64,
    /// Questions that would be needed for a decision, where it is undecided and can be said.
    pub questions_to_decide: Option<u64>,
}

/// Churn between two adjacent snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The earlier one.
    pub from: SnapshotName,
    /// The later one.
    pub to: SnapshotName,
    /// D̂ under the exact kernel.
    pub exact: Fraction,
    /// D̂ under the semantic kernel.
    pub semantic: Fraction,
    /// Stable flips under the semantic kernel.
    pub stable_flips: u64,
}
