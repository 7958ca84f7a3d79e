//! The question that a record is about: each is about one, but for records of vectors, which are made of many at once.

use super::v1::{EmbedKey, EvidenceKey, Packet, PassRecord, Record, StoredVectors, Unchanged};
use crate::model::{Cell, QuestionId};

/// Keys, notes and records.
pub trait About {
    /// The question.
    fn question(&self) -> &QuestionId;
}

impl About for QuestionId {
    fn question(&self) -> &QuestionId {
        self
    }
}

/// Stands for no question: none has an empty id.
static NONE: QuestionId = QuestionId(String::new());

impl About for EmbedKey {
    fn question(&self) -> &QuestionId {
        &NONE
    }
}

impl About for StoredVectors {
    fn question(&self) -> &QuestionId {
        &NONE
    }
}

macro_rules! about {
    ($($name:ty),*) => {$(
        impl About for $name {
            fn question(&self) -> &QuestionId {
                &self.question
            }
        }
    )*};
}
about!(EvidenceKey, Cell, PassRecord, Unchanged, Packet);

impl<K: About, A, N: About> About for Record<K, A, N> {
    fn question(&self) -> &QuestionId {
        match self {
            Self::Attempt(attempt) => attempt.of.question(),
            Self::Outcome(outcome) => outcome.of.question(),
            Self::Note(note) => note.question(),
        }
    }
}
