//! Remarks at the lines of the spec and of the questions, for the files that a reviewer has before them.

use super::budget::{ANNOTATIONS, MESSAGE, TITLE};
use super::text::{within_bytes, within_chars};
use super::wording::Standing;
use crate::model::QuestionId;
use crate::report::{self, AuditResult};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A line of a file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path from the repository's top, with forward slashes.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
}

/// Where the parts of an audit stand in the files of the repository, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The rule in the spec.
    pub rule: Option<Place>,
    /// Each question.
    pub questions: BTreeMap<QuestionId, Place>,
}

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Annotation {
    place: Place,
    level: &'static str,
    title: String,
    message: String,
}

/// The verdict at the rule, and each stable flip at its question, in the report's order.
pub(super) fn annotations(shown: &AuditResult, standing: Standing, line: &str, lines: &Lines) -> Vec<Annotation> {
    let level = match standing {
        Standing::Pass | Standing::Told => "notice",
        Standing::Warn => "warning",
        Standing::Block | Standing::Error => "failure",
    };
    let name = report::plain(&shown.name, TITLE);
    let rule = lines.rule.iter().map(|place| remark(place, level, &format!("churngate/{name}"), line));
    let flips = shown.flips.iter().filter_map(|flip| {
        let place = lines.questions.get(&flip.question)?;
        let text = report::plain(&flip.text, MESSAGE / 16);
        let [old, new] = report::plain_apart(&flip.old_answer, &flip.new_answer, MESSAGE / 16);
        let message = format!("{text}\nold answer: {old}\nnew answer: {new}");
        Some(remark(place, "warning", "stable flip", &message))
    });
    rule.chain(flips).take(ANNOTATIONS).collect()
}

fn remark(place: &Place, level: &'static str, title: &str, message: &str) -> Annotation {
    let (title, message) = (within_chars(title, TITLE), within_bytes(message, MESSAGE).to_owned());
    Annotation { place: place.clone(), level, title, message }
}

impl Annotation {
    /// As the interface wants it.
    pub(super) fn json(&self) -> Value {
        let Self { place: Place { path, line }, level, title, message } = self;
        json!({
            "path": path,
            "start_line": line,
            "end_line": line,
            "annotation_level": level,
            "title": title,
            "message": message,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;

    #[test]
    fn the_verdict_stands_at_the_rule_and_each_flip_at_its_question() {
        let mut result = blocking();
        let place = |line| Place { path: "audit/questions.jsonl".to_owned(), line };
        let mut unknown = result.flips[0].clone();
        unknown.question = QuestionId("nowhere".to_owned());
        result.flips.push(unknown);
        result.flips[0].new_answer = "a\n::error::x\u{202e}".to_owned();
        let lines =
            Lines { rule: Some(place(9)), questions: BTreeMap::from([(result.flips[0].question.clone(), place(3))]) };
        let all = annotations(&result, Standing::Block, "incompatible", &lines);
        let told: Vec<_> = all.iter().map(|one| (one.place.line, one.level, one.message.as_str())).collect();
        assert_eq!(
            told,
            [
                (9, "failure", "incompatible"),
                (3, "warning", "question text\nold answer: old answer text\nnew answer: a⏎::error::x‹U+202E›")
            ]
        );
        assert_eq!(annotations(&result, Standing::Block, "incompatible", &Lines::default()), []);
    }

    #[test]
    fn sizes_are_kept() {
        let mut result = blocking();
        result.flips = vec![result.flips[0].clone(); ANNOTATIONS + 5];
        for flip in &mut result.flips {
            flip.text = "😀".repeat(100_000);
            flip.old_answer.clone_from(&flip.text);
        }
        let place = Place { path: "q".to_owned(), line: 1 };
        let lines = Lines { rule: None, questions: BTreeMap::from([(result.flips[0].question.clone(), place)]) };
        let all = annotations(&result, Standing::Block, "", &lines);
        assert_eq!(all.len(), ANNOTATIONS);
        assert!(all.iter().all(|one| one.message.len() <= MESSAGE && one.title.chars().count() <= TITLE));
    }
}
