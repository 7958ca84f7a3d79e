//! Long documents into chunks.

use crate::retrieve::corpus::{CorpusDocument, CorpusError};

/// A document, or its chunks in order where it is longer than `limit` characters. Chunks end at paragraph ends where
/// there are any, else at white space, else anywhere; they are named `id#1`, `id#2` and so on.
///
/// # Errors
/// The document is named like a chunk.
pub fn split(document: CorpusDocument, limit: Option<usize>) -> Result<Vec<CorpusDocument>, CorpusError> {
    let Some(limit) = limit else { return Ok(vec![document]) };
    if named_like_chunk(&document.id) {
        return Err(CorpusError::NamedLikeChunk(document.id));
    }
    if document.text.chars().nth(limit).is_none() {
        return Ok(vec![document]);
    }
    let chunks = pieces(&document.text, limit.max(1)).into_iter().enumerate();
    let chunk = |(number, text): (usize, &str)| CorpusDocument {
        id: format!("{}#{}", document.id, number + 1),
        url: document.url.clone(),
        text: text.to_owned(),
    };
    Ok(chunks.map(chunk).collect())
}

/// Whether a chunk of another document could have this id: it ends in `#` and a number.
#[must_use]
pub fn named_like_chunk(id: &str) -> bool {
    id.rsplit_once('#')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The text in pieces of at most `limit` characters, without the white space at their ends.
fn pieces(text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let window = rest.char_indices().nth(limit).map_or(rest, |(at, _)| &rest[..at]);
        let end = if window.len() == rest.len() { rest.len() } else { last_break(window, rest) };
        pieces.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    pieces
}

/// Where to end a piece that is followed by more text: after the last paragraph in the window, else after its last
/// line, else after its last word, else at its end.
fn last_break(window: &str, rest: &str) -> usize {
    if rest[window.len()..].starts_with("\n\n") {
        return window.len();
    }
    let found = window.rfind("\n\n").or_else(|| window.rfind('\n')).or_else(|| window.rfind(char::is_whitespace));
    found.filter(|at| *at > 0).unwrap_or(window.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chunks_end_at_paragraphs_then_words_then_anywhere() {
        assert_eq!(pieces("aa bb\n\ncc dd\n\nee", 12), ["aa bb\n\ncc dd", "ee"]);
        assert_eq!(pieces("aa bb\n\ncc dd", 8), ["aa bb", "cc dd"]);
        assert_eq!(pieces("aaa bbb ccc", 8), ["aaa bbb", "ccc"]);
        assert_eq!(pieces("äöüäöü", 4), ["äöüä", "öü"]);
    }

    #[test]
    fn short_documents_keep_their_id_and_long_ones_are_numbered() {
        let document = |text: &str| CorpusDocument { id: "d".into(), url: None, text: text.into() };
        let ids = |text, limit| split(document(text), limit).unwrap().into_iter().map(|d| d.id).collect::<Vec<_>>();
        assert_eq!(ids("aaaa bbbb", None), ["d"]);
        assert_eq!(ids("aaaa bbbb", Some(9)), ["d"]);
        assert_eq!(ids("aaaa bbbb", Some(5)), ["d#1", "d#2"]);
        let named = CorpusDocument { id: "d#1".into(), url: None, text: String::new() };
        assert!(split(named, Some(5)).is_err());
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_chunk_is_too_long(text in "[a-c \n]{0,200}", limit in 1_usize..40) {
            let chunks = pieces(&text, limit);
            prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty() && chunk.chars().count() <= limit));
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&chunks.concat()), letters(&text));
        }
    }
}
