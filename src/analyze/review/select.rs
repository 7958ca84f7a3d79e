//! Which pairs of answers are labelled by hand, and in which order they are shown.
//!
//! A pair's name, its rank in the sample, its place among the others and the order of its two answers are digests of the
//! question's id and the two texts under the protocol's key. So neither the judge's labels nor which snapshot is old can move
//! them, and a larger sample holds every smaller one.

use crate::model::{Answer, Digest, Label, Observation, Question, QuestionId, SnapshotName};
use std::collections::{BTreeMap, BTreeSet};

/// A pair of distinct answers to one question, with what is kept from whoever labels it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Its name. Pairs are shown in the order of their names.
    pub id: Digest,
    /// The question.
    pub question: QuestionId,
    /// The question's text.
    pub text: String,
    /// The answers in the order in which they are shown.
    pub answers: [Answer; 2],
    /// Where each of them was given.
    pub sides: [Sides; 2],
    /// What the judge said.
    pub judge: Label,
    /// Whether its question is one of the stable flips that are reviewed.
    pub flip: bool,
    /// Whether it is one of the blind sample.
    pub sampled: bool,
}

/// The snapshots that gave an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// The old one, in any repeat.
    pub old: bool,
    /// The new one, in any repeat.
    pub new: bool,
}

/// Which pairs are wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The protocol's key for reviews.
    pub key: [u8; 32],
    /// Questions that flipped: all of their pairs are wanted.
    pub flips: BTreeSet<QuestionId>,
    /// Pairs of the blind sample, which is drawn from all judged pairs; absent where it is all of them.
    pub sample: Option<usize>,
    /// Pairs that are wanted by name, whatever else they are.
    pub named: BTreeSet<Digest>,
}

/// Takes question after question and keeps the pairs that are wanted: memory holds no others.
#[derive(Debug)]
pub struct Selector {
    wanted: Wanted,
    kept: BTreeMap<Digest, Pair>,
    /// By rank.
    sample: BTreeMap<Digest, Pair>,
    judged: u64,
}

/// The pairs of a review.
#[derive(Debug)]
pub struct Selected {
    /// In the order in which they are shown.
    pub pairs: Vec<Pair>,
    /// All judged pairs of distinct answers from old and new.
    pub judged: u64,
}

impl Selector {
    /// Begins without a question.
    #[must_use]
    pub const fn new(wanted: Wanted) -> Self {
        Self { wanted, kept: BTreeMap::new(), sample: BTreeMap::new(), judged: 0 }
    }

    /// Takes the pairs of a question: the distinct answers of old and new, two and two. Equal texts make none, and neither do
    /// answers of other snapshots, which are in no figure of the verdict.
    pub fn take(&mut self, question: &Question, observation: &Observation) {
        let answers: Vec<(&Answer, Sides)> = answers(observation).into_iter().collect();
        for (at, one) in answers.iter().enumerate() {
            for other in &answers[at + 1..] {
                if let Some(judge) = observation.label(one.0, other.0) {
                    self.judged += 1;
                    self.pair(question, *one, *other, judge);
                }
            }
        }
    }

    fn pair(&mut self, question: &Question, one: (&Answer, Sides), other: (&Answer, Sides), judge: Label) {
        let digest = |domain: &str| {
            let parts = [domain.as_bytes(), &self.wanted.key, question.id.0.as_bytes()];
            Digest::of_parts(parts.into_iter().chain([one.0, other.0].map(|answer| answer.as_str().as_bytes())))
        };
        let (id, rank) = (digest("churngate/review/pair/1"), digest("churngate/review/sample/1"));
        let flip = self.wanted.flips.contains(&question.id);
        // The last bit of a digest is a fair coin that no label tossed.
        let [first, second] = if id.as_bytes()[31] & 1 == 0 { [one, other] } else { [other, one] };
        let pair = || Pair {
            id,
            question: question.id.clone(),
            text: question.text.clone(),
            answers: [first.0.clone(), second.0.clone()],
            sides: [first.1, second.1],
            judge,
            flip,
            sampled: false,
        };
        if flip || self.wanted.sample.is_none() || self.wanted.named.contains(&id) {
            self.kept.insert(id, pair());
        }
        if let Some(size) = self.wanted.sample {
            let is_beyond =
                self.sample.len() >= size && self.sample.last_key_value().is_none_or(|(last, _)| rank > *last);
            if !is_beyond {
                self.sample.insert(rank, pair());
            }
            if self.sample.len() > size {
                self.sample.pop_last();
            }
        }
    }

    /// The pairs that were wanted.
    #[must_use]
    pub fn finish(self) -> Selected {
        let mut pairs = self.kept;
        for pair in self.sample.into_values() {
            pairs.entry(pair.id).or_insert(pair).sampled = true;
        }
        let all = self.wanted.sample.is_none();
        let marked = |pair: Pair| Pair { sampled: pair.sampled || all, ..pair };
        Selected { pairs: pairs.into_values().map(marked).collect(), judged: self.judged }
    }
}

/// The distinct answers of old and new, by text.
fn answers(observation: &Observation) -> BTreeMap<&Answer, Sides> {
    let mut answers: BTreeMap<&Answer, Sides> = BTreeMap::new();
    let of = |name: SnapshotName| observation.snapshot(&name).map(|side| side.answers.as_slice()).unwrap_or_default();
    for answer in of(SnapshotName::old()) {
        answers.entry(answer).or_default().old = true;
    }
    for answer in of(SnapshotName::new_snapshot()) {
        answers.entry(answer).or_default().new = true;
    }
    answers
}
