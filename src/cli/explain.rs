//! `churngate explain`.

use super::arguments::{ExplainArguments, TextOrJson};
use super::work::Work;
use super::{context, output};
use crate::model::{Failure, QuestionId};
use crate::publish::disclosure::disclosed_explanation;
use crate::report;
use crate::run::explain::{self, Case};

/// Shows which change of evidence moved an answer. Whatever is on record by then is shown, also where asking failed.
pub fn explain(arguments: &ExplainArguments) -> Result<u8, Failure> {
    let question = QuestionId(arguments.question.clone());
    let case = explain::open(&arguments.run, &question, arguments.changes as usize)?;
    let before = case.explanation()?;
    let asks = before.calls.left > 0 && (arguments.ask || case.is_free());
    let asked = if asks { ask(&case, &before, arguments) } else { Ok(()) };
    // A failure to read what is there follows from the failure to ask.
    let after = if asks { case.explanation() } else { Ok(before) };
    let after = match (after, &asked) {
        (Err(_), Err(failure)) => return Err(failure.clone()),
        (after, _) => after?,
    };
    let shown = disclosed_explanation(&after, arguments.disclosure.into());
    match arguments.format {
        TextOrJson::Text => output::write(report::explanation_text(&shown, super::WIDTH).as_bytes())?,
        TextOrJson::Json => output::write(&report::explanation_json(&shown))?,
    }
    if !asks && after.calls.left > 0 {
        output::say("nothing was asked: `--ask` asks for what is not on record");
    }
    asked.map(|()| 0)
}

/// Says what will be asked, and asks.
fn ask(case: &Case, before: &report::Explanation, arguments: &ExplainArguments) -> Result<(), Failure> {
    let context =
        context::for_generation(case.spec(), arguments.calls, arguments.tasks, arguments.quiet || case.is_free())?;
    if !arguments.quiet && !case.is_free() {
        output::say(report::plan_text(before, super::WIDTH).trim_end());
    }
    Work::new(&context)?.does(case.ask(&context))
}
