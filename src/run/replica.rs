//! What a second generator came to on a sample of the questions, from its own ledgers and the observations of the audit.

use super::found::Texts;
use super::judges::{self, Read};
use super::tally::Tally;
use super::{machinery, recompute};
use crate::analyze::{PairedChurn, QuestionScores, Replication, Sampled, Scores, Side};
use crate::freeze::Protocol;
use crate::generate::{Missing, intolerable};
use crate::ledger;
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::ledger::stage::{ReplicaAnswers, ReplicaJudgments};
use crate::model::fisher::Share;
use crate::model::{Answer, Cell, Digest, Failure, Kernel, Observation, Question, QuestionId, SnapshotAnswers};
use crate::report::Ledger;
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// What the second generator's ledger says, and which of all answers to its questions are equal, where their texts are left out.
#[derive(Default)]
pub(super) struct Answered {
    cells: BTreeMap<Cell, (Digest, Answer)>,
    unchanged: BTreeSet<QuestionId>,
    models: BTreeSet<String>,
    /// Of the audit's answers, and of its own.
    scores: Option<[Scores; 2]>,
}

impl Answered {
    /// Reads the ledger once; nothing where there is no second generator. `tally` counts the calls.
    ///
    /// # Errors
    /// The ledger is damaged.
    pub(super) fn read(
        protocol: &Protocol,
        folder: &Utf8Path,
        texts: &Texts,
        tally: &mut Tally,
    ) -> Result<Self, Failure> {
        if protocol.spec.replicate.is_some() { read(folder, texts, tally) } else { Ok(Self::default()) }
    }

    /// Its distinct answers to a question, in the order of snapshots and repeats.
    pub(super) fn distinct(&self, protocol: &Protocol, question: &QuestionId) -> Vec<(Digest, &Answer)> {
        let mut distinct: Vec<(Digest, &Answer)> = Vec::new();
        for snapshot in &protocol.snapshots {
            for repeat in 0..protocol.spec.generate.repeats {
                let cell = Cell { question: question.clone(), snapshot: snapshot.name.clone(), repeat };
                if let Some((digest, answer)) = self.cells.get(&cell)
                    && distinct.iter().all(|(one, _)| one != digest)
                {
                    distinct.push((*digest, answer));
                }
            }
        }
        distinct
    }

    /// Takes which answers to a question are equal: the audit's, and its own.
    pub(super) fn score(&mut self, question: &QuestionId, [first, own]: [QuestionScores; 2]) {
        let [of_first, of_own] = self.scores.get_or_insert_default();
        of_first.insert(question.clone(), first);
        of_own.insert(question.clone(), own);
    }

    fn scores(&self, which: usize) -> Option<&Scores> {
        self.scores.as_ref().and_then(|scores| scores.get(which))
    }
}

/// The replication that the protocol asks for; nothing where it asks for none. `observed` are the observations of at least all
/// sampled questions; `tally` counts the judge's calls.
///
/// # Errors
/// A ledger is damaged, or the statistics refuse what it says: class
/// [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
pub(super) fn replication(
    protocol: &Protocol,
    folder: &Utf8Path,
    texts: &Texts,
    observed: &[Observation],
    answered: &Answered,
    tally: &mut Tally,
) -> Result<Option<Replication>, Failure> {
    let (Some(spec), Some(view)) = (&protocol.spec.replicate, protocol.replica()) else { return Ok(None) };
    let judged = judges::read::<ReplicaJudgments>(folder, Ledger::ReplicaJudgments, texts, tally)?;
    let whole: Vec<Observation> =
        view.questions.iter().filter_map(|question| observation(&view, question, answered, &judged)).collect();
    let left_out = Share { counted: (view.questions.len() - whole.len()) as u64, of: view.questions.len() as u64 };
    let (labelled, unjudged): (Vec<_>, Vec<_>) = whole.into_iter().partition(is_labelled);
    let packets = labelled.iter().filter(|observation| !observation.judgments.is_empty()).count() + unjudged.len();
    let mut sample = judges::weighed(protocol, view.questions.len(), packets as u64, unjudged.len() as u64);
    let cells = missing(&view, answered);
    sample.why = intolerable(&cells, left_out, protocol.spec.tolerance.invalid_cells).or(sample.why);
    let first: Vec<Observation> =
        observed.iter().filter(|observation| protocol.samples.replica.contains(&observation.id)).cloned().collect();
    let sides = [
        Side { observations: &first, scores: answered.scores(0) },
        Side { observations: &labelled, scores: answered.scores(1) },
    ];
    let [exact, churn] = paired(sides, protocol, &mut sample)?;
    Ok(Some(Replication {
        generator: machinery::generator(&spec.backend),
        served_models: answered.models.iter().cloned().collect(),
        churn,
        exact,
        sample,
    }))
}

/// D̂ of both generators under the exact and the semantic kernel; nothing where too much is missing.
fn paired(
    [first, second]: [Side<'_>; 2],
    protocol: &Protocol,
    sample: &mut Sampled,
) -> Result<[Option<PairedChurn>; 2], Failure> {
    let both: BTreeSet<&QuestionId> = first.observations.iter().map(|observation| &observation.id).collect();
    if sample.why.is_none() && !second.observations.iter().any(|observation| both.contains(&observation.id)) {
        sample.why = Some("no question of the sample could be compared".to_owned());
    }
    if sample.why.is_some() {
        return Ok([None, None]);
    }
    let settings = recompute::settings(protocol);
    let of = |kernel| PairedChurn::of(kernel, first, second, &settings).map(Some).map_err(recompute::refused);
    Ok([of(Kernel::Exact)?, of(Kernel::Semantic)?])
}

/// Reads the answers once.
fn read(folder: &Utf8Path, texts: &Texts, tally: &mut Tally) -> Result<Answered, Failure> {
    let mut answered = Answered::default();
    for record in ledger::read::<ReplicaAnswers>(folder)? {
        let (seq, record) = record?;
        tally.side(Ledger::ReplicaAnswers, seq, &record);
        match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), served_model, .. }) => {
                answered.cells.insert(of, (accepted.answer, texts.answer(&accepted.answer)?));
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
        (0..repeats)
            .map(|repeat| answered.cells.get(&cell(repeat)).map(|(_, answer)| answer.clone()))
            .collect::<Option<Vec<Answer>>>()
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
