//! The texts behind the stable flips: question, answers, gold, and what evidence came and went.

use super::collect::Collected;
use crate::analyze::Flip;
use crate::freeze::Protocol;
use crate::ledger::BlobReader;
use crate::model::{
    Digest, Document, Evidence, EvidenceKeys, Failure, FailureClass, Observation, QuestionId, SnapshotName,
};
use crate::report::{self, EvidenceLine, FlipDetail};
use camino::Utf8Path;
use std::collections::{BTreeSet, HashMap};

/// Characters of a document that a report shows.
const EXCERPT_CHARS: usize = 200;

/// One entry a flip, in the same order.
pub(super) fn details(
    protocol: &Protocol,
    folder: &Utf8Path,
    collected: &Collected,
    flips: &[Flip],
) -> Result<Vec<FlipDetail>, Failure> {
    let blobs = BlobReader::at(folder);
    let texts: HashMap<&QuestionId, &str> = protocol.questions.iter().map(|q| (&q.id, q.text.as_str())).collect();
    let observed: HashMap<&QuestionId, &Observation> = collected.observations.iter().map(|o| (&o.id, o)).collect();
    let detail = |flip: &Flip| {
        let old = evidence(&blobs, collected, &flip.question, &SnapshotName::old())?;
        let new = evidence(&blobs, collected, &flip.question, &SnapshotName::new_snapshot())?;
        let (old_contents, new_contents) = (contents(&old), contents(&new));
        Ok(FlipDetail {
            question: flip.question.clone(),
            text: texts.get(&flip.question).copied().unwrap_or_default().to_owned(),
            old_answer: flip.old.as_str().to_owned(),
            new_answer: flip.new.as_str().to_owned(),
            gold: observed.get(&flip.question).map(|observed| observed.gold.clone()).unwrap_or_default(),
            left: lines(&old, &new_contents, flip.old.as_str()),
            came: lines(&new, &old_contents, flip.new.as_str()),
            shared: old_contents.intersection(&new_contents).count() as u64,
        })
    };
    flips.iter().map(detail).collect()
}

/// The locked evidence of a question; empty where there is none.
fn evidence(
    blobs: &BlobReader,
    collected: &Collected,
    question: &QuestionId,
    snapshot: &SnapshotName,
) -> Result<Evidence, Failure> {
    let Some((digest, _)) = collected.evidence.locked.get(&(question.clone(), snapshot.clone())) else {
        return Ok(Evidence::default());
    };
    serde_json::from_slice(&blobs.get(digest)?)
        .map_err(|_| Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no evidence")))
}

fn contents(evidence: &Evidence) -> BTreeSet<Digest> {
    evidence.documents.iter().map(Document::content).collect()
}

/// The documents that the other side does not have, best first, each by the part where the answer stands.
fn lines(evidence: &Evidence, other: &BTreeSet<Digest>, answer: &str) -> Vec<EvidenceLine> {
    let gone = evidence.documents.iter().filter(|document| !other.contains(&document.content()));
    gone.map(|document| EvidenceLine {
        id: document.id.clone(),
        excerpt: report::excerpt(&document.text, answer, EXCERPT_CHARS),
    })
    .collect()
}

/// The same where texts are left out: ids and digests in their place.
pub(super) fn details_without_texts(collected: &Collected, flips: &[Flip]) -> Vec<FlipDetail> {
    let none = EvidenceKeys::default();
    let detail = |flip: &Flip| {
        let keys = |snapshot| collected.evidence.keys(&flip.question, &snapshot).unwrap_or(&none);
        let (old, new) = (keys(SnapshotName::old()), keys(SnapshotName::new_snapshot()));
        let (old_contents, new_contents): (BTreeSet<_>, BTreeSet<_>) =
            (old.contents.iter().copied().collect(), new.contents.iter().copied().collect());
        FlipDetail {
            question: flip.question.clone(),
            text: flip.question.0.clone(),
            old_answer: flip.old.as_str().to_owned(),
            new_answer: flip.new.as_str().to_owned(),
            gold: Vec::new(),
            left: ids(old, &new_contents),
            came: ids(new, &old_contents),
            shared: old_contents.intersection(&new_contents).count() as u64,
        }
    };
    flips.iter().map(detail).collect()
}

fn ids(keys: &EvidenceKeys, other: &BTreeSet<Digest>) -> Vec<EvidenceLine> {
    let gone = keys.ids.iter().zip(&keys.contents).filter(|(_, content)| !other.contains(content));
    gone.map(|(id, _)| EvidenceLine { id: id.clone(), excerpt: String::new() }).collect()
}
