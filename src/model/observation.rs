//! What the statistics are computed from: one record a question, with everything that was observed of it.

use super::{Answer, Digest, Label, QuestionId, SnapshotName};
use std::collections::BTreeMap;

/// Everything observed of one question, once judgments are locked and gold is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The question.
    pub id: QuestionId,
    /// The cluster it was sampled in, if any.
    pub cluster: Option<String>,
    /// Subgroups, for diagnosis only.
    pub tags: Vec<String>,
    /// One entry a snapshot, in the audit's order: old, the rungs between, new, placebo, closed book.
    pub snapshots: Vec<SnapshotAnswers>,
    /// The judgment of every unordered pair of *distinct* answer texts, keyed with the smaller text first.
    /// Equal texts are the same by definition and never stand here.
    pub judgments: BTreeMap<(Answer, Answer), Label>,
    /// Similarities of unordered pairs of *distinct* answer texts, keyed with the smaller text first, for the soft kernel;
    /// empty where there is none. Unlike judgments they come from outside unchecked: the statistics refuse what is no number
    /// from 0 to 1.
    pub similarities: BTreeMap<(Answer, Answer), f64>,
    /// Accepted answers; empty where there is no gold.
    pub gold: Vec<String>,
    /// Whether it was left unasked because its rendered prompts are byte-identical in old, new, all rungs between and the
    /// placebo (its contrast is zero by construction). A question with one prompt in old and new but another in a rung or in
    /// the placebo is asked from every snapshot: its contrast is then measured, and zero in expectation alone. The closed
    /// book does not count.
    pub unchanged: bool,
}

/// The answers and the evidence of one question from one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotAnswers {
    /// The snapshot.
    pub snapshot: SnapshotName,
    /// One accepted answer a repeat, in the order of repeats; empty where `unchanged`.
    pub answers: Vec<Answer>,
    /// The keys of the evidence, where evidence is locked.
    pub evidence: Option<EvidenceKeys>,
    /// The documents that a deployed system names beside each answer, in the order of repeats; `None` beside one that came
    /// without a list. Empty where no answer came with any.
    pub cited: Vec<Option<EvidenceKeys>>,
}

/// The documents of an evidence, or those that an answer cites, by their names, in order: the three lists have one length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceKeys {
    /// Ids the backend gave.
    pub ids: Vec<String>,
    /// URLs, where there are any.
    pub urls: Vec<Option<String>>,
    /// Digests of the texts.
    pub contents: Vec<Digest>,
}

impl Observation {
    /// The judgment of two answers: the same where the texts are equal, else what was judged; `None` where no
    /// judgment was recorded.
    #[must_use]
    pub fn label(&self, one: &Answer, other: &Answer) -> Option<Label> {
        if one == other {
            return Some(Label::Same);
        }
        let (small, large) = if one < other { (one, other) } else { (other, one) };
        self.judgments.get(&(small.clone(), large.clone())).copied()
    }

    /// The similarity of two answers as it was given: 1 where the texts are equal; `None` where none was.
    #[must_use]
    pub fn similarity(&self, one: &Answer, other: &Answer) -> Option<f64> {
        if one == other {
            return Some(1.0);
        }
        let (small, large) = if one < other { (one, other) } else { (other, one) };
        self.similarities.get(&(small.clone(), large.clone())).copied()
    }

    /// The answers from one snapshot.
    #[must_use]
    pub fn snapshot(&self, name: &SnapshotName) -> Option<&SnapshotAnswers> {
        self.snapshots.iter().find(|entry| entry.snapshot == *name)
    }
}
