//! Bodies of replies, and the outputs of programs, as JSON.

use serde_json::Value;

/// The bytes without the byte order mark that some servers and programs begin with.
#[must_use]
pub fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The one value that these bytes are.
///
/// # Errors
/// They are none.
pub fn json(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(unmarked(bytes))
}

/// Whether a text that is no JSON begins as a stream of events does.
#[must_use]
pub fn begins_events(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("data:") || text.starts_with("event:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_is_passed_over_and_no_more() {
        assert_eq!(json("\u{feff}[1]".as_bytes()).unwrap(), serde_json::json!([1]));
        assert_eq!(json(b"[1]").unwrap(), serde_json::json!([1]));
        for text in ["\u{feff}\u{feff}[1]", "[1]\u{feff}", "\u{feff}", ""] {
            assert!(json(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
