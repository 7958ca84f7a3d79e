//! D̂ by kernel, with what it is made of beside it.

use super::rule;
use crate::analyze::{Agreement, Analysis, KernelFigures};
use crate::gate::{Decision, LineOutcome};
use crate::model::{Fraction, Kernel};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;
use crate::report::picture::{Bar, Scale};
use crate::report::result::AuditResult;

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    let (analysis, decision) = (&result.analysis, &result.decision);
    let mut blocks = vec![Block::Table(table(result))];
    let bars = bars(analysis, decision);
    if Scale::around(&bars).is_some() {
        blocks.push(Block::Picture(bars));
    }
    blocks.push(Block::Paragraph(Line::ours(explanation(analysis))));
    if let Some(unchanged) = unchanged(analysis) {
        blocks.push(Block::Paragraph(Line::ours(unchanged)));
    }
    Section::new(Topic::Churn, String::new(), blocks)
}

/// The table of kernels: the heart of every report.
pub(in crate::report) fn table<'a>(result: &AuditResult) -> Table<'a> {
    let columns = vec![
        ("kernel", false),
        ("D̂ (pp)", true),
        ("interval", true),
        ("limit", false),
        ("within", true),
        ("cross", true),
        ("lower bound", true),
        ("upper bound", true),
        ("p", true),
    ];
    let rows = result.analysis.kernels.iter().map(|figures| row(figures, result)).collect();
    Table { columns, rows }
}

fn row<'a>(figures: &KernelFigures, result: &AuditResult) -> Vec<Line<'a>> {
    let (low, high) = figures.interval;
    let told = |name, plain| beside_its_limits(figures.kernel, name, plain, result);
    let mut cells = vec![Line::ours(figures.kernel.to_string()), Line::strong(told("D̂", numbers::pp(figures.churn)))];
    let rest = [
        format!("{} to {}", numbers::pp(low), numbers::pp(high)),
        limits(figures, &result.decision),
        agreement(figures, |agreement| agreement.within),
        agreement(figures, |agreement| agreement.cross),
        told("lower bound", numbers::pp(figures.cautious_lower_bound())),
        told("upper bound", numbers::pp_float(figures.cautious_upper_bound())),
        numbers::probability(figures.randomisation_p),
    ];
    cells.extend(rest.into_iter().map(Line::ours));
    cells
}

/// A figure with as many decimals as the lines of the rule about it need, never fewer than it has.
fn beside_its_limits(kernel: Kernel, name: &str, plain: String, result: &AuditResult) -> String {
    let lines = result.decision.incompatible_when.iter().chain(&result.decision.compatible_when);
    let about_it = lines.filter(|line| line.kernel == kernel && rule::condition(line).figure == name);
    let told = about_it.map(|line| rule::figure(line, &result.analysis));
    told.chain([plain]).max_by_key(String::len).unwrap_or_default()
}

fn agreement(figures: &KernelFigures, of: fn(&Agreement) -> Fraction) -> String {
    figures.agreement.as_ref().map_or_else(|| "–".to_owned(), |agreement| numbers::percent(of(agreement)))
}

/// The limits that the rule sets for this kernel, as the picture names them: `block ≥ 3 pp, pass < 5 pp`.
fn limits(figures: &KernelFigures, decision: &Decision) -> String {
    let names: Vec<String> = marks(figures, decision).into_iter().map(|(_, name)| name).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

fn bars(analysis: &Analysis, decision: &Decision) -> Vec<Bar> {
    analysis.kernels.iter().map(|figures| bar(figures, decision)).collect()
}

fn bar(figures: &KernelFigures, decision: &Decision) -> Bar {
    Bar {
        label: figures.kernel.to_string(),
        low: figures.cautious_lower_bound().percentage_points(),
        middle: figures.churn.percentage_points(),
        high: figures.cautious_upper_bound() * 100.0,
        limits: marks(figures, decision),
    }
}

fn marks(figures: &KernelFigures, decision: &Decision) -> Vec<(f64, String)> {
    let of_kernel = |line: &&LineOutcome| line.kernel == figures.kernel;
    let blocking = decision.incompatible_when.iter().filter(of_kernel).map(|line| ("block", line));
    let passing = decision.compatible_when.iter().filter(of_kernel).map(|line| ("pass", line));
    blocking.chain(passing).filter_map(|(word, line)| mark(word, line)).collect()
}

/// A limit's place and name. Zero has its own line in the picture, and the rule is spelt out below it.
fn mark(word: &str, line: &LineOutcome) -> Option<(f64, String)> {
    let limit = rule::limit(line).filter(|limit| limit.units() != 0)?;
    Some((limit.value() * 100.0, format!("{word} {}", rule::against(line))))
}

fn explanation(analysis: &Analysis) -> String {
    let clusters = if analysis.kernels.iter().any(|figures| figures.clusters.is_some()) {
        " The bounds are the more cautious ones of resampling questions and of resampling their clusters; the interval \
         resamples questions."
    } else {
        ""
    };
    // Repeats are counted from answers: where nothing was asked, there are none to count.
    let asked = match (analysis.asked, analysis.repeats) {
        (0, _) => "No question was asked.".to_owned(),
        (asked, (old, new)) => format!("{} asked, {old} and {new} repeats.", numbers::counted(asked, "question")),
    };
    format!(
        "D̂ is agreement of repeats within a snapshot minus agreement across the two, so the noise of repeats is \
         already subtracted. {asked} The interval is two-sided, the bounds one-sided, all at {} confidence; the picture shows \
         the lower bound, D̂ and the upper bound.{clusters}",
        analysis.confidence
    )
}

fn unchanged(analysis: &Analysis) -> Option<String> {
    if analysis.unchanged == 0 {
        return None;
    }
    let churn = |figures: &KernelFigures| {
        figures.churn_asked.map(|churn| format!("{} pp {}", numbers::pp(churn), figures.kernel))
    };
    let asked: Vec<String> = analysis.kernels.iter().filter_map(churn).collect();
    let over_asked = if asked.is_empty() {
        String::new()
    } else {
        format!(" Over the asked ones alone, as within and cross are, D̂ is {}.", asked.join(" and "))
    };
    Some(format!(
        "{} of {} have byte-identical prompts in both snapshots and count as zero without being asked.{over_asked}",
        numbers::count(analysis.unchanged),
        numbers::counted(analysis.questions, "question")
    ))
}
