//! The one place where what was counted becomes a decision, for runs and for answers made elsewhere.

use crate::analyze::{Accumulator, Analysis, AnalyzeError};
use crate::gate::{self, Decision};
use crate::spec::GateSpec;

/// The figures of an audit and what the rule makes of them.
#[derive(Debug)]
pub(super) struct Analyzed {
    pub analysis: Analysis,
    pub decision: Decision,
    /// Whether old and new have the same content.
    pub same_content: bool,
}

/// Every figure, the verdict, and how many questions would decide where nothing did. Where old and new have the same content, no
/// line of the rule holds.
///
/// # Errors
/// Those of [`Accumulator::finish`].
pub(super) fn decide(
    accumulator: Accumulator<'_>,
    rule: &GateSpec,
    same_content: bool,
) -> Result<Analyzed, AnalyzeError> {
    let laws = accumulator.laws();
    let analysis = accumulator.finish()?;
    let mut decision = gate::decide(&analysis, rule);
    if same_content {
        decision = decision.of_the_same_content();
    } else {
        decision.questions_to_decide = gate::questions_to_decide(&decision, &analysis, &laws, rule);
    }
    Ok(Analyzed { analysis, decision, same_content })
}
