//! Format 1.0 of `result.json`.
//!
//! Within version 1 a field may be added (with a default for older files); none may change its meaning or go.

use super::image::{Imaged, image};
use crate::analyze::{
    Agreement, Alignment, Analysis, Beyond, Cited, CitedByPairs, CitedOverlap, ClusterBounds, Correctness, Diagnostics,
    Flip, FlipContents, FlipOverlap, Flows, Judged, KernelFigures, Overlap, OverlapFigures, PairOverlap, Placebo,
    Power, Rung, SoftFigures, Stream, Subgroup, Trajectories, Transitivity,
};
use crate::gate::{Decision, LineOutcome, Verdict};
use crate::model::{Answer, Confidence, Digest, Fraction, Kernel, PassedOver, QuestionId, SnapshotName};
use crate::report::result::{
    AuditResult, ChangedModel, CitedChange, Conduct, EvidenceLine, FlipDetail, Machinery, ModelReplies, RunRecord,
    SnapshotSummary, Validity,
};
use serde::{Deserialize, Serialize};

/// An exact value. `percentage_points` is for readers of the file and never read back.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "RawExact")]
pub(super) struct Exact {
    numerator: i64,
    denominator: u64,
    percentage_points: f64,
}

#[derive(Deserialize)]
struct RawExact {
    numerator: i64,
    denominator: u64,
}

impl TryFrom<RawExact> for Exact {
    type Error = &'static str;

    fn try_from(raw: RawExact) -> Result<Self, Self::Error> {
        if raw.denominator == 0 {
            return Err("a denominator is at least 1");
        }
        Ok(Fraction { numerator: raw.numerator, denominator: raw.denominator }.into_image())
    }
}

/// Whether a count need not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "shaped for serde")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Imaged for Fraction {
    type Image = Exact;

    fn into_image(self) -> Exact {
        let percentage_points = self.percentage_points();
        Exact { numerator: self.numerator, denominator: self.denominator, percentage_points }
    }

    fn from_image(image: Exact) -> Self {
        Self { numerator: image.numerator, denominator: image.denominator }
    }
}

image! {
    /// The whole document.
    ResultImage of AuditResult {
        format: String,
        name: String,
        protocol: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audited: Option<Digest>,
        spec: Digest,
        decision: Decision,
        analysis: Analysis,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diagnostics: Option<Diagnostics>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        same_content: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        exploratory: bool,
        snapshots: Vec<SnapshotSummary>,
        machinery: Machinery,
        flips: Vec<FlipDetail>,
        validity: Validity,
        record: RunRecord,
    }
}

image! {
    DecisionImage of Decision {
        verdict: Verdict,
        incompatible_when: Vec<LineOutcome>,
        compatible_when: Vec<LineOutcome>,
        inconclusive: String,
        questions_to_decide: Option<u64>,
    }
}

image! {
    LineImage of LineOutcome {
        kernel: Kernel,
        condition: String,
        limit: String,
        figure_pp: f64,
        margin_pp: Option<f64>,
        holds: bool,
        void: Option<String>,
    }
}

image! {
    AnalysisImage of Analysis {
        questions: u64,
        asked: u64,
        unchanged: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        left_out: u64,
        repeats: (u32, u32),
        confidence: Confidence,
        kernels: Vec<KernelFigures>,
        flips: Vec<Flip>,
        correctness: Option<Correctness>,
        overlap: Option<Overlap>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cited: Option<Cited>,
        subgroups: Vec<Subgroup>,
        power: Power,
        ladder: Vec<Rung>,
        trajectories: Option<Trajectories>,
        placebo: Option<Placebo>,
        closed_book: Option<Alignment>,
        transitivity: Transitivity,
        soft: Option<SoftFigures>,
        unknown: Option<(Fraction, Fraction)>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<Judged>,
    }
}

image! {
    JudgedImage of Judged {
        questions: u64,
        pairs: u64,
        same: u64,
    }
}

image! {
    KernelImage of KernelFigures {
        kernel: Kernel,
        agreement: Option<Agreement>,
        lattice: u64,
        churn: Fraction,
        churn_asked: Option<Fraction>,
        spread: f64,
        lower_bound: Fraction,
        interval: (Fraction, Fraction),
        upper_bound: f64,
        share_at_or_below_zero: f64,
        randomisation_p: f64,
        stream: Stream,
        stable_flips: u64,
        corrected_flips: Option<f64>,
        degenerate: bool,
        clusters: Option<ClusterBounds>,
    }
}

image! {
    SoftImage of SoftFigures {
        within_old: f64,
        within_new: f64,
        within: f64,
        cross: f64,
        churn: f64,
        spread: f64,
        lower_bound: Option<f64>,
        interval: Option<(f64, f64)>,
        upper_bound: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
}

image! {
    ClusterImage of ClusterBounds {
        clusters: u64,
        #[serde(default)]
        asked: u64,
        exact: bool,
        #[serde(default)]
        size: f64,
        #[serde(default)]
        spread: f64,
        lower_bound: Fraction,
        interval: (Fraction, Fraction),
        upper_bound: f64,
    }
}

image! {
    AgreementImage of Agreement {
        within_old: Fraction,
        within_new: Fraction,
        within: Fraction,
        cross: Fraction,
    }
}

image! {
    StreamImage of Stream {
        draws: u32,
        lower_bound: Fraction,
        interval: (Fraction, Fraction),
        share_at_or_below_zero: f64,
        tolerance: u64,
        agrees: bool,
    }
}

image! {
    FlipImage of Flip {
        question: QuestionId,
        old: Answer,
        new: Answer,
        old_correct: Option<bool>,
        new_correct: Option<bool>,
        shared_documents: Option<u64>,
    }
}

image! {
    CorrectnessImage of Correctness {
        questions: u64,
        comparisons: u64,
        exact_match: (Fraction, Fraction),
        f1: (f64, f64),
        unknown: (Fraction, Fraction),
        flows_same_meaning: Flows,
        flows_changed_meaning: Flows,
    }
}

image! {
    FlowsImage of Flows {
        kept: u64,
        lost: u64,
        gained: u64,
        wrong: u64,
    }
}

image! {
    OverlapImage of Overlap {
        questions: u64,
        by_id: OverlapFigures,
        by_url: Option<OverlapFigures>,
        by_content: OverlapFigures,
        without_documents: Option<(u64, u64)>,
        identical_prompts: u64,
        flips: FlipOverlap,
    }
}

image! {
    FlipOverlapImage of FlipOverlap {
        flips: u64,
        flips_mean_shared: Option<f64>,
        flips_none: u64,
        rest_mean_shared: Option<f64>,
        rest_none: u64,
        fisher_p: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by_content: Option<FlipContents>,
    }
}

image! {
    FlipContentsImage of FlipContents {
        flips_mean_shared: Option<f64>,
        flips_none: u64,
        rest_mean_shared: Option<f64>,
        rest_none: u64,
        fisher_p: f64,
    }
}

image! {
    OverlapFiguresImage of OverlapFigures {
        mean_shared: f64,
        none: u64,
        same_set: u64,
        same_list: u64,
    }
}

image! {
    CitedImage of Cited {
        questions: u64,
        partly: u64,
        overlap: Option<CitedOverlap>,
    }
}

image! {
    CitedOverlapImage of CitedOverlap {
        documents: (f64, f64),
        by_id: CitedByPairs,
        by_url: Option<CitedByPairs>,
        by_content: Option<CitedByPairs>,
    }
}

image! {
    CitedByPairsImage of CitedByPairs {
        within_old: PairOverlap,
        within_new: PairOverlap,
        cross: PairOverlap,
    }
}

image! {
    PairOverlapImage of PairOverlap {
        pairs: u64,
        mean_shared: f64,
        none: u64,
        same_set: u64,
        same_list: u64,
    }
}

image! {
    SubgroupImage of Subgroup {
        tag: String,
        questions: u64,
        churn: Fraction,
        p: f64,
        adjusted_p: f64,
        stable_flips: u64,
    }
}

image! {
    PowerImage of Power {
        smallest_detectable: Option<f64>,
    }
}

image! {
    RungImage of Rung {
        from: SnapshotName,
        to: SnapshotName,
        exact: Option<Fraction>,
        semantic: Option<Fraction>,
        stable_flips: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
}

image! {
    SnapshotImage of SnapshotSummary {
        name: String,
        physical: String,
        fingerprint: Option<Digest>,
        documents: Option<u64>,
        passed_over: Option<PassedOver>,
    }
}

image! {
    PassedOverImage of PassedOver {
        endings: Vec<(String, u64)>,
        others: u64,
        hidden: u64,
        links: u64,
    }
}

image! {
    MachineryImage of Machinery {
        retrieve: String,
        generate: String,
        judge: String,
        black_box: Option<String>,
        caveats: Vec<String>,
        tool_version: String,
    }
}

image! {
    FlipDetailImage of FlipDetail {
        question: QuestionId,
        text: String,
        old_answer: String,
        new_answer: String,
        gold: Vec<String>,
        left: Vec<EvidenceLine>,
        came: Vec<EvidenceLine>,
        shared: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cited: Option<CitedChange>,
    }
}

image! {
    CitedChangeImage of CitedChange {
        lost: Vec<EvidenceLine>,
        gained: Vec<EvidenceLine>,
        shared: u64,
    }
}

image! {
    EvidenceLineImage of EvidenceLine {
        id: String,
        excerpt: String,
    }
}

image! {
    ValidityImage of Validity {
        cells: u64,
        accepted: Vec<(String, u64)>,
        invalid: Vec<(String, u64)>,
        excluded_questions: u64,
        packets: u64,
        mismatched_evidence: u64,
        served_models: Vec<(String, Vec<String>)>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unnamed_models: Vec<(String, u64)>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed_models: Vec<ChangedModel>,
    }
}

image! {
    ChangedModelImage of ChangedModel {
        server: String,
        models: Vec<ModelReplies>,
    }
}

image! {
    ModelRepliesImage of ModelReplies {
        model: String,
        replies: u64,
        snapshots: Vec<(String, u64)>,
    }
}

image! {
    RecordImage of RunRecord {
        heads: Vec<(String, Digest)>,
        attempts: u64,
        retries: Vec<(String, u64)>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_sent: Option<u64>,
        tokens: (u64, u64),
        nano_usd: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unpriced: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        untold: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unended: Option<u64>,
        conduct: Option<Vec<Conduct>>,
        replayed: Option<bool>,
        duration_ms: u64,
    }
}

image! {
    ConductImage of Conduct {
        snapshot: String,
        early: (u64, u64),
        late: (u64, u64),
        fingerprints: u64,
        redrawn: (u64, u64),
    }
}

image! {
    TrajectoriesImage of Trajectories {
        any_step: u64,
        several_steps: u64,
        returns: u64,
        middles: Vec<(SnapshotName, Alignment)>,
    }
}

image! {
    AlignmentImage of Alignment {
        repeats_disagree: u64,
        old: u64,
        new: u64,
        third: u64,
        mixed: u64,
    }
}

image! {
    PlaceboImage of Placebo {
        kernels: Vec<KernelFigures>,
        beyond: Vec<Beyond>,
        overlap: Option<Overlap>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
}

image! {
    BeyondImage of Beyond {
        kernel: Kernel,
        churn: Fraction,
        interval: (Fraction, Fraction),
    }
}

image! {
    TransitivityImage of Transitivity {
        triples: u64,
        broken: u64,
        churn_components: Option<Fraction>,
        churn_complete_link: Option<Fraction>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
}
