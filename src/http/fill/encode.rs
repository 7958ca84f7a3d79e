//! Percent-encoding of text that becomes a part of a URL.

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

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn everything_that_means_something_in_a_url_is_encoded() {
        assert_eq!(percent("docs_v42.1~a-b"), "docs_v42.1~a-b");
        assert_eq!(percent("a/b?c=d&e#f %ä\n"), "a%2Fb%3Fc%3Dd%26e%23f%20%25%C3%A4%0A");
    }
}
