//! Gold answers. The one place that reads them, and only with the proof that judgments are sealed.
//!
//! Their form alone is checked beforehand, so that an audit is not paid for whose gold cannot be read at its end. That
//! check says yes, or where and what is wrong: no answer ever leaves it.

use super::document::Document;
use super::questions::{self, Format, GOLD, Row, TRUTH};
use super::{FreezeError, Protocol, QuestionProblem, expected, selection};
use crate::ledger::{BlobReader, JudgmentsLock, SideLocks, Sorted, Sorter};
use crate::model::{Failure, FailureClass, QuestionId};
use serde_json::Value;
use std::ops::ControlFlow;

/// Accepted answers by question, in selection order: memory holds those of one question.
#[derive(Debug)]
pub struct Golds {
    sorted: Sorted,
    item: Vec<u8>,
}

impl Golds {
    /// The accepted answers of one question; none where the file has none. Questions are asked for by ascending rank, each once.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn of(&mut self, rank: u128) -> Result<Vec<String>, Failure> {
        if !self.sorted.find(rank, &mut self.item)? {
            return Ok(Vec::new());
        }
        serde_json::from_slice(&self.item)
            .map_err(|_| Failure::new(FailureClass::Evidence, "read gold answers: what was read is lost"))
    }
}

/// The accepted answers, read from the frozen question file. Every ledger of the run is sealed by then: the judgments, and those
/// of the diagnostics that the protocol asks for.
///
/// # Errors
/// A ledger of a diagnostic is missing, or one that the protocol does not ask for is there.
/// The frozen file is missing or damaged, belongs to another protocol, or a gold field holds what is no answer: all of
/// class [`FailureClass::Evidence`], because the form was checked before the protocol was frozen.
pub fn open(judgments: &JudgmentsLock, side: &SideLocks, protocol: &Protocol) -> Result<Golds, Failure> {
    protocol.check_side(side)?;
    let file = &protocol.spec.questions.file;
    let bad = |message: &str| {
        Failure::new(FailureClass::Evidence, format!("read gold answers in `{file}`: {message}"))
            .with_hint("no run is frozen with such gold: run the audit again in a new folder")
    };
    let document = Document::read(protocol.lock_bytes()).map_err(|fault| bad(&fault))?;
    let (blobs, spec) = (BlobReader::at(judgments.folder()), &protocol.spec.questions);
    let mut sorter = Sorter::default();
    selection::each(&blobs, &document.questions.file, spec, &mut |row| {
        let (id, aliases) = of_row(&row).map_err(|message| bad(&format!("{}: {message}", row.at)))?;
        if aliases.is_empty() {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&aliases).map_err(|_| bad("an answer cannot be kept"))?;
        Ok(sorter.put(protocol.rank(&id), &[&bytes])?)
    })?;
    Ok(Golds { sorted: sorter.sorted()?, item: Vec::new() })
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

/// The accepted answers of all questions of a file, for tests.
#[cfg(test)]
pub(super) fn read(bytes: &[u8], file: &str) -> Result<std::collections::BTreeMap<QuestionId, Vec<String>>, String> {
    let text = questions::text(bytes).map_err(|(line, fault)| format!("line {line}: {fault}"))?;
    let (mut gold, mut failed) = (std::collections::BTreeMap::new(), None);
    questions::each(text, Format::of(file).unwrap_or(Format::Lines), &mut |row| {
        match row.map_err(|(_, message)| message).and_then(|row| of_row(&row)) {
            Ok((id, aliases)) => drop(gold.insert(id, aliases)),
            Err(message) => failed = Some(message),
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
