//! Typed access to a checked section: the value that stands, or the default of the table.
//!
//! Whatever does not fit was reported by `check`, so that nothing is reported here: what cannot be read is `None`.

use super::node::{Node, Scalar, Span};
use super::scalar;
use super::surface::{Need, Section, Shape};
use crate::model::{Confidence, PercentagePoints};
use serde_json::Value;
use std::collections::BTreeMap;

/// A section of the spec beside its part of the table.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    node: &'a Node,
    section: &'static Section,
}

impl<'a> Reader<'a> {
    /// Reads this node by this section.
    #[must_use]
    pub const fn new(node: &'a Node, section: &'static Section) -> Self {
        Self { node, section }
    }

    /// Where the section begins.
    #[must_use]
    pub fn start(&self) -> Span {
        self.node.span.start..self.node.span.start
    }

    /// Where the value of this key stands; the section's beginning where it does not.
    #[must_use]
    pub fn span(&self, name: &str) -> Span {
        self.node.get(name).map_or_else(|| self.start(), |entry| entry.value.span.clone())
    }

    /// The node of this key, where it stands.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&'a Node> {
        self.node.get(name).map(|entry| &entry.value)
    }

    /// The section under this key, where it stands.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<Self> {
        match &self.section.key(name)?.shape {
            Shape::Map(section) => Some(Self::new(self.node(name)?, section)),
            _ => None,
        }
    }

    /// The section under this key, or an empty one with all defaults.
    #[must_use]
    pub fn section_or(&self, name: &str, empty: &'a Node) -> Option<Self> {
        match &self.section.key(name)?.shape {
            Shape::Map(section) => Some(Self::new(self.node(name).unwrap_or(empty), section)),
            _ => None,
        }
    }

    /// The shape of this key.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<&'static Shape> {
        self.section.key(name).map(|key| &key.shape)
    }

    fn scalar(&self, name: &str) -> Option<(Scalar, &'static Shape)> {
        let key = self.section.key(name)?;
        let scalar = match (self.node(name), key.need) {
            (Some(node), _) => node.scalar()?.clone(),
            (None, Need::Default("\"\"")) => Scalar { text: String::new(), plain: false },
            (None, Need::Default(value)) => Scalar::plain(value),
            (None, _) => return None,
        };
        Some((scalar, &key.shape))
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match self.scalar(name)? {
            (scalar, Shape::Text(rule)) => scalar::text(&scalar, *rule).ok().map(str::to_owned),
            _ => None,
        }
    }

    /// An integer.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.scalar(name)? {
            (scalar, Shape::Integer { min, max }) => scalar::integer(&scalar, *min, *max).ok(),
            _ => None,
        }
    }

    /// An integer whose limits fit 32 bits.
    #[must_use]
    pub fn small(&self, name: &str) -> Option<u32> {
        u32::try_from(self.integer(name)?).ok()
    }

    /// A decimal number in thousandths, and as it was written.
    #[must_use]
    pub fn decimal(&self, name: &str) -> Option<(u32, String)> {
        match self.scalar(name)? {
            (scalar, Shape::Decimal { max }) => {
                scalar::decimal(&scalar, *max).ok().map(|milli| (milli, scalar.text.clone()))
            }
            _ => None,
        }
    }

    /// Percentage points or a share.
    #[must_use]
    pub fn points(&self, name: &str) -> Option<PercentagePoints> {
        match self.scalar(name)? {
            (scalar, Shape::Points) => scalar::points(&scalar).ok(),
            (scalar, Shape::Share) => scalar::share(&scalar).ok(),
            _ => None,
        }
    }

    /// A confidence level.
    #[must_use]
    pub fn confidence(&self, name: &str) -> Option<Confidence> {
        scalar::confidence(&self.scalar(name)?.0).ok()
    }

    /// A truth value.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        scalar::flag(&self.scalar(name)?.0).ok()
    }

    /// One of the words of the table.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.scalar(name)? {
            (scalar, Shape::Word(words)) => scalar::word(&scalar, words).ok(),
            _ => None,
        }
    }

    /// A list of texts; empty where it does not stand.
    #[must_use]
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let items = self.node(name).map_or(&[][..], Node::items);
        items.iter().map(|item| item.scalar().map(|scalar| scalar.text.clone())).collect()
    }

    /// A mapping of texts; empty where it does not stand.
    #[must_use]
    pub fn text_map(&self, name: &str) -> Option<BTreeMap<String, String>> {
        let entries = self.node(name).map_or(&[][..], Node::entries).iter();
        entries.map(|entry| Some((entry.key.clone(), entry.value.scalar()?.text.clone()))).collect()
    }

    /// A mapping of JSON values in the order of the file; empty where it does not stand.
    #[must_use]
    pub fn json_map(&self, name: &str) -> Option<serde_json::Map<String, Value>> {
        let entries = self.node(name).map_or(&[][..], Node::entries).iter();
        entries.map(|entry| Some((entry.key.clone(), json(&entry.value)?))).collect()
    }
}

/// A node as JSON.
#[must_use]
pub fn json(node: &Node) -> Option<Value> {
    use super::node::Kind;
    match &node.kind {
        Kind::Scalar(scalar) => scalar::json(scalar).ok(),
        Kind::List(items) => items.iter().map(json).collect::<Option<_>>().map(Value::Array),
        Kind::Map(entries) => {
            let pairs = entries.iter().map(|entry| Some((entry.key.clone(), json(&entry.value)?)));
            pairs.collect::<Option<_>>().map(Value::Object)
        }
        Kind::Refused => None,
    }
}
