//! Gold answers. The one place that reads them, and only with the proof that judgments are sealed.
//!
//! Their form alone is checked beforehand, so that an audit is not paid for whose gold cannot be read at its end. That
//! check says yes, or where and what is wrong: no answer ever leaves it.

use super::questions::{self, Format, GOLD, Row, TRUTH};
use super::{FreezeError, Protocol, QuestionProblem, expected};
use crate::ledger::{BlobReader, JudgmentsLock};
use crate::model::{Digest, Failure, FailureClass, Gold, QuestionId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The accepted answers of the selected questions, read from the frozen question file.
///
/// # Errors
/// The frozen file is missing or damaged, belongs to another protocol, or a gold field holds what is no answer: all of
/// class [`FailureClass::Evidence`], because the form was checked before the protocol was frozen.
pub fn open(judgments: &JudgmentsLock, protocol: &Protocol) -> Result<BTreeMap<QuestionId, Gold>, Failure> {
    let bytes = BlobReader::at(judgments.folder()).get(&Digest::of(&protocol.origin.sources.questions))?;
    read(&bytes, protocol).map_err(|(at, message)| {
        let file = &protocol.spec.questions.file;
        Failure::new(FailureClass::Evidence, format!("read gold answers in `{file}`: {at}: {message}"))
            .with_hint("no run is frozen with such gold: run the audit again in a new folder")
    })
}

/// The most problems that are listed.
const MAX_PROBLEMS: usize = 20;

/// Whether gold answers can be read from every row of a question file. Gives back nothing of them.
///
/// # Errors
/// The lines whose gold is no answer. What is wrong with the file otherwise is not this function's to say.
pub(super) fn check(bytes: &[u8], file: &str) -> Result<(), FreezeError> {
    let format = Format::of(file).unwrap_or(Format::Lines);
    let Ok(text) = questions::text(bytes) else { return Ok(()) };
    let mut problems = Vec::new();
    questions::each(text, format, &mut |row| {
        let problem = row.ok().and_then(|row| aliases(&row).err().map(|message| (row.at, message)));
        problems.extend(problem.map(|(at, message)| QuestionProblem { at, message }));
        if problems.len() > MAX_PROBLEMS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let more = problems.len() > MAX_PROBLEMS;
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(()) } else { Err(FreezeError::Gold { file: questions::shown(file), problems, more }) }
}

pub(super) fn read(bytes: &[u8], protocol: &Protocol) -> Result<BTreeMap<QuestionId, Gold>, (String, String)> {
    let selected: BTreeSet<&QuestionId> = protocol.questions.iter().map(|question| &question.id).collect();
    let text = questions::text(bytes).map_err(|(line, fault)| (format!("line {line}"), fault.to_owned()))?;
    let format = Format::of(protocol.spec.questions.file.as_str()).unwrap_or(Format::Lines);
    let (mut gold, mut failed) = (BTreeMap::new(), None);
    questions::each(text, format, &mut |row| {
        match row.and_then(|row| of_row(&row).map_err(|message| (row.at, message))) {
            Ok((id, aliases)) if selected.contains(&id) => {
                gold.insert(id.clone(), Gold { id, aliases });
            }
            Ok(_) => {}
            Err(error) => failed = Some(error),
        }
        if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    failed.map_or(Ok(gold), Err)
}

fn of_row(row: &Row) -> Result<(QuestionId, Vec<String>), String> {
    let id = questions::id_of(row, &questions::row_text(row)?)?;
    Ok((id, aliases(row)?))
}

fn aliases(row: &Row) -> Result<Vec<String>, String> {
    let mut aliases = Vec::new();
    // Beside the truth, `answer` is what the audited system once said.
    let said = |name: &str| name.trim_start_matches("outputs.") == "answer" && row.get(TRUTH).is_some();
    for value in GOLD.iter().filter(|name| !said(name)).filter_map(|name| row.named(name)) {
        collect(value, &mut aliases)?;
    }
    for text in expected::answers(row)? {
        add(&text, &mut aliases)?;
    }
    Ok(aliases)
}

/// Where answers are within an object.
const MEMBERS: [&str; 6] = ["Value", "Aliases", "value", "aliases", "text", "answer"];

/// Adds every answer that stands in this value, each once, in order.
fn collect(value: &Value, aliases: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Null => {}
        Value::String(text) => add(text, aliases)?,
        Value::Number(number) => add(&number.to_string(), aliases)?,
        Value::Bool(truth) => add(if *truth { "yes" } else { "no" }, aliases)?,
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, aliases))?,
        Value::Object(members) => {
            let known = MEMBERS.map(|name| members.get(name));
            if known.iter().all(Option::is_none) {
                return Err("a gold answer is an object without `Value`, `Aliases`, `text` or `answer`".to_owned());
            }
            known.into_iter().flatten().try_for_each(|value| collect(value, aliases))?;
        }
    }
    Ok(())
}

fn add(text: &str, aliases: &mut Vec<String>) -> Result<(), String> {
    let text = text.trim();
    if (text.starts_with("['") && text.ends_with("']")) || (text.starts_with("[\"") && text.ends_with("\"]")) {
        return Err("a gold answer is a list in the spelling of a program; write it as a JSON list".to_owned());
    }
    if !text.is_empty() && !aliases.iter().any(|known| known == text) {
        aliases.push(text.to_owned());
    }
    Ok(())
}
