//! The first line: the verdict and one sentence why; and the few numbers below it.

use super::{NAME, rule};
use crate::analyze::{Analysis, KernelFigures};
use crate::gate::{LineOutcome, Verdict};
use crate::model::Kernel;
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::AuditResult;

/// The verdict and one sentence why.
pub(in crate::report) fn headline(result: &AuditResult) -> String {
    match result.decision.verdict {
        Verdict::Incompatible => incompatible(result),
        Verdict::Compatible => compatible(result),
        Verdict::Inconclusive => inconclusive(result),
    }
}

/// The audit's name and its few most telling numbers.
pub(super) fn summary(result: &AuditResult) -> Line<'_> {
    let analysis = &result.analysis;
    let facts: Vec<String> =
        [flips_fact(analysis), super::placebo::fact(analysis), correctness_fact(analysis), decide_fact(result)]
            .into_iter()
            .flatten()
            .collect();
    Line::default().theirs(&result.name, NAME).and(format!(": {}.", facts.join(" · ")))
}

fn incompatible(result: &AuditResult) -> String {
    let lines = &result.decision.incompatible_when;
    let told: Vec<String> = kernels_of(lines).into_iter().filter_map(|kernel| excess(result, lines, kernel)).collect();
    format!("Incompatible: excess churn {}, beyond the noise of repeats", told.join(" and "))
}

/// `6.44 pp exact (limit 3 pp)`.
fn excess(result: &AuditResult, lines: &[LineOutcome], kernel: Kernel) -> Option<String> {
    let churn = figures(&result.analysis, kernel)?.churn;
    let limit = lines
        .iter()
        .find(|line| line.kernel == kernel && line.condition == "at_least")
        .and_then(rule::limit)
        .map_or_else(String::new, |limit| format!(" (limit {})", numbers::limit(limit)));
    Some(format!("{} pp {kernel}{limit}", numbers::pp(churn)))
}

fn compatible(result: &AuditResult) -> String {
    let lines = result.decision.compatible_when.iter();
    let told: Vec<String> = lines.map(|line| proof(line, &result.analysis)).collect();
    format!("Compatible: excess churn is proved small, {}", told.join(" and "))
}

/// `semantic upper bound 1.50 pp, limit 5 pp`.
fn proof(line: &LineOutcome, analysis: &Analysis) -> String {
    let limit = rule::limit(line).map_or_else(|| "–".to_owned(), numbers::limit);
    format!("{} {} {} pp (limit {limit})", line.kernel, rule::condition(line).figure, rule::figure(line, analysis))
}

fn inconclusive(result: &AuditResult) -> String {
    let lines: Vec<LineOutcome> = result.decision.compatible_when.clone();
    let kernel = rule::leading_kernel(&lines).or_else(|| rule::leading_kernel(&result.decision.incompatible_when));
    let range = kernel.and_then(|kernel| figures(&result.analysis, kernel)).map_or_else(String::new, range);
    format!("Inconclusive: {} prove neither churn nor its absence{range}", asked(result))
}

fn asked(result: &AuditResult) -> String {
    numbers::counted(result.analysis.questions, "question")
}

fn range(figures: &KernelFigures) -> String {
    let (low, high) = (numbers::pp(figures.cautious_lower_bound()), numbers::pp_float(figures.cautious_upper_bound()));
    format!(", {} excess churn lies between {low} and {high} pp", figures.kernel)
}

/// The figures of one kernel.
pub(super) fn figures(analysis: &Analysis, kernel: Kernel) -> Option<&KernelFigures> {
    analysis.kernels.iter().find(|figures| figures.kernel == kernel)
}

fn kernels_of(lines: &[LineOutcome]) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = lines.iter().map(|line| line.kernel).collect();
    kernels.sort();
    kernels.dedup();
    kernels
}

fn flips_fact(analysis: &Analysis) -> Option<String> {
    let flips = figures(analysis, Kernel::Semantic)?.stable_flips;
    let (noun, of) = (numbers::counted(flips, "stable flip"), numbers::counted(analysis.questions, "question"));
    Some(format!("{noun} in {of}"))
}

fn correctness_fact(analysis: &Analysis) -> Option<String> {
    let correctness = analysis.correctness.as_ref()?;
    let total = super::correctness::total(correctness);
    let net = super::correctness::net(correctness)?;
    let answers = numbers::counted(total.lost, "correct answer");
    Some(format!("{answers} lost, {} gained (net {} pp)", numbers::count(total.gained), numbers::signed_pp(net)))
}

/// What would decide, where nothing did.
fn decide_fact(result: &AuditResult) -> Option<String> {
    let needed = result.decision.questions_to_decide?;
    if result.decision.verdict != Verdict::Inconclusive {
        return None;
    }
    let more = needed.saturating_sub(result.analysis.questions);
    let total = numbers::count(needed);
    Some(match more {
        0 => format!("about {total} questions would decide"),
        _ => format!("about {} more questions ({total} in all) would decide", numbers::count(more)),
    })
}
