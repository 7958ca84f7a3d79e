//! How many questions would decide an inconclusive audit.

use super::line::{figures, judge, limit};
use crate::analyze::{Analysis, KernelFigures, power};
use crate::spec::{Condition, GateLine, GateSpec};
use std::cmp::Ordering;

/// The smaller of what either rule needs, where D̂ and its spread stay as observed.
pub(super) fn questions(analysis: &Analysis, gate: &GateSpec) -> Option<u64> {
    let rules = [&gate.incompatible_when, &gate.compatible_when];
    rules.into_iter().filter_map(|rule| for_rule(rule, analysis)).min()
}

/// What the neediest line needs; `None` where some line cannot come to hold, or there is no line.
fn for_rule(rule: &[GateLine], analysis: &Analysis) -> Option<u64> {
    let each = rule.iter().map(|line| for_line(line, analysis)).collect::<Option<Vec<u64>>>()?;
    each.into_iter().max().map(|needed| needed.max(analysis.questions + 1))
}

fn for_line(line: &GateLine, analysis: &Analysis) -> Option<u64> {
    if judge(line, analysis)?.holds {
        return Some(analysis.questions);
    }
    let figures = figures(line, analysis).filter(|figures| !figures.degenerate)?;
    let alpha = analysis.confidence.alpha();
    let order = figures.churn.compare(limit(line.condition));
    let limit = limit(line.condition).value();
    let by_spread = || power::questions_needed(figures.spread, distance(figures, limit), alpha);
    match (line.condition, order) {
        (Condition::LowerBoundAbove(_), Ordering::Greater) => by_spread(),
        (Condition::UpperBoundBelow(_), Ordering::Less) => {
            Some(by_spread()?.max(power::fewest_for_upper_bound(limit, alpha)?))
        }
        _ => None,
    }
}

fn distance(figures: &KernelFigures, limit: f64) -> f64 {
    figures.churn.value() - limit
}
