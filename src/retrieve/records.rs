//! The records of this stage.

use crate::ledger;
use crate::ledger::record::{AcceptedEvidence, DocumentRecord, EvidenceKey, Outcome, Verdict};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::model::{Digest, Document, Evidence};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The open evidence ledger.
pub(super) type Writer = ledger::Writer<EvidenceStage>;

/// What is said of accepted evidence: its digest, and its documents by their names.
pub(super) fn accepted(evidence: &Evidence, digest: Digest) -> AcceptedEvidence {
    let record = |document: &Document| DocumentRecord {
        id: document.id.clone(),
        url: document.url.clone(),
        content: document.content(),
    };
    AcceptedEvidence { evidence: digest, documents: evidence.documents.iter().map(record).collect() }
}

/// An outcome without anything that only a server says.
pub(super) fn outcome(
    attempt: u64,
    of: EvidenceKey,
    verdict: Verdict<AcceptedEvidence>,
    latency_ms: u64,
) -> Outcome<EvidenceKey, AcceptedEvidence> {
    Outcome {
        attempt,
        of,
        verdict,
        status: None,
        served_model: None,
        fingerprint: None,
        response_id: None,
        usage: None,
        latency_ms,
        body: None,
    }
}

/// Milliseconds since the Unix epoch.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
