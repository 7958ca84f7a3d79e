//! One call to the generator's server, in the form of the audit's own, whose answer nobody keeps.

use super::answering::Answering;
use super::asked::{Came, Fault};
use super::blackbox::{BlackBox, Sent, Turn};
use super::llm::Llm;
use crate::freeze::{Protocol, prompts};
use crate::http::Context;
use crate::http::chat::Probed;
use crate::model::{Cell, Evidence, Failure, FailureClass, Question, QuestionId, SnapshotName};
use crate::spec::{BlackBoxSpec, GenerateBackend, SnapshotSource};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// What is asked. Nothing of the audit's.
const QUESTION: &str = "How many days does a week have?";

/// Asks once, of a black box that of the old snapshot. `None` where the generator is no server.
///
/// # Errors
/// Its key is not set.
pub async fn probe<S: Answering>(protocol: &Protocol, context: &Context) -> Result<Option<Probed>, Failure> {
    let limit = protocol.spec.generate.max_answer_bytes as usize;
    match &protocol.spec.generate.backend {
        GenerateBackend::Model(server) => {
            let llm = Llm::new(server, S::WHOSE, &context.secrets)?;
            let (question, evidence) = (question(), Evidence::default());
            let call = llm.call(&prompts::answer(protocol, &question, &evidence));
            let came = llm.ask(&call, limit, context).await;
            Ok(Some(probed(S::WHOSE, llm.controls(&call), came)))
        }
        GenerateBackend::BlackBox(spec) => {
            let system = BlackBox::new(spec, &context.secrets)?;
            let came = system.ask(&first(protocol, spec)?, limit, context).await;
            Ok(Some(probed("audited system", Vec::new(), came)))
        }
        GenerateBackend::Reader(_) | GenerateBackend::Command(_) => Ok(None),
    }
}

/// What the old snapshot's system is sent.
fn first(protocol: &Protocol, spec: &BlackBoxSpec) -> Result<Sent, Failure> {
    let none = BTreeMap::new();
    let variables = match protocol.spec.snapshots.first().map(|snapshot| &snapshot.source) {
        Some(SnapshotSource::Variables(variables)) => variables,
        _ => &none,
    };
    let question = question();
    let cell = Cell { question: question.id.clone(), snapshot: SnapshotName::old(), repeat: 0 };
    let at_ms = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0);
    Sent::of(spec, &Turn { protocol: protocol.digest, question: &question, cell: &cell, variables, number: 0, at_ms })
}

fn probed(whose: &'static str, controls: Vec<String>, came: Came) -> Probed {
    let Came { verdict, facts, latency, .. } = came;
    Probed {
        whose,
        controls,
        facts,
        dimensions: None,
        latency,
        failure: verdict.err().map(|fault| failure(whose, fault)),
    }
}

fn question() -> Question {
    Question { id: QuestionId("probe".to_owned()), text: QUESTION.to_owned(), tags: Vec::new(), cluster: None }
}

fn failure(whose: &str, fault: Fault) -> Failure {
    match fault {
        Fault::Fatal { failure, .. } => failure,
        Fault::Invalid { reason, .. } => {
            Failure::new(FailureClass::Incomplete, format!("the {whose} gave `{reason}`, which is no answer"))
                .with_hint("an audit asks again for such answers; docs/outcomes.md says what the reason means")
        }
    }
}
