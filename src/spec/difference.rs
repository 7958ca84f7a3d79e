//! Where two specs say different things, key by key.

use super::mask::hidden_keys;
use super::types::Spec;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// The longest value that is shown, in characters.
const SHOWN: usize = 60;

/// One key that two specs fill differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key's path, such as `gate.incompatible_when[0].exact.at_least`.
    pub path: String,
    /// Both values, as they are shown: one line without spaces, cut, and with what may be a key made unreadable. Absent
    /// where only the path is known to differ.
    pub values: Option<[String; 2]>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values {
            Some([one, other]) => write!(f, "{}: {one} → {other}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// Every key that the second spec fills otherwise than the first, in the order of the spec.
#[must_use]
pub fn differences(one: &Spec, other: &Spec) -> Vec<Difference> {
    let mut found = Vec::new();
    walk("", Some(&one.canonical()), Some(&other.canonical()), &mut found);
    let told = |part: &str| found.iter().any(|difference| within(&difference.path, part));
    let untold: Vec<&str> = parts(one, other).into_iter().filter(|part| !told(part)).collect();
    found.extend(untold.into_iter().map(|part| Difference { path: part.to_owned(), values: None }));
    found
}

fn within(path: &str, part: &str) -> bool {
    path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The parts that differ at all: the canonical spec leaves out the limits of one process.
fn parts(one: &Spec, other: &Spec) -> Vec<&'static str> {
    // A new part of a spec has to be named here.
    let Spec {
        name,
        mode,
        questions,
        snapshots,
        closed_book,
        retrieve,
        generate,
        judge,
        gate,
        bootstrap,
        budget,
        tolerance,
        replicate,
    } = one;
    // A black box stands in the spec under a name of its own.
    let answering = if one.retrieve.is_within() && other.retrieve.is_within() { "answer" } else { "generate" };
    let differs = [
        ("name", *name != other.name),
        ("mode", *mode != other.mode),
        ("questions", *questions != other.questions),
        ("snapshots", *snapshots != other.snapshots || *closed_book != other.closed_book),
        ("retrieve", *retrieve != other.retrieve),
        (answering, *generate != other.generate),
        ("judge", *judge != other.judge),
        ("gate", *gate != other.gate),
        ("bootstrap", *bootstrap != other.bootstrap),
        ("budget", *budget != other.budget),
        ("tolerance", *tolerance != other.tolerance),
        ("replicate", *replicate != other.replicate),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
}

fn walk(path: &str, one: Option<&Value>, other: Option<&Value>, found: &mut Vec<Difference>) {
    match (one, other) {
        (one, other) if one == other => {}
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                let dot = if path.is_empty() { "" } else { "." };
                walk(&format!("{path}{dot}{}", in_one_word(name)), one.get(name), other.get(name), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                walk(&format!("{path}[{index}]"), Some(one), Some(other), found);
            }
        }
        _ => found.push(Difference { path: path.to_owned(), values: Some([shown(one), shown(other)]) }),
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => in_one_word(text),
        Some(value) => in_one_word(&value.to_string()),
    }
}

/// A text that reads as one word, so that no value passes for a sentence of ours.
fn in_one_word(text: &str) -> String {
    let text = hidden_keys(text);
    let spaceless = |c: char| if c.is_whitespace() { '␣' } else { c };
    let mut word: String = text.chars().take(SHOWN).map(spaceless).collect();
    if text.chars().count() > SHOWN {
        word.push('…');
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::parse;

    fn told(from: &str, to: &str) -> Vec<String> {
        let one = crate::spec::tests::SMALL;
        assert!(one.contains(from), "{from}");
        let other = one.replace(from, to);
        let (one, other) = (parse(one, "one").unwrap(), parse(&other, "other").unwrap());
        differences(&one, &other).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn the_same_spec_in_other_words_has_no_difference() {
        assert_eq!(told("retrieve: { bm25: {} }", "retrieve: { bm25: {}, top_k: 8 } # as before"), [""; 0]);
    }

    #[test]
    fn each_key_is_named_with_both_values() {
        let gate = "judge: { embedded: {} }\ngate: { incompatible_when: [ { exact: { at_least: 9pp } }, { exact: { lower_bound_above: 0pp } }, { semantic: { lower_bound_above: 0pp } } ] }";
        assert_eq!(told("judge: { embedded: {} }", gate), ["gate.incompatible_when[0].exact.at_least: 3pp → 9pp"]);
        assert_eq!(told("name: docs-search", "name: other"), ["name: docs-search → other"]);
        assert_eq!(
            told("reader: {}", "openai: { model: 'a fine model', base_url: 'https://evil.example/v1' }")[0],
            r#"generate.openai: nothing → {"model":"a␣fine␣model","base_url":"https://evil.example/v1"…"#
        );
    }

    #[test]
    fn the_limits_of_one_process_are_named_by_their_part() {
        assert_eq!(told("judge: { embedded: {} }", "judge: { embedded: {} }\nbudget: { calls: 7 }"), ["budget"]);
    }

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let key = "sk-abcdefghijklmnop";
        let said = told("reader: {}", &format!("command: {{ argv: [{key}] }}")).join("\n");
        assert!(said.contains("***") && !said.contains("abcdef"), "{said}");
    }
}
