//! What a question retrieved from one snapshot.

use super::Digest;
use serde::{Deserialize, Serialize};

/// One retrieved document, its text already compacted and cut by the audit's rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The id the backend gives it.
    pub id: String,
    /// Where it can be read, if the backend says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The text shown to the generator.
    pub text: String,
}

/// The ordered documents of one question from one snapshot. May be empty: empty evidence is evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Best first.
    pub documents: Vec<Document>,
}

impl Document {
    /// A document with its white space compacted to single spaces and its text cut to `max_chars` characters.
    #[must_use]
    pub fn compact(id: String, url: Option<String>, text: &str, max_chars: usize) -> Self {
        let mut compacted = String::new();
        let mut left = max_chars;
        for word in text.split_whitespace() {
            let gap = usize::from(!compacted.is_empty());
            if left <= gap {
                break;
            }
            if gap == 1 {
                compacted.push(' ');
            }
            left -= gap;
            let kept: String = word.chars().take(left).collect();
            left -= kept.chars().count();
            compacted.push_str(&kept);
        }
        Self { id, url, text: compacted }
    }

    /// The digest of its text alone: equal for equal content under new ids.
    #[must_use]
    pub fn content(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }
}

impl Evidence {
    /// The exact bytes that name this evidence: its canonical JSON.
    ///
    /// # Panics
    /// Never: strings always serialise.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The digest of the canonical bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_compacted_and_cut_at_a_character() {
        let document = |text, max| Document::compact("d".into(), None, text, max).text;
        assert_eq!(document(" a \n\t b  c ", 100), "a b c");
        assert_eq!(document("äöü xyz", 5), "äöü x");
        assert_eq!(document("abc def", 4), "abc");
        assert_eq!(document("abc", 0), "");
    }
}
