//! One line as it is written. Unknown and repeated members are errors.

use super::Problem;
use crate::model::Label;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::{fmt, marker::PhantomData};

/// One question.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub id: String,
    pub answers: Ordered<Vec<String>>,
    #[serde(default)]
    pub labels: Vec<(String, String, Label)>,
    #[serde(default)]
    pub gold: Option<Vec<String>>,
    #[serde(default)]
    pub correct: Option<Ordered<Vec<bool>>>,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub cluster: Option<String>,
    #[serde(default)]
    pub evidence: Option<Ordered<Vec<Item>>>,
    #[serde(default)]
    pub unchanged: bool,
}

/// One retrieved document.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    pub id: String,
    #[serde(default)]
    pub url: Option<String>,
    #[serde(default)]
    pub text: Option<String>,
}

/// The members of an object in the order in which they are written, no name twice.
#[derive(Debug)]
pub(super) struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Ordered<T> {
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }
}

struct InOrder<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
    type Value = Ordered<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one member a snapshot")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
        let mut members = Ordered(Vec::new());
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            if members.get(&name).is_some() {
                return Err(A::Error::custom(format!("duplicate snapshot `{name}`")));
            }
            members.0.push((name, value));
        }
        Ok(members)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

pub(super) fn read(line: &str) -> Result<Record, Problem> {
    serde_json::from_str(line).map_err(|error| Problem::json(&error))
}
