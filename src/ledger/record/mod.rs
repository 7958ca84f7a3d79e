//! Types on disk, one module a format version, apart from the types at run time.

mod about;
mod tagged;
pub mod v1;

pub use about::About;
pub use v1::{
    AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, AcceptedVectors, AnswersRecord, Attempt, DocumentRecord,
    EmbedKey, EvidenceKey, EvidenceRecord, JudgmentsRecord, Outcome, Packet, PairLabel, PassRecord, Record,
    StoredVectors, Texts, Unchanged, Usage, VectorRecord, VectorsRecord, Verdict,
};
