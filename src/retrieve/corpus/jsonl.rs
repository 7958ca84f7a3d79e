//! A JSONL file: one document a line, under the usual field names.

use super::document::{MAX_DOCUMENT_BYTES, MAX_ID_BYTES, MAX_URL_BYTES};
use super::{CorpusDocument, CorpusError, text};
use crate::model::{Digest, JsonError, Object};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// The longest line: a document of the largest size whose every byte is escaped, and its other fields.
const MAX_LINE_BYTES: u64 = 6 * MAX_DOCUMENT_BYTES + 64 * 1024;
const ID: [&str; 3] = ["id", "_id", "doc_id"];
const TEXT: [&str; 3] = ["text", "content", "body"];

/// Reads documents line by line; memory does not grow with their size.
pub(super) struct Lines<R> {
    file: String,
    bytes: R,
    line: u64,
    // Half of each id's digest and its line: enough to find a duplicate, and small for a million documents.
    seen: HashMap<[u8; 16], u64>,
}

impl<R: BufRead> Lines<R> {
    /// Reads from these bytes, which are those of the file of this name.
    pub(super) fn new(file: String, bytes: R) -> Self {
        Self { file, bytes, line: 0, seen: HashMap::new() }
    }

    fn read(&mut self) -> Result<Option<CorpusDocument>, CorpusError> {
        loop {
            let mut line = Vec::new();
            self.line += 1;
            let read = self.bytes.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line);
            let read = read.map_err(|error| CorpusError::Io { path: self.file.clone(), error })?;
            if read as u64 > MAX_LINE_BYTES {
                return Err(text::too_large(&self.place()));
            }
            if read == 0 {
                return Ok(None);
            }
            let line = if self.line == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
            if !line.trim_ascii().is_empty() {
                return self.document(line).map(Some);
            }
        }
    }

    fn document(&mut self, line: &[u8]) -> Result<CorpusDocument, CorpusError> {
        if line.starts_with(b"version https://git-lfs") {
            return Err(CorpusError::LfsPointer(self.file.clone()));
        }
        let line = std::str::from_utf8(line).map_err(|_| CorpusError::NotUtf8(self.place()))?;
        // A line that is cut within a text ends there, and not at a line break that no text may hold.
        let line = line.trim_end_matches(['\r', '\n']);
        let fields = Object::read(line).map_err(|error| self.bad(said(line, error)))?;
        let id = self.id(&fields)?;
        let Some(Value::String(body)) = first(&fields, &TEXT) else {
            return Err(self.bad("has no `text`, `content` or `body` that is a string"));
        };
        if body.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(text::too_large(&id));
        }
        let text = titled(self.text_field(&fields, "title")?, body);
        let url = self.text_field(&fields, "url")?.map(str::to_owned);
        if url.as_ref().is_some_and(|url| url.len() > MAX_URL_BYTES) {
            return Err(self.bad(format!("has a `url` of more than {MAX_URL_BYTES} bytes")));
        }
        if [Some(&id), Some(&text), url.as_ref()].into_iter().flatten().any(|text| text.contains('\0')) {
            return Err(CorpusError::Binary(self.place()));
        }
        self.unique(&id)?;
        Ok(CorpusDocument { id, url, text })
    }

    fn id(&self, fields: &Object) -> Result<String, CorpusError> {
        match first(fields, &ID) {
            Some(Value::String(id)) if id.len() > MAX_ID_BYTES => {
                Err(self.bad(format!("has an id of more than {MAX_ID_BYTES} bytes; give the document a shorter one")))
            }
            Some(Value::String(id)) if !id.is_empty() => Ok(id.clone()),
            Some(Value::Number(id)) if id.is_u64() || id.is_i64() => Ok(id.to_string()),
            _ => Err(self.bad("has no `id`, `_id` or `doc_id` that is a nonempty string or a whole number")),
        }
    }

    fn text_field<'a>(&self, fields: &'a Object, name: &str) -> Result<Option<&'a str>, CorpusError> {
        match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty()).map(String::as_str)),
            Some(_) => Err(self.bad("has a `title` or a `url` that is no string")),
        }
    }

    fn unique(&mut self, id: &str) -> Result<(), CorpusError> {
        let mut key = [0; 16];
        key.copy_from_slice(&Digest::of(id.as_bytes()).as_bytes()[..16]);
        match self.seen.insert(key, self.line) {
            None => Ok(()),
            Some(first) => {
                let (file, id) = (self.file.clone(), id.to_owned());
                Err(CorpusError::Duplicate { file, first, second: self.line, id })
            }
        }
    }

    fn place(&self) -> String {
        format!("{}, line {}", self.file, self.line)
    }

    fn bad(&self, problem: impl Into<String>) -> CorpusError {
        CorpusError::BadLine { file: self.file.clone(), line: self.line, problem: problem.into() }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<CorpusDocument, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// What is wrong with a line that is no object, or none that is read.
fn said(line: &str, error: JsonError) -> String {
    match error {
        JsonError::Deep | JsonError::Number | JsonError::Twice => error.to_string(),
        JsonError::Ends | JsonError::Syntax(_) if line.trim_start().starts_with('{') => error.to_string(),
        JsonError::Ends | JsonError::Syntax(_) | JsonError::Other => "is no JSON object".to_owned(),
    }
}

fn first<'a>(fields: &'a Object, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| fields.get(name))
}

/// The text after its title, unless it begins with that already.
fn titled(title: Option<&str>, body: &str) -> String {
    match title {
        Some(title) if !body.trim_start().starts_with(title) => format!("{title}\n\n{body}"),
        _ => body.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<CorpusDocument>, String> {
        let lines = Lines::new("c.jsonl".to_owned(), text.as_bytes());
        lines.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn usual_field_names_byte_order_marks_and_blank_lines_are_understood() {
        let text = "\u{feff}{\"_id\":\"a\",\"title\":\"T\",\"text\":\"x\",\"metadata\":{}}\r\n\r\n{\"doc_id\":7,\"body\":\"T y\",\"title\":\"T\",\"url\":\"u\"}\n \n{\"id\":\"c\",\"content\":\"\"}";
        let documents = read(text).unwrap();
        let shown: Vec<_> = documents.iter().map(|d| (d.id.as_str(), d.url.as_deref(), d.text.as_str())).collect();
        assert_eq!(shown, [("a", None, "T\n\nx"), ("7", Some("u"), "T y"), ("c", None, "")]);
    }

    #[test]
    fn both_lines_of_a_duplicate_are_named() {
        let text = "{\"id\":\"a\",\"text\":\"x\"}\n\n{\"id\":\"b\",\"text\":\"x\"}\n{\"id\":\"a\",\"text\":\"y\"}\n";
        let error = read(text).unwrap_err();
        assert_eq!(error, "`c.jsonl`, lines 1 and 4: both documents have the id `a`");
    }

    #[test]
    fn a_bad_line_is_named_and_not_quoted() {
        for (line, problem) in [
            ("secret", "is no JSON object"),
            ("[1]", "is no JSON object"),
            ("{\"id\":\"\",\"text\":\"x\"}", "has no `id`"),
            ("{\"id\":\"a\",\"text\":\"secret\\ud800\"}", "not valid JSON at column 3"),
            ("{\"id\":\"a\",\"text\":\"secret\",\"n\":NaN}", "not valid JSON at column 3"),
            ("{\"id\":\"a\",\"text\":\"secret", "the JSON ends too early"),
            ("{\"id\":1.5,\"text\":\"x\"}", "has no `id`"),
            ("{\"id\":\"a\",\"text\":null}", "has no `text`"),
            ("{\"id\":\"a\",\"text\":\"x\",\"url\":{}}", "has a `title` or a `url`"),
            ("{\"id\":\"a\",\"text\":\"secret\",\"text\":\"y\"}", "a name stands twice in one object"),
            ("{\"id\":\"a\",\"text\":\"secret\",\"n\":1e400}", "a number is larger than any that is read"),
        ] {
            let error = read(&format!("{{\"id\":\"0\",\"text\":\"\"}}\n{line}\n")).unwrap_err();
            assert!(error.starts_with("`c.jsonl`, line 2: ") && error.contains(problem), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_line_that_no_file_of_a_folder_could_be_is_refused_by_its_place() {
        let lines: [(&[u8], &str); 4] = [
            (b"{\"id\":\"a\",\"text\":\"caf\xe9\"}", "document `c.jsonl, line 1` is not UTF-8"),
            (b"\xff\xfe{\0", "document `c.jsonl, line 1` is not UTF-8"),
            (b"{\"id\":\"a\",\"text\":\"x\\u0000y\"}", "document `c.jsonl, line 1` is no text: it contains NUL bytes"),
            (b"{\"id\":\"\\u0000\",\"text\":\"\"}", "document `c.jsonl, line 1` is no text: it contains NUL bytes"),
        ];
        for (line, said) in lines {
            assert_eq!(Lines::new("c.jsonl".to_owned(), line).next().unwrap().unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn ids_and_urls_that_no_record_could_hold_are_refused_by_their_line() {
        let line = |id: usize, url: usize| {
            format!("{{\"id\":\"{}\",\"text\":\"x\",\"url\":\"{}\"}}\n", "i".repeat(id), "u".repeat(url))
        };
        assert_eq!(read(&line(MAX_ID_BYTES, MAX_URL_BYTES)).unwrap().len(), 1);
        let said = "`c.jsonl`, line 1: has an id of more than 1024 bytes; give the document a shorter one";
        assert_eq!(read(&line(MAX_ID_BYTES + 1, 0)).unwrap_err(), said);
        let said = "`c.jsonl`, line 1: has a `url` of more than 8192 bytes";
        assert_eq!(read(&line(1, MAX_URL_BYTES + 1)).unwrap_err(), said);
        assert!(text::decode(Vec::new(), &"i".repeat(MAX_ID_BYTES)).is_ok());
        assert!(matches!(text::decode(Vec::new(), &"i".repeat(MAX_ID_BYTES + 1)), Err(CorpusError::LongId(_))));
    }

    #[test]
    fn a_document_above_the_limit_is_named() {
        let size = usize::try_from(MAX_DOCUMENT_BYTES).unwrap();
        let line = |size| format!("{{\"id\":\"big\",\"text\":\"{}\"}}\n", "x".repeat(size));
        assert_eq!(read(&line(size)).unwrap().len(), 1);
        assert_eq!(read(&line(size + 1)).unwrap_err(), "document `big` has more than 4194304 bytes");
        let endless = "x".repeat(usize::try_from(MAX_LINE_BYTES).unwrap() + 2);
        assert_eq!(read(&endless).unwrap_err(), "document `c.jsonl, line 1` has more than 4194304 bytes");
    }
}
