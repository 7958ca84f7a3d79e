//! Templates are filled by structure: a value takes the place of a whole value, and is never pasted into text that is
//! parsed afterwards.

use super::encode::percent;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What is filled in.
pub(super) struct Filling<'a> {
    pub question: &'a str,
    pub top_k: u32,
    pub variables: &'a BTreeMap<String, String>,
}

/// Why a template cannot be filled. Names parts of the spec alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
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
}

impl Filling<'_> {
    /// The same JSON with every string that is exactly a placeholder replaced by its value. Names of members stay.
    pub(super) fn value(&self, template: &Value) -> Result<Value, TemplateError> {
        Ok(match template {
            Value::String(text) => self.text(text)?,
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?),
            Value::Object(members) => {
                let filled = members.iter().map(|(name, member)| Ok((name.clone(), self.value(member)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, TemplateError>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        })
    }

    fn text(&self, text: &str) -> Result<Value, TemplateError> {
        let Some(name) = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) else {
            return Ok(Value::String(text.to_owned()));
        };
        match name.trim() {
            "question" => Ok(Value::String(self.question.to_owned())),
            "top_k" => Ok(Value::from(self.top_k)),
            other => match other.strip_prefix("snapshot.") {
                Some(variable) => Ok(Value::String(self.variable(variable)?.to_owned())),
                None => Err(TemplateError::Unknown(other.to_owned())),
            },
        }
    }

    fn variable(&self, name: &str) -> Result<&str, TemplateError> {
        self.variables.get(name).map(String::as_str).ok_or_else(|| TemplateError::NoVariable(name.to_owned()))
    }

    /// The URL with its variables and its query parameters, each percent-encoded.
    pub(super) fn url(&self, template: &str, query: &BTreeMap<String, String>) -> Result<String, TemplateError> {
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
            let value = match self.text(value)? {
                Value::String(text) => text,
                other => other.to_string(),
            };
            url.extend([&percent(name), "=", &percent(&value)]);
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn variables(value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("index".to_owned(), value.to_owned())])
    }

    fn url(template: &str, value: &str, query: &[(&str, &str)]) -> Result<String, TemplateError> {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Filling { question: "a&b=c #1", top_k: 8, variables: &variables(value) }.url(template, &query)
    }

    #[test]
    fn whole_strings_are_replaced_and_keep_their_types() {
        let template = json!({"size": "{{top_k}}", "q": ["{{ question }}", "x {{question}}"], "{{question}}": "{{snapshot.index}}", "n": null});
        let filled = Filling { question: "\"}]{{top_k}}", top_k: 8, variables: &variables("docs_v1") }.value(&template);
        let expected =
            json!({"size": 8, "q": ["\"}]{{top_k}}", "x {{question}}"], "{{question}}": "docs_v1", "n": null});
        assert_eq!(filled, Ok(expected));
    }

    #[test]
    fn placeholders_that_stand_for_nothing_are_errors() {
        let fill = |text: &str| Filling { question: "", top_k: 1, variables: &BTreeMap::new() }.value(&json!([text]));
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

    proptest! {
        #[test]
        fn any_question_is_one_string_of_the_body(question in any::<String>()) {
            let filling = Filling { question: &question, top_k: 8, variables: &BTreeMap::new() };
            let body = filling.value(&json!({"q": {"match": "{{question}}"}})).unwrap().to_string();
            let read: Value = serde_json::from_str(&body).unwrap();
            prop_assert_eq!(read, json!({"q": {"match": question}}));
        }
    }
}
