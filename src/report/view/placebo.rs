//! The rebuild alone: the old snapshot against itself, rebuilt unchanged, beside what the new one shows.

use super::headline::figures;
use super::{absent, rule, turnover};
use crate::analyze::{Analysis, Beyond, KernelFigures, Overlap, Placebo, power};
use crate::model::{Fraction, Kernel, PercentagePoints};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;
use crate::report::result::AuditResult;
use std::cmp::Ordering;

pub(super) fn section(result: &AuditResult) -> Option<Section<'_>> {
    let placebo = result.analysis.placebo.as_ref()?;
    let mut blocks = Vec::new();
    if !placebo.kernels.is_empty() {
        blocks.push(Block::Table(table(placebo)));
    }
    blocks.extend(meaning(result, placebo).map(|told| Block::Paragraph(Line::ours(told))));
    blocks.extend(placebo.why.as_ref().map(|why| absent("the rebuild alone", why)));
    blocks.extend(placebo.overlap.iter().flat_map(evidence));
    Some(Section::new(Topic::Placebo, String::new(), blocks))
}

/// What of the evidence the rebuild alone moved.
pub(super) fn evidence<'a>(overlap: &Overlap) -> [Block<'a>; 2] {
    let identical = turnover::identical(overlap).replace("both snapshots", "old and placebo");
    [Block::Table(turnover::table(overlap)), Block::List(vec![Line::ours(identical)])]
}

/// The fact for the few numbers below the verdict.
pub(super) fn fact(analysis: &Analysis) -> Option<String> {
    let kernels = &analysis.placebo.as_ref()?.kernels;
    let rebuilt = kernels.iter().find(|figures| figures.kernel == Kernel::Semantic)?;
    Some(format!("the rebuild alone shows {} pp", numbers::pp(rebuilt.churn)))
}

fn table(placebo: &Placebo) -> Table<'static> {
    let columns = vec![
        ("kernel", false),
        ("D̂ (pp)", true),
        ("interval", true),
        ("lower bound", true),
        ("upper bound", true),
        ("flips", true),
        ("new beyond (pp)", true),
        ("its interval", true),
    ];
    let beyond = placebo.beyond.iter().map(Some).chain(std::iter::repeat(None));
    let rows = placebo.kernels.iter().zip(beyond).map(|(figures, beyond)| row(figures, beyond)).collect();
    Table { columns, rows }
}

fn row(figures: &KernelFigures, beyond: Option<&Beyond>) -> Vec<Line<'static>> {
    let cells = [
        figures.kernel.to_string(),
        numbers::pp(figures.churn),
        interval(figures.interval),
        numbers::pp(figures.cautious_lower_bound()),
        numbers::pp_float(figures.cautious_upper_bound()),
        numbers::count(figures.stable_flips),
        numbers::or_dash(beyond.map(|beyond| numbers::signed_pp(beyond.churn))),
        numbers::or_dash(beyond.map(|beyond| interval(beyond.interval))),
    ];
    cells.into_iter().map(Line::ours).collect()
}

fn interval((low, high): (Fraction, Fraction)) -> String {
    format!("{} to {}", numbers::pp(low), numbers::pp(high))
}

fn semantic(placebo: &Placebo) -> Option<(&KernelFigures, &Beyond)> {
    placebo.kernels.iter().zip(&placebo.beyond).find(|(figures, _)| figures.kernel == Kernel::Semantic)
}

/// One sentence for whoever has no time, under the kernel of meaning. What an interval does not exclude is never denied.
fn meaning(result: &AuditResult, placebo: &Placebo) -> Option<String> {
    let (rebuilt, beyond) = semantic(placebo)?;
    let new = figures(&result.analysis, Kernel::Semantic)?;
    let alone = format!("The rebuild alone shows {} pp of semantic churn", numbers::pp(rebuilt.churn));
    let more = format!("{} pp ({})", numbers::pp(beyond.churn), interval(beyond.interval));
    let shown = |figures: &KernelFigures| figures.cautious_lower_bound().numerator > 0;
    let told = match (shown(new), shown(rebuilt), beyond.interval.0.numerator > 0) {
        _ if new.degenerate || rebuilt.degenerate => {
            "; the kernel is degenerate, so this says nothing about either".to_owned()
        }
        (_, false, true) => format!(
            ", which may be chance; the new snapshot shows {more} beyond it: the corpus explains that, not the rebuild"
        ),
        (_, true, true) => {
            format!("; the new snapshot shows {more} beyond it: the rebuild explains a part, the corpus the rest")
        }
        (_, true, false) => beyond_nothing(result, beyond, &more),
        (true, false, false) => {
            format!(", and the new snapshot {more} beyond it: too few questions to tell the corpus from the rebuild")
        }
        (false, false, false) => {
            format!(", and the new snapshot {more} beyond it: either may be chance")
        }
    };
    Some(format!("{alone}{told}. No line of the rule reads this."))
}

/// Where the rebuild shows churn and the new snapshot none beyond it. That the corpus adds nothing is said only where the interval
/// leaves no more than what the rule lets pass, of enough questions to prove as much.
fn beyond_nothing(result: &AuditResult, beyond: &Beyond, more: &str) -> String {
    if beyond.churn.numerator > 0 {
        return format!(
            ": enough to explain the churn. What the new snapshot shows beyond it, {more}, may be chance: whether the \
             corpus adds to it, this sample does not show"
        );
    }
    let most = beyond.interval.1;
    match passes_below(result).filter(|limit| most.compare(*limit) == Ordering::Less) {
        Some(limit) => format!(
            ", and the new snapshot {more} beyond it, less than the {} that the rule lets pass: the rebuild, not the corpus, \
             explains it",
            numbers::limit(limit)
        ),
        None => format!(
            ", and the new snapshot {more} beyond it: the rebuild is enough to explain it, and up to {} pp by the corpus are not \
             excluded",
            numbers::pp(most)
        ),
    }
}

/// The least limit below which the rule lets semantic churn pass, where so many questions, and so many clusters of them, can prove
/// it.
fn passes_below(result: &AuditResult) -> Option<PercentagePoints> {
    let (analysis, lines) = (&result.analysis, &result.decision.compatible_when);
    let limit = lines.iter().filter(|line| line.kernel == Kernel::Semantic).filter_map(rule::limit).min()?;
    let fewest = power::fewest_for_upper_bound(limit.value(), analysis.confidence.alpha())?;
    let clusters = figures(analysis, Kernel::Semantic)?.clusters.as_ref().map_or(u64::MAX, |of| of.clusters);
    (analysis.questions.min(clusters) >= fewest).then_some(limit)
}
