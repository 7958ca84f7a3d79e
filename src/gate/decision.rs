//! The verdict and its reasons, as plain data.

use crate::model::Kernel;
use serde::{Deserialize, Serialize};

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every line of the passing rule holds: proved to be below the limit where the rule asks for the upper bound, and no more
    /// than seen below it where it asks for the figure alone.
    Compatible,
    /// Every line of the blocking rule holds, whatever the passing one says.
    Incompatible,
    /// Neither.
    Inconclusive,
}

/// The verdict with its reasons: reports only render it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The lines of the blocking rule.
    pub incompatible_when: Vec<LineOutcome>,
    /// The lines of the passing rule.
    pub compatible_when: Vec<LineOutcome>,
    /// Whether an inconclusive verdict passes, warns or fails: `pass`, `warn` or `fail`.
    pub inconclusive: String,
    /// How many questions in all would decide, in 80% of audits with the frequencies that were seen, where the verdict is
    /// inconclusive and it can be said: not where old and new have the same content. Always more than were asked.
    pub questions_to_decide: Option<u64>,
}

/// Why no line can hold where old and new have the same content.
const SAME_CONTENT: &str = "same-content";

impl Decision {
    /// The decision where old and new have the same content. No line of either rule holds: whatever the figures are, they show
    /// nothing but how answers vary, and no number of questions would show more.
    #[must_use]
    pub fn of_the_same_content(mut self) -> Self {
        for line in self.incompatible_when.iter_mut().chain(&mut self.compatible_when) {
            line.holds = false;
            line.void = Some(SAME_CONTENT.to_owned());
        }
        Self { verdict: Verdict::Inconclusive, questions_to_decide: None, ..self }
    }
}

/// One line of a rule and whether it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineOutcome {
    /// The kernel.
    pub kernel: Kernel,
    /// `at_least`, `below`, `lower_bound_above` or `upper_bound_below`.
    pub condition: String,
    /// The limit, such as `3pp`.
    pub limit: String,
    /// The figure it was compared with, in percentage points (the nearest `f64`; the comparison of D̂ and of the lower
    /// bound is exact).
    pub figure_pp: f64,
    /// By how much the figure lies on the side of the limit that the line asks for, in percentage points: negative where it
    /// lies on the other side. Absent in results of programs that did not tell it.
    pub margin_pp: Option<f64>,
    /// Whether the line holds.
    pub holds: bool,
    /// Why it cannot hold whatever the figure, where that is so: `degenerate-kernel`, `too-few-questions`, `too-few-clusters`,
    /// `out-of-reach` (no number of questions gives such a bound), `same-content`.
    pub void: Option<String>,
}
