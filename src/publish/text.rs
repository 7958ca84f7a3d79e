//! Texts that fit: cut at characters, never within one.

/// The text, or its start with an ellipsis, in at most `limit` characters.
#[must_use]
pub fn within_chars(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

/// The longest start of the text of at most `limit` bytes that ends at a character's end.
#[must_use]
pub fn within_bytes(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_between_characters() {
        assert_eq!(within_chars("äöü", 3), "äöü");
        assert_eq!(within_chars("äöüß", 3), "äö…");
        assert_eq!(within_bytes("äöü", 3), "ä");
        assert_eq!(within_bytes("äöü", 100), "äöü");
    }
}
