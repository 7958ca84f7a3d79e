//! The question in a finished run, and what its ledgers say of it.

use crate::freeze::{Protocol, Selection};
use crate::generate;
use crate::ledger::record::{About as _, AnswersRecord, Outcome, PassRecord, Record};
use crate::ledger::stage::{Answers, Evidence, Judgments};
use crate::ledger::{self, BlobReader, Numbered, Recorded};
use crate::model::{Amount, Answer, Failure, FailureClass, Label, Question, QuestionId, SnapshotName};
use crate::run::found::{Found, Texts};
use crate::run::join::{Records, TOGETHER};
use crate::run::recompute::Locks;
use crate::run::{RESULT, evidence, manifest, shard};
use crate::spec::nearest_few;
use crate::{freeze, model};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// Ids that are named where the wanted one is not there.
const NEAREST: usize = 3;

/// What a run says of one question.
pub(super) struct OfRun {
    pub protocol: Protocol,
    pub locks: Locks,
    pub question: Question,
    /// The answers of each side, in the order of repeats.
    pub old: Vec<Answer>,
    pub new: Vec<Answer>,
    /// The evidence of each side, by its first retrieval.
    pub evidence: [model::Evidence; 2],
    /// Whether a second retrieval of either side found something else.
    pub varies: bool,
    /// Whether it was not asked, because its prompts are byte-identical.
    pub unasked: bool,
    /// What the run's judge says of the first answers of both sides.
    pub label: Option<Label>,
    /// The models that servers named beside its answers.
    pub models: BTreeSet<String>,
    /// What its answers took, each at the most, where servers said so.
    pub took: Option<Amount>,
}

/// Reads all of that.
///
/// # Errors
/// The folder holds no finished run with texts and evidence, or the run has no such question: class [`FailureClass::Usage`]. Or it
/// is damaged.
pub(super) fn read(run: &Utf8Path, id: &QuestionId) -> Result<OfRun, Failure> {
    refuse(run)?;
    let locks = Locks::open(run)?;
    let (protocol, mut selection) = freeze::outline(run)?;
    if protocol.spec.retrieve.is_within() {
        let message = "the audited system retrieves by itself: there is no evidence of ours of which a document could be taken out";
        return Err(usage(message).with_hint("`churngate report` shows which documents its answers cite"));
    }
    let question = find(&mut selection, id)?;
    let records = Records {
        rank: protocol.rank(id),
        gold: Vec::new(),
        evidence: about::<Evidence>(run, id)?,
        answers: about::<Answers>(run, id)?,
        judgments: about::<Judgments>(run, id)?,
    };
    // The answers are those to this evidence: their requests are the prompts that follow from it.
    generate::Check::<Answers>::new(&protocol, &locks.evidence).question(
        &question,
        &records.evidence,
        &records.answers,
    )?;
    of_run(protocol, locks, question, records)
}

fn of_run(protocol: Protocol, locks: Locks, question: Question, records: Records) -> Result<OfRun, Failure> {
    let (blobs, ends) = (BlobReader::at(locks.answers.folder()), [SnapshotName::old(), SnapshotName::new_snapshot()]);
    let varies = records.evidence.iter().any(|(_, record)| match record {
        Record::Note(PassRecord { snapshot, matched, .. }) => !matched && ends.contains(snapshot),
        Record::Attempt(_) | Record::Outcome(_) => false,
    });
    let (models, took) = said(&records.answers, &ends);
    let found = Found::of(records, &Texts::Whole(blobs.clone()))?;
    let answers = |snapshot| -> Vec<Answer> {
        let of_repeat = |repeat| found.answers.of_cell(snapshot, repeat).cloned();
        (0..protocol.spec.generate.repeats).filter_map(of_repeat).collect()
    };
    let (old, new) = (answers(&ends[0]), answers(&ends[1]));
    let observed = found.observation(&protocol, &question);
    let label = observed.and_then(|observed| observed.observation.label(old.first()?, new.first()?));
    let evidence = [found.evidence.read(&blobs, &ends[0])?, found.evidence.read(&blobs, &ends[1])?];
    let unasked = found.answers.unchanged;
    Ok(OfRun { protocol, locks, question, old, new, evidence, varies, unasked, label, models, took })
}

/// Refuses what is no finished run with texts.
fn refuse(run: &Utf8Path) -> Result<(), Failure> {
    ledger::must_hold_a_run(run)?;
    if manifest::is_export(run) {
        return Err(usage(format!("`{run}` is an export: the texts of evidence and answers are left out"))
            .with_hint("explain the run that it was exported from"));
    }
    shard::refuse(run)?;
    evidence::refuse(run, "nothing was answered, so that no answer can have flipped")?;
    if run.join(RESULT).symlink_metadata().is_err() {
        return Err(usage(format!("the run in `{run}` is not finished"))
            .with_hint("`churngate run` with its spec goes on with it"));
    }
    Ok(())
}

/// The question of this id.
fn find(selection: &mut Selection, id: &QuestionId) -> Result<Question, Failure> {
    loop {
        let some = selection.some(TOGETHER)?;
        if some.is_empty() {
            break;
        }
        if let Some(question) = some.into_iter().find(|question| question.id == *id) {
            return Ok(question);
        }
    }
    selection.rewind()?;
    let mut ids = Vec::new();
    loop {
        let some = selection.some(TOGETHER)?;
        if some.is_empty() {
            break;
        }
        ids.extend(some.into_iter().map(|question| question.id.0));
    }
    let near = nearest_few(&id.0, ids.iter().map(String::as_str), NEAREST);
    let quoted: Vec<String> = near.iter().map(|near| format!("`{near}`")).collect();
    let hint = if quoted.is_empty() {
        "the report names the id of each question that flipped".to_owned()
    } else {
        format!("did you mean {}?", quoted.join(" or "))
    };
    Err(usage(format!("the run has no question `{id}`, but {} others", ids.len())).with_hint(hint))
}

/// The records of one question.
fn about<S: Recorded>(run: &Utf8Path, id: &QuestionId) -> Result<Vec<Numbered<S::Record>>, Failure> {
    let mut records = Vec::new();
    for record in ledger::read::<S>(run)? {
        let record = record?;
        if record.1.question() == id {
            records.push(record);
        }
    }
    Ok(records)
}

/// What servers said beside the answers of both ends: their models, and what one answer took at the most.
fn said(records: &[Numbered<AnswersRecord>], ends: &[SnapshotName]) -> (BTreeSet<String>, Option<Amount>) {
    let mut models = BTreeSet::new();
    let mut took: Option<Amount> = None;
    for (_, record) in records {
        let Record::Outcome(Outcome { of, served_model, usage, .. }) = record else { continue };
        if !ends.contains(&of.snapshot) {
            continue;
        }
        models.extend(served_model.clone());
        if let Some(amount) = usage.map(|usage| usage.amount(None)) {
            let most = took.unwrap_or_default();
            let nano_usd = most.nano_usd.max(amount.nano_usd);
            took = Some(Amount { tokens: most.tokens.max(amount.tokens), nano_usd });
        }
    }
    (models, took)
}

pub(super) fn usage(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Usage, message)
}

/// Whether the answers of the run were read from a recording.
pub(super) fn is_replayed(of: &OfRun) -> Result<bool, Failure> {
    Ok(ledger::is_replayed(of.locks.answers.folder())?)
}
