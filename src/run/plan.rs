//! What an audit would do and what it could see, before anything is spent.

use super::{Prepared, cost};
use crate::analyze::planning::Scenario;
use crate::analyze::power::{self, Moments};
use crate::analyze::rehearsal::Change;
use crate::freeze::Protocol;
use crate::gate::{self, Rehearsal};
use crate::judge::parts;
use crate::model::amount::dollars;
use crate::model::{Amount, Failure, FailureClass, Kernel, PercentagePoints};
use crate::retrieve::{self, Embedding};
use crate::spec::{BudgetSpec, Condition, GateSpec, GenerateBackend, JudgeBackend};

/// The standard deviation of a question's contrast where nothing changed, for two repeats: that of answers as varied as
/// those of a study of open questions with a language model. Used before there is a run to measure it from.
const NOISE: f64 = 0.171;
/// Audits that are rehearsed for every question about the rule, and how many of many questions.
const REHEARSED: (u32, u32) = (400, 100);
/// More questions than these are many.
const MANY: u64 = 2_000;

/// The plan of an audit.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Questions selected.
    pub questions: u64,
    /// Snapshots asked, the closed book among them.
    pub snapshots: u64,
    /// Repeats a snapshot.
    pub repeats: u64,
    /// Answers to generate at most: fewer where evidence did not change.
    pub answers: u64,
    /// Packets to judge at most.
    pub packets: u64,
    /// What diagnostics add, a line each.
    pub diagnostics: Vec<String>,
    /// What it takes to embed the questions; nothing where they are not embedded.
    pub embedding: Embedding,
    /// External calls at most, without retries: what the embedded reader and judge do is no call.
    pub calls: u64,
    /// What the calls take at most, as far as can be told: all evidence at its full length, answers as long as they may be.
    pub amount: Amount,
    /// What of the spec's budget the plan exceeds, as a message and the key to raise.
    pub exceeds: Option<(String, &'static str)>,
    /// What a sample of this size can and cannot show, a sentence each.
    pub sensitivity: Vec<String>,
}

impl Plan {
    /// Whether the plan may be carried out.
    ///
    /// # Errors
    /// It takes more than the spec allows: class [`FailureClass::Usage`], since nothing is spent yet.
    pub fn within_budget(&self) -> Result<(), Failure> {
        let Some((message, key)) = &self.exceeds else { return Ok(()) };
        Err(Failure::new(FailureClass::Usage, message).with_hint(format!("raise `{key}`, or select fewer questions")))
    }
}

/// The plan of a prepared audit.
#[must_use]
pub fn plan(prepared: &Prepared) -> Plan {
    of(&prepared.protocol)
}

/// The plan of this protocol.
pub(super) fn of(protocol: &Protocol) -> Plan {
    let questions = protocol.questions.len() as u64;
    let snapshots = protocol.snapshots.len() as u64;
    let repeats = u64::from(protocol.spec.generate.repeats);
    let answers = questions * snapshots * repeats;
    let longest = u64::from(protocol.spec.generate.max_answer_bytes);
    let calls_a_packet = parts::most(snapshots * repeats, longest);
    let added = Added::all(protocol, calls_a_packet);
    let embedding = retrieve::embedding(protocol);
    let own = embedding.calls + generate_calls(protocol) + judge_calls(protocol, calls_a_packet);
    let calls = own + added.iter().map(|added| added.calls).sum::<u64>();
    let own = cost::amount(protocol, calls_a_packet).plus(embedding.amount);
    let amount = added.iter().fold(own, |amount, added| amount.plus(added.amount));
    let diagnostics = added.iter().map(Added::told).collect();
    let exceeds = exceeds(&protocol.spec.budget, calls, amount);
    let sensitivity = sensitivity(protocol);
    Plan {
        questions,
        snapshots,
        repeats,
        answers,
        packets: questions,
        diagnostics,
        embedding,
        calls,
        amount,
        exceeds,
        sensitivity,
    }
}

/// Calls to a generator at most.
fn generate_calls(protocol: &Protocol) -> u64 {
    match protocol.spec.generate.backend {
        GenerateBackend::Reader(_) => 0,
        GenerateBackend::Model(_) | GenerateBackend::Command(_) | GenerateBackend::BlackBox(_) => {
            let cells = protocol.questions.len() * protocol.snapshots.len();
            cells as u64 * u64::from(protocol.spec.generate.repeats)
        }
    }
}

/// Calls to a judge at most.
const fn judge_calls(protocol: &Protocol, calls_a_packet: u64) -> u64 {
    match protocol.spec.judge.backend {
        JudgeBackend::Embedded => 0,
        JudgeBackend::Model(_) | JudgeBackend::Command(_) => protocol.questions.len() as u64 * calls_a_packet,
    }
}

/// What a diagnosis adds to the plan.
struct Added {
    what: &'static str,
    questions: usize,
    calls: u64,
    amount: Amount,
}

impl Added {
    /// Those that the protocol asks for.
    fn all(protocol: &Protocol, calls_a_packet: u64) -> Vec<Self> {
        let judged = |what, view: Protocol| Self {
            what,
            questions: view.questions.len(),
            calls: judge_calls(&view, calls_a_packet),
            amount: cost::judging(&view, calls_a_packet),
        };
        let again = protocol.again().map(|view| judged("the judge again", view));
        let second = protocol.second().map(|view| judged("the second judge", view));
        let replica = protocol.replica().map(|view| Self {
            what: "the second generator",
            questions: view.questions.len(),
            calls: generate_calls(&view) + judge_calls(&view, calls_a_packet),
            amount: cost::amount(&view, calls_a_packet),
        });
        [again, second, replica].into_iter().flatten().collect()
    }

    fn told(&self) -> String {
        let Self { what, questions, calls, amount } = self;
        let takes = if amount.tokens == 0 { String::new() } else { format!(", up to {amount}") };
        format!("diagnosis by {what}: {questions} questions, at most {calls} of these calls{takes}")
    }
}

/// The first limit that the plan does not keep.
fn exceeds(budget: &BudgetSpec, calls: u64, amount: Amount) -> Option<(String, &'static str)> {
    let over = |planned: u64, limit: Option<u64>| limit.is_some_and(|limit| planned > limit);
    if over(calls, budget.calls) {
        return Some((format!("the plan of {calls} calls exceeds `budget.calls`"), "budget.calls"));
    }
    if over(amount.tokens, budget.tokens) {
        let tokens = amount.tokens;
        return Some((format!("the plan of up to {tokens} tokens exceeds `budget.tokens`"), "budget.tokens"));
    }
    let money = dollars(amount.nano_usd);
    over(amount.nano_usd, budget.nano_usd)
        .then(|| (format!("the plan of up to {money} exceeds `budget.usd`"), "budget.usd"))
}

/// The smallest churn that is likely to be seen, and the limits that so few questions cannot prove.
fn sensitivity(protocol: &Protocol) -> Vec<String> {
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
    sentences.extend(blind_to_paragraphs(protocol));
    let kinds = [("open questions", Scenario::NaturalQuestionsLike), ("trivia", Scenario::TriviaQaLike)];
    sentences.extend(kinds.into_iter().filter_map(|(name, answers)| rates(protocol, name, answers)));
    sentences
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
    let percent = |count: u32| format!("{:.1}%", 100.0 * f64::from(count) / f64::from(times));
    let passing = passing_limit(gate).and_then(|limit| {
        let at_limit: Rehearsal = rehearsed(Change::Meaning(limit.value()))?;
        Some(format!("; passes {} at a true churn of {limit}, where to pass is false", percent(at_limit.passed)))
    });
    Some(format!(
        "answers that vary like {name}: this rule blocks {} of unchanged indexes and {} where only the wording changed; it \
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
