//! A whole audit up to its evidence, in a folder of its own.

use crate::freeze::{self, Frozen, Inputs, ResolvedSnapshot};
use crate::generate::generate;
use crate::http::{Budget, Client, Context, HttpSettings, Secrets};
use crate::ledger::record::{
    AcceptedEvidence, AnswersRecord, Attempt, EvidenceKey, Outcome, PassRecord, Record, Verdict,
};
use crate::ledger::stage::{Answers, Evidence as EvidenceStage};
use crate::ledger::{self, AnswersLock, Durability, EvidenceLock, Opened, RunFolder, Writer};
use crate::model::{Cell, Digest, Document, Event, Evidence, Failure, Observer, Question, SnapshotName};
use crate::spec;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The key that no file may ever hold.
pub const KEY: &str = "sk-open-sesame-1234";

/// Hears everything, and cancels after so many cells.
#[derive(Default)]
pub struct Ears {
    pub heard: Mutex<Vec<Event>>,
    pub cancel_after: Mutex<Option<(usize, CancellationToken)>>,
}

impl Observer for Ears {
    fn observe(&self, event: Event) {
        let mut heard = self.heard.lock().unwrap();
        heard.push(event);
        let advanced = heard.iter().filter(|event| matches!(event, Event::Advanced(_))).count();
        if let Some((after, token)) = self.cancel_after.lock().unwrap().as_ref()
            && advanced >= *after
        {
            token.cancel();
        }
    }
}

pub struct Audit {
    _keep: tempfile::TempDir,
    pub path: Utf8PathBuf,
    folder: RunFolder,
    pub frozen: Frozen,
    evidence: EvidenceLock,
    pub ears: Arc<Ears>,
    pub calls: Option<u64>,
    pub time: Duration,
}

fn question_lines(count: usize) -> String {
    let line = |n| format!("{{\"id\":\"q{n}\",\"question\":\"Since which version does Chrome support Thing{n}?\"}}");
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

/// What a question finds in a snapshot; every fourth question finds the same in all of them but the rung `odd`.
fn found(question: usize, snapshot: &SnapshotName) -> Evidence {
    let stays = *snapshot == SnapshotName::old() || question.is_multiple_of(4) && snapshot.0 != "odd";
    let version = if stays { question + 10 } else { question + 11 };
    let text = format!(
        "Thing{question} is a thing. Chrome supports it since version {version}. Opera supports it since version 7."
    );
    Evidence { documents: vec![Document { id: format!("d{question}"), url: None, text }] }
}

impl Audit {
    /// An audit of so many questions with this `generate` section.
    pub async fn begun(questions: usize, generate: &str) -> Self {
        Self::begun_with(questions, generate, &[], |_, _| None).await
    }

    /// The same with rungs. What `second` says a question finds in a snapshot the second time differs from the first.
    pub async fn begun_with(
        questions: usize,
        generate: &str,
        between: &[&str],
        second: impl Fn(usize, &SnapshotName) -> Option<Evidence>,
    ) -> Self {
        let rungs =
            between.iter().map(|name| format!("{{ name: {name}, path: {name} }}")).collect::<Vec<_>>().join(", ");
        let rungs = if between.is_empty() { String::new() } else { format!(", between: [{rungs}]") };
        let text = format!(
            "version: 1\nname: t\nquestions: {{ file: q.jsonl }}\nsnapshots: {{ old: {{ path: a }}, new: {{ path: b }}{rungs} }}\n\
             retrieve: {{ bm25: {{}} }}\ngenerate: {generate}\njudge: {{ embedded: {{}} }}\n"
        );
        let spec = spec::parse(&text, "t.yaml").unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let snapshot = |name| ResolvedSnapshot {
            name,
            physical: String::new(),
            fingerprint: None,
            documents: None,
            passed_over: None,
        };
        let rungs = between.iter().map(|name| SnapshotName((*name).to_owned()));
        let names = std::iter::once(SnapshotName::old()).chain(rungs).chain([SnapshotName::new_snapshot()]);
        let snapshots = names.map(snapshot).collect();
        let inputs = Inputs {
            spec,
            base: Utf8PathBuf::new(),
            questions_name: "q.jsonl".into(),
            questions_bytes: question_lines(questions).into_bytes(),
            exclude_bytes: None,
            only_bytes: None,
            prompt_bytes: None,
            snapshots,
            tool_version: "0",
        };
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(keep.path().join("run")).unwrap();
        let folder = RunFolder::open_with(&path, Durability::Off).unwrap();
        let frozen = freeze::freeze(&folder, freeze::plan(inputs).unwrap()).unwrap();
        let evidence = retrieved(&folder, &frozen, second).await;
        Self {
            _keep: keep,
            path,
            folder,
            frozen,
            evidence,
            ears: Arc::default(),
            calls: None,
            time: Duration::from_mins(5),
        }
    }

    /// Runs the stage as a process would; `cancel_after` so many cells.
    pub async fn generate(&self, cancel_after: Option<usize>) -> Result<AnswersLock, Failure> {
        let mut secrets = Secrets::default();
        secrets.insert("THE_KEY", KEY.to_owned().into());
        let cancel = CancellationToken::new();
        *self.ears.cancel_after.lock().unwrap() = cancel_after.map(|after| (after, cancel.clone()));
        self.ears.heard.lock().unwrap().clear();
        let settings = HttpSettings {
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_mins(1),
            max_body_bytes: 100_000,
        };
        let context = Context {
            client: Client::new(settings).unwrap(),
            secrets: Arc::new(secrets),
            observer: self.ears.clone(),
            cancel,
            budget: Arc::new(Budget::new(self.calls, Some(Instant::now() + self.time))),
            concurrency: Some(8),
        };
        generate(&self.frozen.protocol, &self.folder, &self.evidence, &context).await
    }

    /// Every record of the answers ledger.
    pub fn records(&self) -> Vec<(u64, AnswersRecord)> {
        ledger::read::<Answers>(&self.path).unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// The answer of every cell that holds one.
    pub fn answers(&self) -> BTreeMap<Cell, String> {
        let text = |digest| String::from_utf8(self.folder.blobs().get(&digest).unwrap()).unwrap();
        let mut answers = BTreeMap::new();
        for (_, record) in self.records() {
            if let Record::Outcome(outcome) = record
                && let Verdict::Accepted(accepted) = outcome.verdict
            {
                assert!(answers.insert(outcome.of, text(accepted.answer)).is_none(), "a cell holds two answers");
            }
        }
        answers
    }

    /// The codes of all outcomes that are no answers, and how often each was recorded.
    pub fn faults(&self) -> BTreeMap<String, usize> {
        let mut faults = BTreeMap::new();
        for (_, record) in self.records() {
            if let Record::Outcome(outcome) = record
                && let Verdict::Invalid(reason) | Verdict::Fatal(reason) = outcome.verdict
            {
                *faults.entry(reason).or_default() += 1;
            }
        }
        faults
    }

    /// Asserts that these bytes stand in no file of the run.
    pub fn assert_absent(&self, secret: &str) {
        let mut folders = vec![self.path.clone()];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir_utf8().unwrap() {
                let path = entry.unwrap().into_path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                files += 1;
                let bytes = fs_err::read(&path).unwrap();
                assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{path}");
            }
        }
        assert!(files > 2);
    }
}

async fn retrieved(
    folder: &RunFolder,
    frozen: &Frozen,
    second: impl Fn(usize, &SnapshotName) -> Option<Evidence>,
) -> EvidenceLock {
    let Opened::Open(writer) = ledger::open::<EvidenceStage>(folder, &frozen.lock).unwrap() else { panic!("sealed") };
    for question in &frozen.protocol.questions {
        for snapshot in &frozen.protocol.snapshots {
            let number = question.id.0[1..].parse().unwrap();
            let evidence = found(number, &snapshot.name);
            let second = second(number, &snapshot.name);
            for (pass, evidence) in [&evidence].into_iter().chain(&second).enumerate() {
                retrieve_once(&writer, (question, snapshot, pass), evidence).await;
            }
            let record = Record::Note(PassRecord {
                question: question.id.clone(),
                snapshot: snapshot.name.clone(),
                evidence: evidence.digest(),
                matched: second.is_none(),
                vector: None,
            });
            writer.append_with_blobs(&record, vec![evidence.canonical()]).await.unwrap();
        }
    }
    writer.seal().await.unwrap()
}

async fn retrieve_once(
    writer: &Writer<EvidenceStage>,
    (question, snapshot, pass): (&Question, &ResolvedSnapshot, usize),
    evidence: &Evidence,
) {
    let of = EvidenceKey {
        question: question.id.clone(),
        snapshot: snapshot.name.clone(),
        pass: u32::try_from(pass).unwrap(),
    };
    let attempt = Attempt { of: of.clone(), request: Digest::of(b""), at_ms: 0 };
    let attempt = writer.append(&Record::Attempt(attempt)).await.unwrap();
    let accepted = AcceptedEvidence { evidence: evidence.digest(), documents: Vec::new() };
    let outcome = Outcome {
        attempt,
        of,
        verdict: Verdict::Accepted(accepted),
        status: None,
        served_model: None,
        fingerprint: None,
        response_id: None,
        usage: None,
        latency_ms: 0,
        body: None,
    };
    writer.append_with_blobs(&Record::Outcome(outcome), vec![evidence.canonical()]).await.unwrap();
}
