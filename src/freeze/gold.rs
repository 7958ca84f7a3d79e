//! Gold answers. The one place that reads them, and only with the proof that judgments are sealed.
//!
//! Their form alone is checked beforehand, so that an audit is not paid for whose gold cannot be read at its end. That
//! check says yes, or where and what is wrong: no answer ever leaves it.

use super::questions::{self, Format, GOLD, Row};
use super::{FreezeError, Protocol, QuestionProblem};
use crate::ledger::{BlobReader, JudgmentsLock};
use crate::model::{Digest, Failure, FailureClass, Gold, QuestionId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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
    let Ok(rows) =
        questions::text(bytes).map_err(|_| ()).and_then(|text| questions::rows(text, format).map_err(|_| ()))
    else {
        return Ok(());
    };
    let problem = |row: Row| aliases(&row).err().map(|message| QuestionProblem { at: row.at, message });
    let mut problems: Vec<_> = rows.filter_map(|row| problem(row.ok()?)).take(MAX_PROBLEMS + 1).collect();
    let more = problems.len() > MAX_PROBLEMS;
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(()) } else { Err(FreezeError::Gold { file: questions::shown(file), problems, more }) }
}

pub(super) fn read(bytes: &[u8], protocol: &Protocol) -> Result<BTreeMap<QuestionId, Gold>, (String, String)> {
    let selected: BTreeSet<&QuestionId> = protocol.questions.iter().map(|question| &question.id).collect();
    let text = questions::text(bytes).map_err(|(line, fault)| (format!("line {line}"), fault.to_owned()))?;
    let format = Format::of(protocol.spec.questions.file.as_str()).unwrap_or(Format::Lines);
    let mut gold = BTreeMap::new();
    for row in questions::rows(text, format)? {
        let row = row?;
        let (id, aliases) = of_row(&row).map_err(|message| (row.at.clone(), message))?;
        if selected.contains(&id) {
            gold.insert(id.clone(), Gold { id, aliases });
        }
    }
    Ok(gold)
}

fn of_row(row: &Row) -> Result<(QuestionId, Vec<String>), String> {
    let id = questions::id_of(row, &questions::row_text(row)?)?;
    Ok((id, aliases(row)?))
}

fn aliases(row: &Row) -> Result<Vec<String>, String> {
    let mut aliases = Vec::new();
    for value in GOLD.iter().filter_map(|name| row.named(name)) {
        collect(value, &mut aliases)?;
    }
    Ok(aliases)
}

/// Adds every answer that stands in this value, each once, in order.
fn collect(value: &Value, aliases: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Null => {}
        Value::String(text) => add(text, aliases),
        Value::Number(number) => add(&number.to_string(), aliases),
        Value::Bool(truth) => add(if *truth { "yes" } else { "no" }, aliases),
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, aliases))?,
        Value::Object(members) => {
            let known = ["Value", "Aliases", "text", "answer"].map(|name| members.get(name));
            if known.iter().all(Option::is_none) {
                return Err("a gold answer is an object without `Value`, `Aliases`, `text` or `answer`".to_owned());
            }
            known.into_iter().flatten().try_for_each(|value| collect(value, aliases))?;
        }
    }
    Ok(())
}

fn add(text: &str, aliases: &mut Vec<String>) {
    let text = text.trim();
    if !text.is_empty() && !aliases.iter().any(|known| known == text) {
        aliases.push(text.to_owned());
    }
}
