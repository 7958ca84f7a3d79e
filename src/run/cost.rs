//! What an audit's calls will take at most, as far as can be told before evidence and answers are there.

use crate::freeze::Protocol;
use crate::http::chat::estimate;
use crate::model::{Amount, ModelServer, Question, SnapshotName};
use crate::spec::{GenerateBackend, JudgeBackend};

/// Bytes of a request beside its texts: member names, the schema, the rules of the reply's form.
pub(super) const AROUND: u64 = 400;
/// Bytes of a document beside its text: its id, its URL, the member names.
const A_DOCUMENT: u64 = 200;

/// The calls of generation and of judging, each at its longest.
pub(super) fn amount(protocol: &Protocol, calls_a_packet: u64) -> Amount {
    let generating = match &protocol.spec.generate.backend {
        GenerateBackend::Model(server) => generated(protocol, server),
        // What a deployed system reads is not seen, and so not known beforehand.
        GenerateBackend::Reader(_) | GenerateBackend::Command(_) | GenerateBackend::BlackBox(_) => Amount::default(),
    };
    generating.plus(judging(protocol, calls_a_packet))
}

/// The calls of judging alone, each at its longest.
pub(super) fn judging(protocol: &Protocol, calls_a_packet: u64) -> Amount {
    match &protocol.spec.judge.backend {
        JudgeBackend::Model(server) => judged(protocol, server, calls_a_packet),
        JudgeBackend::Embedded | JudgeBackend::Command(_) => Amount::default(),
    }
}

fn generated(protocol: &Protocol, server: &ModelServer) -> Amount {
    let retrieve = &protocol.spec.retrieve;
    let evidence = u64::from(retrieve.top_k) * (u64::from(retrieve.max_chars) + A_DOCUMENT);
    let closed =
        protocol.snapshots.iter().filter(|snapshot| snapshot.name == SnapshotName::closed_book()).count() as u64;
    let open = protocol.snapshots.len() as u64 - closed;
    let template = protocol.answer_prompt.len() as u64 + AROUND;
    let repeats = u64::from(protocol.spec.generate.repeats);
    sum(protocol, |question| {
        let bare = template + question.text.len() as u64;
        let with = estimate(server, bare + evidence).times(open);
        with.plus(estimate(server, bare).times(closed)).times(repeats)
    })
}

fn judged(protocol: &Protocol, server: &ModelServer, calls_a_packet: u64) -> Amount {
    let answers = protocol.snapshots.len() as u64 * u64::from(protocol.spec.generate.repeats);
    let answers = answers * (u64::from(protocol.spec.generate.max_answer_bytes) + 32);
    let template = protocol.judge_prompt.len() as u64 + AROUND;
    sum(protocol, |question| estimate(server, template + question.text.len() as u64 + answers).times(calls_a_packet))
}

fn sum(protocol: &Protocol, of: impl Fn(&Question) -> Amount) -> Amount {
    protocol.questions.iter().map(of).fold(Amount::default(), Amount::plus)
}
