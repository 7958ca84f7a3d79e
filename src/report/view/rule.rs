//! The rule of the gate, line by line.

use crate::analyze::Analysis;
use crate::gate::LineOutcome;
use crate::model::{Fraction, PercentagePoints};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;
use crate::report::result::AuditResult;
use std::cmp::Ordering;

/// How many units of a limit make one percentage point.
const UNITS_IN_PP: i128 = PercentagePoints::UNITS_IN_ONE as i128 / 100;

/// A condition as the report words it: the figure's name, the comparison, and whether the line belongs to a rule
/// about D̂ itself.
pub(super) struct Condition {
    /// `D̂`, `lower bound`, `upper bound`.
    pub figure: &'static str,
    /// `≥`, `<`, `>`.
    pub comparison: &'static str,
}

/// The words for a condition's code.
pub(super) fn condition(line: &LineOutcome) -> Condition {
    let (figure, comparison) = match line.condition.as_str() {
        "at_least" => ("D̂", "≥"),
        "below" => ("D̂", "<"),
        "lower_bound_above" => ("lower bound", ">"),
        "upper_bound_below" => ("upper bound", "<"),
        _ => ("an unknown figure", "against"),
    };
    Condition { figure, comparison }
}

/// The limit of a line in percentage points, where it is one.
pub(super) fn limit(line: &LineOutcome) -> Option<PercentagePoints> {
    line.limit.parse().ok()
}

/// `≥ 3 pp`.
pub(super) fn against(line: &LineOutcome) -> String {
    let limit = limit(line).map_or_else(|| "–".to_owned(), numbers::limit);
    format!("{} {limit}", condition(line).comparison)
}

/// The figure of a line with as many decimals as it takes to see on which side of the limit it lies: a D̂ of
/// 2.9988 pp is never printed as 3.00 pp beside a limit of 3 pp.
pub(super) fn figure(line: &LineOutcome, analysis: &Analysis) -> String {
    let Some(limit) = limit(line) else { return numbers::float(line.figure_pp, numbers::DECIMALS) };
    match exact(line, analysis) {
        Some(share) => beside(share, limit),
        None => told(|decimals| numbers::float(line.figure_pp, decimals), limit, side_of_float(line.figure_pp, limit)),
    }
}

/// An exact figure with as many decimals as it takes to see on which side of a limit it lies.
pub(super) fn beside(share: Fraction, limit: PercentagePoints) -> String {
    told(|decimals| share.to_pp(decimals), limit, Some(share.compare(limit)))
}

fn told(shown: impl Fn(u32) -> String, limit: PercentagePoints, side: Option<Ordering>) -> String {
    let tells = |text: &String| side_of_text(text, limit) == side;
    let told = (numbers::DECIMALS..=numbers::MOST_DECIMALS).map(&shown).find(tells);
    told.unwrap_or_else(|| shown(numbers::DECIMALS))
}

/// The exact value behind a line's figure; the upper bound has none.
fn exact(line: &LineOutcome, analysis: &Analysis) -> Option<Fraction> {
    let figures = analysis.kernels.iter().find(|figures| figures.kernel == line.kernel)?;
    match line.condition.as_str() {
        "at_least" | "below" => Some(figures.churn),
        "lower_bound_above" => Some(figures.cautious_lower_bound()),
        _ => None,
    }
}

/// Whether a line's figure is a bound over clusters, the more cautious one.
pub(super) fn is_over_clusters(line: &LineOutcome, analysis: &Analysis) -> bool {
    let figures = analysis.kernels.iter().find(|figures| figures.kernel == line.kernel);
    figures.is_some_and(|figures| match line.condition.as_str() {
        "lower_bound_above" => figures.cautious_lower_bound() != figures.lower_bound,
        "upper_bound_below" => figures.cautious_upper_bound() > figures.upper_bound,
        _ => false,
    })
}

fn side_of_float(figure_pp: f64, limit: PercentagePoints) -> Option<Ordering> {
    figure_pp.partial_cmp(&(limit.value() * 100.0))
}

/// On which side of a limit a printed number stands, in integers: a limit has six decimals, and a figure may need more.
fn side_of_text(text: &str, limit: PercentagePoints) -> Option<Ordering> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let printed: i128 = format!("{whole}{decimals}").parse().ok()?;
    let scale = 10_i128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    Some((printed * UNITS_IN_PP).cmp(&(i128::from(limit.units()) * scale)))
}

/// Why a line cannot hold whatever its figure.
pub(super) fn void(line: &LineOutcome) -> Option<&'static str> {
    line.void.as_deref().map(|code| match code {
        "degenerate-kernel" => "cannot hold: this kernel sees no churn here",
        "out-of-reach" => "cannot hold: no number of questions gives such a bound",
        "too-few-questions" => "cannot hold: too few questions to prove it",
        "same-content" => "cannot hold: old and new have the same content",
        "too-few-clusters" => "cannot hold: too few clusters of questions to prove it",
        _ => "cannot hold",
    })
}

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    let decision = &result.decision;
    let rows = |rule, lines: &[LineOutcome]| -> Vec<_> {
        lines.iter().map(|line| row(rule, line, &result.analysis)).collect()
    };
    let mut all = rows("blocks", &decision.incompatible_when);
    all.extend(rows("passes", &decision.compatible_when));
    let columns = vec![
        ("rule", false),
        ("kernel", false),
        ("figure", false),
        ("value (pp)", true),
        ("must be", false),
        ("holds", false),
    ];
    let intro = "The gate blocks where every blocking line holds, else passes where every passing line holds, else is \
                 inconclusive. No subgroup, accuracy or overlap can change that.";
    let blocks = vec![Block::Paragraph(Line::ours(intro)), Block::Table(Table { columns, rows: all })];
    Section::new(Topic::Rule, teaser(result), blocks)
}

fn teaser(result: &AuditResult) -> String {
    let held = |lines: &[LineOutcome]| format!("{} of {}", lines.iter().filter(|line| line.holds).count(), lines.len());
    let decision = &result.decision;
    format!(
        "{} blocking lines hold, {} passing lines hold",
        held(&decision.incompatible_when),
        held(&decision.compatible_when)
    )
}

fn row<'a>(rule: &'static str, line: &LineOutcome, analysis: &Analysis) -> Vec<Line<'a>> {
    let holds = void(line).unwrap_or(if line.holds { "yes" } else { "no" });
    let cells = [
        rule.to_owned(),
        line.kernel.to_string(),
        condition(line).figure.to_owned(),
        figure(line, analysis),
        against(line),
        holds.to_owned(),
    ];
    cells.into_iter().map(Line::ours).collect()
}
