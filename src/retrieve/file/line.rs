//! One line of a file of evidence: the question that it is of, and the documents.

use crate::model::JsonError;
use crate::retrieve::corpus::document::{MAX_ID_BYTES, MAX_URL_BYTES};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use std::fmt;

/// The evidence of one line.
#[derive(Deserialize)]
pub(super) struct Row {
    /// Best first.
    #[serde(alias = "evidence", alias = "results")]
    pub documents: Vec<RowDocument>,
}

/// One of its documents.
#[derive(Deserialize)]
pub(super) struct RowDocument {
    /// Its id.
    #[serde(alias = "_id", alias = "doc_id")]
    pub id: Id,
    /// Its text.
    #[serde(alias = "content", alias = "body")]
    pub text: String,
    /// Where it can be read.
    pub url: Option<String>,
}

/// The question of one line.
#[derive(Deserialize)]
struct RowId {
    #[serde(alias = "_id", alias = "question_id", alias = "qid")]
    id: Id,
}

/// A text, or a whole number as questions and corpora may have it.
pub(super) struct Id(pub String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<Id, E> {
        Ok(Id(id.to_owned()))
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<Id, E> {
        Ok(Id(id.to_string()))
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<Id, E> {
        Ok(Id(id.to_string()))
    }
}

/// The id of the question that a line is of.
///
/// # Errors
/// What is wrong with the line.
pub(super) fn question(line: &[u8]) -> Result<String, String> {
    let row: RowId = read(line, "is no JSON object with an `id` that is a text or a whole number")?;
    Ok(row.id.0)
}

/// The evidence of a line, which a run can record.
///
/// # Errors
/// What is wrong with the line.
pub(super) fn evidence(line: &[u8]) -> Result<Row, String> {
    let row: Row = read(
        line,
        "has no list `documents` of objects, each with an `id` (a text or a whole number), a `text` and, if there is one, a `url`",
    )?;
    if row.documents.iter().any(|document| document.id.0.len() > MAX_ID_BYTES) {
        return Err(format!("a document has an id of more than {MAX_ID_BYTES} bytes"));
    }
    if row.documents.iter().any(|document| document.url.as_ref().is_some_and(|url| url.len() > MAX_URL_BYTES)) {
        return Err(format!("a document has a `url` of more than {MAX_URL_BYTES} bytes"));
    }
    Ok(row)
}

fn read<T: DeserializeOwned>(line: &[u8], otherwise: &str) -> Result<T, String> {
    let line = std::str::from_utf8(line).map_err(|_| "is not UTF-8".to_owned())?.trim_end_matches(['\r', '\n']);
    if !line.trim_start().starts_with('{') {
        return Err(otherwise.to_owned());
    }
    serde_json::from_str(line).map_err(|error| match JsonError::of(&error) {
        error @ (JsonError::Deep | JsonError::Number | JsonError::Syntax(_) | JsonError::Ends) => error.to_string(),
        _ if error.to_string().starts_with("duplicate field") => {
            "a name, or two names of one field, stand twice in one object".to_owned()
        }
        _ => otherwise.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_the_json_is_told_by_its_kind_and_column_and_never_quoted() {
        for (line, problem) in [
            ("{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"text\":\"secret\\ud800\"}]}", "not valid JSON at column "),
            ("{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"text\":NaN}]}", "not valid JSON at column "),
            ("{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"text\":\"secret", "the JSON ends too early"),
            ("{\"id\":\"a\",\"documents\":[],\"documents\":[]}", "stand twice in one object"),
            (
                "{\"id\":\"a\",\"documents\":[{\"id\":\"d\",\"_id\":\"secret\",\"text\":\"x\"}]}",
                "stand twice in one object",
            ),
            ("{\"id\":\"a\",\"documents\":{}}", "has no list `documents`"),
            ("[\"secret\"]", "has no list `documents`"),
        ] {
            let told = evidence(line.as_bytes()).err().expect("a refusal");
            assert!(told.contains(problem) && !told.contains("secret"), "{line}: {told}");
        }
        let told = question(b"{\"id\":\"a\",\"id\":\"secret\"}").expect_err("a refusal");
        assert!(told.contains("stand twice in one object") && !told.contains("secret"), "{told}");
    }
}
