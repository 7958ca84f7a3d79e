//! What is known of a case, for a report.

use super::case::Case;
use super::found;
use super::kept::Came;
use crate::analyze::counterfactual::{Change, Class, Finding, Row, Sides, Step};
use crate::freeze::prompts;
use crate::http::chat::estimate;
use crate::model::{Amount, Answer, Cell, Document, Evidence, Failure, Kernel, Label, Normalisation};
use crate::report::{self, CallPlan, Estimate, EvidenceChange, Explanation, Given, Settled, StepAnswers};
use crate::run::{cost, machinery};
use crate::spec::GenerateBackend;
use std::collections::BTreeSet;

/// Characters of a document that are shown.
const EXCERPT_CHARS: usize = 200;

/// All that is known so far.
pub(super) fn explanation(case: &Case) -> Result<Explanation, Failure> {
    let (of, difference) = (&case.of, &case.difference);
    let asked = if case.settled.is_none() { difference.steps(case.tried) } else { Vec::new() };
    let there = if case.settled.is_none() { case.kept.read()? } else { None };
    let cells = case.kept.cells(&asked);
    let rows = answered(case, &asked, there.as_ref());
    let machinery = machinery::describe(&of.protocol);
    let given = |evidence: &Evidence, answers: &[Answer]| Given {
        documents: evidence.documents.len() as u64,
        answers: answers.iter().map(|answer| answer.as_str().to_owned()).collect(),
    };
    Ok(Explanation {
        run: of.protocol.digest,
        question: of.question.id.clone(),
        text: of.question.text.clone(),
        generate: machinery.generate,
        judge: machinery.judge,
        normalisation: normalisation(of.protocol.spec.judge.normalisation),
        repeats: of.protocol.spec.generate.repeats,
        old: given(difference.old(), &of.old),
        new: given(difference.new_evidence(), &of.new),
        shared: difference.shared() as u64,
        changes: difference.changes().iter().map(|change| described(case, *change)).collect(),
        settled: case.settled,
        findings: if rows.iter().any(|row| !row.answers.is_empty()) { findings(case, &rows) } else { Vec::new() },
        steps: rows,
        tried: case.tried,
        calls: calls(case, &cells, there.as_ref()),
        caveats: machinery.caveats.into_iter().chain(caveats(case, there.as_ref())?).collect(),
        folder: case.kept.path.to_string(),
    })
}

const fn normalisation(normalisation: Normalisation) -> &'static str {
    match normalisation {
        Normalisation::Nq => "nq",
        Normalisation::TriviaQa => "triviaqa",
        Normalisation::None => "none",
    }
}

/// A change with the names and texts of what it is about.
fn described(case: &Case, change: Change) -> EvidenceChange {
    let (old, new) = (&case.difference.old().documents, &case.difference.new_evidence().documents);
    let (before, after) = match change {
        Change::Left { old: place } => (old.get(place), None),
        Change::Came { new: place } => (None, new.get(place)),
        Change::Edited { old: from, new: to } => (old.get(from), new.get(to)),
        Change::Reordered => (None, None),
    };
    let excerpt = |document: Option<&Document>, answers: &[Answer]| {
        let answer = answers.first().map(Answer::as_str).unwrap_or_default();
        document.map(|document| report::excerpt(&document.text, answer, EXCERPT_CHARS))
    };
    let id = |document: &Document| document.id.clone();
    let known = before.or(after);
    EvidenceChange {
        change,
        id: known.map(id).unwrap_or_default(),
        new_id: after.filter(|after| known.is_some_and(|known| known.id != after.id)).map(id),
        old_excerpt: excerpt(before, &case.of.old),
        new_excerpt: excerpt(after, &case.of.new),
    }
}

/// The answers to each step, as far as they are there, held against those of the run.
fn answered(case: &Case, steps: &[Step], there: Option<&Came>) -> Vec<StepAnswers> {
    let sides = Sides { old: &case.of.old, new: &case.of.new };
    let of = |step: &Step| {
        let name = case.kept.name(*step);
        let answer = |repeat| Some((repeat, there?.answers.of_cell(name?, repeat)?));
        let answers: Vec<(u32, &Answer)> = (0..case.of.protocol.spec.generate.repeats).filter_map(answer).collect();
        let classes = |kernel| -> Vec<Class> {
            let same = case.same(kernel);
            answers.iter().map(|(_, answer)| sides.class(answer, &same)).collect()
        };
        StepAnswers {
            step: *step,
            evidence: case.difference.evidence(*step).digest(),
            classes: case.kernels().into_iter().map(|kernel| (kernel, classes(kernel))).collect(),
            answers: answers.iter().map(|(repeat, answer)| (*repeat, answer.as_str().to_owned())).collect(),
        }
    };
    steps.iter().map(of).collect()
}

fn findings(case: &Case, rows: &[StepAnswers]) -> Vec<(Kernel, Finding)> {
    let sides = Sides { old: &case.of.old, new: &case.of.new };
    let (changes, repeats) = (case.difference.changes().len(), case.of.protocol.spec.generate.repeats as usize);
    let of = |kernel: Kernel| {
        let classes =
            |row: &StepAnswers| row.classes.iter().find(|(of, _)| *of == kernel).map(|(_, classes)| classes.clone());
        let rows: Vec<Row> =
            rows.iter().map(|row| Row { step: row.step, classes: classes(row).unwrap_or_default() }).collect();
        (kernel, Finding::of(sides, &case.same(kernel), &rows, changes, repeats))
    };
    case.kernels().into_iter().map(of).collect()
}

/// What it takes to ask for what is not there yet.
fn calls(case: &Case, cells: &[Cell], there: Option<&Came>) -> CallPlan {
    let is_there =
        |cell: &&Cell| there.is_some_and(|there| there.answers.of_cell(&cell.snapshot, cell.repeat).is_some());
    let left: Vec<&Cell> = cells.iter().filter(|cell| !is_there(cell)).collect();
    let whom = whom(&case.of.protocol.spec.generate.backend);
    let amount = if left.is_empty() { None } else { amount(case, &left) };
    CallPlan { all: cells.len() as u64, left: left.len() as u64, amount, whom }
}

/// What these cells take: as much as the dearest of the run's own answers to the question, each; else what their prompts let expect.
fn amount(case: &Case, left: &[&Cell]) -> Option<Estimate> {
    let GenerateBackend::Model(server) = &case.of.protocol.spec.generate.backend else { return None };
    if let Some(took) = case.of.took {
        return Some(Estimate { amount: took.times(left.len() as u64), measured: true });
    }
    let prompt = |cell: &&Cell| {
        let evidence = case.kept.evidence(&cell.snapshot)?;
        let prompt = prompts::answer(&case.of.protocol, &case.of.question, evidence);
        Some(estimate(server, prompt.len() as u64 + cost::AROUND))
    };
    let amount = left.iter().filter_map(prompt).fold(Amount::default(), Amount::plus);
    Some(Estimate { amount, measured: false })
}

/// Who is called, with all that one should know before a key is sent there or a program is started.
fn whom(backend: &GenerateBackend) -> Option<String> {
    match backend {
        GenerateBackend::Model(server) => {
            let key = server.key_env.as_ref().map(|name| format!(", with the key in `{name}`"));
            Some(format!("model `{}` at {}{}", server.model, server.base_url, key.unwrap_or_default()))
        }
        GenerateBackend::Command(program) => Some(format!("the program `{}`", program.argv.join(" "))),
        GenerateBackend::Reader(_) | GenerateBackend::BlackBox(_) => None,
    }
}

fn caveats(case: &Case, there: Option<&Came>) -> Result<Vec<String>, Failure> {
    let of = &case.of;
    let mut caveats = Vec::new();
    if of.varies && case.settled != Some(Settled::RetrievalVaries) {
        let told = "Retrieval varied between two passes: the evidence here is that of the first one, and some of the run's answers had \
                    the second.";
        caveats.push(told.to_owned());
    }
    if of.label == Some(Label::Same) && case.settled.is_none() {
        caveats.push("The run's judge takes the old and the new answer for the same in meaning.".to_owned());
    }
    if case.settled.is_none() && !case.is_free() && found::is_replayed(of)? {
        let told = "The run's answers were read from a recording; those to the steps are asked for now.";
        caveats.push(told.to_owned());
    }
    let models = there.map(|there| &there.models).filter(|models| !models.is_empty() && **models != of.models);
    caveats.extend(models.map(|models| {
        format!("The run's answers came from {}, those to the steps from {}.", names(&of.models), names(models))
    }));
    Ok(caveats)
}

fn names(models: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = models.iter().map(|model| format!("model `{model}`")).collect();
    if quoted.is_empty() { "a model without a name".to_owned() } else { quoted.join(" and ") }
}
