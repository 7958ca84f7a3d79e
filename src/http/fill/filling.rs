//! Templates are filled by structure: a value takes the place of a whole value, and is never pasted into text that is
//! parsed afterwards.

use super::encode::{any_of, escaped, percent};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The member that marks a text, or a list of texts that are joined by commas, into which plain names are set: grammars
/// such as GraphQL's have no other place for the name of a collection.
const NAMES: &str = "$names";

/// What is filled in.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// `{{question}}`
    pub question: &'a str,
    /// `{{question_hash}}`: the same for a question in every call.
    pub question_hash: &'a str,
    /// `{{nonce}}`: another one in every call; `None` where calls must not differ.
    pub nonce: Option<&'a str>,
    /// `{{top_k}}`
    pub top_k: u32,
    /// `{{vector}}`, where the question was embedded.
    pub vector: Option<&'a [f64]>,
    /// `{{snapshot.NAME}}`
    pub variables: &'a BTreeMap<String, String>,
}

/// Why a template cannot be filled. Names parts of the spec alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A placeholder that stands for nothing.
    #[error("`{{{{{0}}}}}` stands for nothing")]
    Unknown(String),
    /// A variable that the snapshot does not have.
    #[error("the snapshot has no variable `{0}`")]
    NoVariable(String),
    /// A brace in the URL without its partner.
    #[error("the URL has an unpaired brace")]
    UnpairedBrace,
    /// A variable that would climb out of the URL's path.
    #[error("the variable `{0}` cannot stand in a URL")]
    NotInUrl(String),
    /// A variable that is no name by the rules of a query language.
    #[error("the variable `{0}` is not made of letters, digits and `_` alone, as its place in the query requires")]
    NotAName(String),
    /// A text with names that is no text, or has an unpaired angle bracket.
    #[error("`$names` is not a text, or a list of texts, with names in angle brackets")]
    BadNames,
}

impl Filling<'_> {
    /// The same JSON with every string that is exactly a placeholder replaced by its value. Names of members stay.
    ///
    /// # Errors
    /// A placeholder that stands for nothing here.
    pub fn value(&self, template: &Value) -> Result<Value, TemplateError> {
        Ok(match template {
            Value::String(text) => self.text(text)?,
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?),
            Value::Object(members) => match members.get(NAMES) {
                Some(names) if members.len() == 1 => Value::String(self.names(names)?),
                _ => {
                    let filled = members.iter().map(|(name, member)| Ok((name.clone(), self.value(member)?)));
                    Value::Object(filled.collect::<Result<Map<_, _>, TemplateError>>()?)
                }
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        })
    }

    fn text(&self, text: &str) -> Result<Value, TemplateError> {
        let Some(name) = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) else {
            return Ok(Value::String(text.to_owned()));
        };
        let unknown = || TemplateError::Unknown(name.trim().to_owned());
        Ok(match name.trim() {
            "question" => Value::from(self.question),
            "question_hash" => Value::from(self.question_hash),
            "nonce" => Value::from(self.nonce.ok_or_else(unknown)?),
            "top_k" => Value::from(self.top_k),
            "words" => Value::from(any_of(self.question)),
            "escaped" => Value::from(escaped(self.question)),
            "vector" => Value::from(self.vector.ok_or_else(unknown)?),
            other => Value::from(self.variable(other.strip_prefix("snapshot.").ok_or_else(unknown)?)?),
        })
    }

    /// A text that stands for itself or is exactly a placeholder, as text.
    ///
    /// # Errors
    /// A placeholder that stands for nothing here.
    pub fn plain(&self, template: &str) -> Result<String, TemplateError> {
        Ok(match self.text(template)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn variable(&self, name: &str) -> Result<&str, TemplateError> {
        self.variables.get(name).map(String::as_str).ok_or_else(|| TemplateError::NoVariable(name.to_owned()))
    }

    /// A text with the names of snapshots in it; several are joined by commas.
    fn names(&self, template: &Value) -> Result<String, TemplateError> {
        match template {
            Value::String(text) => self.named(text),
            Value::Array(items) => {
                let filled = items.iter().map(|item| self.named(item.as_str().ok_or(TemplateError::BadNames)?));
                Ok(filled.collect::<Result<Vec<_>, _>>()?.join(","))
            }
            _ => Err(TemplateError::BadNames),
        }
    }

    fn named(&self, template: &str) -> Result<String, TemplateError> {
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, inner)) = rest.split_once('<') {
            let (name, after) = inner.split_once('>').ok_or(TemplateError::BadNames)?;
            let name = name.strip_prefix("snapshot.").ok_or(TemplateError::BadNames)?;
            let value = self.variable(name)?;
            if !is_name(value) {
                return Err(TemplateError::NotAName(name.to_owned()));
            }
            text.extend([before, value]);
            rest = after;
        }
        text.push_str(rest);
        Ok(text)
    }

    /// The URL with its variables and its query parameters, each percent-encoded.
    ///
    /// # Errors
    /// A variable or a placeholder that stands for nothing here, or that would change the URL's form.
    pub fn url(&self, template: &str, query: &BTreeMap<String, String>) -> Result<String, TemplateError> {
        let mut url = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            url.push_str(&rest[..at]);
            let inner = rest[at..].strip_prefix('{').ok_or(TemplateError::UnpairedBrace)?;
            let (name, after) = inner.split_once('}').ok_or(TemplateError::UnpairedBrace)?;
            let value = self.variable(name)?;
            // Dots alone are a path segment that servers and clients resolve, encoded or not.
            if value.bytes().all(|byte| byte == b'.') {
                return Err(TemplateError::NotInUrl(name.to_owned()));
            }
            url.push_str(&percent(value));
            rest = after;
        }
        url.push_str(rest);
        for (number, (name, value)) in query.iter().enumerate() {
            url.push(if number == 0 && !url.contains('?') { '?' } else { '&' });
            url.extend([&percent(name), "=", &percent(&self.plain(value)?)]);
        }
        Ok(url)
    }
}

/// A name as query languages have them.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(fits) && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn filling<'a>(question: &'a str, variables: &'a BTreeMap<String, String>) -> Filling<'a> {
        let vector = Some([0.5_f64, -1.0].as_slice());
        Filling { question, question_hash: "abc", nonce: None, top_k: 8, vector, variables }
    }

    fn variables(value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("index".to_owned(), value.to_owned())])
    }

    fn url(template: &str, value: &str, query: &[(&str, &str)]) -> Result<String, TemplateError> {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        filling("a&b=c #1", &variables(value)).url(template, &query)
    }

    #[test]
    fn whole_strings_are_replaced_and_keep_their_types() {
        let template = json!({"size": "{{top_k}}", "q": ["{{ question }}", "x {{question}}"], "{{question}}": "{{snapshot.index}}", "n": null});
        let filled = filling("\"}]{{top_k}}", &variables("docs_v1")).value(&template);
        let expected =
            json!({"size": 8, "q": ["\"}]{{top_k}}", "x {{question}}"], "{{question}}": "docs_v1", "n": null});
        assert_eq!(filled, Ok(expected));
    }

    #[test]
    fn placeholders_that_stand_for_nothing_are_errors() {
        let fill = |text: &str| filling("", &BTreeMap::new()).value(&json!([text]));
        assert_eq!(fill("{{querstion}}"), Err(TemplateError::Unknown("querstion".to_owned())));
        assert_eq!(fill("{{snapshot.index}}"), Err(TemplateError::NoVariable("index".to_owned())));
        assert_eq!(TemplateError::Unknown("x".to_owned()).to_string(), "`{{x}}` stands for nothing");
    }

    #[test]
    fn variables_and_parameters_stay_within_their_part_of_the_url() {
        assert_eq!(
            url("http://h/{index}/_search", "docs v1/../?#", &[]).unwrap(),
            "http://h/docs%20v1%2F..%2F%3F%23/_search"
        );
        assert_eq!(
            url("http://h/s", "x", &[("k", "{{top_k}}"), ("q", "{{question}}")]).unwrap(),
            "http://h/s?k=8&q=a%26b%3Dc%20%231"
        );
        assert_eq!(url("http://h/s?a=1", "x", &[("i", "{{snapshot.index}}")]).unwrap(), "http://h/s?a=1&i=x");
        assert_eq!(url("http://h/{index}", "..", &[]), Err(TemplateError::NotInUrl("index".to_owned())));
        assert_eq!(url("http://h/{other}", "x", &[]), Err(TemplateError::NoVariable("other".to_owned())));
        for template in ["http://h/{index", "http://h/index}", "http://h/}{"] {
            assert_eq!(url(template, "x", &[]), Err(TemplateError::UnpairedBrace), "{template}");
        }
    }

    #[test]
    fn names_stand_in_texts_where_a_grammar_wants_them_and_nothing_else_can() {
        let fill =
            |names: Value, index: &str| filling("q", &variables(index)).value(&json!({"query": {"$names": names}}));
        let query = |text: &str| Ok(json!({ "query": text }));
        assert_eq!(
            fill(json!("{ Get { <snapshot.index>(limit: $k) } }"), "Docs_2"),
            query("{ Get { Docs_2(limit: $k) } }")
        );
        assert_eq!(fill(json!(["id", "<snapshot.index>"]), "text"), query("id,text"));
        let not_a_name = Err(TemplateError::NotAName("index".to_owned()));
        for bad in ["docs-2", "a) { x", "2a", "a.b", ""] {
            assert_eq!(fill(json!("<snapshot.index>"), bad), not_a_name, "{bad}");
        }
        for bad in [json!("<question>"), json!("<snapshot.index"), json!(1), json!([1])] {
            assert_eq!(fill(bad, "x"), Err(TemplateError::BadNames));
        }
    }

    #[test]
    fn vectors_are_arrays_and_a_nonce_stands_only_where_calls_may_differ() {
        let fill =
            |nonce| Filling { nonce, ..filling("", &BTreeMap::new()) }.value(&json!(["{{vector}}", "{{nonce}}"]));
        assert_eq!(fill(Some("n1")), Ok(json!([[0.5, -1.0], "n1"])));
        assert_eq!(fill(None), Err(TemplateError::Unknown("nonce".to_owned())));
    }

    proptest! {
        #[test]
        fn any_question_is_one_string_of_the_body(question in any::<String>()) {
            let body = filling(&question, &BTreeMap::new()).value(&json!({"q": {"match": "{{question}}"}})).unwrap().to_string();
            let read: Value = serde_json::from_str(&body).unwrap();
            prop_assert_eq!(read, json!({"q": {"match": question}}));
        }
    }
}
