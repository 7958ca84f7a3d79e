//! A part of a packet as text: JSON strings that no answer can end, one object a line.

use super::packet::{Packet, label};
use super::parts::Part;
use crate::freeze::prompts;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What is said about the form of the reply; the judge's rules themselves are the protocol's prompt.
const FORM: &str = "Reply with one JSON object and nothing else. It has exactly one member for each of these pairs of \
                    labels, in this order, and the value of each is \"same\" or \"different\":";

/// The name of a pair within a part, by the places of its answers there: `A-B`.
#[must_use]
pub fn pair_name(one: usize, other: usize) -> String {
    format!("{}-{}", label(one), label(other))
}

/// The pairs of a part by their names, with the packet's own indices.
#[must_use]
pub fn names(part: &Part) -> Vec<(String, (usize, usize))> {
    let place = |index: &usize| part.answers.binary_search(index).unwrap_or_default();
    part.pairs.iter().map(|pair| (pair_name(place(&pair.0), place(&pair.1)), *pair)).collect()
}

/// The rules of the reply's form, for the system's message.
#[must_use]
pub fn form(part: &Part) -> String {
    let names: Vec<String> = names(part).into_iter().map(|(name, _)| name).collect();
    format!("{FORM} {}.", names.join(", "))
}

/// The user's message: the template with `{{question}}` and `{{answers}}` replaced in one pass.
#[must_use]
pub fn render(template: &str, packet: &Packet, part: &Part) -> String {
    prompts::judge(template, &quoted(packet.question()), &lines(packet, part))
}

fn lines(packet: &Packet, part: &Part) -> String {
    let line = |(place, index): (usize, &usize)| {
        format!("{{\"label\":\"{}\",\"answer\":{}}}", label(place), quoted(packet.answers()[*index].as_str()))
    };
    part.answers.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// A part as one JSON document, for a program.
#[must_use]
pub fn document(packet: &Packet, part: &Part) -> Value {
    let answer = |(place, index): (usize, &usize)| (label(place), json!(packet.answers()[*index].as_str()));
    let answers: Map<String, Value> = part.answers.iter().enumerate().map(answer).collect();
    let pairs: Vec<String> = names(part).into_iter().map(|(name, _)| name).collect();
    json!({ "question": packet.question(), "answers": answers, "pairs": pairs })
}

/// The schema of the reply: every pair required, nothing else allowed.
#[must_use]
pub fn schema(part: &Part) -> Value {
    let names: Vec<String> = names(part).into_iter().map(|(name, _)| name).collect();
    let member = json!({ "type": "string", "enum": ["same", "different"] });
    let members: Map<String, Value> = names.iter().map(|name| (name.clone(), member.clone())).collect();
    json!({ "type": "object", "properties": members, "required": names, "additionalProperties": false })
}

/// A JSON string on one line of which every character that could act on a reader (angle brackets, backticks, braces that
/// look like a placeholder, controls, separators, invisible and direction-changing ones) is escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            _ if acts(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Whether a character could do something other than show itself.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character, '<' | '>' | '`' | '{' | '}')
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{fff9}'..='\u{fffb}')
        || is_invisible(character)
}

/// Whether a character shows nothing: what Unicode 16 calls `Default_Ignorable_Code_Point`, and the empty pattern of Braille.
/// That joiners and variation selectors of emoji and of Indic or Persian words are among them harms nothing, since the texts of
/// all snapshots are written alike.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;
    use std::collections::BTreeSet;

    /// Characters drawn from a class, as the tables of a library of regular expressions have it.
    fn drawn(class: &str, draws: usize) -> BTreeSet<char> {
        let texts = proptest::string::string_regex(&format!("{class}{{64}}")).unwrap();
        let mut runner = TestRunner::deterministic();
        (0..draws).flat_map(|_| texts.new_tree(&mut runner).unwrap().current().chars().collect::<Vec<_>>()).collect()
    }

    #[test]
    fn whatever_unicode_calls_ignorable_is_escaped_and_no_letter_is() {
        let few = drawn(r"[\p{Default_Ignorable_Code_Point}--[\x{e0000}-\x{e0fff}]]", 200);
        assert!(few.len() >= 70 && few.contains(&'\u{34f}') && few.contains(&'\u{3164}'), "{few:?}");
        let all = few.into_iter().chain(drawn(r"\p{Default_Ignorable_Code_Point}", 200));
        for character in all.chain(['\u{2800}', '\u{2028}', '\u{2029}']) {
            let shown = quoted(&format!("a{character}b"));
            assert!(shown.is_ascii() && shown.starts_with("\"a\\u"), "{character:?}: {shown}");
        }
        let visible = drawn(r"[\pL\pN\pS&&[^\p{Default_Ignorable_Code_Point}<>`\x{2800}]]", 2_000);
        let escaped: Vec<char> = visible.into_iter().filter(|character| acts(*character)).collect();
        assert!(escaped.is_empty(), "{escaped:?}");
    }
}
