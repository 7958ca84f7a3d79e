//! The first line: the verdict and one sentence why; and the few numbers below it.

use super::{NAME, rule};
use crate::analyze::{Analysis, KernelFigures};
use crate::gate::{LineOutcome, Verdict, shows_churn};
use crate::model::{Kernel, PercentagePoints};
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::AuditResult;

/// The limit of what is said to be shown: that it is more than nothing.
const NOTHING: PercentagePoints = PercentagePoints::from_units(0);

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
    let kernels = kernels_of(lines);
    let beyond = if kernels.iter().all(|kernel| shows_churn(*kernel, &result.analysis)) {
        ", beyond the noise of repeats"
    } else {
        "; the spec's rule asks for no proof that this is beyond the noise of repeats"
    };
    let told: Vec<String> = kernels.into_iter().filter_map(|kernel| excess(result, lines, kernel)).collect();
    format!("Incompatible: excess churn {}{beyond}", told.join(" and "))
}

/// `6.44 pp exact (limit 3 pp)`.
fn excess(result: &AuditResult, lines: &[LineOutcome], kernel: Kernel) -> Option<String> {
    let churn = figures(&result.analysis, kernel)?.churn;
    let limit = lines.iter().find(|line| line.kernel == kernel && line.condition == "at_least").and_then(rule::limit);
    let told = limit.map_or_else(String::new, |limit| format!(" (limit {})", numbers::limit(limit)));
    Some(format!("{} pp {kernel}{told}", rule::beside(churn, limit.unwrap_or(NOTHING))))
}

/// Only an upper bound is a proof: a D̂ below a limit is what this sample showed.
fn compatible(result: &AuditResult) -> String {
    let lines = &result.decision.compatible_when;
    let told: Vec<String> = lines.iter().map(|line| passing(line, &result.analysis)).collect();
    let (proved, unproved): (Vec<Kernel>, Vec<Kernel>) =
        kernels_of(lines).into_iter().partition(|kernel| is_bounded(lines, *kernel));
    let what = match (proved.as_slice(), unproved.as_slice()) {
        (_, []) => "excess churn is proved small".to_owned(),
        ([], _) => "the spec's rule lets it pass without proof".to_owned(),
        ([proved, ..], [unproved, ..]) => {
            format!("{proved} excess churn is proved small, {unproved} churn is let pass without proof")
        }
    };
    format!("Compatible: {what}, {}", told.join(" and "))
}

/// Whether a rule proves the churn of this kernel to be small, whatever its other lines are; an upper bound of one kernel proves
/// nothing of another.
fn is_bounded(lines: &[LineOutcome], kernel: Kernel) -> bool {
    lines.iter().any(|line| line.kernel == kernel && line.condition == "upper_bound_below")
}

/// `semantic upper bound 1.50 pp (limit 5 pp)`.
fn passing(line: &LineOutcome, analysis: &Analysis) -> String {
    let limit = rule::limit(line).map_or_else(|| "–".to_owned(), numbers::limit);
    format!("{} {} {} pp (limit {limit})", line.kernel, rule::condition(line).figure, rule::figure(line, analysis))
}

fn inconclusive(result: &AuditResult) -> String {
    if result.same_content {
        return same_content(&result.analysis);
    }
    let (analysis, decision) = (&result.analysis, &result.decision);
    let (blocking, passing) =
        (lacks(&decision.incompatible_when, analysis), lacks(&decision.compatible_when, analysis));
    if let Some(figures) = shown(result) {
        let asks = match (blocking, passing) {
            (Some(block), Some(pass)) => format!("; to block, the rule also asks for {block}, and to pass for {pass}"),
            (Some(block), None) => format!("; to block, the rule also asks for {block}"),
            (None, Some(pass)) => format!("; to pass, the rule asks for {pass}"),
            (None, None) => String::new(),
        };
        let least = figures.cautious_lower_bound();
        let over = over_clusters(least != figures.lower_bound);
        return format!(
            "Inconclusive: {} excess churn of {} pp is shown (at least {} pp{over}){asks}",
            figures.kernel,
            rule::beside(figures.churn, NOTHING),
            rule::beside(least, NOTHING)
        );
    }
    let (asked, verb) = (analysis.questions, if analysis.questions == 1 { "does" } else { "do" });
    let why =
        passing.map_or_else(|| "no rule passes them".to_owned(), |pass| format!("to pass, the rule asks for {pass}"));
    format!("Inconclusive: {} {verb} not prove churn, and {why}", numbers::counted(asked, "question"))
}

/// A spec may ask for answers all the same, to see how they vary.
fn same_content(analysis: &Analysis) -> String {
    let nothing = "Inconclusive: old and new have the same content, so there was nothing to compare";
    match analysis.asked {
        0 => nothing.to_owned(),
        asked => format!("{nothing}: the answers to {} show noise alone", numbers::counted(asked, "question")),
    }
}

/// The figures of the first kernel of either rule by which churn is shown: the semantic one where it is.
fn shown(result: &AuditResult) -> Option<&KernelFigures> {
    let lines = result.decision.incompatible_when.iter().chain(&result.decision.compatible_when);
    let kernels = lines.map(|line| line.kernel).filter(|kernel| shows_churn(*kernel, &result.analysis));
    figures(&result.analysis, kernels.max()?)
}

/// The lines that do not hold, and why: `exact lower bound > 0 pp (it is -2.10 pp)`. Nothing where all hold, or there is none.
fn lacks(lines: &[LineOutcome], analysis: &Analysis) -> Option<String> {
    let unmet: Vec<String> = lines.iter().filter(|line| !line.holds).map(|line| unmet(line, analysis)).collect();
    (!unmet.is_empty()).then(|| unmet.join(" and "))
}

fn unmet(line: &LineOutcome, analysis: &Analysis) -> String {
    let (figure, against) = (rule::condition(line).figure, rule::against(line));
    let over = over_clusters(rule::is_over_clusters(line, analysis));
    let why =
        rule::void(line).map_or_else(|| format!("it is {} pp{over}", rule::figure(line, analysis)), str::to_owned);
    format!("{} {figure} {against} ({why})", line.kernel)
}

const fn over_clusters(is_over: bool) -> &'static str {
    if is_over { " over clusters" } else { "" }
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

/// Pairs of answers that became wrong or correct, as many as the table of the same report counts in all, and how many of those say
/// something else: the rest only changed their words. Absent where no answer matches an accepted one, since then the accepted
/// answers are of another form and tell nothing.
fn correctness_fact(analysis: &Analysis) -> Option<String> {
    let correctness = analysis.correctness.as_ref()?;
    if !super::correctness::matches_at_all(correctness) {
        return None;
    }
    let (all, changed) = (super::correctness::total(correctness), correctness.flows_changed_meaning);
    Some(format!(
        "of {}, {} went from correct to wrong ({} with another meaning) and {} from wrong to correct ({})",
        numbers::counted(correctness.comparisons, "answer pair"),
        numbers::count(all.lost),
        numbers::count(changed.lost),
        numbers::count(all.gained),
        numbers::count(changed.gained)
    ))
}

/// What would decide, where nothing did.
fn decide_fact(result: &AuditResult) -> Option<String> {
    let needed = result.questions_to_decide()?;
    let more = needed.saturating_sub(result.analysis.questions);
    let total = numbers::count(needed);
    Some(match more {
        0 => format!("about {} would decide", numbers::counted(needed, "question")),
        _ => format!("about {} ({total} in all) would decide", numbers::counted(more, "more question")),
    })
}
