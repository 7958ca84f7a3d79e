//! The few words that name a verdict outside the report.

use crate::report::{AuditResult, Verdict};
use std::fmt::Write as _;

/// What a verdict does to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It passes.
    Pass,
    /// It passes, with a warning.
    Warn,
    /// It decides nothing, and does not mean to.
    Told,
    /// It does not pass.
    Block,
    /// There is no verdict: neither.
    Error,
}

/// What the verdict does by its own rule. An exploratory one neither blocks nor passes.
#[must_use]
pub fn standing(result: &AuditResult, exploratory: bool) -> Standing {
    if exploratory {
        return Standing::Warn;
    }
    let passes = result.decision.verdict == Verdict::Compatible || result.decision.inconclusive == "pass";
    match (result.fails(), passes || result.same_content) {
        (true, _) => Standing::Block,
        (false, true) => Standing::Pass,
        (false, false) => Standing::Warn,
    }
}

/// The verdict's word.
#[must_use]
pub const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Compatible => "compatible",
        Verdict::Incompatible => "incompatible",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// One line: verdict, D̂ of each kernel, stable flips.
#[must_use]
pub fn line(result: &AuditResult, exploratory: bool) -> String {
    let exploratory = if exploratory { "exploratory, " } else { "" };
    let replayed = if result.is_replay() { "replayed, " } else { "" };
    let mut line = format!("{exploratory}{replayed}{}: D\u{302}", word(result.decision.verdict));
    for (number, figures) in result.analysis.kernels.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _infallible = write!(line, "{comma} {} {} pp", figures.kernel, figures.churn.to_pp(2));
    }
    let (flips, questions) = (result.analysis.flips.len(), result.analysis.questions);
    let word = if flips == 1 { "flip" } else { "flips" };
    let _infallible = write!(line, "; {flips} stable {word} of {questions} questions");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;

    #[test]
    fn the_line_names_verdict_churn_and_flips() {
        insta::assert_snapshot!(line(&blocking(), false), @"incompatible: D̂ exact 6.44 pp, semantic 10.25 pp; 1 stable flip of 400 questions");
        assert!(line(&blocking(), true).starts_with("exploratory, incompatible: "));
    }

    #[test]
    fn an_inconclusive_verdict_stands_by_its_rule() {
        let mut result = blocking();
        assert_eq!(standing(&result, false), Standing::Block);
        result.decision.verdict = Verdict::Compatible;
        assert_eq!(standing(&result, false), Standing::Pass);
        result.decision.verdict = Verdict::Inconclusive;
        for (rule, expected) in [("pass", Standing::Pass), ("warn", Standing::Warn), ("fail", Standing::Block)] {
            rule.clone_into(&mut result.decision.inconclusive);
            assert_eq!(standing(&result, false), expected);
            assert_eq!(standing(&result, true), Standing::Warn);
        }
    }

    #[test]
    fn what_has_nothing_to_compare_holds_up_nobody() {
        let mut result = blocking();
        result.decision.verdict = Verdict::Inconclusive;
        "fail".clone_into(&mut result.decision.inconclusive);
        result.same_content = true;
        assert!(!result.fails());
        assert_eq!(standing(&result, false), Standing::Pass);
        // What differs all the same does not pass.
        result.decision.verdict = Verdict::Incompatible;
        assert_eq!(standing(&result, false), Standing::Block);
    }
}
