//! Where an explanation's evidence and answers are kept: a folder as a run's, whose snapshots are the evidences that are asked with.
//!
//! Its plan stands in the place of the protocol and names the run by its digests, so that the same question of the same run finds the
//! same folder, and nothing is asked for twice. The plan holds every change, however few of them are tried at first.

use super::FOLDER;
use super::found::OfRun;
use crate::analyze::counterfactual::{Base, Difference, Step};
use crate::freeze::{Protocol, ResolvedSnapshot};
use crate::generate;
use crate::http::Context;
use crate::ledger::record::{Outcome, PassRecord, Record};
use crate::ledger::stage::{Counterfactuals, Evidence as EvidenceStage, Stage};
use crate::ledger::{self, BlobReader, EvidenceLock, LedgerError, Opened, ProtocolLock, RunFolder};
use crate::model::{Cell, Digest, Event, Evidence, Failure, FailureClass, QuestionId, ServedModels, SnapshotName};
use crate::run::found::{Answers, Texts};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use std::collections::BTreeSet;

/// The version of the plan that is written.
const FORMAT: &str = "1.0";
/// Characters of a question's id in the name of its folder.
const SLUG: usize = 40;

/// Where it is kept, and what is asked there.
pub(super) struct Kept {
    /// The folder of all explanations of the run.
    all: Utf8PathBuf,
    /// The folder of this one.
    pub path: Utf8PathBuf,
    plan: Vec<u8>,
    /// The run's protocol, with this question alone and these evidences as its snapshots.
    pub view: Protocol,
    /// Every distinct evidence, by the name that it has here.
    snapshots: Vec<(SnapshotName, Evidence)>,
    /// The steps, each with the name of its evidence.
    steps: Vec<(Step, SnapshotName)>,
}

/// What is there.
pub(super) struct Came {
    /// The accepted answers.
    pub answers: Answers,
    /// The models that servers named beside them.
    pub models: BTreeSet<String>,
}

impl Kept {
    /// What there is to ask of this difference of evidence.
    pub(super) fn of(run: &Utf8Path, of: &OfRun, difference: &Difference) -> Self {
        let mut snapshots: Vec<(SnapshotName, Evidence)> = Vec::new();
        let mut steps = Vec::new();
        for step in difference.steps(usize::MAX) {
            let evidence = difference.evidence(step);
            let known = snapshots.iter().find(|(_, known)| *known == evidence).map(|(name, _)| name.clone());
            let name = known.unwrap_or_else(|| {
                snapshots.push((name_of(step), evidence));
                name_of(step)
            });
            steps.push((step, name));
        }
        let plan = plan(of, &snapshots);
        let all = run.join(FOLDER);
        let path = all.join(folder_name(&of.question.id, Digest::of(&plan)));
        Self { path, all, plan, view: view(of, &snapshots), snapshots, steps }
    }

    /// The name of a step's evidence.
    pub(super) fn name(&self, step: Step) -> Option<&SnapshotName> {
        self.steps.iter().find(|(known, _)| *known == step).map(|(_, name)| name)
    }

    /// The evidence of this name.
    pub(super) fn evidence(&self, name: &SnapshotName) -> Option<&Evidence> {
        self.snapshots.iter().find(|(known, _)| known == name).map(|(_, evidence)| evidence)
    }

    /// The cells of these steps. Each further repeat reverses the order of the one before it, as in an audit.
    pub(super) fn cells(&self, steps: &[Step]) -> Vec<Cell> {
        let wanted: BTreeSet<&SnapshotName> = steps.iter().filter_map(|step| self.name(*step)).collect();
        let names: Vec<&SnapshotName> =
            self.snapshots.iter().map(|(name, _)| name).filter(|name| wanted.contains(name)).collect();
        let question = self.view.questions.first().map(|question| question.id.clone());
        let of_repeat = |repeat: u32| {
            let mut names = names.clone();
            if repeat % 2 == 1 {
                names.reverse();
            }
            let question = question.clone();
            names
                .into_iter()
                .filter_map(move |name| Some(Cell { question: question.clone()?, snapshot: name.clone(), repeat }))
        };
        (0..self.view.spec.generate.repeats).flat_map(of_repeat).collect()
    }

    /// Asks for what is not there yet.
    pub(super) async fn ask(&self, steps: &[Step], context: &Context) -> Result<(), Failure> {
        self.asked(steps, context).await.map_err(|failure| self.to_be_removed(failure))
    }

    async fn asked(&self, steps: &[Step], context: &Context) -> Result<(), Failure> {
        let (folder, plan) = self.open()?;
        let evidence = self.lock_evidence(&folder, &plan, context).await?;
        generate::ask::<Counterfactuals>(&self.view, &folder, &evidence, &self.cells(steps), context).await
    }

    /// What is broken here is no part of the run: that one must not be removed for it.
    fn to_be_removed(&self, failure: Failure) -> Failure {
        if failure.class != FailureClass::Evidence {
            return failure;
        }
        failure.with_hint(format!("restore the folder `{}` from a copy, or remove it and ask again", self.path))
    }

    /// What is there; nothing where nothing was ever asked. Blobs that a crash left in the journal are put in their places.
    ///
    /// # Errors
    /// It is damaged, does not follow from the plan, or is in use.
    pub(super) fn read(&self) -> Result<Option<Came>, Failure> {
        self.found().map_err(|failure| self.to_be_removed(failure))
    }

    fn found(&self) -> Result<Option<Came>, Failure> {
        if self.path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let (folder, plan) = self.open()?;
        if !ledger::is_there::<Counterfactuals>(folder.path())? {
            return Ok(None);
        }
        let evidence = ledger::sealed::<EvidenceStage>(&plan)?;
        // Opened as for writing, so that it is held against the evidence and a torn line is cut.
        drop(ledger::open::<Counterfactuals>(&folder, &evidence)?);
        let answers: Vec<_> = ledger::read::<Counterfactuals>(folder.path())?.collect::<Result<_, _>>()?;
        let evidences: Vec<_> = ledger::read::<EvidenceStage>(folder.path())?.collect::<Result<_, _>>()?;
        let check = generate::Check::<Counterfactuals>::new(&self.view, &evidence);
        for question in &self.view.questions {
            check.question(question, &evidences, &answers)?;
        }
        let model = |record: &_| match record {
            Record::Outcome(Outcome { served_model, .. }) => served_model.clone(),
            Record::Attempt(_) | Record::Note(_) => None,
        };
        let models = answers.iter().filter_map(|(_, record)| model(record)).collect();
        let answers = Answers::of(answers, &Texts::Whole(BlobReader::at(folder.path())))?;
        Ok(Some(Came { answers, models }))
    }

    /// Opens the folder and holds its plan against this one.
    fn open(&self) -> Result<(RunFolder, ProtocolLock), Failure> {
        if self.all.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(LedgerError::NotPlain { path: self.all.clone() }.into());
        }
        let folder = RunFolder::open(&self.path)?;
        let plan = folder.freeze(&self.plan)?;
        Ok((folder, plan))
    }

    /// Writes every evidence and seals it, or finds it sealed.
    async fn lock_evidence(
        &self,
        folder: &RunFolder,
        plan: &ProtocolLock,
        context: &Context,
    ) -> Result<EvidenceLock, Failure> {
        let writer = match ledger::open::<EvidenceStage>(folder, plan)? {
            Opened::Sealed(lock) => return Ok(lock),
            Opened::Open(writer) => writer,
        };
        for note in writer.notes() {
            context.observer.observe(Event::Note(note.clone()));
        }
        let mut known = BTreeSet::new();
        for record in ledger::read::<EvidenceStage>(folder.path())? {
            if let Record::Note(PassRecord { snapshot, .. }) = record?.1 {
                known.insert(snapshot);
            }
        }
        let open = self.snapshots.iter().filter(|(name, _)| !known.contains(name));
        let (notes, blobs): (Vec<_>, Vec<_>) = open.map(|(name, evidence)| self.note(name, evidence)).unzip();
        writer.append_all(&notes, blobs).await?;
        Ok(writer.seal().await?)
    }

    /// The record of an evidence that nobody retrieved, and its blob.
    fn note(&self, snapshot: &SnapshotName, evidence: &Evidence) -> (<EvidenceStage as Stage>::Record, Vec<u8>) {
        let question = self.view.questions.first().map_or_else(|| QuestionId(String::new()), |one| one.id.clone());
        let (evidence, blob) = (evidence.digest(), evidence.canonical());
        (Record::Note(PassRecord { question, snapshot: snapshot.clone(), evidence, matched: true, vector: None }), blob)
    }
}

/// `old` and `new` as they are, and what stands between them by the number of its change.
fn name_of(step: Step) -> SnapshotName {
    match (step.base, step.change) {
        (Base::Old, None) => SnapshotName::old(),
        (Base::New, None) => SnapshotName::new_snapshot(),
        (Base::Old, Some(change)) => SnapshotName(format!("made-{}", change + 1)),
        (Base::New, Some(change)) => SnapshotName(format!("undone-{}", change + 1)),
    }
}

/// A name that any file system takes, and that tells two plans apart.
fn folder_name(id: &QuestionId, plan: Digest) -> String {
    let kept = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let slug: String = id.0.chars().take(SLUG).map(kept).collect();
    format!("{}-{}", slug.trim_matches('-'), plan.short()).trim_matches('-').to_owned()
}

/// What stands in the place of the protocol.
fn plan(of: &OfRun, snapshots: &[(SnapshotName, Evidence)]) -> Vec<u8> {
    let evidences: Vec<_> = snapshots
        .iter()
        .map(|(name, evidence)| json!({ "name": name, "evidence": evidence.digest().to_string() }))
        .collect();
    let plan = json!({
        "format": FORMAT,
        "explains": of.question.id,
        "run": of.protocol.digest.to_string(),
        "evidence": of.locks.evidence.head().to_string(),
        "answers": of.locks.answers.head().to_string(),
        "repeats": of.protocol.spec.generate.repeats,
        "snapshots": evidences,
    });
    plan.to_string().into_bytes()
}

fn view(of: &OfRun, snapshots: &[(SnapshotName, Evidence)]) -> Protocol {
    let mut view = of.protocol.clone();
    let resolved = |(name, _): &(SnapshotName, Evidence)| ResolvedSnapshot {
        name: name.clone(),
        physical: String::new(),
        fingerprint: None,
        documents: None,
        passed_over: None,
    };
    view.questions = vec![of.question.clone()];
    view.snapshots = snapshots.iter().map(resolved).collect();
    // A model that changed since the run is told, and stops nothing: the bases that are asked again show what it does.
    view.spec.tolerance.served_models = ServedModels::Report;
    view
}
