//! Labelled pairs, their split into a tuned and an untouched half, and how well the judge does on them.

use super::features::features;
use super::fit::{Example, fit};
use super::model::Weights;
use super::pair::Pair;
use super::reading::Reading;
use super::rules;
use super::{Decision, Reason, decide};
use crate::model::{Digest, Label};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The penalty of the fit.
pub const PENALTY: f64 = 1.0;

/// One labelled pair of `data/judge/pairs.jsonl`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledPair {
    /// Unique; names the half it belongs to.
    pub id: String,
    /// What makes it hard.
    pub kind: String,
    /// The question.
    pub question: String,
    /// One answer.
    pub a: String,
    /// Another answer.
    pub b: String,
    /// Whether both mean the same as answers to the question.
    pub same: bool,
}

/// The half of a labelled pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Looked at while rules were written, and what the model is fitted to.
    Tuned,
    /// Only measured.
    Untouched,
}

/// How many pairs came out which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Same, judged same.
    pub same_as_same: u32,
    /// Same, judged different.
    pub same_as_different: u32,
    /// Different, judged same.
    pub different_as_same: u32,
    /// Different, judged different.
    pub different_as_different: u32,
}

impl LabelledPair {
    /// The half: tuned where the first byte of the SHA-256 of the id is even.
    #[must_use]
    pub fn half(&self) -> Half {
        if Digest::of(self.id.as_bytes()).as_bytes()[0].is_multiple_of(2) { Half::Tuned } else { Half::Untouched }
    }

    /// What the judge says.
    #[must_use]
    pub fn decision(&self) -> Decision {
        decide(&Reading::of(&self.question), &Reading::of(&self.a), &Reading::of(&self.b))
    }

    /// What the model is to learn, where no rule decides.
    fn example(&self) -> Option<Example> {
        let (question, one, other) = (Reading::of(&self.question), Reading::of(&self.a), Reading::of(&self.b));
        let pair = Pair::of(&question, &one, &other);
        rules::decide(&pair).is_none().then(|| (features(&pair), self.same))
    }
}

impl Figures {
    /// Counts one pair.
    pub fn count(&mut self, same: bool, judged: Label) {
        let cell = match (same, judged) {
            (true, Label::Same) => &mut self.same_as_same,
            (true, Label::Different) => &mut self.same_as_different,
            (false, Label::Same) => &mut self.different_as_same,
            (false, Label::Different) => &mut self.different_as_different,
        };
        *cell += 1;
    }

    /// The counts of both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            same_as_same: self.same_as_same + other.same_as_same,
            same_as_different: self.same_as_different + other.same_as_different,
            different_as_same: self.different_as_same + other.different_as_same,
            different_as_different: self.different_as_different + other.different_as_different,
        }
    }

    /// Pairs in all.
    #[must_use]
    pub const fn pairs(&self) -> u32 {
        self.same_as_same + self.same_as_different + self.different_as_same + self.different_as_different
    }

    /// The share judged as people did.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        ratio(self.same_as_same + self.different_as_different, self.pairs())
    }

    /// The share of pairs judged same that are.
    #[must_use]
    pub fn precision(&self) -> f64 {
        ratio(self.same_as_same, self.same_as_same + self.different_as_same)
    }

    /// The share of same pairs judged same.
    #[must_use]
    pub fn recall(&self) -> f64 {
        ratio(self.same_as_same, self.same_as_same + self.same_as_different)
    }

    /// The share of different pairs judged different.
    #[must_use]
    pub fn specificity(&self) -> f64 {
        ratio(self.different_as_different, self.different_as_same + self.different_as_different)
    }

    /// The mean of recall and specificity: one half for a judge that does not look.
    #[must_use]
    pub fn balanced_accuracy(&self) -> f64 {
        f64::midpoint(self.recall(), self.specificity())
    }

    /// A row of a Markdown table.
    #[must_use]
    pub fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            self.pairs(),
            self.accuracy(),
            self.precision(),
            self.recall(),
            self.balanced_accuracy()
        )
    }
}

fn ratio(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { f64::from(part) / f64::from(whole) }
}

/// Reads labelled pairs, one JSON object a line.
///
/// # Errors
/// The number of the line that is no labelled pair, from 1, and why.
pub fn parse(text: &str) -> Result<Vec<LabelledPair>, String> {
    let read = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(read).collect()
}

/// Fits the model to the tuned half.
#[must_use]
pub fn fit_to(pairs: &[LabelledPair]) -> Weights {
    let examples: Vec<Example> =
        pairs.iter().filter(|pair| pair.half() == Half::Tuned).filter_map(LabelledPair::example).collect();
    fit(&examples, PENALTY)
}

/// The figures of one half.
#[must_use]
pub fn measure(pairs: &[LabelledPair], half: Half) -> Figures {
    let mut figures = Figures::default();
    for pair in pairs.iter().filter(|pair| pair.half() == half) {
        figures.count(pair.same, pair.decision().label);
    }
    figures
}

/// The figures of one half by kind.
#[must_use]
pub fn by_kind(pairs: &[LabelledPair], half: Half) -> BTreeMap<&str, Figures> {
    let mut kinds: BTreeMap<&str, Figures> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.half() == half) {
        kinds.entry(&pair.kind).or_default().count(pair.same, pair.decision().label);
    }
    kinds
}

/// One answer that people held against reference answers, as in the external set.
#[derive(Clone, Debug, Deserialize)]
pub struct ReferencedAnswer {
    /// The question.
    pub question: String,
    /// Reference answers, of which any one suffices.
    pub reference: Vec<String>,
    /// A system's answer.
    pub answer: String,
    /// Whether people held it to be right.
    pub same: bool,
}

impl ReferencedAnswer {
    /// The half that its question belongs to: 0 was looked at while rules were written, 1 was not.
    #[must_use]
    pub fn half(&self) -> usize {
        usize::from(Digest::of(self.question.as_bytes()).as_bytes()[0] % 2)
    }

    /// Same where it is the same as any of the references.
    #[must_use]
    pub fn decision(&self) -> (Label, Vec<Reason>) {
        let (question, answer) = (Reading::of(&self.question), Reading::of(&self.answer));
        let decisions: Vec<Decision> =
            self.reference.iter().map(|reference| decide(&question, &Reading::of(reference), &answer)).collect();
        let same = decisions.iter().any(|decision| decision.label == Label::Same);
        let label = if same { Label::Same } else { Label::Different };
        (label, decisions.into_iter().map(|decision| decision.reason).collect())
    }
}
