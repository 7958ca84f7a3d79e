//! The samples on which diagnostics are made, and what is asked there: the audit's own protocol with other questions and,
//! where it is another's turn, another judge.
//!
//! A sample is drawn from the ids of the selected questions alone, so that neither evidence nor answers nor labels can move it.

use super::{Origin, Protocol};
use crate::ledger::SideLocks;
use crate::ledger::stage::{Again, ReplicaAnswers, ReplicaJudgments, Second, Stage as _, Vectors};
use crate::model::{Digest, Failure, FailureClass, Question, QuestionId};
use crate::spec::{GenerateSpec, JudgeSpec, Spec};
use std::collections::BTreeSet;

/// The questions of each sample; empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Those whose packets the same judge is shown once more.
    pub again: BTreeSet<QuestionId>,
    /// Those whose packets the second judge is shown.
    pub second: BTreeSet<QuestionId>,
    /// Those that the second generator is asked.
    pub replica: BTreeSet<QuestionId>,
}

impl Samples {
    /// Whether any sample has this question.
    #[must_use]
    pub fn contains(&self, question: &QuestionId) -> bool {
        [&self.again, &self.second, &self.replica].iter().any(|sample| sample.contains(question))
    }

    /// The samples of the protocol with this digest, from all of its questions.
    pub(super) fn draw(spec: &Spec, protocol: Digest, questions: &[Question]) -> Self {
        let of = |what: &str, size: Option<u32>| sample(what, size, protocol, questions);
        Self {
            again: of("again", spec.judge.again),
            second: of("second", spec.judge.second.as_ref().map(|second| second.sample)),
            replica: of("replica", spec.replicate.as_ref().map(|replica| replica.sample)),
        }
    }
}

/// The first questions by the SHA-256 of the sample's name, the protocol's digest and the id, each preceded by its length.
fn sample(what: &str, size: Option<u32>, protocol: Digest, questions: &[Question]) -> BTreeSet<QuestionId> {
    let Some(size) = size else { return BTreeSet::new() };
    let domain = format!("churngate/sample/{what}/1");
    let key = |id: &QuestionId| Digest::of_parts([domain.as_bytes(), protocol.as_bytes().as_slice(), id.0.as_bytes()]);
    let mut keyed: Vec<(Digest, &QuestionId)> =
        questions.iter().map(|question| (key(&question.id), &question.id)).collect();
    keyed.sort_unstable();
    keyed.truncate(size as usize);
    keyed.into_iter().map(|(_, id)| id.clone()).collect()
}

impl Protocol {
    /// Whether it asks for any diagnosis on a sample.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        let judge = &self.spec.judge;
        judge.again.is_some() || judge.second.is_some() || self.spec.replicate.is_some()
    }

    /// This protocol, read without its questions, with all of them, and with their samples.
    #[must_use]
    pub fn with_questions(self, questions: Vec<Question>) -> Self {
        let samples = Samples::draw(&self.spec, self.digest, &questions);
        Self { questions, samples, ..self }
    }

    /// What the same judge is asked again, where it is: the sample's questions.
    #[must_use]
    pub fn again(&self) -> Option<Self> {
        self.spec.judge.again.map(|_| self.view(&self.samples.again))
    }

    /// What the second judge is asked, where there is one.
    #[must_use]
    pub fn second(&self) -> Option<Self> {
        let second = self.spec.judge.second.as_ref()?;
        let mut view = self.view(&self.samples.second);
        view.spec.judge = JudgeSpec {
            backend: second.backend.clone(),
            concurrency: second.concurrency,
            max_attempts: second.max_attempts,
            ..view.spec.judge
        };
        Some(view)
    }

    /// What the second generator is asked, where there is one, and the verdict's judge of its answers.
    #[must_use]
    pub fn replica(&self) -> Option<Self> {
        let replica = self.spec.replicate.as_ref()?;
        let mut view = self.view(&self.samples.replica);
        view.seeds.reader = view.seeds.reader_replica;
        view.spec.generate = GenerateSpec {
            backend: replica.backend.clone(),
            concurrency: replica.concurrency,
            max_attempts: replica.max_attempts,
            ..view.spec.generate
        };
        Some(view)
    }

    /// This protocol with those of its questions alone that are in the sample. What it was planned from stays behind.
    fn view(&self, sample: &BTreeSet<QuestionId>) -> Self {
        let Self { digest, spec_digest, spec, base, snapshots, questions, answer_prompt, judge_prompt, seeds, .. } =
            self;
        Self {
            digest: *digest,
            spec_digest: *spec_digest,
            spec: spec.clone(),
            base: base.clone(),
            snapshots: snapshots.clone(),
            questions: questions.iter().filter(|question| sample.contains(&question.id)).cloned().collect(),
            answer_prompt: answer_prompt.clone(),
            judge_prompt: judge_prompt.clone(),
            seeds: *seeds,
            is_part: self.is_part,
            samples: Samples::default(),
            origin: Origin::default(),
        }
    }

    /// Whether the ledgers of vectors and of diagnostics are those that this protocol asks for: gold stays closed where one is missing, and
    /// one that nobody asked for is none of this run's.
    ///
    /// # Errors
    /// They are not: class [`FailureClass::Evidence`].
    pub fn check_side(&self, side: &SideLocks) -> Result<(), Failure> {
        let (replicate, replica) = (self.spec.replicate.is_some(), side.replica.is_some());
        let ledgers = [
            (Vectors::FILE, self.spec.retrieve.embed.is_some(), side.vectors.is_some()),
            (Again::FILE, self.spec.judge.again.is_some(), side.again.is_some()),
            (Second::FILE, self.spec.judge.second.is_some(), side.second.is_some()),
            (ReplicaAnswers::FILE, replicate, replica),
            (ReplicaJudgments::FILE, replicate, replica),
        ];
        let broken = |message: String| Err(Failure::new(FailureClass::Evidence, message));
        match ledgers.into_iter().find(|(_, wanted, there)| wanted != there) {
            None => Ok(()),
            Some((file, true, _)) => broken(format!("`{file}` is missing, which the protocol asks for")),
            Some((file, false, _)) => broken(format!("`{file}` is there, which the protocol does not ask for")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn questions(count: usize) -> Vec<Question> {
        let question = |number| Question {
            id: QuestionId(format!("q{number}")),
            text: format!("Question {number}?"),
            tags: Vec::new(),
            cluster: None,
        };
        (0..count).map(question).collect()
    }

    proptest! {
        /// Nothing but the ids moves a sample: neither texts, tags, clusters nor the order of the questions.
        #[test]
        fn a_sample_follows_from_ids_alone(turn in 0_usize..50, size in 1_u32..60, text in ".*") {
            let protocol = Digest::of(b"protocol");
            let before = sample("again", Some(size), protocol, &questions(50));
            let mut moved = questions(50);
            moved.rotate_left(turn);
            for question in &mut moved {
                (question.text, question.tags, question.cluster) = (text.clone(), vec![text.clone()], Some(text.clone()));
            }
            prop_assert_eq!(&before, &sample("again", Some(size), protocol, &moved));
            prop_assert_eq!(before.len(), 50.min(size as usize));
        }
    }

    #[test]
    fn samples_differ_by_name_and_protocol_and_every_question_is_as_likely() {
        let all = questions(40);
        let of = |what: &str, protocol: &str| sample(what, Some(10), Digest::of(protocol.as_bytes()), &all);
        assert_ne!(of("again", "a"), of("second", "a"));
        assert_ne!(of("again", "a"), of("again", "b"));
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..4000 {
            for id in of("again", &number.to_string()) {
                *counts.entry(id).or_insert(0_u32) += 1;
            }
        }
        // 40 cells of 1,000 expected: the 99.99% point of chi-squared with 39 degrees of freedom is 80.6; draws without
        // replacement spread less.
        let statistic: f64 = counts.values().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(counts.len() == 40 && statistic < 80.6, "{statistic}");
    }
}
