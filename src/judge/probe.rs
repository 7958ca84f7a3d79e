//! One call to the judge's server, in the form of the audit's own, whose labels nobody keeps.

use super::backend::{Heard, Judged};
use super::judging::Judging;
use super::llm::LlmJudge;
use super::packet::Packet;
use super::parts::split;
use crate::freeze::Protocol;
use crate::http::Context;
use crate::http::chat::Probed;
use crate::model::{Answer, Failure, FailureClass, QuestionId};
use crate::spec::JudgeBackend;
use std::collections::BTreeSet;

/// What is judged. Nothing of the audit's.
const QUESTION: &str = "How many days does a week have?";
const ANSWERS: [&str; 2] = ["seven", "7 days"];

/// Asks once. `None` where the judge is no server.
///
/// # Errors
/// Its key is not set.
pub async fn probe<S: Judging>(protocol: &Protocol, context: &Context) -> Result<Option<Probed>, Failure> {
    let JudgeBackend::Model(server) = &protocol.spec.judge.backend else { return Ok(None) };
    let judge = LlmJudge::new(server, &protocol.judge_prompt, S::WHOSE, context)?;
    let answers: BTreeSet<Answer> = ANSWERS.iter().filter_map(|text| Answer::parse(text, 64).ok()).collect();
    let packet = Packet::build(&protocol.seeds.packets, &QuestionId("probe".to_owned()), QUESTION, &answers);
    let Some(packet) = packet else { return Ok(None) };
    let Some(part) = split(&packet).into_iter().next() else { return Ok(None) };
    let Judged { verdict, facts, latency, .. } = judge.ask(&packet, &part, context).await;
    let failure = match verdict {
        Heard::Accepted(_) => None,
        Heard::Fatal { failure, .. } => Some(failure),
        Heard::Invalid { reason, .. } => Some(no_judgment(reason, S::WHOSE)),
    };
    let controls = judge.controls(&packet, &part);
    Ok(Some(Probed { whose: S::WHOSE, controls, facts, dimensions: None, latency, failure }))
}

fn no_judgment(reason: &str, whose: &str) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("the {whose} gave `{reason}`, which is no judgment"))
        .with_hint("an audit asks again for such judgments; docs/outcomes.md says what the reason means")
}
