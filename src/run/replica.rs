//! What a second generator came to on a sample of the questions, from its own ledgers and the observations of the audit.

use super::found::Texts;
use super::judges::{self, Read};
use super::tally::Tally;
use super::{machinery, recompute};
use crate::analyze::{PairedChurn, Replication, Sampled};
use crate::freeze::Protocol;
use crate::generate::{Missing, intolerable};
use crate::ledger;
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::ledger::stage::{ReplicaAnswers, ReplicaJudgments};
use crate::model::{Answer, Cell, Failure, Observation, Question, QuestionId, SnapshotAnswers};
use crate::report::Ledger;
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// What the second generator's ledger says.
#[derive(Default)]
struct Answered {
    cells: BTreeMap<Cell, Answer>,
    unchanged: BTreeSet<QuestionId>,
    models: BTreeSet<String>,
}

/// The replication that the protocol asks for; nothing where it asks for none. `observed` are the observations of at least all
/// sampled questions; `tally` counts the calls.
///
/// # Errors
/// A ledger is damaged, or the statistics refuse what it says: class
/// [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
pub(super) fn replication(
    protocol: &Protocol,
    folder: &Utf8Path,
    texts: &Texts,
    observed: &[Observation],
    tally: &mut Tally,
) -> Result<Option<Replication>, Failure> {
    let (Some(spec), Some(view)) = (&protocol.spec.replicate, protocol.replica()) else { return Ok(None) };
    let answered = read(folder, texts, tally)?;
    let judged = judges::read::<ReplicaJudgments>(folder, Ledger::ReplicaJudgments, texts, tally)?;
    let whole: Vec<Observation> =
        view.questions.iter().filter_map(|question| observation(&view, question, &answered, &judged)).collect();
    let (labelled, unjudged): (Vec<_>, Vec<_>) = whole.into_iter().partition(is_labelled);
    let packets = labelled.iter().filter(|observation| !observation.judgments.is_empty()).count() + unjudged.len();
    let mut sample = judges::weighed(protocol, view.questions.len(), packets as u64, unjudged.len() as u64);
    sample.why = intolerable(&missing(&view, &answered), protocol.spec.tolerance.invalid_cells).or(sample.why);
    let first: Vec<Observation> =
        observed.iter().filter(|observation| protocol.samples.replica.contains(&observation.id)).cloned().collect();
    Ok(Some(Replication {
        generator: machinery::generator(&spec.backend),
        served_models: answered.models.into_iter().collect(),
        churn: paired(&first, &labelled, protocol, &mut sample)?,
        sample,
    }))
}

/// D̂ of both generators; nothing where too much is missing.
fn paired(
    first: &[Observation],
    second: &[Observation],
    protocol: &Protocol,
    sample: &mut Sampled,
) -> Result<Option<PairedChurn>, Failure> {
    let both: BTreeSet<&QuestionId> = first.iter().map(|observation| &observation.id).collect();
    if sample.why.is_none() && !second.iter().any(|observation| both.contains(&observation.id)) {
        sample.why = Some("no question of the sample could be compared".to_owned());
    }
    if sample.why.is_some() {
        return Ok(None);
    }
    let settings = recompute::settings(protocol);
    PairedChurn::semantic(first, second, &settings).map(Some).map_err(recompute::refused)
}

/// Reads the answers once.
fn read(folder: &Utf8Path, texts: &Texts, tally: &mut Tally) -> Result<Answered, Failure> {
    let mut answered = Answered::default();
    for record in ledger::read::<ReplicaAnswers>(folder)? {
        let (seq, record) = record?;
        tally.side(Ledger::ReplicaAnswers, seq, &record);
        match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), served_model, .. }) => {
                answered.cells.insert(of, texts.answer(&accepted.answer)?);
                answered.models.extend(served_model);
            }
            Record::Note(note) => {
                answered.unchanged.insert(note.question);
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }
    Ok(answered)
}

/// One question as the second generator answered it; nothing where a cell has no answer. Evidence and gold are not looked at.
fn observation(view: &Protocol, question: &Question, answered: &Answered, judged: &Read) -> Option<Observation> {
    let unchanged = answered.unchanged.contains(&question.id);
    let repeats = if unchanged { 0 } else { view.spec.generate.repeats };
    let answers = |snapshot: &crate::model::SnapshotName| {
        let cell = |repeat| Cell { question: question.id.clone(), snapshot: snapshot.clone(), repeat };
        (0..repeats).map(|repeat| answered.cells.get(&cell(repeat)).cloned()).collect::<Option<Vec<Answer>>>()
    };
    let snapshots = view.snapshots.iter().map(|snapshot| {
        let name = snapshot.name.clone();
        Some(SnapshotAnswers { answers: answers(&name)?, snapshot: name, evidence: None, cited: Vec::new() })
    });
    Some(Observation {
        id: question.id.clone(),
        cluster: None,
        tags: Vec::new(),
        snapshots: snapshots.collect::<Option<_>>()?,
        judgments: judged.labels.get(&question.id).cloned().unwrap_or_default(),
        similarities: BTreeMap::new(),
        gold: Vec::new(),
        unchanged,
    })
}

/// Whether every pair of its different answers has a label.
fn is_labelled(observation: &Observation) -> bool {
    let distinct: BTreeSet<&Answer> = observation.snapshots.iter().flat_map(|snapshot| &snapshot.answers).collect();
    observation.judgments.len() == distinct.len() * distinct.len().saturating_sub(1) / 2
}

/// Cells that hold no answer, by snapshot.
fn missing(view: &Protocol, answered: &Answered) -> Vec<Missing> {
    let asked = view.questions.iter().filter(|question| !answered.unchanged.contains(&question.id)).count() as u64;
    let asked = asked * u64::from(view.spec.generate.repeats);
    let of = |snapshot: &crate::freeze::ResolvedSnapshot| {
        let accepted = answered.cells.keys().filter(|cell| cell.snapshot == snapshot.name).count() as u64;
        Missing { snapshot: snapshot.name.to_string(), asked, lacking: asked.saturating_sub(accepted) }
    };
    view.snapshots.iter().map(of).collect()
}
