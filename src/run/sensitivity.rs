//! What an audit could see, before anything is spent.

use super::Prepared;
use crate::analyze::planning::Scenario;
use crate::analyze::power::{self, Moments};
use crate::analyze::rehearsal::Change;
use crate::freeze::Protocol;
use crate::gate::{self, Rehearsal};
use crate::model::{Kernel, PercentagePoints};
use crate::spec::{Condition, GateSpec};

/// The standard deviation of a question's contrast where nothing changed, for two repeats: that of answers as varied as
/// those of a study of open questions with a language model. Used before there is a run to measure it from.
const NOISE: f64 = 0.171;
/// Audits that are rehearsed for every question about the rule, and how many of many questions.
const REHEARSED: (u32, u32) = (400, 100);
/// More questions than these are many.
const MANY: u64 = 2_000;

/// What a sample of this size can and cannot show, a sentence each: the smallest churn that is likely to be seen, the limits
/// that so few questions cannot prove, and how often the rule errs. Hundreds of audits are rehearsed for it, so it is worked
/// out only where somebody reads it.
#[must_use]
pub fn sensitivity(prepared: &Prepared) -> Vec<String> {
    let protocol = &prepared.protocol;
    let questions = protocol.questions.len() as u64;
    let alpha = protocol.spec.bootstrap.confidence.alpha();
    let moments = Moments { questions, mean: 0.0, variance: NOISE * NOISE };
    let smallest = 100.0 * power::power(moments, alpha).smallest_detectable;
    let mut sentences = vec![format!(
        "an excess churn of {smallest:.1} pp would be seen in 4 of 5 such audits, if repeats vary as open questions do"
    )];
    for line in &protocol.spec.gate.compatible_when {
        let Condition::UpperBoundBelow(limit) = line.condition else { continue };
        match power::fewest_for_upper_bound(limit.value(), alpha) {
            Some(fewest) if fewest > questions => sentences.push(format!(
                "warning: `compatible` is out of reach: an upper bound below {limit} takes at least {fewest} questions"
            )),
            Some(_) => {}
            None => sentences.push(format!("warning: `compatible` is out of reach: no upper bound is below {limit}")),
        }
    }
    sentences.extend(without_proof(&protocol.spec.gate));
    sentences.extend(blind_to_paragraphs(protocol));
    let kinds = [("open questions", Scenario::NaturalQuestionsLike), ("trivia", Scenario::TriviaQaLike)];
    sentences.extend(kinds.into_iter().filter_map(|(name, answers)| rates(protocol, name, answers)));
    sentences
}

/// A D̂ below a limit is what a sample shows, and no proof.
fn without_proof(gate: &GateSpec) -> Option<String> {
    let proves = gate.compatible_when.iter().all(|line| matches!(line.condition, Condition::UpperBoundBelow(_)));
    (!proves).then(|| {
        "warning: a line of `gate.compatible_when` is no `upper_bound_below`: this rule passes what it has not proved".to_owned()
    })
}

/// Deployed systems answer in paragraphs, which hardly ever come twice to the letter.
fn blind_to_paragraphs(protocol: &Protocol) -> Option<String> {
    let exact = protocol.spec.gate.incompatible_when.iter().any(|line| line.kernel == Kernel::Exact);
    (exact && protocol.spec.retrieve.is_within()).then(|| {
        "warning: a line of `gate.incompatible_when` is about `exact`: where the system answers in paragraphs it cannot hold, \
         and the rule never blocks; docs/black-box.md has a rule on `semantic` alone"
            .to_owned()
    })
}

/// How often this rule errs at this number of questions, where answers vary as in one of the studies; absent where it cannot
/// be rehearsed.
fn rates(protocol: &Protocol, name: &str, answers: Scenario) -> Option<String> {
    let gate = &protocol.spec.gate;
    let questions = protocol.questions.len() as u64;
    let times = if questions > MANY { REHEARSED.1 } else { REHEARSED.0 };
    let rehearsed = |change| {
        let law = answers.joint(change);
        gate::rehearse(gate, protocol.spec.bootstrap.confidence, questions, &law, times).ok()
    };
    let (same, reworded) = (rehearsed(Change::Nothing)?, rehearsed(Change::Wording)?);
    let alpha = protocol.spec.bootstrap.confidence.alpha();
    let alarms = f64::from(same.blocked) > 2.0 * alpha * f64::from(times);
    let warning = if alarms { "warning: " } else { "" };
    let percent = |count: u32| format!("{:.1}%", 100.0 * f64::from(count) / f64::from(times));
    let passing = passing_limit(gate).and_then(|limit| {
        let at_limit: Rehearsal = rehearsed(Change::Meaning(limit.value()))?;
        Some(format!("; passes {} at a true churn of {limit}, where to pass is false", percent(at_limit.passed)))
    });
    Some(format!(
        "{warning}answers that vary like {name}: this rule blocks {} of unchanged indexes and {} where only the wording changed; it \
         passes {} of unchanged ones{} ({times} audits rehearsed with two repeats)",
        percent(same.blocked),
        percent(reworded.blocked),
        percent(same.passed),
        passing.unwrap_or_default()
    ))
}

/// The smallest limit below which the rule proves churn to be.
fn passing_limit(gate: &GateSpec) -> Option<PercentagePoints> {
    let limits = gate.compatible_when.iter().filter_map(|line| match line.condition {
        Condition::UpperBoundBelow(limit) => Some(limit),
        _ => None,
    });
    limits.min().filter(|limit| limit.units() > 0)
}
