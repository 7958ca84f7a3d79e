//! How many questions would decide an inconclusive audit.

use super::line::{Least, fewest, figures, judge, limit};
use crate::analyze::{Analysis, KernelFigures, power};
use crate::spec::{Condition, GateLine, GateSpec};

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
    let (churn, spread) = bounded(line.condition, figures, analysis);
    let distance = churn - limit(line.condition).value();
    let can = match line.condition {
        Condition::LowerBoundAbove(_) => distance > 0.0,
        Condition::UpperBoundBelow(_) => distance < 0.0,
        Condition::AtLeast(_) | Condition::Below(_) => false,
    };
    let by_spread = power::questions_needed(spread, distance, analysis.confidence.alpha()).filter(|_| can)?;
    let at_least = fewest(line.condition, figures, analysis).map_or(Some(0), |fewest| by_number(fewest, analysis));
    Some(by_spread.max(at_least?))
}

/// The questions at which there are enough of those that count, and of clusters, where their shares stay as they are.
fn by_number(Least { fewest, questions, clusters }: Least, analysis: &Analysis) -> Option<u64> {
    let all = |counting: u64| {
        let scaled = u128::from(analysis.questions) * u128::from(fewest?);
        u64::try_from(scaled.checked_div(u128::from(counting))? + u128::from(scaled % u128::from(counting) > 0)).ok()
    };
    let by_question = all(questions)?;
    clusters.map_or(Some(by_question), |clusters| Some(all(clusters)?.max(by_question)))
}

/// D̂ and its spread as the bound of a condition takes them, the spread over clusters where that is larger: the upper bound with
/// the questions that were left out, each as one that changed wholly.
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
fn bounded(condition: Condition, figures: &KernelFigures, analysis: &Analysis) -> (f64, f64) {
    let over_clusters = figures.clusters.as_ref().map_or(0.0, |clusters| clusters.spread);
    let (churn, spread) = (figures.churn.value(), figures.spread.max(over_clusters));
    if !matches!(condition, Condition::UpperBoundBelow(_)) {
        return (churn, spread);
    }
    let left_out = analysis.left_out as f64 / (analysis.questions + analysis.left_out) as f64;
    let between = left_out * (1.0 - left_out) * (1.0 - churn).powi(2);
    (churn + left_out * (1.0 - churn), ((1.0 - left_out) * spread.powi(2) + between).sqrt())
}
