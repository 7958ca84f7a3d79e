//! A judge's reply -> labels: complete and unambiguous, or no judgment at all. Nothing is ever guessed, and nothing that
//! is missing counts as "different".

use super::parts::Part;
use super::prompt::names;
use crate::http::chat::structured;
use crate::ledger::record::{AcceptedJudgment, PairLabel};
use crate::model::Label;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Why a reply is no judgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// No JSON object of labels, or more than one, or prose around it, or a pair twice, or a value that is no label.
    NotLabels,
    /// A pair that was asked for is missing.
    Missing,
    /// A pair that was not asked for.
    Unasked,
}

/// The codes of replies that came and hold no judgment: the judge was there, and will not do better when it is asked once more.
pub const NO_JUDGMENT: [&str; 4] = [REFUSED, Unread::NotLabels.code(), Unread::Missing.code(), Unread::Unasked.code()];

/// The code of a reply in which the judge will not judge.
pub const REFUSED: &str = "judge-refused";

impl Unread {
    /// The short code that ledgers and reports use.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotLabels => "judgment-not-labels",
            Self::Missing => "judgment-pair-missing",
            Self::Unasked => "judgment-pair-unasked",
        }
    }
}

/// Reads the labels of a part.
///
/// # Errors
/// The reply is not exactly one label for each pair that was asked for.
pub fn read(text: &str, part: &Part) -> Result<AcceptedJudgment, Unread> {
    let mut labels = structured::<Labels>(text).ok_or(Unread::NotLabels)?.0;
    let mut pairs = Vec::with_capacity(part.pairs.len());
    for (name, (one, other)) in names(part) {
        let label = labels.remove(&name).ok_or(Unread::Missing)?;
        pairs.push(pair_label(one, other, label));
    }
    if labels.is_empty() { Ok(AcceptedJudgment { pairs }) } else { Err(Unread::Unasked) }
}

/// The record of one label.
#[must_use]
pub fn pair_label(one: usize, other: usize, label: Label) -> PairLabel {
    let index = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    PairLabel { one: index(one), other: index(other), label }
}

/// An object of labels in which no name stands twice.
struct Labels(BTreeMap<String, Label>);

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LabelsVisitor)
    }
}

struct LabelsVisitor;

impl<'de> Visitor<'de> for LabelsVisitor {
    type Value = Labels;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of labels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
        let mut labels = BTreeMap::new();
        while let Some((name, label)) = map.next_entry::<String, Label>()? {
            if labels.insert(name, label).is_some() {
                return Err(A::Error::custom("a pair stands twice"));
            }
        }
        Ok(Labels(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(answers: &[usize], pairs: &[(usize, usize)]) -> Part {
        Part { answers: answers.to_vec(), pairs: pairs.to_vec() }
    }

    fn three() -> Part {
        part(&[0, 1, 2], &[(0, 1), (0, 2), (1, 2)])
    }

    const GOOD: &str = r#"{"A-B":"same","A-C":"different","B-C":"different"}"#;

    #[test]
    fn a_complete_reply_is_read_in_any_unambiguous_dress() {
        let expected =
            vec![pair_label(0, 1, Label::Same), pair_label(0, 2, Label::Different), pair_label(1, 2, Label::Different)];
        let commented = GOOD.replace(',', ", // so\n");
        let moved = r#"{"B-C":"different","A-B":"same","A-C":"different"}"#;
        for text in
            [GOOD.to_owned(), format!("```json\n{GOOD}\n```"), format!("\n {GOOD} "), commented, moved.to_owned()]
        {
            assert_eq!(read(&text, &three()).map(|judgment| judgment.pairs), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn labels_of_a_later_part_are_those_of_its_own_places() {
        let judgment = read(r#"{"A-C":"same","B-C":"different"}"#, &part(&[6, 7, 12], &[(6, 12), (7, 12)])).unwrap();
        assert_eq!(judgment.pairs, [pair_label(6, 12, Label::Same), pair_label(7, 12, Label::Different)]);
    }

    #[test]
    fn whatever_is_not_exactly_the_labels_is_no_judgment() {
        for (text, why) in [
            ("", Unread::NotLabels),
            ("The answers A and B are the same.", Unread::NotLabels),
            (&format!("Here you are: {GOOD}"), Unread::NotLabels),
            (&format!("{GOOD}\nI hope this helps!"), Unread::NotLabels),
            (&format!("{GOOD}{GOOD}"), Unread::NotLabels),
            (&format!("[{GOOD}]"), Unread::NotLabels),
            (r#"{"A-B":"same","A-B":"same","A-C":"same","B-C":"same"}"#, Unread::NotLabels),
            (r#"{"A-B":"same","A-C":"different","B-C":"different""#, Unread::NotLabels),
            (r#"{"A-B":"Same","A-C":"different","B-C":"different"}"#, Unread::NotLabels),
            (r#"{"A-B":true,"A-C":false,"B-C":false}"#, Unread::NotLabels),
            (r#"{"A-B":null,"A-C":"same","B-C":"same"}"#, Unread::NotLabels),
            (r#"{"A-B":"unsure","A-C":"same","B-C":"same"}"#, Unread::NotLabels),
            (r#"{"labels":{"A-B":"same","A-C":"same","B-C":"same"}}"#, Unread::NotLabels),
            (r#"{"A-B":"same","A-C":"different"}"#, Unread::Missing),
            (r#"{"B-A":"same","A-C":"different","B-C":"different"}"#, Unread::Missing),
            (r#"{"a-b":"same","A-C":"different","B-C":"different"}"#, Unread::Missing),
            ("{}", Unread::Missing),
            (r#"{"A-B":"same","A-C":"same","B-C":"same","A-D":"same"}"#, Unread::Unasked),
            (r#"{"A-B":"same","A-C":"same","B-C":"same","B-A":"same"}"#, Unread::Unasked),
        ] {
            assert_eq!(read(text, &three()), Err(why), "{text}");
        }
    }
}
