//! The declared normalisations of answer texts, character by character as the official evaluations do it.

use serde::{Deserialize, Serialize};

/// How texts are normalised before they are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalisation {
    /// Lower case, ASCII punctuation and articles deleted, white space compacted (NQ and SQuAD).
    #[default]
    Nq,
    /// Lower case, the underscore, ASCII punctuation, typographic single quotes and accents turned into spaces, articles
    /// deleted, white space compacted.
    TriviaQa,
    /// Nothing but trimming.
    None,
}

impl Normalisation {
    /// The normalised text.
    ///
    /// Gives what the official Python programs give, with one difference in principle: an article is a word where no
    /// letter or digit of Unicode, as Rust knows them, stands next to it; Python's notion of them lacks some combining vowel
    /// signs.
    ///
    /// ```
    /// use churngate::model::Normalisation;
    /// assert_eq!(Normalisation::Nq.apply("The U.S.A."), "usa");
    /// assert_eq!(Normalisation::TriviaQa.apply("The U.S.A."), "u s");
    /// assert_eq!(Normalisation::None.apply(" The U.S.A. "), "The U.S.A.");
    /// ```
    #[must_use]
    pub fn apply(self, text: &str) -> String {
        match self {
            Self::Nq => {
                let kept: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
                without_articles(&kept)
            }
            Self::TriviaQa => {
                let spaced = |c| if is_trivia_punctuation(c) { ' ' } else { c };
                without_articles(&text.to_lowercase().chars().map(spaced).collect::<String>())
            }
            Self::None => text.trim().to_owned(),
        }
    }
}

/// ASCII punctuation, the typographic single quotes and the acute accent (the grave accent is ASCII).
const fn is_trivia_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '\u{2018}' | '\u{2019}' | '\u{b4}')
}

/// Articles between word boundaries become spaces, then white space is compacted.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for token in text.split(is_space).filter(|token| !token.is_empty()) {
        for word in words(token).filter(|word| !word.is_empty()) {
            if !kept.is_empty() {
                kept.push(' ');
            }
            kept.push_str(word);
        }
    }
    kept
}

/// The parts of a token that its articles leave: `of-the-art` without punctuation holds none, `l’a` holds one.
fn words(token: &str) -> impl Iterator<Item = &str> {
    let mut rest = token;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let Some((start, end)) = article(token, token.len() - rest.len()) else {
            done = true;
            return Some(rest);
        };
        let before = token.get(token.len() - rest.len()..start);
        rest = token.get(end..).unwrap_or_default();
        before
    })
}

/// The first article that is a whole run of word characters, at or after this byte.
fn article(token: &str, from: usize) -> Option<(usize, usize)> {
    let mut start = None;
    for (at, c) in token.char_indices().chain([(token.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                start = None;
                if first >= from && matches!(token.get(first..at), Some("a" | "an" | "the")) {
                    return Some((first, at));
                }
            }
            _ => {}
        }
    }
    None
}

/// What a regular expression's `\w` is in Python.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What Python's `split` splits at: white space and the four ASCII separators.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_go_only_where_they_are_words() {
        assert_eq!(Normalisation::Nq.apply("a theatre an anthem the"), "theatre anthem");
        // The typographic quote is no ASCII punctuation: it stays, and ends the word before it.
        assert_eq!(Normalisation::Nq.apply("l\u{2019}a\u{2019}b"), "l\u{2019} \u{2019}b");
        assert_eq!(Normalisation::Nq.apply("\u{2019}a\u{2019}"), "\u{2019} \u{2019}");
        assert_eq!(Normalisation::Nq.apply("the\u{1d}a\u{a0}x"), "x");
    }

    #[test]
    fn normalising_twice_changes_nothing_more_where_articles_do_not_meet() {
        for text in ["The Executor", "U.S.A.", "O\u{2019}Brien", "", "  x  "] {
            for normalisation in [Normalisation::Nq, Normalisation::TriviaQa, Normalisation::None] {
                let once = normalisation.apply(text);
                assert_eq!(normalisation.apply(&once), once);
            }
        }
    }
}
