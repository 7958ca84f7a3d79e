//! The rule: a conjunction for each verdict.

use super::{Decision, LineOutcome, Verdict, line};
use crate::analyze::Analysis;
use crate::spec::{GateLine, GateSpec, Inconclusive};

/// Applies the rule to the figures.
///
/// A verdict needs every line of its rule (intersection-union: each false verdict has probability at most alpha, without
/// correction). A rule without lines never holds. Where both rules hold, the block wins. A line on a degenerate kernel, unless it
/// would hold even if every question asked had changed, or one that no figure of so few questions could meet, is void: it does not
/// hold, so its rule does not either.
///
/// How many questions would decide takes more than the figures: [`super::questions_to_decide`] tells.
#[must_use]
pub fn decide(analysis: &Analysis, gate: &GateSpec) -> Decision {
    let incompatible_when = outcomes(&gate.incompatible_when, analysis);
    let compatible_when = outcomes(&gate.compatible_when, analysis);
    let verdict =
        match (holds(&gate.incompatible_when, &incompatible_when), holds(&gate.compatible_when, &compatible_when)) {
            (true, _) => Verdict::Incompatible,
            (false, true) => Verdict::Compatible,
            (false, false) => Verdict::Inconclusive,
        };
    Decision {
        verdict,
        incompatible_when,
        compatible_when,
        inconclusive: word(gate.inconclusive).to_owned(),
        questions_to_decide: None,
    }
}

fn outcomes(rule: &[GateLine], analysis: &Analysis) -> Vec<LineOutcome> {
    rule.iter().filter_map(|line| line::judge(line, analysis)).collect()
}

/// Whether there are lines, each was judged, and each holds.
fn holds(rule: &[GateLine], outcomes: &[LineOutcome]) -> bool {
    !rule.is_empty() && rule.len() == outcomes.len() && outcomes.iter().all(|outcome| outcome.holds)
}

const fn word(inconclusive: Inconclusive) -> &'static str {
    match inconclusive {
        Inconclusive::Pass => "pass",
        Inconclusive::Warn => "warn",
        Inconclusive::Fail => "fail",
    }
}
