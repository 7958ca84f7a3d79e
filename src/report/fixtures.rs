//! Results made by hand, for tests of the formats.

use super::result::{
    AuditResult, CitedChange, EvidenceLine, FORMAT, FlipDetail, Machinery, RunRecord, SnapshotSummary, Validity,
};
use crate::analyze::{
    Agreement, Analysis, Cited, CitedByPairs, CitedOverlap, Correctness, Flip, FlipContents, FlipOverlap, Flows,
    Judged, KernelFigures, Overlap, OverlapFigures, PairOverlap, Power, Stream, Subgroup, Transitivity,
};
use crate::gate::{Decision, LineOutcome, Verdict};
use crate::model::{Answer, Confidence, Digest, Fraction, Kernel, QuestionId};

pub(super) const fn fraction(numerator: i64, denominator: u64) -> Fraction {
    Fraction { numerator, denominator }
}

/// The published figures of a study of 400 questions: incompatible.
pub(super) fn incompatible() -> AuditResult {
    AuditResult {
        format: FORMAT.to_owned(),
        name: "docs-search".to_owned(),
        protocol: Digest::of(b"protocol"),
        audited: Some(Digest::of(b"audited")),
        spec: Digest::of(b"spec"),
        decision: decision(Verdict::Incompatible, [6.4375, 4.5625, 7.6875, 14.05]),
        analysis: analysis(),
        diagnostics: None,
        same_content: false,
        exploratory: false,
        snapshots: vec![snapshot("old", 1204), snapshot("new", 1310)],
        machinery: machinery(),
        flips: vec![flip_detail("q-17", "Who designed the new city library?", "Ada Lang", "Ines Rohr")],
        validity: validity(),
        record: record(),
    }
}

/// A rebuild after which nothing changed.
pub(super) fn compatible() -> AuditResult {
    let mut result = incompatible();
    result.decision = decision(Verdict::Compatible, [0.125, -0.25, -0.5, 1.4967]);
    for kernel in &mut result.analysis.kernels {
        set_churn(kernel, 2);
        kernel.lower_bound = fraction(-4, 1600);
        kernel.interval = (fraction(-6, 1600), fraction(9, 1600));
        kernel.upper_bound = 0.014_967;
        kernel.randomisation_p = 0.42;
        kernel.stable_flips = 0;
        kernel.corrected_flips = Some(-0.5);
    }
    result.analysis.flips.clear();
    result.flips.clear();
    result
}

/// Too few questions to prove anything.
pub(super) fn inconclusive() -> AuditResult {
    let mut result = compatible();
    result.decision = decision(Verdict::Inconclusive, [2.125, 0.375, -0.375, 8.2]);
    result.decision.questions_to_decide = Some(1100);
    for (kernel, lower) in result.analysis.kernels.iter_mut().zip([6, -6]) {
        set_churn(kernel, 34);
        kernel.lower_bound = fraction(lower, 1600);
        kernel.interval = (fraction(lower - 4, 1600), fraction(112, 1600));
        kernel.upper_bound = 0.082;
    }
    result
}

fn set_churn(kernel: &mut KernelFigures, churn: i64) {
    kernel.churn = fraction(churn, 1600);
    kernel.churn_asked = Some(kernel.churn);
    if let Some(agreement) = &mut kernel.agreement {
        agreement.cross = fraction(agreement.within.numerator - churn, 1600);
    }
}

fn decision(verdict: Verdict, [exact, exact_lower, semantic_lower, semantic_upper]: [f64; 4]) -> Decision {
    let line = |kernel, condition: &str, limit: &str, figure_pp, holds| LineOutcome {
        kernel,
        condition: condition.to_owned(),
        limit: limit.to_owned(),
        figure_pp,
        margin_pp: None,
        holds,
        void: None,
    };
    Decision {
        verdict,
        incompatible_when: vec![
            line(Kernel::Exact, "at_least", "3pp", exact, exact >= 3.0),
            line(Kernel::Exact, "lower_bound_above", "0pp", exact_lower, exact_lower > 0.0),
            line(Kernel::Semantic, "lower_bound_above", "0pp", semantic_lower, semantic_lower > 0.0),
        ],
        compatible_when: vec![line(Kernel::Semantic, "upper_bound_below", "5pp", semantic_upper, semantic_upper < 5.0)],
        inconclusive: "warn".to_owned(),
        questions_to_decide: None,
    }
}

fn analysis() -> Analysis {
    Analysis {
        questions: 400,
        asked: 400,
        unchanged: 0,
        left_out: 0,
        repeats: (2, 2),
        confidence: Confidence::default(),
        kernels: vec![
            kernel(Kernel::Exact, [404, 301, 103, 73, 67, 140], 0.0931, 1.63e-9),
            kernel(Kernel::Semantic, [1426, 1262, 164, 123, 115, 215], 0.1405, 2.7e-15),
        ],
        flips: vec![flip("q-17", "Ada Lang", "Ines Rohr")],
        correctness: Some(correctness()),
        overlap: Some(overlap()),
        cited: None,
        subgroups: vec![Subgroup {
            tag: "people".to_owned(),
            questions: 120,
            churn: fraction(30, 480),
            p: 0.0062,
            adjusted_p: 0.031,
            stable_flips: 7,
        }],
        power: Power { smallest_detectable: Some(0.029) },
        ladder: Vec::new(),
        trajectories: None,
        placebo: None,
        closed_book: None,
        transitivity: Transitivity {
            triples: 1_100,
            broken: 0,
            churn_components: Some(fraction(164, 1600)),
            churn_complete_link: Some(fraction(164, 1600)),
            why: None,
        },
        soft: None,
        unknown: Some((fraction(12, 800), fraction(15, 800))),
        judged: Some(Judged { questions: 231, pairs: 410, same: 166 }),
    }
}

fn kernel(kernel: Kernel, [within, cross, churn, lower, low, high]: [i64; 6], upper: f64, p: f64) -> KernelFigures {
    let share = |numerator| fraction(numerator, 1600);
    KernelFigures {
        kernel,
        agreement: Some(Agreement {
            within_old: share(within - 8),
            within_new: share(within + 8),
            within: share(within),
            cross: share(cross),
        }),
        lattice: 4,
        churn: share(churn),
        churn_asked: Some(share(churn)),
        spread: 0.31,
        lower_bound: share(lower),
        interval: (share(low), share(high)),
        upper_bound: upper,
        share_at_or_below_zero: 1e-12,
        randomisation_p: p,
        stream: Stream {
            draws: 50_000,
            lower_bound: share(lower),
            interval: (share(low), share(high)),
            share_at_or_below_zero: 0.0,
            tolerance: 1,
            agrees: true,
        },
        stable_flips: 40,
        corrected_flips: Some(36.0),
        degenerate: false,
        clusters: None,
    }
}

pub(super) fn flip(question: &str, old: &str, new: &str) -> Flip {
    let answer = |text| Answer::parse(text, usize::MAX).expect("a nonempty answer");
    Flip {
        question: QuestionId(question.to_owned()),
        old: answer(old),
        new: answer(new),
        old_correct: Some(true),
        new_correct: Some(false),
        shared_documents: Some(5),
    }
}

pub(super) fn flip_detail(question: &str, text: &str, old: &str, new: &str) -> FlipDetail {
    let document = |id: &str, excerpt: &str| EvidenceLine { id: id.to_owned(), excerpt: excerpt.to_owned() };
    FlipDetail {
        question: QuestionId(question.to_owned()),
        text: text.to_owned(),
        old_answer: old.to_owned(),
        new_answer: new.to_owned(),
        gold: vec![old.to_owned()],
        left: vec![document("library.md#2", "The library was designed by Ada Lang in 1931.")],
        came: vec![document("library-2.md#1", "Ines Rohr drew the plans of the extension.")],
        shared: 5,
        cited: None,
    }
}

/// An audit of a deployed system that cites documents, of which one question's answers moved to others.
pub(super) fn citing() -> AuditResult {
    let mut result = incompatible();
    let pairs =
        |pairs, mean_shared, same_set| PairOverlap { pairs, mean_shared, none: 40, same_set, same_list: same_set / 2 };
    let by = |shift: f64| CitedByPairs {
        within_old: pairs(380, 3.4 + shift, 290),
        within_new: pairs(380, 3.1 + shift, 270),
        cross: pairs(1520, 1.2 + shift, 300),
    };
    let (by_id, by_content) = (by(0.0), Some(by(0.25)));
    let overlap = CitedOverlap { documents: (4.125, 3.875), by_id, by_url: None, by_content };
    result.analysis.cited = Some(Cited { questions: 380, partly: 11, overlap: Some(overlap) });
    result.analysis.overlap = None;
    result.analysis.flips[0].shared_documents = None;
    let line = |id: &str| EvidenceLine { id: id.to_owned(), excerpt: String::new() };
    let flip = &mut result.flips[0];
    (flip.left, flip.came, flip.shared) = (Vec::new(), Vec::new(), 0);
    let (lost, gained) = (vec![line("library.md#2"), line("roof.md")], vec![line("extension.md"), line("roof.md")]);
    flip.cited = Some(CitedChange { lost, gained, shared: 2 });
    result
}

fn correctness() -> Correctness {
    Correctness {
        questions: 400,
        comparisons: 800,
        exact_match: (fraction(250, 800), fraction(238, 800)),
        f1: (0.412, 0.405),
        unknown: (fraction(12, 800), fraction(15, 800)),
        flows_same_meaning: Flows { kept: 190, lost: 30, gained: 24, wrong: 310 },
        flows_changed_meaning: Flows { kept: 14, lost: 16, gained: 10, wrong: 206 },
    }
}

fn overlap() -> Overlap {
    let figures = |mean_shared, none| OverlapFigures { mean_shared, none, same_set: 12, same_list: 4 };
    let flips = FlipOverlap {
        flips: 40,
        flips_mean_shared: Some(0.825),
        flips_none: 18,
        rest_mean_shared: Some(1.2306),
        rest_none: 93,
        fisher_p: 0.0143,
        by_content: Some(FlipContents {
            flips_mean_shared: Some(0.8),
            flips_none: 19,
            rest_mean_shared: Some(1.3),
            rest_none: 85,
            fisher_p: 0.0021,
        }),
    };
    Overlap {
        questions: 400,
        by_id: figures(1.1875, 111),
        by_url: None,
        by_content: figures(1.25, 104),
        without_documents: Some((0, 0)),
        identical_prompts: 4,
        flips,
    }
}

fn snapshot(name: &str, documents: u64) -> SnapshotSummary {
    SnapshotSummary {
        name: name.to_owned(),
        physical: format!("corpus at {name}"),
        fingerprint: Some(Digest::of(name.as_bytes())),
        documents: Some(documents),
        passed_over: None,
    }
}

fn machinery() -> Machinery {
    Machinery {
        retrieve: "embedded BM25, 8 documents".to_owned(),
        generate: "gpt-4.1-mini at api.openai.com".to_owned(),
        judge: "gpt-4.1 at api.openai.com".to_owned(),
        black_box: None,
        caveats: Vec::new(),
        tool_version: "0.1.0".to_owned(),
    }
}

fn validity() -> Validity {
    let both = |count| vec![("old".to_owned(), count), ("new".to_owned(), count)];
    Validity {
        cells: 1600,
        accepted: both(800),
        invalid: both(0),
        excluded_questions: 0,
        packets: 310,
        mismatched_evidence: 0,
        served_models: vec![
            ("old".to_owned(), vec!["gpt-4.1-mini-2026".to_owned()]),
            ("new".to_owned(), vec!["gpt-4.1-mini-2026".to_owned()]),
        ],
        unnamed_models: Vec::new(),
        changed_models: Vec::new(),
    }
}

fn record() -> RunRecord {
    RunRecord {
        heads: ["evidence", "answers", "judgments"].map(|name| (name.to_owned(), Digest::of(name.as_bytes()))).into(),
        attempts: 1932,
        retries: vec![("http-429".to_owned(), 22)],
        not_sent: None,
        tokens: (812_334, 15_022),
        nano_usd: None,
        unpriced: None,
        untold: None,
        unended: None,
        conduct: None,
        replayed: None,
        duration_ms: 321_000,
    }
}
