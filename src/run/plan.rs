//! What an audit would do, before anything is spent.

use super::{Prepared, cost};
use crate::freeze::Protocol;
use crate::judge::parts;
use crate::model::amount::dollars;
use crate::model::{Amount, Failure, FailureClass};
use crate::retrieve::{self, Embedding};
use crate::spec::{BudgetSpec, GenerateBackend, JudgeBackend};

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

/// Whether what all shards of this protocol take together may be carried out: `calls` limits each of them alone.
///
/// # Errors
/// As [`Plan::within_budget`].
pub(super) fn shards_fit(whole: &Protocol) -> Result<(), Failure> {
    let plan = of(whole);
    let together = BudgetSpec { calls: None, ..whole.spec.budget };
    let exceeds = exceeds(&together, plan.calls, plan.amount);
    let exceeds = exceeds.map(|(message, key)| (format!("{message}, which limits all shards together"), key));
    Plan { exceeds, ..plan }.within_budget()
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
    Plan { questions, snapshots, repeats, answers, packets: questions, diagnostics, embedding, calls, amount, exceeds }
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
