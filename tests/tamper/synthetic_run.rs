//! A small run folder, made by the library alone: what a finished audit of a few questions leaves on disk.

use camino::Utf8Path;
use churngate::ledger::record::{
    AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, AnswersRecord, Attempt, EvidenceKey, EvidenceRecord,
    JudgmentsRecord, Outcome, Packet, PairLabel, PassRecord, Record, Unchanged, Usage, Verdict,
};
use churngate::ledger::stage::{Answers, Evidence, Judgments};
use churngate::ledger::{
    AnswersLock, Durability, EvidenceLock, JudgmentsLock, Opened, ProtocolLock, Recorded, RunFolder, Writer,
};
use churngate::model::{Cell, Digest, Document, Label, QuestionId, SnapshotName};

/// Snapshots of the run.
pub const SNAPSHOTS: [&str; 2] = ["old", "new"];
/// Repeats of each cell.
pub const REPEATS: u32 = 2;

/// An outcome with everything that a server may tell.
pub fn outcome<K, A>(attempt: u64, of: K, verdict: Verdict<A>, body: &[u8]) -> Outcome<K, A> {
    Outcome {
        attempt,
        of,
        verdict,
        status: Some(200),
        served_model: Some("model-2026-01".to_owned()),
        fingerprint: None,
        response_id: Some(format!("response-{attempt}")),
        usage: Some(Usage { input: 900, output: 7, cached: 0, nano_usd: None }),
        latency_ms: 120,
        body: Some(Digest::of(body)),
    }
}

/// An attempt at a moment that does not matter.
pub fn attempt<K>(of: K, request: &[u8]) -> Attempt<K> {
    Attempt { of, request: Digest::of(request), at_ms: 1_700_000_000_000 }
}

/// Opens a ledger that is not sealed.
pub fn writer<S: Recorded>(folder: &RunFolder, before: &churngate::ledger::Lock<S::Before>) -> Writer<S> {
    match churngate::ledger::open::<S>(folder, before).expect("the ledger opens") {
        Opened::Open(writer) => writer,
        Opened::Sealed(_) => panic!("the ledger is sealed already"),
    }
}

/// The answer of a cell: question 0 flips, every other one stays.
pub fn answer(question: u32, snapshot: &str, repeat: u32) -> String {
    match (question, snapshot) {
        (0, _) => format!("the answer of {snapshot}"),
        (_, _) => format!("answer {question}.{}", repeat % 2),
    }
}

fn id(question: u32) -> QuestionId {
    QuestionId(format!("question-{question}"))
}

/// Builds and seals a whole run of this many questions, the last of which is unchanged.
pub async fn build(path: &Utf8Path, questions: u32) -> JudgmentsLock {
    let folder = RunFolder::open_with(path, Durability::Off).expect("the folder opens");
    let protocol = folder.freeze(br#"{"format":"1.0","questions":3}"#).expect("the protocol freezes");
    let evidence = evidence(&folder, &protocol, questions).await;
    let answers = answers(&folder, &evidence, questions).await;
    judgments(&folder, &answers, questions).await
}

/// Retrieves twice for every question and snapshot.
pub async fn evidence(folder: &RunFolder, protocol: &ProtocolLock, questions: u32) -> EvidenceLock {
    let writer = writer::<Evidence>(folder, protocol);
    for question in 0..questions {
        for snapshot in SNAPSHOTS {
            passes(&writer, &id(question), &SnapshotName(snapshot.to_owned())).await;
        }
    }
    writer.seal().await.expect("the evidence seals")
}

async fn passes(writer: &Writer<Evidence>, question: &QuestionId, snapshot: &SnapshotName) {
    let text = format!("what {snapshot} knows of {question}");
    let document = Document { id: format!("{snapshot}-1"), url: None, text };
    let documents = vec![churngate::ledger::record::DocumentRecord {
        id: document.id.clone(),
        url: None,
        content: document.content(),
    }];
    let blob = churngate::model::Evidence { documents: vec![document] }.canonical();
    let digest = Digest::of(&blob);
    for pass in 0..2 {
        let key = EvidenceKey { question: question.clone(), snapshot: snapshot.clone(), pass };
        let record = EvidenceRecord::Attempt(attempt(key.clone(), b"query"));
        let seq = writer.append(&record).await.expect("the attempt is recorded");
        let accepted = AcceptedEvidence { evidence: digest, documents: documents.clone() };
        let record = Record::Outcome(outcome(seq, key, Verdict::Accepted(accepted), &blob));
        writer.append_with_blobs(&record, vec![blob.clone()]).await.expect("the outcome is recorded");
    }
    let (question, snapshot) = (question.clone(), snapshot.clone());
    let note = PassRecord { question, snapshot, evidence: digest, matched: true, vector: None };
    writer.append(&Record::Note(note)).await.expect("the note is recorded");
}

/// Asks every cell once; the first cell fails once before.
pub async fn answers(folder: &RunFolder, evidence: &EvidenceLock, questions: u32) -> AnswersLock {
    let writer = writer::<Answers>(folder, evidence);
    let unchanged = Unchanged { question: id(questions - 1), prompt: Digest::of(b"prompt") };
    writer.append(&Record::Note(unchanged)).await.expect("the note is recorded");
    for question in 0..questions - 1 {
        for snapshot in SNAPSHOTS {
            for repeat in 0..REPEATS {
                let cell = Cell { question: id(question), snapshot: SnapshotName(snapshot.to_owned()), repeat };
                if (question, snapshot, repeat) == (0, "old", 0) {
                    ask(&writer, &cell, Verdict::Invalid("http-503".to_owned()), b"unavailable".to_vec()).await;
                }
                let text = answer(question, snapshot, repeat).into_bytes();
                let accepted = AcceptedAnswer { answer: Digest::of(&text), bytes: text.len() as u64, citations: None };
                ask(&writer, &cell, Verdict::Accepted(accepted), text).await;
            }
        }
    }
    writer.seal().await.expect("the answers seal")
}

/// One attempt at one cell and its outcome.
pub async fn ask(writer: &Writer<Answers>, cell: &Cell, verdict: Verdict<AcceptedAnswer>, text: Vec<u8>) {
    let record = AnswersRecord::Attempt(attempt(cell.clone(), b"prompt"));
    let seq = writer.append(&record).await.expect("the attempt is recorded");
    let record = Record::Outcome(outcome(seq, cell.clone(), verdict, &text));
    writer.append_with_blobs(&record, vec![text]).await.expect("the outcome is recorded");
}

/// Judges every question that was asked.
pub async fn judgments(folder: &RunFolder, answers: &AnswersLock, questions: u32) -> JudgmentsLock {
    let writer = writer::<Judgments>(folder, answers);
    for question in 0..questions - 1 {
        let packet = packet(question);
        let pairs = vec![PairLabel { one: 0, other: 1, label: Label::Different }];
        writer.append(&JudgmentsRecord::Note(packet)).await.expect("the packet is recorded");
        let record = Record::Attempt(attempt(id(question), b"packet"));
        let seq = writer.append(&record).await.expect("the attempt is recorded");
        let body = format!("judgment of {question}").into_bytes();
        let verdict = Verdict::Accepted(AcceptedJudgment { pairs });
        let record = Record::Outcome(outcome(seq, id(question), verdict, &body));
        writer.append_with_blobs(&record, vec![body]).await.expect("the judgment is recorded");
    }
    writer.seal().await.expect("the judgments seal")
}

/// The packet of a question: its distinct answers and the cells that gave them.
pub fn packet(question: u32) -> Packet {
    let mut packet = Packet { question: id(question), answers: Vec::new(), cells: Vec::new() };
    for snapshot in SNAPSHOTS {
        for repeat in 0..REPEATS {
            let digest = Digest::of(answer(question, snapshot, repeat).as_bytes());
            let cell = Cell { question: id(question), snapshot: SnapshotName(snapshot.to_owned()), repeat };
            let label = packet.answers.iter().position(|known| *known == digest).unwrap_or_else(|| {
                packet.answers.push(digest);
                packet.cells.push(Vec::new());
                packet.answers.len() - 1
            });
            packet.cells[label].push(cell);
        }
    }
    packet
}
