//! A protocol, a run folder and a context for tests.

use crate::freeze::{Frozen, Protocol, ResolvedSnapshot, Seeds};
use crate::http::Context;
use crate::ledger::record::{EvidenceKey, EvidenceRecord, Outcome, PassRecord, Record, Verdict};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{self, Durability, EvidenceLock, RunFolder};
use crate::model::{
    Confidence, Digest, Event, Evidence, Failure, Normalisation, Observer, PercentagePoints, Question, QuestionId,
    ServedModels, SnapshotName,
};
use crate::retrieve::{ask, open, retrieve};
use crate::spec::{
    BootstrapSpec, BudgetSpec, GateSpec, GenerateBackend, GenerateSpec, Inconclusive, JudgeBackend, JudgeSpec, Mode,
    OnMismatch, QuestionsSpec, ReaderSpec, RetrieveBackend, RetrieveSpec, SnapshotSource, SnapshotSpec, Spec,
    ToleranceSpec, UnchangedEvidence,
};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What the snapshots are, where nobody has to be asked, or the first thing that is wrong with one.
pub fn resolve(spec: &Spec, base: &Utf8Path) -> Result<Vec<ResolvedSnapshot>, Failure> {
    let resolved = open(spec, base).and_then(|opened| opened.resolve(spec));
    resolved.map_err(|mut unread| unread.swap_remove(0).failure)
}

/// A folder that is the spec's and holds the run.
pub struct Bench {
    folder: TempDir,
    pub spec: Spec,
    pub questions: Vec<Question>,
    pub context: Context,
}

impl Bench {
    pub fn new(backend: RetrieveBackend, old: SnapshotSource, new: SnapshotSource, questions: &[&str]) -> Self {
        let question = |(number, text): (usize, &&str)| Question {
            id: QuestionId(format!("q{number}")),
            text: (*text).to_owned(),
            tags: Vec::new(),
            cluster: None,
        };
        let questions = questions.iter().enumerate().map(question).collect();
        Self { folder: tempfile::tempdir().unwrap(), spec: spec(backend, old, new), questions, context: context() }
    }

    pub fn base(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().to_owned()).unwrap()
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.base().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What the snapshots are, whoever has to be asked.
    pub async fn resolve(&self) -> Result<Vec<ResolvedSnapshot>, Failure> {
        match ask(&self.spec, &self.base(), &self.context).await? {
            Some(snapshots) => Ok(snapshots),
            None => resolve(&self.spec, &self.base()),
        }
    }

    /// The stage from resolution to the seal, in a run folder that stays for the next call.
    pub async fn run(&self) -> Result<EvidenceLock, Failure> {
        let snapshots = self.resolve().await?;
        let protocol = self.protocol(snapshots);
        self.run_frozen(protocol).await
    }

    pub async fn run_frozen(&self, protocol: Protocol) -> Result<EvidenceLock, Failure> {
        let folder = RunFolder::open_with(&self.run_folder(), Durability::Off)?;
        let lock = folder.freeze(b"{}")?;
        retrieve(&Frozen { lock, protocol }, &folder, &self.context).await
    }

    pub fn protocol(&self, snapshots: Vec<crate::freeze::ResolvedSnapshot>) -> Protocol {
        Protocol {
            digest: Digest::of(b""),
            spec_digest: Digest::of(b""),
            spec: self.spec.clone(),
            base: self.base(),
            snapshots,
            questions: self.questions.clone(),
            answer_prompt: String::new(),
            judge_prompt: String::new(),
            seeds: Seeds::default(),
            is_part: false,
            samples: crate::freeze::Samples::default(),
            origin: crate::freeze::Origin::default(),
        }
    }

    pub fn run_folder(&self) -> Utf8PathBuf {
        self.base().join("run")
    }

    pub fn records(&self) -> Vec<EvidenceRecord> {
        records(&self.run_folder())
    }

    /// Every accepted unit, as often as it was accepted.
    pub fn accepted(&self) -> Vec<EvidenceKey> {
        let unit = |record| match record {
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(_), .. }) => Some(of),
            _ => None,
        };
        self.records().into_iter().filter_map(unit).collect()
    }

    /// The ids of the locked evidence, by question and snapshot.
    pub fn locked(&self) -> BTreeMap<(String, String), Vec<String>> {
        let folder = RunFolder::open_with(&self.run_folder(), Durability::Off).unwrap();
        let mut locked = BTreeMap::new();
        for record in self.records() {
            if let Record::Note(PassRecord { question, snapshot, evidence, .. }) = record {
                let evidence: Evidence = serde_json::from_slice(&folder.blobs().get(&evidence).unwrap()).unwrap();
                let ids = evidence.documents.into_iter().map(|document| document.id).collect();
                locked.insert((question.0, snapshot.0), ids);
            }
        }
        locked
    }

    /// The locked evidence, in the ledger's order.
    pub fn evidence(&self) -> Vec<Evidence> {
        let folder = RunFolder::open_with(&self.run_folder(), Durability::Off).unwrap();
        let read = |record| match record {
            Record::Note(PassRecord { evidence, .. }) => {
                Some(serde_json::from_slice(&folder.blobs().get(&evidence).unwrap()).unwrap())
            }
            _ => None,
        };
        self.records().into_iter().filter_map(read).collect()
    }

    /// How many attempts, accepted, invalid and fatal outcomes, and notes the ledger has.
    pub fn counts(&self) -> [usize; 5] {
        let mut counts = [0; 5];
        for record in self.records() {
            counts[match record {
                Record::Attempt(_) => 0,
                Record::Outcome(outcome) => match outcome.verdict {
                    Verdict::Accepted(_) => 1,
                    Verdict::Invalid(_) => 2,
                    Verdict::Fatal(_) => 3,
                },
                Record::Note(_) => 4,
            }] += 1;
        }
        counts
    }
}

pub fn records(folder: &Utf8Path) -> Vec<EvidenceRecord> {
    ledger::read::<EvidenceStage>(folder).unwrap().map(|record| record.unwrap().1).collect()
}

/// Cancels the audit after this many units.
pub struct CancelAfter {
    left: AtomicI64,
    cancel: CancellationToken,
}

impl CancelAfter {
    /// Listens in place of the context's observer, with a token of its own.
    pub fn units(units: i64, context: &mut Context) {
        context.cancel = CancellationToken::new();
        let cancel = context.cancel.clone();
        context.observer = Arc::new(Self { left: AtomicI64::new(units), cancel });
    }
}

impl Observer for CancelAfter {
    fn observe(&self, event: Event) {
        if matches!(event, Event::Advanced(_)) && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancel.cancel();
        }
    }
}

/// Keeps the notes that the audit tells.
#[derive(Default)]
pub struct Heard(Mutex<Vec<String>>);

impl Heard {
    /// Listens in place of the context's observer.
    pub fn by(context: &mut Context) -> Arc<Self> {
        let heard = Arc::new(Self::default());
        context.observer = heard.clone();
        heard
    }

    pub fn notes(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for Heard {
    fn observe(&self, event: Event) {
        if let Event::Note(note) = event {
            self.0.lock().unwrap().push(note);
        }
    }
}

pub fn path(path: &str) -> SnapshotSource {
    SnapshotSource::Path(path.into())
}

pub fn variables(pairs: &[(&str, &str)]) -> SnapshotSource {
    SnapshotSource::Variables(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

pub fn context() -> Context {
    Context::for_tests()
}

fn spec(backend: RetrieveBackend, old: SnapshotSource, new: SnapshotSource) -> Spec {
    let limit = PercentagePoints::from_units(1_000_000);
    Spec {
        name: "test".to_owned(),
        mode: Mode::Audit,
        questions: QuestionsSpec { file: "questions.jsonl".into(), count: None, seed: 0, exclude: None, only: None },
        snapshots: vec![
            SnapshotSpec { name: SnapshotName::old(), source: old },
            SnapshotSpec { name: SnapshotName::new_snapshot(), source: new },
        ],
        closed_book: false,
        retrieve: RetrieveSpec {
            backend,
            embed: None,
            top_k: 3,
            max_chars: 100,
            on_mismatch: OnMismatch::Stop,
            concurrency: 4,
        },
        generate: GenerateSpec {
            backend: GenerateBackend::Reader(ReaderSpec { temperature_milli: 0, seed: 0 }),
            repeats: 2,
            max_answer_bytes: 512,
            prompt: None,
            concurrency: 1,
            unchanged_evidence: UnchangedEvidence::Zero,
            max_attempts: 1,
        },
        judge: JudgeSpec {
            normalisation: Normalisation::Nq,
            backend: JudgeBackend::Embedded,
            concurrency: 1,
            max_attempts: 1,
            again: None,
            second: None,
        },
        gate: GateSpec { incompatible_when: Vec::new(), compatible_when: Vec::new(), inconclusive: Inconclusive::Warn },
        bootstrap: BootstrapSpec { draws: 1, confidence: Confidence::default() },
        budget: BudgetSpec::default(),
        tolerance: ToleranceSpec { invalid_cells: limit, served_models: ServedModels::One },
        replicate: None,
    }
}
