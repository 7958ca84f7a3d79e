//! Why observations cannot be analysed. Every variant names the question, never an answer; its text is a cause, to stand
//! behind what failed for it.

use crate::model::{Failure, FailureClass, Kernel, QuestionId, SnapshotName};

/// Observations that do not make an audit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalyzeError {
    /// N = 0: no question means no verdict.
    #[error("there is no question")]
    NoQuestions,
    /// Two observations share an id.
    #[error("question `{0}` stands twice")]
    DuplicateQuestion(QuestionId),
    /// The same snapshot is named twice in the settings or in one observation.
    #[error("snapshot `{0}` is named twice")]
    DuplicateSnapshot(SnapshotName),
    /// An answer without a recorded score, where scores take the place of texts.
    #[error("question `{0}`: an answer has no recorded score")]
    Unscored(QuestionId),
    /// An observation lacks a snapshot that the settings name.
    #[error("question `{question}`: snapshot `{snapshot}` is missing")]
    MissingSnapshot {
        /// The question.
        question: QuestionId,
        /// The snapshot that it lacks.
        snapshot: SnapshotName,
    },
    /// Fewer than two repeats.
    #[error("question `{question}`: {found} answers from snapshot `{snapshot}`, at least 2 are needed")]
    TooFewRepeats {
        /// The question.
        question: QuestionId,
        /// The snapshot.
        snapshot: SnapshotName,
        /// How many answers it has.
        found: usize,
    },
    /// Questions with different numbers of repeats from one snapshot.
    #[error("question `{question}`: {found} answers from snapshot `{snapshot}`, other questions have {expected}")]
    UnequalRepeats {
        /// The question.
        question: QuestionId,
        /// The snapshot.
        snapshot: SnapshotName,
        /// How many answers it has.
        found: usize,
        /// How many the first question has.
        expected: usize,
    },
    /// A question that is said to be unchanged, and so unasked, has answers.
    #[error("question `{question}`: it is marked unchanged and has answers from snapshot `{snapshot}`")]
    AnsweredUnchanged {
        /// The question.
        question: QuestionId,
        /// The snapshot.
        snapshot: SnapshotName,
    },
    /// Two different answers that were never judged.
    #[error(
        "question `{question}`: no judgment of answer {} of `{}` with answer {} of `{}`",
        .one.1 + 1, .one.0, .other.1 + 1, .other.0
    )]
    MissingJudgment {
        /// The question.
        question: QuestionId,
        /// Snapshot and repeat (from 0) of one answer.
        one: (SnapshotName, usize),
        /// Snapshot and repeat of the other.
        other: (SnapshotName, usize),
    },
    /// A similarity for the soft kernel that is no number from 0 to 1.
    #[error("question `{question}`: a similarity is not a number from 0 to 1")]
    NotASimilarity {
        /// The question.
        question: QuestionId,
    },
    /// Some questions have similarities for the soft kernel, and two different answers of this one have none.
    #[error("question `{question}`: two of its answers have no similarity")]
    MissingSimilarity {
        /// The question.
        question: QuestionId,
    },
    /// The lists of an evidence have different lengths.
    #[error("question `{question}`: the evidence of snapshot `{snapshot}` has lists of unequal length")]
    UnevenEvidence {
        /// The question.
        question: QuestionId,
        /// The snapshot.
        snapshot: SnapshotName,
    },
    /// Judgments that are not transitive among so many answers that the exact randomisation test cannot be enumerated.
    #[error("{}the {kernel} labels of {answers} answers are not transitive, at most {limit} can be tested", of(.question.as_ref()))]
    TooManyRepeats {
        /// The question, where it is known.
        question: Option<QuestionId>,
        /// The kernel.
        kernel: Kernel,
        /// Answers of both snapshots together.
        answers: usize,
        /// The most that can be enumerated.
        limit: usize,
    },
    /// No draws were asked for.
    #[error("the bootstrap needs at least one draw")]
    NoDraws,
    /// More repeats than a lattice can have, or numbers of repeats without common factors.
    #[error("{old} and {new} repeats make too fine a lattice: take at most 33, and equal numbers of both snapshots")]
    TooFine {
        /// Repeats of the old snapshot.
        old: u32,
        /// Repeats of the new one.
        new: u32,
    },
    /// More ways to split the answers of one question into old and new ones than 64 bits can count.
    #[error(
        "{old} and {new} answers of a question can be split in more than 2^64 ways: take at most 33 of each snapshot"
    )]
    TooManySplits {
        /// Repeats of the old snapshot.
        old: u32,
        /// Repeats of the new one.
        new: u32,
    },
    /// More questions and repeats than exact sums can hold in 64 bits, or their laws in memory.
    #[error(
        "too many questions with too many repeats for exact sums, whose windows have at most 2^24 lattice units: take fewer \
         repeats, and equal numbers of both snapshots"
    )]
    TooLarge,
}

fn of(question: Option<&QuestionId>) -> String {
    question.map(|question| format!("question `{question}`: ")).unwrap_or_default()
}

impl From<AnalyzeError> for Failure {
    fn from(error: AnalyzeError) -> Self {
        let class = match error {
            AnalyzeError::NoQuestions
            | AnalyzeError::NoDraws
            | AnalyzeError::TooManyRepeats { .. }
            | AnalyzeError::TooManySplits { .. }
            | AnalyzeError::TooFine { .. } => FailureClass::Usage,
            _ => FailureClass::Evidence,
        };
        Self::new(class, format!("failed to analyze the answers: {error}"))
    }
}
