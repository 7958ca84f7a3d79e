//! The texts behind the stable flips: question, answers, gold, and what documents came and went, retrieved or cited.

use super::found::{Answers, Evidence, Found};
use crate::analyze::Flip;
use crate::ledger::BlobReader;
use crate::model::{self, Digest, Document, EvidenceKeys, Failure, Question, QuestionId, SnapshotName};
use crate::report::{self, CitedChange, EvidenceLine, FlipDetail, FlipRecords, Ledger};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a document that a report shows.
const EXCERPT_CHARS: usize = 200;

/// What is kept of each question that flipped: all that a report says of it beside the figures.
pub(super) type Flipped = BTreeMap<QuestionId, Kept>;

/// What is kept of one question.
#[derive(Debug)]
pub(super) struct Kept {
    text: String,
    gold: Vec<String>,
    evidence: Evidence,
    cited: Option<CitedChange>,
    /// The numbers of its records.
    pub records: FlipRecords,
}

impl Kept {
    /// What a report needs of this question.
    pub(super) fn of(question: &Question, found: Found) -> Self {
        let records = records(&question.id, &found);
        let cited = cited(&found.answers);
        Self { text: question.text.clone(), gold: found.gold, evidence: found.evidence, cited, records }
    }
}

fn records(question: &QuestionId, found: &Found) -> FlipRecords {
    let notes = found.evidence.locked.values().map(|(_, seq)| *seq);
    let answers = found.answers.cells.values().map(|(_, seq)| *seq);
    let mut records = vec![
        (Ledger::Evidence, notes.collect::<Vec<u64>>()),
        (Ledger::Answers, answers.collect()),
        (Ledger::Judgments, found.judged.clone()),
    ];
    for (_, numbers) in &mut records {
        numbers.sort_unstable();
    }
    FlipRecords { question: question.clone(), records }
}

/// One entry a flip, in the same order.
pub(super) fn details(folder: &Utf8Path, flipped: &Flipped, flips: &[Flip]) -> Result<Vec<FlipDetail>, Failure> {
    let blobs = BlobReader::at(folder);
    let detail = |flip: &Flip| {
        let kept = flipped.get(&flip.question);
        let evidence = |snapshot| {
            kept.map_or_else(|| Ok(model::Evidence::default()), |kept| kept.evidence.read(&blobs, &snapshot))
        };
        let (old, new) = (evidence(SnapshotName::old())?, evidence(SnapshotName::new_snapshot())?);
        let (old_contents, new_contents) = (contents(&old), contents(&new));
        Ok(FlipDetail {
            question: flip.question.clone(),
            text: kept.map(|kept| kept.text.clone()).unwrap_or_default(),
            old_answer: flip.old.as_str().to_owned(),
            new_answer: flip.new.as_str().to_owned(),
            gold: kept.map(|kept| kept.gold.clone()).unwrap_or_default(),
            left: lines(&old, &new_contents, flip.old.as_str()),
            came: lines(&new, &old_contents, flip.new.as_str()),
            shared: old_contents.intersection(&new_contents).count() as u64,
            cited: kept.and_then(|kept| kept.cited.clone()),
        })
    };
    flips.iter().map(detail).collect()
}

fn contents(evidence: &model::Evidence) -> BTreeSet<Digest> {
    evidence.documents.iter().map(Document::content).collect()
}

/// The documents that the other side does not have, best first, each by the part where the answer stands.
fn lines(evidence: &model::Evidence, other: &BTreeSet<Digest>, answer: &str) -> Vec<EvidenceLine> {
    let gone = evidence.documents.iter().filter(|document| !other.contains(&document.content()));
    gone.map(|document| EvidenceLine {
        id: document.id.clone(),
        excerpt: report::excerpt(&document.text, answer, EXCERPT_CHARS),
    })
    .collect()
}

/// The same where texts are left out: ids and digests in their place.
pub(super) fn details_without_texts(flipped: &Flipped, flips: &[Flip]) -> Vec<FlipDetail> {
    let none = EvidenceKeys::default();
    let detail = |flip: &Flip| {
        let kept = flipped.get(&flip.question);
        let keys = |snapshot| kept.and_then(|kept| kept.evidence.keys(&snapshot)).unwrap_or(&none);
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
            cited: kept.and_then(|kept| kept.cited.clone()),
        }
    };
    flips.iter().map(detail).collect()
}

/// What the answers of both sides name; nothing where those of one side came without any list, or all lists are empty.
fn cited(answers: &Answers) -> Option<CitedChange> {
    let (old, new) = (answers.lists(&SnapshotName::old())?, answers.lists(&SnapshotName::new_snapshot())?);
    let contents = |lists: &[&EvidenceKeys]| -> BTreeSet<Digest> {
        lists.iter().flat_map(|keys| keys.contents.iter().copied()).collect()
    };
    let (old_contents, new_contents) = (contents(&old), contents(&new));
    let named_at_all = !old_contents.is_empty() || !new_contents.is_empty();
    (named_at_all && !old.is_empty() && !new.is_empty()).then(|| CitedChange {
        lost: only_there(&old, &new_contents),
        gained: only_there(&new, &old_contents),
        shared: old_contents.intersection(&new_contents).count() as u64,
    })
}

/// The documents of these lists that the other side does not have, each once, in the order in which they are named.
fn only_there(lists: &[&EvidenceKeys], other: &BTreeSet<Digest>) -> Vec<EvidenceLine> {
    let mut seen = other.clone();
    let named = lists.iter().flat_map(|keys| keys.ids.iter().zip(&keys.contents));
    named.filter(|(_, content)| seen.insert(**content)).map(|(id, _)| without_text(id)).collect()
}

fn ids(keys: &EvidenceKeys, other: &BTreeSet<Digest>) -> Vec<EvidenceLine> {
    let gone = keys.ids.iter().zip(&keys.contents).filter(|(_, content)| !other.contains(content));
    gone.map(|(id, _)| without_text(id)).collect()
}

fn without_text(id: &str) -> EvidenceLine {
    EvidenceLine { id: id.to_owned(), excerpt: String::new() }
}
