//! What an audit could see, before anything is spent.

use super::Prepared;
use crate::analyze::planning::Scenario;
use crate::analyze::power::{self, Clustered, Moments};
use crate::analyze::rehearsal::Change;
use crate::freeze::Protocol;
use crate::gate::{self, Rehearsal};
use crate::model::{Kernel, PercentagePoints};
use crate::spec::{Condition, GateLine, GateSpec};
use std::collections::BTreeMap;

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
    let sample = Sample::of(protocol);
    let mut sentences = vec![detectable(protocol, &sample)];
    sentences.extend(out_of_reach(protocol, &sample));
    sentences.extend(without_proof(&protocol.spec.gate));
    sentences.extend(blind_to_paragraphs(protocol));
    if let Some((clusters, _)) = sample.clusters {
        sentences.push(format!(
            "how often this rule errs is not rehearsed: the questions come in {clusters} clusters, and how they vary together \
             is not known"
        ));
        return sentences;
    }
    let kinds = [("open questions", Scenario::NaturalQuestionsLike), ("trivia", Scenario::TriviaQaLike)];
    sentences.extend(kinds.into_iter().filter_map(|(name, answers)| rates(protocol, name, answers)));
    sentences
}

/// What bounds are taken over.
struct Sample {
    questions: u64,
    /// Clusters, where there are two or more, and the mean over questions of the size of theirs.
    clusters: Option<(u64, f64)>,
}

impl Sample {
    #[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
    fn of(protocol: &Protocol) -> Self {
        let questions = protocol.questions.len() as u64;
        let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
        for cluster in protocol.questions.iter().filter_map(|question| question.cluster.as_deref()) {
            *sizes.entry(cluster).or_default() += 1;
        }
        let alone = questions - sizes.values().sum::<u64>();
        let clusters = sizes.len() as u64 + alone;
        let squares = sizes.values().map(|size| size * size).sum::<u64>() + alone;
        let size = squares as f64 / questions.max(1) as f64;
        Self { questions, clusters: (!sizes.is_empty() && clusters > 1).then_some((clusters, size)) }
    }

    /// What there is less than so many of: questions, or clusters of them.
    fn lacks(&self, fewest: u64) -> Option<&'static str> {
        match self.clusters {
            _ if self.questions < fewest => Some("questions"),
            Some((clusters, _)) if clusters < fewest => Some("clusters of questions"),
            _ => None,
        }
    }
}

fn detectable(protocol: &Protocol, sample: &Sample) -> String {
    let alpha = protocol.spec.bootstrap.confidence.alpha();
    let repeats = protocol.spec.generate.repeats;
    let fewest = power::fewest_for_lower_bound((repeats, repeats), 0.0, alpha);
    if let Some(what) = sample.lacks(fewest) {
        return format!(
            "warning: no churn can be seen, whatever its size: a lower bound takes at least {fewest} {what}"
        );
    }
    let moments = Moments { questions: sample.questions, mean: 0.0, variance: NOISE * NOISE };
    let clustered = sample.clusters.map(|(_, size)| Clustered { size, variance: 0.0 });
    let smallest = 100.0 * power::smallest_detectable(moments, clustered, alpha);
    let together = if clustered.is_some() { " and the questions of a cluster change together" } else { "" };
    format!(
        "an excess churn of {smallest:.1} pp would be seen in 4 of 5 such audits, if repeats vary as open questions do{together}"
    )
}

/// Lines that no figure of so few questions, or clusters of them, could meet. Of a lower bound above zero [`detectable`] tells.
fn out_of_reach(protocol: &Protocol, sample: &Sample) -> Vec<String> {
    let (alpha, repeats) = (protocol.spec.bootstrap.confidence.alpha(), protocol.spec.generate.repeats);
    let takes = |bound: String, fewest: Option<u64>| match fewest {
        Some(fewest) => Some(format!("{bound} takes at least {fewest} {}", sample.lacks(fewest)?)),
        None => Some(format!("no number of questions gives {bound}")),
    };
    let why = |line: &GateLine| match line.condition {
        Condition::UpperBoundBelow(limit) => {
            takes(format!("an upper bound below {limit}"), power::fewest_for_upper_bound(limit.value(), alpha))
        }
        Condition::LowerBoundAbove(limit) if limit.units() > 0 => {
            let fewest = power::fewest_for_lower_bound((repeats, repeats), limit.value(), alpha);
            takes(format!("a lower bound above {limit}"), Some(fewest).filter(|fewest| *fewest < u64::MAX))
        }
        _ => None,
    };
    let told = |verdict: &str, rule: &[GateLine]| -> Vec<String> {
        rule.iter().filter_map(why).map(|why| format!("warning: `{verdict}` is out of reach: {why}")).collect()
    };
    let gate = &protocol.spec.gate;
    [told("incompatible", &gate.incompatible_when), told("compatible", &gate.compatible_when)].concat()
}

/// A D̂ below a limit is what a sample shows, and no proof; an upper bound of one kernel proves nothing of another.
fn without_proof(gate: &GateSpec) -> Option<String> {
    let lines = &gate.compatible_when;
    let bounds =
        |line: &GateLine, kernel| line.kernel == kernel && matches!(line.condition, Condition::UpperBoundBelow(_));
    let unproved =
        lines.iter().map(|line| line.kernel).find(|kernel| !lines.iter().any(|line| bounds(line, *kernel)))?;
    Some(format!(
        "warning: `gate.compatible_when` has no `upper_bound_below` for `{unproved}`: this rule passes what it has not proved"
    ))
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
