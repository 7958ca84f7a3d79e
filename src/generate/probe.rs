//! One call to the generator's server, in the form of the audit's own, whose answer nobody keeps.

use super::asked::{Asked, Came, Fault};
use super::llm::Llm;
use crate::freeze::{Protocol, prompts};
use crate::http::Context;
use crate::http::chat::Probed;
use crate::model::{Evidence, Failure, FailureClass, Question, QuestionId};
use crate::spec::GenerateBackend;

/// What is asked. Nothing of the audit's.
const QUESTION: &str = "How many days does a week have?";

/// Asks once. `None` where the generator is no server.
///
/// # Errors
/// Its key is not set.
pub async fn probe(protocol: &Protocol, context: &Context) -> Result<Option<Probed>, Failure> {
    let GenerateBackend::Model(server) = &protocol.spec.generate.backend else { return Ok(None) };
    let llm = Llm::new(server, &context.secrets)?;
    let (question, evidence) = (question(), Evidence::default());
    let prompt = prompts::answer(protocol, &question, &evidence);
    let limit = protocol.spec.generate.max_answer_bytes as usize;
    let Came { verdict, facts, latency, .. } =
        llm.ask(Asked { question: &question, evidence: &evidence, prompt: &prompt, limit }, context).await;
    let controls = llm.controls(&prompt);
    Ok(Some(Probed { whose: "generator", controls, facts, latency, failure: verdict.err().map(failure) }))
}

fn question() -> Question {
    Question { id: QuestionId("probe".to_owned()), text: QUESTION.to_owned(), tags: Vec::new(), cluster: None }
}

fn failure(fault: Fault) -> Failure {
    match fault {
        Fault::Fatal { failure, .. } => failure,
        Fault::Invalid { reason, .. } => {
            Failure::new(FailureClass::Incomplete, format!("the generator gave `{reason}`, which is no answer"))
                .with_hint("an audit asks again for such answers; docs/outcomes.md says what the reason means")
        }
    }
}
