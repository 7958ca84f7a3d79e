//! Rows to questions, every problem by its line.

use super::fields::{CATEGORY, CLUSTER, ID, TAGS, TEXT};
use super::rows::{Format, Row, RowError, rows};
use crate::freeze::{FreezeError, QuestionProblem};
use crate::model::{Digest, Question, QuestionId};
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest question, in bytes.
const MAX_QUESTION: usize = 8 * 1024;
/// The longest id, tag or cluster, in bytes.
const MAX_NAME: usize = 256;
/// The most tags of one question.
const MAX_TAGS: usize = 32;
/// The most questions of one file.
const MAX_QUESTIONS: usize = 5_000_000;
/// The most problems that are listed.
const MAX_PROBLEMS: usize = 20;

/// All questions of a file in its order, and notes about it. Gold answers are not looked at.
///
/// # Errors
/// Everything that is wrong with the file, by line; a file without questions gives an empty list.
pub(in crate::freeze) fn read(bytes: &[u8], file: &str) -> Result<(Vec<Question>, Vec<String>), FreezeError> {
    let failed = |problems: Vec<QuestionProblem>, more| FreezeError::Questions { file: shown(file), problems, more };
    let one = |(at, message): RowError| failed(vec![QuestionProblem { at, message }], false);
    let text = super::text(bytes).map_err(|(line, fault)| one((format!("line {line}"), fault.to_owned())))?;
    let format = Format::of(file)
        .ok_or_else(|| one(("the name".to_owned(), "ends in none of `.jsonl`, `.json`, `.csv`".to_owned())))?;
    let mut reader = Reader::default();
    if !text.trim().is_empty() {
        for row in rows(text, format).map_err(one)? {
            reader.take(row);
            if reader.problems.len() > MAX_PROBLEMS {
                break;
            }
        }
    }
    let more = reader.problems.len() > MAX_PROBLEMS;
    reader.problems.truncate(MAX_PROBLEMS);
    if reader.problems.is_empty() { Ok(reader.finish()) } else { Err(failed(reader.problems, more)) }
}

#[derive(Default)]
struct Reader {
    questions: Vec<Question>,
    problems: Vec<QuestionProblem>,
    ids: BTreeMap<QuestionId, String>,
    texts: BTreeMap<Digest, u32>,
}

impl Reader {
    fn take(&mut self, row: Result<Row, RowError>) {
        let read =
            row.and_then(|row| question(&row).map(|question| (row.at.clone(), question)).map_err(|m| (row.at, m)));
        match read.and_then(|(at, question)| self.distinct(at, question)) {
            Ok(question) => self.questions.push(question),
            Err((at, message)) => self.problems.push(QuestionProblem { at, message }),
        }
    }

    fn distinct(&mut self, at: String, question: Question) -> Result<Question, RowError> {
        if self.questions.len() >= MAX_QUESTIONS {
            return Err((at, format!("more than {MAX_QUESTIONS} questions")));
        }
        if let Some(first) = self.ids.get(&question.id) {
            let message = format!("the id `{}` stands on {first} as well", shown(&question.id.0));
            return Err((at, message));
        }
        self.ids.insert(question.id.clone(), at);
        *self.texts.entry(Digest::of(question.text.as_bytes())).or_default() += 1;
        Ok(question)
    }

    fn finish(self) -> (Vec<Question>, Vec<String>) {
        let twice = self.texts.values().filter(|count| **count > 1).count();
        let note = format!("{twice} question texts stand in the file more than once, under different ids");
        (self.questions, if twice > 0 { vec![note] } else { Vec::new() })
    }
}

fn question(row: &Row) -> Result<Question, String> {
    let text = row_text(row)?;
    Ok(Question { id: id_of(row, &text)?, tags: tags(row)?, cluster: name_of(row.get(CLUSTER), "cluster")?, text })
}

/// The text of a row's question.
///
/// # Errors
/// There is none, or it is no text, blank, too long, or holds a NUL.
pub(in crate::freeze) fn row_text(row: &Row) -> Result<String, String> {
    let Some(value) = row.get(TEXT) else {
        return Err(format!("no question; it is looked for under {}", listed(TEXT)));
    };
    let text = value.as_str().ok_or("the question is no text")?;
    if text.trim().is_empty() {
        return Err("the question is blank".to_owned());
    }
    if text.len() > MAX_QUESTION {
        return Err(format!("the question has {} bytes; at most {MAX_QUESTION} are asked", text.len()));
    }
    if text.contains('\0') {
        return Err("the question holds a NUL character".to_owned());
    }
    Ok(text.to_owned())
}

/// The id of a row: its own, or one that follows from the question's text.
///
/// # Errors
/// The id is neither text nor integer, too long, or holds control characters.
pub(in crate::freeze) fn id_of(row: &Row, text: &str) -> Result<QuestionId, String> {
    let own = name_of(row.get(ID), "id")?;
    Ok(QuestionId(own.unwrap_or_else(|| stable_id(text))))
}

/// `q-` and the first 16 hexadecimal digits of the text's SHA-256.
fn stable_id(text: &str) -> String {
    let digest = Digest::of(text.as_bytes()).to_string();
    format!("q-{}", digest.get(..16).unwrap_or(&digest))
}

fn name_of(value: Option<&Value>, what: &str) -> Result<Option<String>, String> {
    let name = match value {
        None => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_u64() || number.is_i64() => number.to_string(),
        Some(_) => return Err(format!("the {what} is neither text nor an integer")),
    };
    if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(format!("the {what} is blank, longer than {MAX_NAME} bytes, or holds control characters"));
    }
    Ok(Some(name))
}

fn tags(row: &Row) -> Result<Vec<String>, String> {
    let mut tags = match row.get(TAGS) {
        None => Vec::new(),
        Some(Value::String(text)) => text.split([',', ';']).map(|tag| tag.trim().to_owned()).collect(),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| Ok(name_of(Some(item), "tag")?.unwrap_or_default()))
            .collect::<Result<_, String>>()?,
        Some(_) => return Err("the tags are neither text nor a list".to_owned()),
    };
    tags.extend(name_of(row.get(CATEGORY), "category")?);
    tags.retain(|tag| !tag.is_empty());
    tags.sort();
    tags.dedup();
    let long = tags.iter().any(|tag| tag.len() > MAX_NAME || tag.chars().any(char::is_control));
    if tags.len() > MAX_TAGS || long {
        return Err(format!("at most {MAX_TAGS} tags of at most {MAX_NAME} bytes are taken"));
    }
    Ok(tags)
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A text for a message: cut and without control characters.
#[must_use]
pub(in crate::freeze) fn shown(text: &str) -> String {
    text.chars().take(80).map(|c| if c.is_control() { '?' } else { c }).collect()
}
