//! Which change of evidence moved the answer to one question: what was asked, what came of it, and what that shows.

mod json;
mod steps;
#[cfg(test)]
mod tests;
mod text;
mod words;

use crate::analyze::counterfactual::{Change, Class, Finding, Step};
use crate::model::{Amount, Digest, Kernel, QuestionId};

pub use json::explanation_json;
pub use text::{explanation_text, plan_text};

/// The version of the JSON that is written.
pub const EXPLANATION_FORMAT: &str = "1.0";

/// The explanation of one question of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The run: the digest of its protocol.
    pub run: Digest,
    /// The question.
    pub question: QuestionId,
    /// Its text.
    pub text: String,
    /// What answers, in words.
    pub generate: String,
    /// What judged the run, in words.
    pub judge: String,
    /// How texts are normalised for the exact kernel.
    pub normalisation: &'static str,
    /// Answers to each step.
    pub repeats: u32,
    /// From the old snapshot.
    pub old: Given,
    /// From the new one.
    pub new: Given,
    /// Documents that both have, the same in all.
    pub shared: u64,
    /// What changed in the evidence.
    pub changes: Vec<EvidenceChange>,
    /// Why nothing is asked, where nothing is.
    pub settled: Option<Settled>,
    /// The steps that are asked, with the answers that are there.
    pub steps: Vec<StepAnswers>,
    /// How many of the changes these steps are about: the first ones.
    pub tried: usize,
    /// What the answers show, kernel by kernel; empty where nothing is asked or no answer is there.
    pub findings: Vec<(Kernel, Finding)>,
    /// What it takes to ask.
    pub calls: CallPlan,
    /// What must be known before any of this is believed.
    pub caveats: Vec<String>,
    /// Where the answers are kept.
    pub folder: String,
}

/// What a snapshot gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// How many documents.
    pub documents: u64,
    /// The accepted answers of the run, in the order of repeats.
    pub answers: Vec<String>,
}

/// One change of the evidence, with the names and texts of what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceChange {
    /// Which change.
    pub change: Change,
    /// The document's id, in the old evidence where it has one there; empty where the change is about the order of all.
    pub id: String,
    /// Its id in the new evidence, where that is another one.
    pub new_id: Option<String>,
    /// The part of its old text where the old answer stands, or its beginning.
    pub old_excerpt: Option<String>,
    /// The same of its new text and the new answer.
    pub new_excerpt: Option<String>,
}

/// Why nothing is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The evidence is the same in both: no document can have moved the answer.
    SameEvidence {
        /// Whether the run asked the question all the same.
        asked: bool,
    },
    /// The first retrievals of both are the same, and a second one was not: retrieval varies by itself.
    RetrievalVaries,
    /// The old and the new answers are the same by every kernel.
    NoFlip,
}

/// The answers to one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepAnswers {
    /// The step.
    pub step: Step,
    /// The digest of its evidence.
    pub evidence: Digest,
    /// Repeats, each with its answer, as far as they are there.
    pub answers: Vec<(u32, String)>,
    /// What each of them is, kernel by kernel.
    pub classes: Vec<(Kernel, Vec<Class>)>,
}

/// What it takes to ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPlan {
    /// Answers that are wanted: one a repeat of each evidence.
    pub all: u64,
    /// How many of them are not there yet.
    pub left: u64,
    /// What these take, as far as can be told.
    pub amount: Option<Estimate>,
    /// Who is called, in words that name the address and the key's variable; nothing where no call leaves the process.
    pub whom: Option<String>,
}

/// What calls take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Tokens and money.
    pub amount: Amount,
    /// Whether it is reckoned from what the run's own answers to the question took, each at the most; otherwise from the lengths of
    /// the prompts.
    pub measured: bool,
}
