//! One line as it is written. Unknown and repeated members are errors.

use super::Problem;
use crate::model::Label;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
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
    pub similarity: Vec<(String, String, f64)>,
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
    serde_json::from_str(line).map_err(|error| problem(line, &error))
}

/// What is wrong with a line that is no record, in words of ours: the library's would speak of its types and quote the
/// file.
fn problem(line: &str, error: &serde_json::Error) -> Problem {
    let members = match serde_json::from_str(line) {
        Ok(Value::Object(members)) => members,
        Ok(_) => return Problem::NotAnObject,
        Err(_) => return Problem::NotJson(error.column()),
    };
    let wrong = |(name, value): (&String, &Value)| match FORMS.iter().find(|form| form.member == name) {
        None => Some(Problem::Unknown(name.clone())),
        Some(form) if (form.fits)(value) => None,
        Some(form) => Some(Problem::Wrong { member: form.member, form: form.about }),
    };
    let missing = || REQUIRED.iter().find(|name| !members.contains_key(**name)).map(|name| Problem::Missing(name));
    members.iter().find_map(wrong).or_else(missing).unwrap_or(Problem::Repeated)
}

/// The members that every line has.
const REQUIRED: [&str; 2] = ["id", "answers"];

/// One member: its name, what it must be, and whether a value is.
struct Form {
    member: &'static str,
    about: &'static str,
    fits: fn(&Value) -> bool,
}

const FORMS: [Form; 10] = [
    Form { member: "id", about: "a text", fits: fits::<String> },
    Form {
        member: "answers",
        about: "an object of snapshot names and lists of texts",
        fits: fits::<Ordered<Vec<String>>>,
    },
    Form {
        member: "labels",
        about: "a list of `[text, text, \"same\" or \"different\"]`",
        fits: fits::<Vec<(String, String, Label)>>,
    },
    Form {
        member: "similarity",
        about: "a list of `[text, text, number from 0 to 1]`",
        fits: fits::<Vec<(String, String, f64)>>,
    },
    Form { member: "gold", about: "a list of texts", fits: fits::<Option<Vec<String>>> },
    Form {
        member: "correct",
        about: "an object of snapshot names and lists of true and false",
        fits: fits::<Option<Ordered<Vec<bool>>>>,
    },
    Form { member: "tags", about: "a list of texts", fits: fits::<Vec<String>> },
    Form { member: "cluster", about: "a text", fits: fits::<Option<String>> },
    Form {
        member: "evidence",
        about: "an object of snapshot names and lists of `{\"id\", \"url\", \"text\"}`",
        fits: fits::<Option<Ordered<Vec<Item>>>>,
    },
    Form { member: "unchanged", about: "true or false", fits: fits::<bool> },
];

fn fits<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}
