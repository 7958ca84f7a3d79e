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
    // A comment keeps the connection open before the first event.
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_begins_with_any_of_its_fields_or_a_comment() {
        for text in ["data: {}", "event: a", "id: 1", "retry: 10", ": keepalive", "\n\n:\n"] {
            assert!(begins_events(text), "{text:?}");
        }
        for text in ["", "<html>", "{\"data\": 1}", "identity: 1", "busy"] {
            assert!(!begins_events(text), "{text:?}");
        }
    }

    #[test]
    fn one_mark_is_passed_over_and_no_more() {
        assert_eq!(json("\u{feff}[1]".as_bytes()).unwrap(), serde_json::json!([1]));
        assert_eq!(json(b"[1]").unwrap(), serde_json::json!([1]));
        for text in ["\u{feff}\u{feff}[1]", "[1]\u{feff}", "\u{feff}", ""] {
            assert!(json(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
