//! Ledgers whose chain holds but whose records break a rule of docs/ledger-format.md: what a faulty writer would leave.

use crate::synthetic_run::{answer, ask, attempt, outcome, packet, writer};
use crate::{checked_by_python, synthetic_run};
use camino::{Utf8Path, Utf8PathBuf};
use churngate::ledger::record::{
    AcceptedAnswer, AcceptedEvidence, AcceptedJudgment, EvidenceKey, Packet, PairLabel, PassRecord, Record, Unchanged,
    Verdict,
};
use churngate::ledger::stage::{Answers, Evidence, Judgments};
use churngate::ledger::{BlobCheck, Durability, RunFolder, Writer, verify};
use churngate::model::{Cell, Digest, Label, QuestionId, SnapshotName};

const QUESTIONS: u32 = 3;

fn id(question: u32) -> QuestionId {
    QuestionId(format!("question-{question}"))
}

fn key(pass: u32) -> EvidenceKey {
    EvidenceKey { question: QuestionId("more".to_owned()), snapshot: SnapshotName::old(), pass }
}

fn cell(question: u32, repeat: u32) -> Cell {
    Cell { question: id(question), snapshot: SnapshotName::old(), repeat }
}

fn same(one: u32, other: u32) -> PairLabel {
    PairLabel { one, other, label: Label::Same }
}

/// Seals the stages that are not sealed yet without any record.
async fn finish(folder: &RunFolder, answers: &churngate::ledger::AnswersLock) {
    writer::<Judgments>(folder, answers).seal().await.expect("the judgments seal");
}

async fn in_evidence(path: &Utf8Path, records: impl AsyncFnOnce(&Writer<Evidence>)) {
    let folder = RunFolder::open_with(path, Durability::Off).expect("the folder opens");
    let protocol = folder.freeze(b"{}").expect("the protocol freezes");
    let open = writer::<Evidence>(&folder, &protocol);
    records(&open).await;
    let evidence = open.seal().await.expect("the evidence seals");
    let answers = writer::<Answers>(&folder, &evidence).seal().await.expect("the answers seal");
    finish(&folder, &answers).await;
}

async fn in_answers(path: &Utf8Path, records: impl AsyncFnOnce(&Writer<Answers>)) {
    let folder = RunFolder::open_with(path, Durability::Off).expect("the folder opens");
    let protocol = folder.freeze(b"{}").expect("the protocol freezes");
    let evidence = synthetic_run::evidence(&folder, &protocol, QUESTIONS).await;
    let open = writer::<Answers>(&folder, &evidence);
    records(&open).await;
    let answers = open.seal().await.expect("the answers seal");
    finish(&folder, &answers).await;
}

async fn in_judgments(path: &Utf8Path, records: impl AsyncFnOnce(&Writer<Judgments>)) {
    let folder = RunFolder::open_with(path, Durability::Off).expect("the folder opens");
    let protocol = folder.freeze(b"{}").expect("the protocol freezes");
    let evidence = synthetic_run::evidence(&folder, &protocol, QUESTIONS).await;
    let answers = synthetic_run::answers(&folder, &evidence, QUESTIONS).await;
    let open = writer::<Judgments>(&folder, &answers);
    records(&open).await;
    open.seal().await.expect("the judgments seal");
}

async fn retrieve(writer: &Writer<Evidence>, attempts: &[u32], outcomes: &[(u64, u32)]) {
    for pass in attempts {
        writer.append(&Record::Attempt(attempt(key(*pass), b"query"))).await.expect("an attempt");
    }
    for (seq, pass) in outcomes {
        let blob = format!("evidence {pass}").into_bytes();
        let accepted = AcceptedEvidence { evidence: Digest::of(&blob), documents: Vec::new() };
        let record = Record::Outcome(outcome(*seq, key(*pass), Verdict::Accepted(accepted), &blob));
        writer.append_with_blobs(&record, vec![blob]).await.expect("an outcome");
    }
}

async fn note_passes(writer: &Writer<Evidence>, pass: u32, matched: bool) {
    let blob = format!("evidence {pass}").into_bytes();
    let EvidenceKey { question, snapshot, .. } = key(pass);
    let note = PassRecord { question, snapshot, evidence: Digest::of(&blob), matched, vector: None };
    writer.append_with_blobs(&Record::Note(note), vec![blob]).await.expect("a note");
}

async fn note_packet(writer: &Writer<Judgments>, packet: Packet) {
    writer.append(&Record::Note(packet)).await.expect("a packet");
}

async fn judge(writer: &Writer<Judgments>, question: u32, pairs: Vec<PairLabel>) {
    let seq = writer.append(&Record::Attempt(attempt(id(question), b"packet"))).await.expect("an attempt");
    let verdict = Verdict::Accepted(AcceptedJudgment { pairs });
    let record = Record::Outcome(outcome(seq, id(question), verdict, b"judgment"));
    writer.append_with_blobs(&record, vec![b"judgment".to_vec()]).await.expect("an outcome");
}

/// Runs that each break one rule, and what the library must say of them.
struct Broken {
    folder: tempfile::TempDir,
    cases: Vec<(Utf8PathBuf, &'static str)>,
}

impl Broken {
    fn case(&mut self, expected: &'static str) -> Utf8PathBuf {
        let path = self.folder.path().join(format!("run-{}", self.cases.len()));
        let path = Utf8PathBuf::from_path_buf(path).expect("a UTF-8 path");
        self.cases.push((path.clone(), expected));
        path
    }

    async fn evidence(&mut self, expected: &'static str, records: impl AsyncFnOnce(&Writer<Evidence>)) {
        in_evidence(&self.case(expected), records).await;
    }

    async fn answers(&mut self, expected: &'static str, records: impl AsyncFnOnce(&Writer<Answers>)) {
        in_answers(&self.case(expected), records).await;
    }

    async fn judgments(&mut self, expected: &'static str, records: impl AsyncFnOnce(&Writer<Judgments>)) {
        in_judgments(&self.case(expected), records).await;
    }
}

async fn break_evidence(broken: &mut Broken) {
    broken.evidence("line 2: an outcome of attempt 9, which", async |w| retrieve(w, &[], &[(9, 0)]).await).await;
    broken.evidence("line 3: an outcome of attempt 0, which", async |w| retrieve(w, &[0], &[(0, 1)]).await).await;
    broken.evidence("line 4: an outcome of attempt 0", async |w| retrieve(w, &[0], &[(0, 0), (0, 0)]).await).await;
    broken.evidence("line 5: a second accepted", async |w| retrieve(w, &[0, 0], &[(0, 0), (1, 0)]).await).await;
    let again = async |w: &Writer<Evidence>| {
        retrieve(w, &[0], &[(0, 0)]).await;
        retrieve(w, &[0], &[]).await;
    };
    broken.evidence("line 4: an attempt for a unit of work that is already accepted", again).await;
    let differing = async |w: &Writer<Evidence>| {
        retrieve(w, &[0, 1], &[(0, 0), (1, 1)]).await;
        note_passes(w, 0, true).await;
    };
    broken.evidence("line 6: a note on the passes", differing).await;
    broken.evidence("line 2: a note on the passes", async |w| note_passes(w, 0, true).await).await;
    let alone = async |w: &Writer<Evidence>| {
        retrieve(w, &[0], &[(0, 0)]).await;
        note_passes(w, 0, true).await;
    };
    broken.evidence("line 4: a note on the passes", alone).await;
    let of_the_second = async |w: &Writer<Evidence>| {
        retrieve(w, &[0, 1], &[(0, 0), (1, 1)]).await;
        note_passes(w, 1, false).await;
    };
    broken.evidence("line 6: a note on the passes", of_the_second).await;
    let twice = async |w: &Writer<Evidence>| {
        retrieve(w, &[0, 1], &[(0, 0), (1, 1)]).await;
        note_passes(w, 0, false).await;
        note_passes(w, 0, false).await;
    };
    broken.evidence("line 7: a second note", twice).await;
}

async fn break_answers(broken: &mut Broken) {
    let unchanged = async |w: &Writer<Answers>| {
        let note = Unchanged { question: id(0), prompt: Digest::of(b"prompt") };
        w.append(&Record::Note(note)).await.expect("a note");
    };
    let asked = async |w: &Writer<Answers>| {
        unchanged(w).await;
        ask(w, &cell(0, 0), Verdict::Invalid("http-500".to_owned()), b"".to_vec()).await;
    };
    broken.answers("line 3: an attempt for a question that is noted as unchanged", asked).await;
    let twice = async |w: &Writer<Answers>| {
        unchanged(w).await;
        unchanged(w).await;
    };
    broken.answers("line 3: a second note", twice).await;
    let long = AcceptedAnswer { answer: Digest::of(b"yes"), bytes: 4, citations: None };
    let asked = async |w: &Writer<Answers>| ask(w, &cell(0, 0), Verdict::Accepted(long), b"yes".to_vec()).await;
    broken.answers("has 4 bytes, but it has 3", asked).await;
    let absent = AcceptedAnswer { answer: Digest::of(b"no"), bytes: 2, citations: None };
    let asked = async |w: &Writer<Answers>| ask(w, &cell(0, 0), Verdict::Accepted(absent), b"yes".to_vec()).await;
    broken.answers("line 3: names blob", asked).await;
}

async fn break_packets(broken: &mut Broken) {
    let expected = "line 2: a packet that does not hold";
    let mut swapped = packet(0);
    swapped.answers.reverse();
    broken.judgments(expected, async |w| note_packet(w, swapped).await).await;
    let mut single = packet(0);
    single.answers.truncate(1);
    single.cells.truncate(1);
    broken.judgments(expected, async |w| note_packet(w, single).await).await;
    let mut uneven = packet(0);
    uneven.cells.pop();
    broken.judgments(expected, async |w| note_packet(w, uneven).await).await;
    let mut doubled = packet(0);
    doubled.answers[1] = doubled.answers[0];
    doubled.cells[1] = vec![cell(0, 0)];
    doubled.cells[0] = vec![cell(0, 1)];
    broken.judgments(expected, async |w| note_packet(w, doubled).await).await;
    let mut unsaid = packet(0);
    unsaid.cells[1].clear();
    broken.judgments(expected, async |w| note_packet(w, unsaid).await).await;
    let mut foreign = packet(0);
    foreign.answers[1] = Digest::of(answer(1, "old", 0).as_bytes());
    foreign.cells[1] = vec![cell(1, 0)];
    broken.judgments(expected, async |w| note_packet(w, foreign).await).await;
    let twice = async |w: &Writer<Judgments>| {
        note_packet(w, packet(0)).await;
        note_packet(w, packet(0)).await;
    };
    broken.judgments("line 3: a second note", twice).await;
}

async fn break_judgments(broken: &mut Broken) {
    let late = async |w: &Writer<Judgments>| {
        judge(w, 0, vec![same(0, 1)]).await;
        note_packet(w, packet(0)).await;
    };
    broken.judgments("line 2: an attempt for a question whose packet", late).await;
    for pairs in [vec![], vec![same(0, 1), same(0, 1)], vec![same(1, 0)], vec![same(0, 2)], vec![same(0, 0)]] {
        let judged = async |w: &Writer<Judgments>| {
            note_packet(w, packet(0)).await;
            judge(w, 0, pairs).await;
        };
        broken.judgments("line 4: a judgment that labels no pair", judged).await;
    }
}

async fn judge_again(broken: &mut Broken) {
    let again = async |w: &Writer<Judgments>| {
        note_packet(w, packet(0)).await;
        judge(w, 0, vec![same(0, 1)]).await;
        judge(w, 0, vec![same(0, 1)]).await;
    };
    broken.judgments("line 5: an attempt for a unit of work that is already accepted", again).await;
}

#[test]
fn every_rule_of_the_format_is_enforced_by_the_library_and_by_the_independent_checker() {
    let mut broken = Broken { folder: tempfile::tempdir().expect("a temporary folder"), cases: Vec::new() };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        break_evidence(&mut broken).await;
        break_answers(&mut broken).await;
        break_packets(&mut broken).await;
        break_judgments(&mut broken).await;
        judge_again(&mut broken).await;
    });
    for (path, expected) in &broken.cases {
        let report = verify(path, BlobCheck::Present).expect("the run is verified");
        let found = report.difference.map_or_else(|| "nothing".to_owned(), |difference| difference.to_string());
        assert!(found.contains(expected), "expected `{expected}`, found: {found}");
    }
    let paths: Vec<_> = broken.cases.iter().map(|(path, _)| path.clone()).collect();
    if let Some(found) = checked_by_python(&paths, &[]) {
        let missed: Vec<_> =
            broken.cases.iter().zip(found).filter(|(_, found)| !found).map(|((_, rule), _)| rule).collect();
        assert!(missed.is_empty(), "missed by the independent checker: {missed:?}");
    }
    println!("{} broken rules, all found", paths.len());
}
