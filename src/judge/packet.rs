//! What the judge sees: a question's text and its distinct answers under labels, and nothing else.
//!
//! Blinding is a matter of types here. [`Packet::build`] is given a seed, a question and a set of answer texts; it has
//! no way to learn of a snapshot, a repeat, a document, an evidence or gold, so neither the content of a packet nor the
//! order of its labels can depend on them. This module must never name the types that carry those.

use crate::model::{Answer, Digest, QuestionId};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;

/// The keys under which the order of the labels is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// That of a packet.
    pub first: [u8; 32],
    /// That of a packet that the same judge is shown once more, where it is.
    pub again: Option<[u8; 32]>,
}

/// A question and its distinct answers, in the order of their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    question: String,
    answers: Vec<Answer>,
}

impl Packet {
    /// Puts the answers under labels. The order is a Fisher-Yates shuffle of the bytewise sorted answers, drawn from
    /// `ChaCha20` under the SHA-256 of (`seed`, `id`): equal sets of answers to one question always give equal packets.
    ///
    /// `None` where there are fewer than two distinct answers: nothing is to be judged then.
    #[must_use]
    pub fn build(seed: &[u8; 32], id: &QuestionId, question: &str, answers: &BTreeSet<Answer>) -> Option<Self> {
        if answers.len() < 2 {
            return None;
        }
        let mut answers: Vec<Answer> = answers.iter().cloned().collect();
        shuffle(&mut answers, &mut stream(seed, id));
        Some(Self { question: question.to_owned(), answers })
    }

    /// The same question and answers in another order: shuffled under the SHA-256 of (`seed`, `id`) until the order is not the
    /// one they have here, so that each other order is as likely. A reply that a cache kept of this packet does not fit it.
    #[must_use]
    pub fn again(&self, seed: &[u8; 32], id: &QuestionId) -> Self {
        let (mut answers, mut stream) = (self.answers.clone(), stream(seed, id));
        while answers == self.answers {
            shuffle(&mut answers, &mut stream);
        }
        Self { question: self.question.clone(), answers }
    }

    /// The question's text.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The answers in the order of their labels; at least two, all distinct.
    #[must_use]
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// All unordered pairs of indices, the smaller first, in lexicographic order.
    #[must_use]
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let count = self.answers.len();
        (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))).collect()
    }
}

fn stream(seed: &[u8; 32], id: &QuestionId) -> ChaCha20Rng {
    let key = Digest::of_parts([seed.as_slice(), id.0.as_bytes()]);
    ChaCha20Rng::from_seed(*key.as_bytes())
}

/// A Fisher-Yates shuffle.
fn shuffle(answers: &mut [Answer], stream: &mut ChaCha20Rng) {
    for last in (1..answers.len()).rev() {
        answers.swap(last, below(stream, last + 1));
    }
}

/// A uniform index below `bound`, by rejection, so that no order is more likely than another.
fn below(stream: &mut ChaCha20Rng, bound: usize) -> usize {
    let bound = bound as u64;
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let draw = stream.next_u64();
        if draw < fair {
            return usize::try_from(draw % bound).unwrap_or_default();
        }
    }
}

/// The label of the answer at this index: A to Z, then AA, AB and so on.
#[must_use]
pub fn label(index: usize) -> String {
    let mut left = index + 1;
    let mut letters = Vec::new();
    while left > 0 {
        left -= 1;
        letters.push(char::from(b'A' + u8::try_from(left % 26).unwrap_or_default()));
        left /= 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEED: [u8; 32] = [7; 32];

    fn packet(id: &str, answers: &[&str]) -> Option<Packet> {
        let answers = answers.iter().map(|text| Answer::parse(text, 512).unwrap()).collect();
        Packet::build(&SEED, &QuestionId(id.into()), "who?", &answers)
    }

    #[test]
    fn labels_run_from_a_and_never_repeat() {
        let labels: BTreeSet<String> = (0..800).map(label).collect();
        assert_eq!(labels.len(), 800);
        assert_eq!(
            [label(0), label(25), label(26), label(27), label(701), label(702)],
            ["A", "Z", "AA", "AB", "ZZ", "AAA"]
        );
    }

    #[test]
    fn one_distinct_answer_makes_no_packet() {
        assert_eq!(packet("q", &["a", "a"]), None);
        assert_eq!(packet("q", &[]), None);
    }

    #[test]
    fn order_is_drawn_anew_for_each_question_and_every_order_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..6000 {
            let packet = packet(&format!("q{number}"), &["a", "b", "c"]).unwrap();
            let order: String = packet.answers().iter().map(Answer::as_str).collect();
            *counts.entry(order).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Six cells of 1,000 expected: the 99.99% point of chi-squared with five degrees of freedom is 25.7.
        let statistic: f64 = counts.values().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(statistic < 25.7, "{counts:?}");
    }

    proptest! {
        #[test]
        fn order_depends_on_the_set_alone(texts in proptest::collection::vec("[a-z]{1,4}", 2..8)) {
            let forward: Vec<&str> = texts.iter().map(String::as_str).collect();
            let backward: Vec<&str> = forward.iter().rev().copied().collect();
            prop_assert_eq!(packet("q", &forward), packet("q", &backward));
        }

        /// What a judge is shown again is the question and the set of answers that it was shown before, and no byte else.
        #[test]
        fn another_order_holds_the_same_answers_and_nothing_else(texts in proptest::collection::btree_set("\\PC{1,9}", 2..9)) {
            let texts: BTreeSet<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
            prop_assume!(texts.len() > 1);
            let first = packet("q", &texts.into_iter().collect::<Vec<_>>()).unwrap();
            let id = QuestionId("q".into());
            let again = first.again(&[8; 32], &id);
            prop_assert_ne!(&again.answers, &first.answers);
            prop_assert_eq!(&again.question, &first.question);
            let sorted = |packet: &Packet| packet.answers.iter().cloned().collect::<BTreeSet<_>>();
            prop_assert_eq!(again.answers.len(), first.answers.len());
            prop_assert_eq!(sorted(&again), sorted(&first));
            prop_assert_eq!(again, first.again(&[8; 32], &id));
        }

        #[test]
        fn every_pair_stands_once_with_the_smaller_index_first(count in 2_usize..20) {
            let texts: Vec<String> = (0..count).map(|index| format!("answer {index}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let pairs = packet("q", &texts).unwrap().pairs();
            prop_assert_eq!(pairs.len(), count * (count - 1) / 2);
            prop_assert!(pairs.windows(2).all(|two| two[0] < two[1]));
            prop_assert!(pairs.iter().all(|(one, other)| one < other));
        }
    }
}
