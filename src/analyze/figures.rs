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
    /// Further questions that lack an answer or a judgment. They are in no figure but the upper bounds, which take each for
    /// wholly changed.
    #[serde(default)]
    pub left_out: u64,
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
    /// Overlap of the documents that a deployed system cites, where any answer names one; for diagnosis alone.
    pub cited: Option<Cited>,
    /// The same figures by tag, for diagnosis only.
    pub subgroups: Vec<Subgroup>,
    /// What a sample of this size can detect.
    pub power: Power,
    /// Adjacent pairs of snapshots, where there are rungs between old and new.
    pub ladder: Vec<Rung>,
    /// Stable flips along the ladder, where there are rungs between old and new.
    pub trajectories: Option<Trajectories>,
    /// What the old snapshot rebuilt unchanged shows, where it was asked.
    pub placebo: Option<Placebo>,
    /// How the stable flips between old and new stand to the answers without evidence, where those were asked for.
    pub closed_book: Option<Alignment>,
    /// Whether the semantic labels are transitive, and D̂ under two repairs; nothing else here is repaired.
    pub transitivity: Transitivity,
    /// Churn under a bounded similarity, where similarities were given; for diagnosis alone.
    pub soft: Option<SoftFigures>,
    /// Share of UNKNOWN answers, old and new, over all answers to asked questions; absent where none was asked.
    pub unknown: Option<(Fraction, Fraction)>,
    /// How the judge labelled; absent where there was nothing to label, and in results of older versions.
    #[serde(default)]
    pub judged: Option<Judged>,
}

/// The labels of the judge over the asked questions, of all snapshots that were judged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Questions with a label.
    pub questions: u64,
    /// Labels: pairs of answers to one question that differ as texts.
    pub pairs: u64,
    /// Those of them that say that both mean the same.
    pub same: u64,
}

/// The churn of one kernel between old and new.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelFigures {
    /// The kernel.
    pub kernel: Kernel,
    /// Within and cross agreement, over the asked questions only: an unchanged question has no answers, so its
    /// agreement is not known. Absent where no question was asked.
    pub agreement: Option<Agreement>,
    /// How many lattice units make 1: the contrast of every question is a multiple of `1 / lattice`.
    pub lattice: u64,
    /// D̂ over all N questions, an unchanged one counting with a contrast of zero: `numerator` is T, the sum of the
    /// contrasts in lattice units, and `denominator` is `lattice * questions`. The gate reads this one.
    pub churn: Fraction,
    /// D̂ over the asked questions: the same T over `lattice * asked`. Equals within - cross exactly. Absent where no
    /// question was asked.
    pub churn_asked: Option<Fraction>,
    /// The standard deviation of the contrasts over all N questions (divisor N), as a share of 1.
    pub spread: f64,
    /// The exact percentile lower confidence bound of D̂ over all N questions (one-sided).
    pub lower_bound: Fraction,
    /// The exact two-sided percentile interval of D̂ over all N questions.
    pub interval: (Fraction, Fraction),
    /// The Dirichlet (Gaffke) upper confidence bound of D over all N questions and those left out (one-sided), as a share of 1. Of a
    /// degenerate kernel, each asked question counts as wholly changed.
    pub upper_bound: f64,
    /// The share of the bootstrap distribution at or below zero.
    pub share_at_or_below_zero: f64,
    /// The p-value of the exact randomisation test.
    pub randomisation_p: f64,
    /// The preregistered stream of draws, as a cross-check.
    pub stream: Stream,
    /// Stable flips under this kernel.
    pub stable_flips: u64,
    /// The count corrected for noise, `n_FL - n_XX / 2`, a multiple of one half; zero in expectation where nothing
    /// changed. Present only for two repeats on both sides.
    pub corrected_flips: Option<f64>,
    /// Whether within agreement over the asked questions is below 10%, so that churn cannot be seen by this kernel.
    pub degenerate: bool,
    /// The same bounds with clusters resampled instead of questions, where any question names its cluster and there are two
    /// clusters or more. The gate then reads the more cautious bound of the two.
    pub clusters: Option<ClusterBounds>,
}

impl KernelFigures {
    /// The lower bound that a gate reads: over questions, or over clusters where that is lower.
    #[must_use]
    pub fn cautious_lower_bound(&self) -> Fraction {
        let by_question = self.lower_bound;
        let by_cluster = self.clusters.as_ref().map_or(by_question, |clusters| clusters.lower_bound);
        let scaled = |one: Fraction, other: Fraction| i128::from(one.numerator) * i128::from(other.denominator);
        if scaled(by_cluster, by_question) < scaled(by_question, by_cluster) { by_cluster } else { by_question }
    }

    /// The upper bound that a gate reads, as a share of 1: over questions, or over clusters where that is higher.
    #[must_use]
    pub fn cautious_upper_bound(&self) -> f64 {
        self.clusters.as_ref().map_or(self.upper_bound, |clusters| self.upper_bound.max(clusters.upper_bound))
    }
}

/// Bounds of D̂ over all N questions where clusters of questions are resampled: D* is the ratio of two resampled sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterBounds {
    /// Clusters; a question without one is a cluster of its own.
    pub clusters: u64,
    /// Those with a question that was asked: a lower bound says nothing where they are too few.
    pub asked: u64,
    /// Whether lower bound and interval are exact ratios. Where clusters have too many different sizes and sums for that, they
    /// are the next values up on a grid of hundredths of a percentage point.
    pub exact: bool,
    /// The size of the cluster that a question is in, in the mean over questions.
    #[serde(default)]
    pub size: f64,
    /// The standard deviation with which questions independent of one another would have a D̂ that varies as much as over these
    /// clusters, as a share of 1.
    #[serde(default)]
    pub spread: f64,
    /// The percentile lower bound (one-sided): where it is exact, the denominator is `lattice` times the resampled questions.
    pub lower_bound: Fraction,
    /// The two-sided percentile interval.
    pub interval: (Fraction, Fraction),
    /// The Dirichlet upper bound (one-sided) with one weight a cluster, as a share of 1.
    pub upper_bound: f64,
}

/// Mean agreement of answers under one kernel, over the asked questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Agreeing pairs of repeats within the old snapshot over all such pairs: denominator `asked * C(R, 2)`.
    pub within_old: Fraction,
    /// The same within the new snapshot.
    pub within_new: Fraction,
    /// The mean of the two with equal weights: denominator `asked * lattice`.
    pub within: Fraction,
    /// Agreeing pairs of an old and a new answer over all such pairs: denominator `asked * R_old * R_new`.
    pub cross: Fraction,
}

/// The churn of the soft kernel between old and new, as shares of 1. No rule can name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftFigures {
    /// Mean similarity of the old snapshot's repeats, over the asked questions.
    pub within_old: f64,
    /// The same of the new snapshot.
    pub within_new: f64,
    /// The mean of the two with equal weights.
    pub within: f64,
    /// Mean similarity of an old and a new answer, over the asked questions.
    pub cross: f64,
    /// D̂ over all N questions, an unchanged one counting with a contrast of zero.
    pub churn: f64,
    /// The standard deviation of the contrasts over all N questions (divisor N).
    pub spread: f64,
    /// The percentile lower bound (one-sided), from contrasts in hundredths; absent where the law of their sum does not fit memory.
    pub lower_bound: Option<f64>,
    /// The two-sided percentile interval, likewise.
    pub interval: Option<(f64, f64)>,
    /// The Dirichlet upper bound (one-sided), from contrasts rounded up to thousandths.
    pub upper_bound: f64,
    /// Why figures are absent, where any are.
    pub why: Option<String>,
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
    /// How far its quantiles may lie from the exact ones, in lattice units: one, or three Monte-Carlo standard errors of
    /// the quantile in question where that is more (large samples, few draws).
    pub tolerance: u64,
    /// Whether its three quantiles lie within the tolerance.
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
    /// Asked questions with gold.
    pub questions: u64,
    /// Matched pairs of answers compared: repeat j of old with repeat j of new, `questions * min(R_old, R_new)`.
    pub comparisons: u64,
    /// Mean exact match over all answers to questions with gold, old and new: denominator `questions * R`.
    pub exact_match: (Fraction, Fraction),
    /// Mean token F1 over the same answers, old and new.
    pub f1: (f64, f64),
    /// Share of UNKNOWN answers, old and new, over all answers to asked questions: denominator `asked * R`.
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
    /// Questions compared: all those, asked or not, whose evidence is known on both sides.
    pub questions: u64,
    /// By id.
    pub by_id: OverlapFigures,
    /// By URL, where every document has one.
    pub by_url: Option<OverlapFigures>,
    /// By content.
    pub by_content: OverlapFigures,
    /// Questions for which no document at all was retrieved, from old and from new. Absent in results of programs that did
    /// not count them.
    pub without_documents: Option<(u64, u64)>,
    /// Questions whose evidence is identical in ids, URLs, contents and order (and so their prompts).
    pub identical_prompts: u64,
    /// Stable flips of the semantic kernel against the other questions.
    pub flips: FlipOverlap,
}

/// Evidence turnover of stable flips against that of the other questions, by id and by content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlipOverlap {
    /// Stable flips whose evidence is known on both sides.
    pub flips: u64,
    /// Mean number of shared documents among them; absent where there are none.
    pub flips_mean_shared: Option<f64>,
    /// How many of them share no document.
    pub flips_none: u64,
    /// Mean number of shared documents among the other questions; absent where there are none.
    pub rest_mean_shared: Option<f64>,
    /// How many of the others share no document.
    pub rest_none: u64,
    /// Two-sided p-value of Fisher's exact test: sharing no document against flipping.
    pub fisher_p: f64,
    /// The same by content, which alone shows a document that was edited in its place. Absent in results of older versions.
    #[serde(default)]
    pub by_content: Option<FlipContents>,
}

/// What stable flips and the other questions share by content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlipContents {
    /// Mean number of shared contents among stable flips; absent where there are none.
    pub flips_mean_shared: Option<f64>,
    /// How many of them share none.
    pub flips_none: u64,
    /// Mean number of shared contents among the other questions; absent where there are none.
    pub rest_mean_shared: Option<f64>,
    /// How many of the others share none.
    pub rest_none: u64,
    /// Two-sided p-value of Fisher's exact test: sharing no content against flipping.
    pub fisher_p: f64,
}

/// Overlap by one sort of key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapFigures {
    /// Mean number of distinct keys that stand on both sides.
    pub mean_shared: f64,
    /// Questions that share none.
    pub none: u64,
    /// Questions with the same set.
    pub same_set: u64,
    /// Questions with the same list.
    pub same_list: u64,
}

/// Overlap of the documents that answers cite: the word of the deployed system that gave them, and no evidence. No rule can
/// name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cited {
    /// Questions compared: those asked of which every old and every new answer came with a list of documents, be it empty.
    pub questions: u64,
    /// Other asked questions of which some answer came with a list.
    pub partly: u64,
    /// What pairs of answers share; absent where no question is compared.
    pub overlap: Option<CitedOverlap>,
}

/// What pairs of answers share of the documents they cite, over the questions compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CitedOverlap {
    /// Mean number of different ids that an answer names, old and new.
    pub documents: (f64, f64),
    /// By id.
    pub by_id: CitedByPairs,
    /// By URL, where every document has one.
    pub by_url: Option<CitedByPairs>,
    /// By content, where every document came with its text.
    pub by_content: Option<CitedByPairs>,
}

/// Pairs of answers to one question, by where the two come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CitedByPairs {
    /// Two repeats of the old snapshot.
    pub within_old: PairOverlap,
    /// Two repeats of the new one.
    pub within_new: PairOverlap,
    /// An old and a new answer.
    pub cross: PairOverlap,
}

/// Overlap of the lists of two answers, by one sort of key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairOverlap {
    /// Pairs.
    pub pairs: u64,
    /// Mean number of distinct keys that stand in both lists.
    pub mean_shared: f64,
    /// Pairs that share none.
    pub none: u64,
    /// Pairs with the same set.
    pub same_set: u64,
    /// Pairs with the same list.
    pub same_list: u64,
}

/// One tag's churn, for diagnosis only: it can neither rescue nor sink the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subgroup {
    /// The tag.
    pub tag: String,
    /// Questions.
    pub questions: u64,
    /// D̂ under the semantic kernel over the tag's questions, unchanged ones counting with zero.
    pub churn: Fraction,
    /// P-value of the exact randomisation test.
    pub p: f64,
    /// Holm-adjusted p-value of the exact randomisation test.
    pub adjusted_p: f64,
    /// Stable flips.
    pub stable_flips: u64,
}

/// What a sample of this size and its clusters can detect. How many questions would decide is the gate's to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// The smallest D under the semantic kernel that makes its lower bound exceed zero with 80% power, as a share of 1,
    /// from the noise that was observed; the questions of a cluster are taken to change together. Absent where the bound says
    /// nothing whatever the churn.
    pub smallest_detectable: Option<f64>,
}

/// Churn between two adjacent snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The earlier one.
    pub from: SnapshotName,
    /// The later one.
    pub to: SnapshotName,
    /// D̂ under the exact kernel, over all N questions; absent where it cannot be computed exactly.
    pub exact: Option<Fraction>,
    /// D̂ under the semantic kernel, over all N questions; absent likewise.
    pub semantic: Option<Fraction>,
    /// Stable flips under the semantic kernel.
    pub stable_flips: u64,
    /// Why figures are absent, where any are.
    pub why: Option<String>,
}

/// Churn of the rebuild alone: the old snapshot against itself, rebuilt unchanged. No rule can name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placebo {
    /// The figures of each kernel between old and placebo: exact, then semantic; empty where they cannot be computed.
    pub kernels: Vec<KernelFigures>,
    /// How much more churn the new snapshot shows than the placebo, by kernel in the same order; empty where it cannot be
    /// computed.
    pub beyond: Vec<Beyond>,
    /// Evidence turnover between old and placebo, where evidence is locked. Its flips are those between the two.
    pub overlap: Option<Overlap>,
    /// Why figures are absent, where any are.
    pub why: Option<String>,
}

/// How much more churn the new snapshot shows than the placebo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// The kernel.
    pub kernel: Kernel,
    /// D̂ between old and new minus D̂ between old and placebo, over all N questions.
    pub churn: Fraction,
    /// The exact two-sided percentile interval of this difference; questions are resampled, each with both of its contrasts.
    pub interval: (Fraction, Fraction),
}

/// Stable flips of the semantic kernel along the ladder from old to new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trajectories {
    /// Questions that flip at one adjacent step or more.
    pub any_step: u64,
    /// Questions that flip at two adjacent steps or more.
    pub several_steps: u64,
    /// Questions that leave and come back, X -> Y -> X: they flip at two consecutive steps, and every answer before
    /// means the same as every answer after.
    pub returns: u64,
    /// Every rung between, and how the stable flips between old and new stand to it.
    pub middles: Vec<(SnapshotName, Alignment)>,
}

/// How stable flips stand to a third snapshot. The five counts add up to the flips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alignment {
    /// The third snapshot's repeats do not agree.
    pub repeats_disagree: u64,
    /// They agree with every old answer and with no new one.
    pub old: u64,
    /// They agree with every new answer and with no old one.
    pub new: u64,
    /// They agree with no answer of either.
    pub third: u64,
    /// Anything else, which only labels that are not transitive lead to.
    pub mixed: u64,
}

/// Whether the semantic labels of a question's old and new answers are transitive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transitivity {
    /// Triples of answers with at least two pairs that mean the same.
    pub triples: u64,
    /// Those among them whose third pair does not.
    pub broken: u64,
    /// D̂ over all N questions where answers linked by any chain of "same" count as the same; absent where it cannot be computed
    /// exactly.
    pub churn_components: Option<Fraction>,
    /// D̂ over all N questions where each answer joins the first class all of whose members mean the same as it does, in
    /// the order of snapshots and repeats; absent likewise.
    pub churn_complete_link: Option<Fraction>,
    /// Why figures are absent, where any are.
    pub why: Option<String>,
}
