//! Text that becomes a part of a URL, or of a query that has a syntax.

use std::fmt::Write as _;

/// The text with every byte encoded that is not unreserved by RFC 3986, section 2.3.
pub(in crate::http) fn percent(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The text's words, each in double quotes, with `OR` between them: what full text engines of several makes take. No sign
/// of the text is left. A text without words asks for an empty one.
#[must_use]
pub fn any_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let quoted: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    if quoted.is_empty() { "\"\"".to_owned() } else { quoted.join(" OR ") }
}

/// The signs that mean something in the simple query syntax of Azure AI Search, the one that takes their meaning among them.
const SIGNS: &[char] = &['+', '-', '|', '*', '"', '(', ')', '\'', '\\'];

/// The text with a backslash before each sign of a simple query syntax, so that it is searched for as it stands.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if SIGNS.contains(&letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{any_of, escaped, percent};

    #[test]
    fn signs_of_a_simple_query_syntax_mean_nothing_and_nothing_else_changes() {
        assert_eq!(escaped("What is 10.5 in ä/b: c?"), "What is 10.5 in ä/b: c?");
        assert_eq!(escaped(r#"C++ -x | "a b" (c) don't d* \"#), r#"C\+\+ \-x \| \"a b\" \(c\) don\'t d\* \\"#);
        let kept: String = escaped(r#"\\+"-'"#).chars().skip(1).step_by(2).collect();
        assert_eq!(kept, r#"\\+"-'"#);
    }

    #[test]
    fn words_never_leave_their_quotes() {
        assert_eq!(
            any_of("Who's \"first\" AND NOT (last) col:x*?"),
            "\"Who\" OR \"s\" OR \"first\" OR \"AND\" OR \"NOT\" OR \"last\" OR \"col\" OR \"x\""
        );
        assert_eq!(any_of("?!"), "\"\"");
    }

    #[test]
    fn everything_that_means_something_in_a_url_is_encoded() {
        assert_eq!(percent("docs_v42.1~a-b"), "docs_v42.1~a-b");
        assert_eq!(percent("a/b?c=d&e#f %ä\n"), "a%2Fb%3Fc%3Dd%26e%23f%20%25%C3%A4%0A");
    }
}
