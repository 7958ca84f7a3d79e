//! What is said of every audit with the same parts, so that saying it again tells nobody anything.

use super::diff::EvidenceDiff;
use super::result::{AuditResult, SnapshotSummary};
use super::view;

/// Said where the embedded reader answers.
pub const READER: &str = "The answers come from the embedded reader, which picks spans from the evidence and knows nothing: this audit \
                          shows how the evidence moves answers, not what a language model would say.";

/// Said of a system that retrieves by itself.
pub const WITHIN: &str = "The audited system retrieves by itself: what its retrieval varies between two calls is inside the noise \
                          floor, and no evidence of ours was locked.";

/// Said where the embedded judge judges.
pub const EMBEDDED_JUDGE: &str = "Meaning is judged by the embedded judge: rules and lexical features, not a language model. \
                                  docs/judge.md has its measured accuracy.";

/// Said where old and new are one.
pub const ONE_SNAPSHOT: &str =
    "Old and new are one and the same snapshot: what this audit shows of a change is chance.";

/// Whether something has to be known about a result besides its verdict. That old and new are one is the verdict itself where
/// they are corpora of the same content.
#[must_use]
pub fn has_remarks(result: &AuditResult) -> bool {
    let usual = |caveat: &&String| {
        [READER, WITHIN, EMBEDDED_JUDGE].contains(&caveat.as_str()) || (result.same_content && *caveat == ONE_SNAPSHOT)
    };
    view::remarks(result) > result.machinery.caveats.iter().filter(usual).count()
}

/// The same of what changed in the evidence alone. One corpus has another name at a commit than in the working tree; snapshots of
/// one name are the same one given twice.
#[must_use]
pub fn evidence_has_remarks(diff: &EvidenceDiff) -> bool {
    let end = |name: &str| diff.snapshots.iter().find(|snapshot| snapshot.name == name);
    let unchanged = |old: &SnapshotSummary, new: &SnapshotSummary| {
        old.fingerprint.is_some() && old.fingerprint == new.fingerprint && old.physical != new.physical
    };
    let unchanged = end("old").zip(end("new")).is_some_and(|(old, new)| unchanged(old, new));
    let usual = |caveat: &&String| unchanged && *caveat == ONE_SNAPSHOT;
    view::evidence(diff).warnings.len() > diff.caveats.iter().filter(usual).count()
}
