//! Text to terms: the same for documents and questions.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::CharIndices;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The longest term in bytes; a longer one is cut at a character, in documents and questions alike.
const MAX_TERM_BYTES: usize = 100;

/// Words that say nothing about the topic of an English question. They stay in the index and are left out of queries.
const STOP_WORDS: [&str; 61] = [
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not",
    "of", "on", "or", "please", "should", "so", "than", "that", "the", "their", "then", "there", "these", "they",
    "this", "to", "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
];

/// The terms of a text, in order: runs of letters and digits after NFKC, in lower case. Han and kana characters, which
/// are written without spaces, are terms of their own.
pub struct Terms<'a> {
    text: Cow<'a, str>,
    at: usize,
}

impl<'a> Terms<'a> {
    /// The terms of this text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let text = match is_nfkc_quick(text.chars()) {
            IsNormalized::Yes => Cow::Borrowed(text),
            IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfkc().collect()),
        };
        Self { text, at: 0 }
    }

    /// Writes the next term into `term` and gives its place in the normalised text; `None` at the end.
    fn next_into(&mut self, term: &mut String) -> Option<(usize, usize)> {
        term.clear();
        let rest = &self.text[self.at..];
        let begin = rest.find(char::is_alphanumeric)?;
        let mut characters = rest[begin..].char_indices().peekable();
        let length = match characters.peek() {
            Some((_, character)) if stands_alone(*character) => {
                push_lower(term, *character);
                character.len_utf8()
            }
            _ => take_word(&mut characters, term, rest.len() - begin),
        };
        let from = self.at + begin;
        self.at = from + length;
        Some((from, self.at))
    }
}

impl Iterator for Terms<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut term = String::new();
        self.next_into(&mut term).map(|_| term)
    }
}

/// Takes a run of letters and digits and gives its length in bytes. `all` is the length of what is left.
fn take_word(characters: &mut Peekable<CharIndices<'_>>, term: &mut String, all: usize) -> usize {
    while let Some((at, character)) = characters.peek().copied() {
        if !character.is_alphanumeric() || stands_alone(character) {
            return at;
        }
        if term.len() < MAX_TERM_BYTES {
            push_lower(term, character);
        }
        characters.next();
    }
    all
}

fn push_lower(term: &mut String, character: char) {
    if character.is_ascii() {
        term.push(character.to_ascii_lowercase());
    } else {
        term.extend(character.to_lowercase());
    }
}

/// Han, Hiragana and Katakana.
const fn stands_alone(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a term is left out of queries.
#[must_use]
pub fn is_stop_word(term: &str) -> bool {
    STOP_WORDS.binary_search(&term).is_ok()
}

/// The same terms for the index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Analyser;

/// The terms of one text on their way into the index.
pub struct Stream<'a> {
    terms: Terms<'a>,
    token: Token,
}

impl Tokenizer for Analyser {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        Stream { terms: Terms::of(text), token: Token::default() }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let place = self.terms.next_into(&mut self.token.text);
        if let Some((from, to)) = place {
            (self.token.offset_from, self.token.offset_to) = (from, to);
            self.token.position = self.token.position.wrapping_add(1);
        }
        place.is_some()
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Terms::of(text).collect()
    }

    #[test]
    fn stop_words_are_sorted_so_that_they_can_be_searched() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("safari"));
    }

    #[test]
    fn terms_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(terms("Cache.add (Web API), v11.1!"), ["cache", "add", "web", "api", "v11", "1"]);
        assert_eq!(terms("Ünïcode ﬁle Ａ１ Straße"), ["ünïcode", "file", "a1", "straße"]);
        assert_eq!(terms("東京は2026年"), ["東", "京", "は", "2026", "年"]);
        assert_eq!(terms("🦀 -- \0 \n"), Vec::<String>::new());
        assert_eq!(terms("cafe\u{301}"), ["café"]);
    }

    #[test]
    fn a_long_term_is_cut_at_a_character_in_both_roles() {
        let long = "é".repeat(1000);
        assert_eq!(terms(&long), ["é".repeat(50)]);
        let mut analyser = Analyser;
        let mut stream = analyser.token_stream(&long);
        assert!(stream.advance());
        assert_eq!(stream.token().text, "é".repeat(50));
        assert!(!stream.advance());
    }
}
