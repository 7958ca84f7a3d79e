//! A run whose answers are sealed, made by hand, and what its judgments ledger says afterwards.

use crate::freeze::{Frozen, Origin, Protocol, ResolvedSnapshot, Samples, Seeds};
use crate::http::chat::Facts;
use crate::http::{CallError, Context};
use crate::judge::judge;
use crate::judge::record::{JudgmentOutcome, attempt};
use crate::judge::reply::pair_label;
use crate::ledger::record::{
    AcceptedAnswer, AcceptedJudgment, Attempt, JudgmentsRecord, Outcome, Packet, Record, Unchanged, Verdict,
};
use crate::ledger::stage::{Answers, Evidence, Judgments, Recorded};
use crate::ledger::{self, AnswersLock, BlobCheck, Durability, JudgmentsLock, Opened, RunFolder, Writer};
use crate::model::{
    Cell, Confidence, Digest, Event, Failure, Label, Observer, PercentagePoints, Question, QuestionId, ServedModels,
    SnapshotName,
};
use crate::spec::*;
use camino::Utf8Path;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One question and the answers of its cells: snapshot, then repeats.
pub type Asked<'a> = (&'a str, &'a str, &'a [(&'a str, &'a [&'a str])]);

/// The verdict of an attempt whose turn never came.
const NOT_SENT: &str = CallError::NotSent.code();

/// What the harness heard.
#[derive(Default)]
pub struct Heard(pub Mutex<Vec<Event>>);

impl Observer for Heard {
    fn observe(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A run with sealed answers.
pub struct Run {
    _place: tempfile::TempDir,
    pub folder: RunFolder,
    pub frozen: Frozen,
    pub answers: AnswersLock,
    pub context: Context,
    pub heard: Arc<Heard>,
}

/// A protocol of two snapshots with two repeats each, judged by this backend.
pub fn protocol(questions: Vec<Question>, backend: JudgeBackend) -> Protocol {
    let snapshot = |name: &str| ResolvedSnapshot {
        name: SnapshotName(name.into()),
        physical: format!("/var/corpora/{name}"),
        fingerprint: None,
        documents: None,
        passed_over: None,
    };
    Protocol {
        digest: Digest::of(b"protocol"),
        spec_digest: Digest::of(b"spec"),
        spec: spec(backend),
        base: ".".into(),
        snapshots: vec![snapshot("old"), snapshot("new")],
        questions,
        answer_prompt: String::new(),
        judge_prompt: "Question:\n{{question}}\nAnswers:\n{{answers}}\n".into(),
        seeds: Seeds { packets: [2; 32], packets_again: [4; 32], ..Seeds::default() },
        is_part: false,
        samples: Samples::default(),
        origin: Origin::default(),
    }
}

fn spec(backend: JudgeBackend) -> Spec {
    Spec {
        name: "test".into(),
        mode: Mode::Audit,
        questions: QuestionsSpec { file: "q.jsonl".into(), count: None, seed: 1, exclude: None, only: None },
        snapshots: Vec::new(),
        closed_book: false,
        retrieve: RetrieveSpec {
            embed: None,
            backend: RetrieveBackend::File,
            top_k: 1,
            max_chars: 1,
            on_mismatch: OnMismatch::Stop,
            concurrency: 1,
        },
        generate: GenerateSpec {
            backend: GenerateBackend::Reader(ReaderSpec { temperature_milli: 0, seed: 0 }),
            repeats: 2,
            max_answer_bytes: 512,
            prompt: None,
            concurrency: 1,
            unchanged_evidence: UnchangedEvidence::Zero,
            max_attempts: 3,
        },
        judge: JudgeSpec {
            normalisation: crate::model::Normalisation::Nq,
            backend,
            concurrency: 4,
            max_attempts: 3,
            again: None,
            second: None,
        },
        gate: GateSpec { incompatible_when: Vec::new(), compatible_when: Vec::new(), inconclusive: Inconclusive::Warn },
        bootstrap: BootstrapSpec { draws: 1, confidence: Confidence::default() },
        budget: BudgetSpec::default(),
        tolerance: ToleranceSpec { invalid_cells: PercentagePoints::from_units(0), served_models: ServedModels::One },
        replicate: None,
    }
}

pub fn context(heard: &Arc<Heard>) -> Context {
    Context { observer: heard.clone(), ..Context::for_tests() }
}

impl Run {
    /// Seals these answers. An answer of `""` is a cell without an accepted answer.
    pub async fn with(asked: &[Asked<'_>], backend: JudgeBackend) -> Self {
        let place = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(place.path()).unwrap().join("run");
        let folder = RunFolder::open_with(&path, Durability::Off).unwrap();
        let lock = folder.freeze(b"{}").unwrap();
        let evidence = writer::<Evidence>(&folder, &lock).seal().await.unwrap();
        let writer = writer::<Answers>(&folder, &evidence);
        for (id, _, cells) in asked {
            for (snapshot, answers) in *cells {
                for (repeat, answer) in answers.iter().enumerate() {
                    accept(&writer, id, snapshot, repeat, answer).await;
                }
            }
            if cells.is_empty() {
                let note = Unchanged { question: QuestionId((*id).into()), prompt: Digest::of(b"prompt") };
                writer.append(&Record::Note(note)).await.unwrap();
            }
        }
        let answers = writer.seal().await.unwrap();
        let question = |(id, text, _): &Asked<'_>| Question {
            id: QuestionId((*id).into()),
            text: (*text).into(),
            tags: Vec::new(),
            cluster: None,
        };
        let protocol = protocol(asked.iter().map(question).collect(), backend);
        let heard = Arc::new(Heard::default());
        let context = context(&heard);
        Self { _place: place, folder, frozen: Frozen { lock, protocol }, answers, context, heard }
    }

    /// Judges; what is sealed then must be what `verify` accepts.
    pub async fn judge(&self) -> Result<JudgmentsLock, Failure> {
        let lock = judge(&self.frozen.protocol, &self.folder, &self.answers, &self.context).await?;
        let verification = ledger::verify(self.folder.path(), BlobCheck::Present).unwrap();
        assert!(verification.difference.is_none(), "{:?}", verification.difference);
        Ok(lock)
    }

    /// Records and seals judgments by hand: one accepted outcome for each list of pairs.
    pub async fn record(&self, packet: &Packet, parts: &[Vec<(usize, usize)>]) {
        let writer = writer::<Judgments>(&self.folder, &self.answers);
        writer.append(&Record::Note(packet.clone())).await.unwrap();
        for pairs in parts {
            let attempt = writer.append(&attempt(&packet.question, Digest::of(b"request"))).await.unwrap();
            let pairs = pairs.iter().map(|(one, other)| pair_label(*one, *other, Label::Same)).collect();
            let verdict = Verdict::Accepted(AcceptedJudgment { pairs });
            let outcome =
                JudgmentOutcome { attempt, verdict, facts: Facts::default(), latency: Duration::ZERO, body: None };
            writer.append(&outcome.record(&packet.question)).await.unwrap();
        }
        writer.seal().await.unwrap();
    }

    pub fn records(&self) -> Vec<JudgmentsRecord> {
        let records = ledger::read::<Judgments>(self.folder.path()).unwrap();
        records.map(|record| record.unwrap().1).collect()
    }

    pub fn packets(&self) -> Vec<Packet> {
        let packet = |record| match record {
            Record::Note(packet) => Some(packet),
            Record::Attempt(_) | Record::Outcome(_) => None,
        };
        self.records().into_iter().filter_map(packet).collect()
    }

    /// Verdicts of all calls that were made: the reason, or `accepted`.
    pub fn outcomes(&self) -> Vec<String> {
        self.verdicts().into_iter().filter(|verdict| verdict != NOT_SENT).collect()
    }

    /// How many attempts were recorded whose turn never came.
    pub fn not_sent(&self) -> usize {
        self.verdicts().into_iter().filter(|verdict| verdict == NOT_SENT).count()
    }

    fn verdicts(&self) -> Vec<String> {
        let verdict = |record| match record {
            Record::Outcome(Outcome { verdict: Verdict::Accepted(_), .. }) => Some("accepted".to_owned()),
            Record::Outcome(Outcome { verdict: Verdict::Invalid(reason) | Verdict::Fatal(reason), .. }) => Some(reason),
            Record::Attempt(_) | Record::Note(_) => None,
        };
        self.records().into_iter().filter_map(verdict).collect()
    }

    /// Every label by the texts it is about, the smaller first.
    pub fn labels(&self) -> BTreeMap<(String, String), Label> {
        let packets: BTreeMap<QuestionId, Packet> =
            self.packets().into_iter().map(|packet| (packet.question.clone(), packet)).collect();
        let mut labels = BTreeMap::new();
        for record in self.records() {
            let Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), .. }) = record else { continue };
            let text = |index: u32| {
                let bytes = self.folder.blobs().get(&packets[&of].answers[index as usize]).unwrap();
                String::from_utf8(bytes).unwrap()
            };
            for pair in judgment.pairs {
                let mut key = [text(pair.one), text(pair.other)];
                key.sort();
                let [one, other] = key;
                assert_eq!(labels.insert((one, other), pair.label), None, "a pair is labelled twice");
            }
        }
        labels
    }
}

fn writer<S: Recorded>(folder: &RunFolder, before: &ledger::Lock<S::Before>) -> Writer<S> {
    match ledger::open::<S>(folder, before).unwrap() {
        Opened::Open(writer) => writer,
        Opened::Sealed(_) => panic!("sealed already"),
    }
}

async fn accept(writer: &Writer<Answers>, id: &str, snapshot: &str, repeat: usize, answer: &str) {
    let of = Cell {
        question: QuestionId(id.into()),
        snapshot: SnapshotName(snapshot.into()),
        repeat: u32::try_from(repeat).unwrap(),
    };
    let attempt = Record::Attempt(Attempt { of: of.clone(), request: Digest::of(b"request"), at_ms: 0 });
    let attempt = writer.append(&attempt).await.unwrap();
    let digest = Digest::of(answer.as_bytes());
    let verdict = if answer.is_empty() {
        Verdict::Invalid("empty-content".into())
    } else {
        Verdict::Accepted(AcceptedAnswer { answer: digest, bytes: answer.len() as u64, citations: None })
    };
    let outcome = Outcome {
        attempt,
        of,
        verdict,
        status: None,
        served_model: None,
        fingerprint: None,
        response_id: None,
        usage: None,
        latency_ms: 0,
        body: None,
    };
    writer.append_with_blobs(&Record::Outcome(outcome), vec![answer.as_bytes().to_vec()]).await.unwrap();
}
