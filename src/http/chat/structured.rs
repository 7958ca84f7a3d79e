//! JSON as models write it: read what is unambiguous, and nothing else.

use serde::de::DeserializeOwned;

/// Reads a model's text as one JSON value: the text itself, or the one fenced block that it consists of. Comments are
/// dropped and raw control characters within strings are taken as they stand. Prose around the value, two values, or
/// a member that is there twice (where `T` is a struct) are ambiguous and give `None`.
#[must_use]
pub fn structured<T: DeserializeOwned>(text: &str) -> Option<T> {
    let text = unfenced(text.trim_start_matches('\u{feff}').trim())?;
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&mended(text)).ok())
}

/// The content of the fence that the whole text is, or the text itself. `None` where a fence does not end.
fn unfenced(text: &str) -> Option<&str> {
    let Some(fenced) = text.strip_prefix("```") else { return Some(text) };
    let (language, rest) = fenced.split_once('\n')?;
    let known = matches!(language.trim(), "" | "json" | "JSON" | "jsonc" | "json5");
    let content = rest.trim_end().strip_suffix("```")?;
    (known && !content.contains("\n```")).then(|| content.trim())
}

/// The same JSON without comments, and with raw control characters within strings escaped.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' => string(rest, &mut out),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

/// Copies the string literal at the start of `text`; returns its length there in bytes.
fn string(text: &str, out: &mut String) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            c if c.is_ascii_control() => out.extend(format!("\\u{:04x}", c as u32).chars()),
            c => out.push(c),
        }
        if at > 0 && c == '"' && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Shape {
        answer: String,
    }

    fn answer(text: &str) -> Option<String> {
        structured::<Shape>(text).map(|shape| shape.answer)
    }

    #[test]
    fn the_value_is_read_where_it_is_unambiguous() {
        for text in [
            r#"{"answer":"a"}"#,
            "  {\"answer\": \"a\"}\n",
            "\u{feff}{\"answer\": \"a\"}",
            "```json\n{\"answer\": \"a\"}\n```",
            "```\n{\"answer\": \"a\"}```",
            "{ // the answer\n \"answer\": /* here */ \"a\" }",
        ] {
            assert_eq!(answer(text).as_deref(), Some("a"), "{text}");
        }
    }

    #[test]
    fn raw_newlines_and_comment_signs_within_strings_stay() {
        assert_eq!(answer("{\"answer\": \"a\nb\"}").as_deref(), Some("a\nb"));
        assert_eq!(answer("{\"answer\": \"http://x \\\" /* no */\n\"}").as_deref(), Some("http://x \" /* no */\n"));
    }

    #[test]
    fn ambiguous_texts_are_not_read() {
        for text in [
            "",
            "a",
            "The answer is {\"answer\":\"a\"}",
            "{\"answer\":\"a\"} {\"answer\":\"b\"}",
            "{\"answer\":\"a\",\"answer\":\"b\"}",
            "```json\n{\"answer\":\"a\"}\n```\n```json\n{\"answer\":\"b\"}\n```",
            "```json\n{\"answer\":\"a\"}",
            "```python\n{\"answer\":\"a\"}\n```",
            "{\"answer\":\"a",
            "{\"answer\":\"a\\",
            "{/*",
            "{\"answer\":null}",
        ] {
            assert_eq!(answer(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[\\\\\"{}/*\n`a:, é]{0,40}") {
            let _ = structured::<serde_json::Value>(&text);
        }
    }
}
