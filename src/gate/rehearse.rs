//! How often a rule blocks and passes, in audits drawn from a known law: its false-block and false-pass rates before
//! anything is spent.

use super::line::limit;
use crate::analyze::bootstrap::{Contrasts, lies_above};
use crate::analyze::rehearsal::{Drawn, Joint, audits};
use crate::analyze::{AnalyzeError, dirichlet, power};
use crate::model::{Confidence, Fraction, Kernel};
use crate::spec::{Condition, GateLine, GateSpec};
use std::cmp::Ordering;

/// The lattice of two repeats, to which the laws belong.
const UNITS: u64 = 4;
/// The repeats of these laws.
const REPEATS: (u32, u32) = (2, 2);

/// Verdicts of rehearsed audits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    /// Audits drawn.
    pub audits: u32,
    /// Those that the rule blocked.
    pub blocked: u32,
    /// Those that it passed with proof.
    pub passed: u32,
}

/// Draws audits of this many questions from a law and applies the rule to each, as [`super::decide`] would (clusters and
/// degenerate kernels aside).
///
/// # Errors
/// [`AnalyzeError::NoQuestions`] without questions, [`AnalyzeError::TooLarge`] where the law of so many does not fit memory.
///
/// ```
/// use churngate::{analyze::{planning::Scenario, rehearsal::Change}, gate::rehearse, spec::GateSpec};
/// let law = Scenario::TriviaQaLike.joint(Change::Nothing);
/// let rehearsal = rehearse(&GateSpec::published(), "95%".parse().unwrap(), 200, &law, 100)?;
/// assert!(rehearsal.blocked <= 5 && rehearsal.passed >= 90);
/// # Ok::<(), churngate::analyze::AnalyzeError>(())
/// ```
pub fn rehearse(
    gate: &GateSpec,
    confidence: Confidence,
    questions: u64,
    law: &[Joint],
    times: u32,
) -> Result<Rehearsal, AnalyzeError> {
    let mut rehearsal = Rehearsal { audits: times, ..Rehearsal::default() };
    for audit in audits(law, questions, times) {
        let rehearsed = Rehearsed { audit, questions, confidence };
        if rehearsed.all_hold(&gate.incompatible_when)? {
            rehearsal.blocked += 1;
        } else if rehearsed.all_hold(&gate.compatible_when)? {
            rehearsal.passed += 1;
        }
    }
    Ok(rehearsal)
}

struct Rehearsed {
    audit: Drawn,
    questions: u64,
    confidence: Confidence,
}

impl Rehearsed {
    /// Whether there are lines and each holds; those about D̂ are looked at first, since they cost nothing.
    fn all_hold(&self, rule: &[GateLine]) -> Result<bool, AnalyzeError> {
        let cheap = |line: &&GateLine| matches!(line.condition, Condition::AtLeast(_) | Condition::Below(_));
        let ordered = rule.iter().filter(cheap).chain(rule.iter().filter(|line| !cheap(line)));
        for line in ordered {
            if !self.holds(line)? {
                return Ok(false);
            }
        }
        Ok(!rule.is_empty())
    }

    fn holds(&self, line: &GateLine) -> Result<bool, AnalyzeError> {
        let contrasts = match line.kernel {
            Kernel::Exact => &self.audit.exact,
            Kernel::Semantic => &self.audit.semantic,
        };
        let alpha = self.confidence.alpha();
        let churn = Fraction { numerator: total(contrasts), denominator: UNITS * self.questions };
        let limit = limit(line.condition);
        Ok(match line.condition {
            Condition::AtLeast(_) => churn.compare(limit) != Ordering::Less,
            Condition::Below(_) => churn.compare(limit) == Ordering::Less,
            Condition::LowerBoundAbove(_) => {
                self.questions >= power::fewest_for_lower_bound(REPEATS, limit.value(), alpha)
                    && lies_above(contrasts, limit.units_below(churn.denominator), self.confidence)?
            }
            Condition::UpperBoundBelow(_) => {
                churn.compare(limit) == Ordering::Less
                    && power::fewest_for_upper_bound(limit.value(), alpha)
                        .is_some_and(|fewest| self.questions >= fewest)
                    && dirichlet::is_below(&shares(contrasts), 1.0, alpha, limit.value())
            }
        })
    }
}

fn total(contrasts: &Contrasts) -> i64 {
    contrasts.iter().map(|(value, count)| value.saturating_mul(count.cast_signed())).sum()
}

#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
fn shares(contrasts: &Contrasts) -> Vec<(f64, u64)> {
    contrasts.iter().map(|(value, count)| (*value as f64 / UNITS as f64, *count)).collect()
}
