//! One line of a rule against the figures.

use super::LineOutcome;
use crate::analyze::{Analysis, KernelFigures, power, significant};
use crate::model::{Fraction, Kernel, PercentagePoints};
use crate::spec::{Condition, GateLine};
use std::cmp::Ordering;

/// The kernel's agreement is so low that churn cannot be seen by it.
const DEGENERATE: &str = "degenerate-kernel";
/// No figure of so few questions could meet the limit.
const TOO_FEW: &str = "too-few-questions";
/// No number of questions gives such a bound: its limit lies where no bound can.
const OUT_OF_REACH: &str = "out-of-reach";
/// The same, of clusters.
const TOO_FEW_CLUSTERS: &str = "too-few-clusters";

/// Judges one line; `None` where the analysis has no figures of its kernel.
pub(super) fn judge(line: &GateLine, analysis: &Analysis) -> Option<LineOutcome> {
    let figures = figures(line, analysis)?;
    let void = void(line, figures, analysis);
    let figure_pp = figure_pp(line.condition, figures);
    Some(LineOutcome {
        kernel: line.kernel,
        condition: name(line.condition).to_owned(),
        limit: limit(line.condition).to_string(),
        figure_pp,
        margin_pp: Some(margin_pp(line.condition, figure_pp)),
        holds: void.is_none() && meets(line.condition, figures),
        void: void.map(str::to_owned),
    })
}

/// Whether churn is shown under this kernel: its lower bound lies above zero, and the bound is one that can be taken at its word.
#[must_use]
pub fn shows_churn(kernel: Kernel, analysis: &Analysis) -> bool {
    let above_zero = GateLine { kernel, condition: Condition::LowerBoundAbove(PercentagePoints::from_units(0)) };
    judge(&above_zero, analysis).is_some_and(|outcome| outcome.holds)
}

/// The figures of the line's kernel.
pub(super) fn figures<'a>(line: &GateLine, analysis: &'a Analysis) -> Option<&'a KernelFigures> {
    analysis.kernels.iter().find(|figures| figures.kernel == line.kernel)
}

/// The limit of a condition.
pub(super) const fn limit(condition: Condition) -> PercentagePoints {
    match condition {
        Condition::AtLeast(limit)
        | Condition::Below(limit)
        | Condition::LowerBoundAbove(limit)
        | Condition::UpperBoundBelow(limit) => limit,
    }
}

const fn name(condition: Condition) -> &'static str {
    match condition {
        Condition::AtLeast(_) => "at_least",
        Condition::Below(_) => "below",
        Condition::LowerBoundAbove(_) => "lower_bound_above",
        Condition::UpperBoundBelow(_) => "upper_bound_below",
    }
}

fn figure_pp(condition: Condition, figures: &KernelFigures) -> f64 {
    match condition {
        Condition::AtLeast(_) | Condition::Below(_) => figures.churn.percentage_points(),
        Condition::LowerBoundAbove(_) => figures.cautious_lower_bound().percentage_points(),
        Condition::UpperBoundBelow(_) => figures.cautious_upper_bound() * 100.0,
    }
}

/// How far the figure lies on the wanted side of the limit.
fn margin_pp(condition: Condition, figure_pp: f64) -> f64 {
    let beyond = figure_pp - limit(condition).value() * 100.0;
    match condition {
        Condition::AtLeast(_) | Condition::LowerBoundAbove(_) => significant(beyond),
        Condition::Below(_) | Condition::UpperBoundBelow(_) => significant(-beyond),
    }
}

/// Compares D̂ and the lower bound as integers; the upper bound is a real number.
fn meets(condition: Condition, figures: &KernelFigures) -> bool {
    match condition {
        Condition::AtLeast(limit) => figures.churn.compare(limit) != Ordering::Less,
        Condition::Below(limit) => figures.churn.compare(limit) == Ordering::Less,
        Condition::LowerBoundAbove(limit) => figures.cautious_lower_bound().compare(limit) == Ordering::Greater,
        Condition::UpperBoundBelow(limit) => figures.cautious_upper_bound() < limit.value(),
    }
}

fn void(line: &GateLine, figures: &KernelFigures, analysis: &Analysis) -> Option<&'static str> {
    if figures.degenerate && !is_below_at_worst(line.condition, figures, analysis) {
        return Some(DEGENERATE);
    }
    let Least { fewest, questions, clusters } = fewest(line.condition, figures, analysis)?;
    let Some(fewest) = fewest else { return Some(OUT_OF_REACH) };
    let enough = |there: u64| there >= fewest;
    match clusters {
        _ if !enough(questions) => Some(TOO_FEW),
        Some(clusters) if !enough(clusters) => Some(TOO_FEW_CLUSTERS),
        _ => None,
    }
}

/// Whether a passing line holds even if every question that was asked changed wholly: then it does not matter that nothing could be
/// seen in them.
fn is_below_at_worst(condition: Condition, figures: &KernelFigures, analysis: &Analysis) -> bool {
    match condition {
        Condition::AtLeast(_) | Condition::LowerBoundAbove(_) => false,
        Condition::Below(limit) => i64::try_from(analysis.asked).is_ok_and(|asked| {
            Fraction { numerator: asked, denominator: analysis.questions }.compare(limit) == Ordering::Less
        }),
        // The upper bound of a degenerate kernel takes them so.
        Condition::UpperBoundBelow(_) => meets(condition, figures),
    }
}

/// How many questions, or clusters of them, a bound needs before it can mean anything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// So many; `None` where no number is enough.
    pub fewest: Option<u64>,
    /// The questions that count here.
    pub questions: u64,
    /// The clusters that count here, where the bound is over clusters as well.
    pub clusters: Option<u64>,
}

/// What the bound of a condition needs, and what there is of it; `None` where the condition needs nothing.
pub(super) fn fewest(condition: Condition, figures: &KernelFigures, analysis: &Analysis) -> Option<Least> {
    let alpha = analysis.confidence.alpha();
    let clusters = figures.clusters.as_ref();
    match condition {
        Condition::AtLeast(_) | Condition::Below(_) => None,
        // Without a question that was asked the bound is zero, and its comparison says all there is to say.
        Condition::LowerBoundAbove(_) if analysis.asked == 0 => None,
        Condition::LowerBoundAbove(limit) => {
            let fewest = power::fewest_for_lower_bound(analysis.repeats, limit.value(), alpha);
            let fewest = Some(fewest).filter(|fewest| *fewest < u64::MAX);
            Some(Least { fewest, questions: analysis.asked, clusters: clusters.map(|clusters| clusters.asked) })
        }
        // With no churn at all the bound is 1 - alpha^(1/N), and over clusters no less than that of so many questions. Negative
        // contrasts could bring it lower, but no rule may rest on them.
        Condition::UpperBoundBelow(limit) => {
            let fewest = power::fewest_for_upper_bound(limit.value(), alpha);
            Some(Least { fewest, questions: analysis.questions, clusters: clusters.map(|clusters| clusters.clusters) })
        }
    }
}
