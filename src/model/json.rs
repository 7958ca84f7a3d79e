//! JSON that others wrote: what is wrong with it, in words of ours.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use std::collections::BTreeSet;
use std::fmt;

/// What is said of an object that has a name twice.
const TWICE: &str = "a name stands twice in one object";

/// An object whose names are all different, with its members in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(pub Vec<(String, Value)>);

impl Object {
    /// Reads one.
    ///
    /// # Errors
    /// The text is no such object.
    pub fn read(text: &str) -> Result<Self, JsonError> {
        serde_json::from_str(text).map_err(|error| JsonError::of(&error))
    }

    /// The member of this name.
    #[must_use]
    pub fn get(&self, wanted: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let (mut members, mut seen) = (Vec::new(), BTreeSet::new());
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(TWICE));
            }
            members.push((name, value));
        }
        Ok(Object(members))
    }
}

/// Why a text is not the JSON that it should be. The library's own text would quote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// It is cut off.
    Ends,
    /// No JSON, from this column on.
    Syntax(usize),
    /// JSON, but nested deeper than is read.
    Deep,
    /// JSON, but with a number above every one that a double can hold.
    Number,
    /// One name stands twice.
    Twice,
    /// Something else than an object.
    Other,
}

impl JsonError {
    /// What this error of the library means.
    #[must_use]
    pub fn of(error: &serde_json::Error) -> Self {
        let says = |words: &str| error.to_string().starts_with(words);
        match error.classify() {
            Category::Eof => Self::Ends,
            Category::Syntax | Category::Io if says("recursion limit exceeded") => Self::Deep,
            Category::Syntax | Category::Io if says("number out of range") => Self::Number,
            Category::Syntax | Category::Io => Self::Syntax(error.column()),
            Category::Data if says(TWICE) => Self::Twice,
            Category::Data => Self::Other,
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends => f.write_str("the JSON ends too early"),
            Self::Syntax(column) => write!(f, "not valid JSON at column {column}"),
            Self::Deep => f.write_str(
                "the JSON is nested deeper than the 127 levels that are read; flatten it, or leave the field out",
            ),
            Self::Number => f.write_str(
                "a number is larger than any that is read (about 1.8e308); write it as a text, or leave it out",
            ),
            Self::Twice => f.write_str(TWICE),
            Self::Other => f.write_str("not a JSON object"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_by_its_kind() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(Object::read(&nested(126)).unwrap().0.len(), 1);
        for (text, error) in [
            (nested(127), JsonError::Deep),
            ("{\"a\":1e400}".to_owned(), JsonError::Number),
            ("{\"a\":-1e400}".to_owned(), JsonError::Number),
            ("{\"a\":1,\"a\":1}".to_owned(), JsonError::Twice),
            ("{\"a\":1".to_owned(), JsonError::Ends),
            ("{\"a\":x}".to_owned(), JsonError::Syntax(6)),
            ("[1]".to_owned(), JsonError::Other),
        ] {
            assert_eq!(Object::read(&text), Err(error), "{text}");
        }
    }
}
