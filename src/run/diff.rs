//! Retrieval alone: what changed in the evidence, and what a whole audit would take.

use super::audit::open_run;
use super::found::Evidence;
use super::{Prepared, machinery, origin, plan, recompute, replay};
use crate::analyze::{AnalyzeError, Settings, overlap::Turnover, risk};
use crate::freeze::Protocol;
use crate::http::Context;
use crate::ledger::{self, BlobReader, stage};
use crate::model::{Digest, EvidenceKeys, Failure, FailureClass, Observation, Question, SnapshotAnswers, SnapshotName};
use crate::report::{self, AuditCost, EvidenceDiff, EvidenceLine, QuestionAtRisk};
use crate::retrieve;
use crate::spec::{Mode, UnchangedEvidence};
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
    let (folder, frozen) = open_run(prepared, context)?;
    replay::take_up(&frozen.protocol, &folder, context)?;
    retrieve::retrieve(&frozen, &folder, context).await?;
    compare(&frozen.protocol, folder.path(), excerpts)
}

/// What follows from the sealed evidence of a run. Documents of the first `excerpts` questions at risk come with their
/// beginnings.
///
/// # Errors
/// The ledger is damaged or does not fit the protocol: class [`FailureClass::Evidence`].
pub(super) fn compare(protocol: &Protocol, path: &Utf8Path, excerpts: usize) -> Result<EvidenceDiff, Failure> {
    let (observations, evidence): (Vec<Observation>, Vec<Evidence>) = observed(protocol, path)?.into_iter().unzip();
    let failed =
        |error: AnalyzeError| Failure::new(FailureClass::Evidence, format!("failed to compare the evidence: {error}"));
    let (settings, replayed) = (recompute::settings(protocol), ledger::is_evidence_replayed(path)?);
    let turnover = |new: SnapshotName| {
        let (mut turnover, settings) = (Turnover::default(), Settings { new, ..settings.clone() });
        for observed in &observations {
            turnover.take(observed, &settings, false).map_err(failed)?;
        }
        Ok::<_, Failure>(turnover.finish())
    };
    let placebo = if settings.placebo { turnover(SnapshotName::placebo())? } else { None };
    let unasked =
        observations.iter().zip(&evidence).filter(|(observed, evidence)| is_unasked(protocol, evidence, observed));
    let unasked = unasked.count() as u64;
    let asked = observations.len() as u64 - unasked;
    Ok(EvidenceDiff {
        name: protocol.spec.name.clone(),
        protocol: protocol.digest,
        snapshots: recompute::snapshots(protocol),
        retrieve: replay::described(machinery::describe(protocol).retrieve, replayed),
        replayed,
        overlap: turnover(SnapshotName::new_snapshot())?
            .ok_or_else(|| Failure::new(FailureClass::Evidence, "there is no evidence to compare"))?,
        placebo,
        mismatched: evidence.iter().map(|evidence| evidence.mismatched).sum(),
        caveats: caveats(protocol, path)?,
        at_risk: at_risk(protocol, path, &evidence, &observations, excerpts)?,
        cost: cost(protocol, asked, unasked),
    })
}

fn without_evidence() -> Failure {
    let message = "the spec has `answer`: the audited system retrieves by itself, and there is no evidence to compare";
    Failure::new(FailureClass::Usage, message).with_hint(
        "run `churngate run`; or describe the search engine behind it under `retrieve`, in a spec of its own",
    )
}

/// What is known of each question, in selection order.
fn observed(protocol: &Protocol, folder: &Utf8Path) -> Result<Vec<(Observation, Evidence)>, Failure> {
    let rank = |question: &_| protocol.rank(question);
    let mut ledger = ledger::by_question::<stage::Evidence>(folder, rank, |_, _| {})?;
    let mut one = |question: &Question| {
        let evidence = Evidence::of(ledger.of(&question.id, protocol.rank(&question.id))?);
        Ok((observation(protocol, question, &evidence), evidence))
    };
    protocol.questions.iter().map(&mut one).collect()
}

fn caveats(protocol: &Protocol, path: &Utf8Path) -> Result<Vec<String>, Failure> {
    let origin = origin::origin(path)?;
    let caveats = origin.iter().flat_map(origin::Origin::caveats).chain(machinery::one_and_the_same(protocol));
    Ok(caveats.chain(retrieve::embedder_caveats(protocol, path)?).collect())
}

/// What a whole audit would take. A spec of evidence alone names no server: every answer and every packet is then a call.
fn cost(protocol: &Protocol, asked: u64, unasked: u64) -> AuditCost {
    let costs = plan::of(protocol);
    let answers = asked * costs.snapshots * costs.repeats;
    let calls = match protocol.spec.mode {
        Mode::Audit => ((costs.calls - costs.embedding.calls) * asked).checked_div(costs.questions).unwrap_or(0),
        Mode::Evidence => answers + asked,
    };
    AuditCost { asked, unasked, answers, packets: asked, calls }
}

/// What is known of a question without answers.
fn observation(protocol: &Protocol, question: &Question, evidence: &Evidence) -> Observation {
    let of = |name: &SnapshotName| SnapshotAnswers {
        snapshot: name.clone(),
        answers: Vec::new(),
        evidence: Some(evidence.keys(name).cloned().unwrap_or_default()),
        cited: Vec::new(),
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
        && evidence.mismatched == 0
        && keys.all(|other| Some(other) == first)
}

fn at_risk(
    protocol: &Protocol,
    folder: &Utf8Path,
    evidence: &[Evidence],
    observations: &[Observation],
    excerpts: usize,
) -> Result<Vec<QuestionAtRisk>, Failure> {
    let mut changed: Vec<(f64, &Observation, &Question, &Evidence)> = Vec::new();
    for ((observed, question), evidence) in observations.iter().zip(&protocol.questions).zip(evidence) {
        let (old, new) = ends(observed);
        if old != new {
            changed.push((risk::turnover(&old.contents, &new.contents), observed, question, evidence));
        }
    }
    changed.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.id.cmp(&other.1.id)));
    let blobs = BlobReader::at(folder);
    let mut ranked = Vec::new();
    for (number, (turnover, observed, question, evidence)) in changed.into_iter().enumerate() {
        let (old, new) = ends(observed);
        let texts = (number < excerpts).then_some((&blobs, evidence));
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
    let of = |name| observed.snapshot(&name).and_then(|entry| entry.evidence.clone()).unwrap_or_default();
    (of(SnapshotName::old()), of(SnapshotName::new_snapshot()))
}

type Texts<'a> = Option<(&'a BlobReader, &'a Evidence)>;

/// The documents that the other side does not have, best first.
fn lines(
    keys: &EvidenceKeys,
    other: &BTreeSet<&Digest>,
    texts: Texts<'_>,
    snapshot: &SnapshotName,
) -> Result<Vec<EvidenceLine>, Failure> {
    let texts = match texts {
        Some((blobs, evidence)) => evidence.read(blobs, snapshot)?.documents,
        None => Vec::new(),
    };
    let gone = keys.ids.iter().zip(&keys.contents).enumerate().filter(|(_, (_, content))| !other.contains(content));
    let excerpt = |place: usize| {
        texts.get(place).map_or_else(String::new, |document| report::excerpt(&document.text, "", EXCERPT_CHARS))
    };
    Ok(gone.map(|(place, (id, _))| EvidenceLine { id: id.clone(), excerpt: excerpt(place) }).collect())
}
