//! How the judge labelled, over all asked questions: a judge that says one word to everything judges nothing, and no other
//! figure shows it.

use super::figures::Judged;
use crate::model::{Label, Observation};

/// Labels counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels {
    questions: u64,
    pairs: u64,
    same: u64,
}

impl Labels {
    /// Takes one asked question.
    pub fn take(&mut self, observation: &Observation) {
        let labels = &observation.judgments;
        self.questions += u64::from(!labels.is_empty());
        self.pairs += labels.len() as u64;
        self.same += labels.values().filter(|label| **label == Label::Same).count() as u64;
    }

    /// The counts; absent where nothing was labelled.
    ///
    /// ```
    /// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
    /// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "z"]}, "labels": [["x", "y", "same"], ["x", "z", "different"], ["y", "z", "different"]]}"#;
    /// let judged = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?.judged.unwrap();
    /// assert_eq!((judged.questions, judged.pairs, judged.same), (1, 3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn finish(self) -> Option<Judged> {
        let Self { questions, pairs, same } = self;
        (pairs > 0).then_some(Judged { questions, pairs, same })
    }
}
