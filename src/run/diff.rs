//! Retrieval alone: what changed in the evidence, and what a whole audit would take.

use super::audit::open_run;
use super::collect::{Evidence, contents_of};
use super::tally::Tally;
use super::{Prepared, machinery, plan, recompute};
use crate::analyze::{overlap, risk};
use crate::freeze::Protocol;
use crate::http::Context;
use crate::ledger::BlobReader;
use crate::model::{Digest, EvidenceKeys, Failure, FailureClass, Observation, Question, SnapshotAnswers, SnapshotName};
use crate::report::{self, AuditCost, EvidenceDiff, EvidenceLine, QuestionAtRisk};
use crate::retrieve;
use crate::spec::UnchangedEvidence;
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a document that are shown.
const EXCERPT_CHARS: usize = 200;

/// Retrieves as the whole audit does, into the same run folder, and compares. Documents of the first `excerpts` questions
/// at risk come with their beginnings.
///
/// # Errors
/// Whatever retrieval fails with; what is in the ledger stays there.
pub async fn diff(prepared: Prepared, excerpts: usize, context: &Context) -> Result<EvidenceDiff, Failure> {
    if prepared.protocol.spec.retrieve.is_within() {
        return Err(without_evidence());
    }
    let costs = plan(&prepared);
    let (folder, frozen) = open_run(prepared, context)?;
    retrieve::retrieve(&frozen, &folder, context).await?;
    let (protocol, path) = (&frozen.protocol, folder.path());
    let evidence = Evidence::read(path, &mut Tally::default())?;
    let observations: Vec<Observation> =
        protocol.questions.iter().map(|question| observation(protocol, question, &evidence)).collect();
    let failed = |error| Failure::new(FailureClass::Evidence, format!("failed to compare the evidence: {error}"));
    let overlap = overlap::overlap(&observations, &recompute::settings(protocol), |_| false).map_err(failed)?;
    let unasked = observations.iter().filter(|observed| is_unasked(protocol, &evidence, observed)).count() as u64;
    let asked = observations.len() as u64 - unasked;
    Ok(EvidenceDiff {
        name: protocol.spec.name.clone(),
        protocol: protocol.digest,
        snapshots: recompute::snapshots(protocol),
        retrieve: machinery::describe(protocol).retrieve,
        overlap: overlap.ok_or_else(|| Failure::new(FailureClass::Evidence, "there is no evidence to compare"))?,
        mismatched: evidence.mismatched,
        at_risk: at_risk(protocol, path, &evidence, &observations, excerpts)?,
        cost: AuditCost {
            asked,
            unasked,
            answers: asked * costs.snapshots * costs.repeats,
            packets: asked,
            calls: (costs.calls * asked).checked_div(costs.questions).unwrap_or(0),
        },
    })
}

fn without_evidence() -> Failure {
    let message = "the spec has `answer`: the audited system retrieves by itself, and there is no evidence to compare";
    Failure::new(FailureClass::Usage, message).with_hint(
        "run `churngate run`; or describe the search engine behind it under `retrieve`, in a spec of its own",
    )
}

/// What is known of a question without answers.
fn observation(protocol: &Protocol, question: &Question, evidence: &Evidence) -> Observation {
    let of = |name: &SnapshotName| SnapshotAnswers {
        snapshot: name.clone(),
        answers: Vec::new(),
        evidence: Some(evidence.keys(&question.id, name).cloned().unwrap_or_default()),
    };
    Observation {
        id: question.id.clone(),
        cluster: None,
        tags: Vec::new(),
        snapshots: protocol.spec.snapshots.iter().map(|snapshot| of(&snapshot.name)).collect(),
        judgments: BTreeMap::new(),
        similarities: BTreeMap::new(),
        gold: Vec::new(),
        unchanged: false,
    }
}

/// Whether a whole audit would leave the question unasked: one evidence in all snapshots, and both passes matched.
fn is_unasked(protocol: &Protocol, evidence: &Evidence, observed: &Observation) -> bool {
    let mut keys = observed.snapshots.iter().map(|entry| &entry.evidence);
    let first = keys.next();
    protocol.spec.generate.unchanged_evidence == UnchangedEvidence::Zero
        && !evidence.differing.contains(&observed.id)
        && keys.all(|other| Some(other) == first)
}

fn at_risk(
    protocol: &Protocol,
    folder: &Utf8Path,
    evidence: &Evidence,
    observations: &[Observation],
    excerpts: usize,
) -> Result<Vec<QuestionAtRisk>, Failure> {
    let mut changed: Vec<(f64, &Observation, &Question)> = Vec::new();
    for (observed, question) in observations.iter().zip(&protocol.questions) {
        let (old, new) = ends(observed);
        if old != new {
            changed.push((risk::turnover(&old.contents, &new.contents), observed, question));
        }
    }
    changed.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.id.cmp(&other.1.id)));
    let blobs = BlobReader::at(folder);
    let mut ranked = Vec::new();
    for (number, (turnover, observed, question)) in changed.into_iter().enumerate() {
        let (old, new) = ends(observed);
        let texts = (number < excerpts).then_some((&blobs, evidence, &observed.id));
        let (of_old, of_new): (BTreeSet<&Digest>, BTreeSet<&Digest>) =
            (old.contents.iter().collect(), new.contents.iter().collect());
        ranked.push(QuestionAtRisk {
            question: observed.id.clone(),
            text: question.text.clone(),
            turnover,
            shared: of_old.intersection(&of_new).count() as u64,
            lost: lines(&old, &of_new, texts, &SnapshotName::old())?,
            gained: lines(&new, &of_old, texts, &SnapshotName::new_snapshot())?,
        });
    }
    Ok(ranked)
}

/// The evidence of old and new.
fn ends(observed: &Observation) -> (EvidenceKeys, EvidenceKeys) {
    let of = |entry: Option<&SnapshotAnswers>| entry.and_then(|entry| entry.evidence.clone()).unwrap_or_default();
    (of(observed.snapshots.first()), of(observed.snapshots.last()))
}

type Texts<'a> = Option<(&'a BlobReader, &'a Evidence, &'a crate::model::QuestionId)>;

/// The documents that the other side does not have, best first.
fn lines(
    keys: &EvidenceKeys,
    other: &BTreeSet<&Digest>,
    texts: Texts<'_>,
    snapshot: &SnapshotName,
) -> Result<Vec<EvidenceLine>, Failure> {
    let texts = match texts {
        Some((blobs, evidence, question)) => contents_of(blobs, evidence, question, snapshot)?,
        None => Vec::new(),
    };
    let gone = keys.ids.iter().zip(&keys.contents).enumerate().filter(|(_, (_, content))| !other.contains(content));
    let excerpt =
        |place: usize| texts.get(place).map_or_else(String::new, |text| report::excerpt(text, "", EXCERPT_CHARS));
    Ok(gone.map(|(place, (id, _))| EvidenceLine { id: id.clone(), excerpt: excerpt(place) }).collect())
}
