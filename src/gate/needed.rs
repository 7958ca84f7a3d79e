//! How many questions would decide an inconclusive audit.

use super::Verdict;
use super::decision::Decision;
use super::line::{Least, fewest, figures, judge, limit};
use crate::analyze::Analysis;
use crate::analyze::outlook::{Claim, Law, Outlook};
use crate::analyze::power::POWER;
use crate::model::Kernel;
use crate::spec::{Condition, GateLine, GateSpec};

/// No audit asks more questions than this.
const MOST: u64 = 100_000_000;
/// A number that is told with `about` may be too large by one part in so many.
const ABOUT: u64 = 200;
/// A number is told that will do with a tenth more questions as well.
const MORE: u64 = 10;
/// How lines of two kernels may share the audits that they fail in, in parts of all those: nobody knows how they fail together.
const SHARED: [[f64; 2]; 3] = [[0.05, 0.95], [0.5, 0.5], [0.95, 0.05]];

/// How many questions in all would decide what is undecided: so many that audits drawn from the frequencies that were seen keep
/// one of the rules in 80% of cases. Nothing where it cannot be said.
///
/// `laws` are those of the accumulator that the analysis came from.
#[must_use]
pub fn questions_to_decide(decision: &Decision, analysis: &Analysis, laws: &[Law], gate: &GateSpec) -> Option<u64> {
    let rules = [&gate.incompatible_when, &gate.compatible_when];
    let undecided = decision.verdict == Verdict::Inconclusive;
    rules.into_iter().filter(|_| undecided).filter_map(|rule| for_rule(rule, analysis, laws)).min()
}

/// The least number at which all lines of a rule hold; `None` where some line cannot come to hold, or there is no line.
fn for_rule(rule: &[GateLine], analysis: &Analysis, laws: &[Law]) -> Option<u64> {
    let lines = rule.iter().map(|line| Line::of(line, analysis, laws)).collect::<Option<Vec<Vec<Line>>>>()?.concat();
    let fewest = lines.iter().map(|line| line.fewest).max()?;
    let first = fewest.max(analysis.questions + 1);
    let kernels: Vec<Vec<&Line>> = laws
        .iter()
        .map(|law| lines.iter().filter(|line| line.kernel == law.kernel).collect::<Vec<&Line>>())
        .filter(|lines| !lines.is_empty())
        .collect();
    let holds = |questions: u64| all_hold(&kernels, questions, analysis);
    // Counts come in whole flips, so that a few questions more may do worse: not what happens to do, but what does from there on.
    let holds_from = |questions: u64| Some(holds(questions)? && holds(questions + questions / MORE)?);
    // What ought to hold already, and does not, is beyond what frequencies can tell.
    if fewest <= analysis.questions && holds(analysis.questions)? {
        return None;
    }
    least(first, holds_from)
}

/// Whether all lines hold together in 80% of audits of so many questions. Those of one kernel fail together.
fn all_hold(kernels: &[Vec<&Line>], questions: u64, analysis: &Analysis) -> Option<bool> {
    let failing = 1.0 - POWER;
    let with = |parts: &[f64]| {
        let mut each = kernels.iter().zip(parts).flat_map(|(lines, part)| lines.iter().map(move |line| (line, part)));
        each.try_fold(true, |all, (line, part)| Some(all && line.holds(questions, 1.0 - failing * part, analysis)?))
    };
    if kernels.len() < 2 {
        return with(&[1.0]);
    }
    SHARED.iter().try_fold(false, |any, parts| Some(any || with(parts)?))
}

/// The least number from the first on at which something holds, or one that is larger by half a percent at most.
fn least(first: u64, holds: impl Fn(u64) -> Option<bool>) -> Option<u64> {
    let (mut low, mut high) = (first - 1, first);
    while !holds(high)? {
        (low, high) = (high, high.checked_mul(2).filter(|high| *high <= MOST)?);
    }
    while high - low > 1 + high / ABOUT {
        let middle = low + (high - low) / 2;
        if holds(middle)? { high = middle } else { low = middle }
    }
    Some(high)
}

/// A line of a rule, over questions or over clusters.
#[derive(Clone, Debug)]
struct Line {
    kernel: Kernel,
    claim: Claim,
    outlook: Outlook,
    /// Rows of which audits of the present size have as many.
    rows: u64,
    /// With fewer questions it is void.
    fewest: u64,
}

impl Line {
    /// A line as it is over questions and over clusters; `None` where it cannot come to hold, and empty where it holds whatever
    /// is seen.
    fn of(line: &GateLine, analysis: &Analysis, laws: &[Law]) -> Option<Vec<Self>> {
        let law = laws.iter().find(|law| law.kernel == line.kernel)?;
        let figures = figures(line, analysis)?;
        if figures.degenerate {
            return judge(line, analysis)?.holds.then(Vec::new);
        }
        let claim = match line.condition {
            Condition::AtLeast(_) => Claim::AtLeast,
            Condition::Below(_) => Claim::Below,
            Condition::LowerBoundAbove(_) => Claim::LowerBoundAbove,
            Condition::UpperBoundBelow(_) => Claim::UpperBoundBelow,
        };
        let least = fewest(line.condition, figures, analysis).map_or(Some(0), |fewest| by_number(fewest, analysis))?;
        let each = law.by.iter().map(|by| {
            let rows = if claim == Claim::UpperBoundBelow { &by.worst } else { &by.seen };
            let outlook = Outlook::new(rows, law.units, limit(line.condition))?;
            Some(Self { kernel: line.kernel, claim, outlook, rows: rows.values().sum(), fewest: least })
        });
        each.collect()
    }

    /// Whether it holds in this share of audits of so many questions.
    fn holds(&self, questions: u64, share: f64, analysis: &Analysis) -> Option<bool> {
        let rows = u128::from(self.rows) * u128::from(questions) / u128::from(analysis.questions);
        self.outlook.holds(self.claim, u64::try_from(rows).ok()?.max(1), share, analysis.confidence).ok()
    }
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
