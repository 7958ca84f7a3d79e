//! Types on disk, one module a format version, apart from the types at run time.

mod tagged;
pub mod v1;

pub use v1::{
    AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, AnswersRecord, Attempt, DocumentRecord, EvidenceKey,
    EvidenceRecord, JudgmentsRecord, Outcome, Packet, PairLabel, PassRecord, Record, Unchanged, Usage, Verdict,
};
