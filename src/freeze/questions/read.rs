//! Rows to questions, every problem by its line.

use super::fields::{CATEGORY, CLUSTER, COUNT, ID, TAGS, TEXT, WEIGHT};
use super::near::Near;
use super::personal::Found;
use super::rows::{Format, Row, RowError, each};
use crate::freeze::{FreezeError, QuestionProblem};
use crate::model::{Digest, Question, QuestionId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The longest question, in bytes.
const MAX_QUESTION: usize = 8 * 1024;
/// The longest id, tag or cluster, in bytes.
pub(in crate::freeze) const MAX_NAME: usize = 256;
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
    let endings = "ends in none of `.jsonl`, `.json`, `.csv`, `.yaml`";
    let format = Format::of(file).ok_or_else(|| one(("the name".to_owned(), endings.to_owned())))?;
    let mut reader = Reader::default();
    each(text, format, &mut |row| reader.take(row));
    let more = reader.problems.len() > MAX_PROBLEMS;
    reader.problems.truncate(MAX_PROBLEMS);
    if reader.problems.is_empty() { Ok(reader.finish()) } else { Err(failed(reader.problems, more)) }
}

#[derive(Default)]
struct Reader {
    questions: Vec<Question>,
    problems: Vec<QuestionProblem>,
    ids: BTreeMap<QuestionId, String>,
    near: Near,
    in_texts: Found,
    in_names: Found,
    counted: Option<&'static str>,
}

impl Reader {
    fn take(&mut self, row: Result<Row, RowError>) -> ControlFlow<()> {
        let read = row.and_then(|row| {
            self.counted = self.counted.or_else(|| row.find(COUNT).map(|(name, _)| name));
            let own_id = row.get(ID).is_some();
            question(&row).map(|question| (row.at.clone(), question, own_id)).map_err(|message| (row.at, message))
        });
        match read.and_then(|(at, question, own_id)| self.distinct(at, question, own_id)) {
            Ok(question) => self.questions.push(question),
            Err((at, message)) => self.problems.push(QuestionProblem { at, message }),
        }
        if self.problems.len() > MAX_PROBLEMS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn distinct(&mut self, at: String, question: Question, own_id: bool) -> Result<Question, RowError> {
        if self.questions.len() >= MAX_QUESTIONS {
            return Err((at, format!("more than {MAX_QUESTIONS} questions; draw a sample of them")));
        }
        if let Some(first) = self.ids.get(&question.id) {
            let message = if own_id {
                format!(
                    "the id `{}` stands on {first} as well; give each question an id of its own",
                    shown(&question.id.0)
                )
            } else {
                format!("the question stands on {first} as well; remove one of them, or give each an id of its own")
            };
            return Err((at, message));
        }
        self.warn(&question, &at);
        self.ids.insert(question.id.clone(), at);
        Ok(question)
    }

    fn warn(&mut self, question: &Question, at: &str) {
        self.near.take(&question.text, question.cluster.as_deref(), at);
        self.in_texts.look(&question.text, at);
        let names = [Some(&question.id.0), question.cluster.as_ref()].into_iter().flatten().chain(&question.tags);
        for name in names {
            self.in_names.look(name, at);
        }
    }

    fn finish(self) -> (Vec<Question>, Vec<String>) {
        let one_cluster = one_cluster(&self.questions);
        let counted =
            self.counted.map(|name| format!("the field `{name}` is not taken for a weight: each question counts once"));
        let texts = "they are sent to every generator and judge of the audit; take it out where it is somebody's";
        let names = "ids, tags and clusters stand in ledgers, reports and comments; use others";
        let notes = self.near.notes().chain(self.in_texts.note("questions", texts));
        let notes = notes.chain(self.in_names.note("ids, tags or clusters", names));
        let notes = notes.chain(counted).chain(one_cluster).collect();
        (self.questions, notes)
    }
}

/// One cluster around all questions is one event, whatever it shows: what to do about it is best known before anything is spent.
fn one_cluster(questions: &[Question]) -> Option<String> {
    let first = questions.first()?.cluster.as_ref()?;
    if questions.len() < 2 || questions.iter().any(|question| question.cluster.as_ref() != Some(first)) {
        return None;
    }
    let told = "all questions have the same cluster, which is too few for any bound: no line of the rule with a bound can hold; \
                leave the field out where it does not say how the questions were drawn";
    Some(told.to_owned())
}

/// The question of a row.
///
/// # Errors
/// What is wrong with it.
pub(in crate::freeze) fn question(row: &Row) -> Result<Question, String> {
    let text = row_text(row)?;
    unweighted(row)?;
    Ok(Question { id: id_of(row, &text)?, tags: tags(row)?, cluster: name_of(row, CLUSTER, "cluster")?, text })
}

/// Every estimator is a mean over questions that count alike, so that a weight which is dropped in silence would change
/// what the audit is about.
fn unweighted(row: &Row) -> Result<(), String> {
    let Some((name, value)) = row.find(WEIGHT) else { return Ok(()) };
    let weight = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    if weight == Some(1.0) {
        return Ok(());
    }
    Err(format!("weights (`{name}`) are not supported: each question counts once; remove the field"))
}

/// The text of a row's question.
///
/// # Errors
/// There is none, or it is no text, blank, too long, or holds a NUL.
pub(in crate::freeze) fn row_text(row: &Row) -> Result<String, String> {
    let Some((name, value)) = row.find(TEXT) else {
        let names = listed(TEXT.get(..7).unwrap_or(TEXT));
        return Err(format!("no question; it is looked for under {names} and others"));
    };
    let text = match value {
        Value::String(text) => text,
        Value::Array(_) => return Err(format!("the question (`{name}`) is a list; write one entry a question")),
        _ => return Err(format!("the question (`{name}`) is no text")),
    };
    if text.trim().is_empty() {
        return Err("the question is blank".to_owned());
    }
    if text.len() > MAX_QUESTION {
        return Err(format!("the question has {} bytes; at most {MAX_QUESTION} are asked", text.len()));
    }
    if text.contains('\0') {
        return Err("the question holds a NUL character".to_owned());
    }
    if text.starts_with("file://") {
        return Err(format!("the question (`{name}`) names a file; write its text here"));
    }
    Ok(text.to_owned())
}

/// The id of a row: its own, or one that follows from the question's text.
///
/// # Errors
/// The id is neither text nor integer, too long, or holds control characters.
pub(in crate::freeze) fn id_of(row: &Row, text: &str) -> Result<QuestionId, String> {
    let own = name_of(row, ID, "id")?;
    Ok(QuestionId(own.map_or_else(|| stable_id(text), |own| trimmed(&own).to_owned())))
}

/// A text without what no list of ids can hold at the ends of its lines: white space, and byte-order marks.
#[must_use]
pub(in crate::freeze) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// `q-` and the first 16 hexadecimal digits of the text's SHA-256.
fn stable_id(text: &str) -> String {
    let digest = Digest::of(text.as_bytes()).to_string();
    format!("q-{}", digest.get(..16).unwrap_or(&digest))
}

/// The value of a field that is a name.
fn name_of(row: &Row, names: &[&str], what: &str) -> Result<Option<String>, String> {
    row.find(names).map(|(name, value)| short(value, &format!("{what} (`{name}`)"))).transpose()
}

fn short(value: &Value, what: &str) -> Result<String, String> {
    let name = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0 && number.abs() > 9e15) => {
            return Err(format!("the {what} is a number of more digits than are read; write it as a text, in quotes"));
        }
        _ => return Err(format!("the {what} is neither text nor an integer")),
    };
    if trimmed(&name).is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(format!("the {what} is blank, longer than {MAX_NAME} bytes, or holds control characters"));
    }
    Ok(name)
}

fn tags(row: &Row) -> Result<Vec<String>, String> {
    let mut tags = match row.find(TAGS) {
        None => Vec::new(),
        Some((_, Value::String(text))) => text.split([',', ';']).map(|tag| tag.trim().to_owned()).collect(),
        Some((name, Value::Array(items))) => {
            let tag = |item: &Value| short(item, &format!("tag (`{name}`)"));
            items.iter().filter(|item| !item.is_null()).map(tag).collect::<Result<_, _>>()?
        }
        Some((name, _)) => return Err(format!("the tags (`{name}`) are neither text nor a list")),
    };
    tags.extend(name_of(row, CATEGORY, "category")?);
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
