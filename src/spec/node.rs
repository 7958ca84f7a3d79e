//! A spec as a tree of nodes that know where they stand, before anything is made of them.

use serde_json::Value;
use std::ops::Range;

/// Bytes of the source, from where to where.
pub type Span = Range<usize>;

/// One value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text, a number, a truth value or nothing: what it counts as depends on where it stands.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file, each key once.
    Map(Vec<Entry>),
    /// Something that was refused and reported already. Whoever meets it stays silent.
    Refused,
}

/// A scalar as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its text after YAML's own escapes.
    pub text: String,
    /// Whether it stands without quotes and is no block of text.
    pub plain: bool,
}

/// One key of a mapping and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Scalar {
    /// A scalar as it would stand in a spec without quotes.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), plain: true }
    }

    /// Whether YAML reads it as nothing at all.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

impl Kind {
    /// What it is, for messages.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Scalar(scalar) if scalar.is_null() => "nothing",
            Self::Scalar(_) => "a single value",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
            Self::Refused => "something refused",
        }
    }
}

impl Node {
    /// A JSON value as a node without a place.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        let kind = match value {
            Value::String(text) => Kind::Scalar(Scalar { text: text.clone(), plain: false }),
            Value::Array(items) => Kind::List(items.iter().map(Self::of_json).collect()),
            Value::Object(members) => {
                let entry = |(key, value): (&String, &Value)| Entry {
                    key: key.clone(),
                    key_span: 0..0,
                    value: Self::of_json(value),
                };
                Kind::Map(members.iter().map(entry).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Kind::Scalar(Scalar::plain(&value.to_string())),
        };
        Self { span: 0..0, kind }
    }

    /// The value of this key, where this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries, where this is a mapping; none elsewhere.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items, where this is a list; none elsewhere.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The scalar, where this is one.
    #[must_use]
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }
}
