//! Words and sentences with their places.

use super::words;
use std::ops::Range;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its bytes within the text.
    pub at: Range<usize>,
    /// In lower case.
    pub lower: String,
    /// What it is matched by: lower case without common endings.
    pub key: String,
    /// Whether it has a capital anywhere.
    pub capital: bool,
    /// Whether it says what the sentence is about.
    pub content: bool,
}

impl Token {
    /// Whether it looks like a name: a capital, and no function word at the start of a sentence.
    #[must_use]
    pub fn is_name(&self) -> bool {
        self.capital && self.content
    }

    /// Whether it is a number: digits, with points or commas between.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.lower.starts_with(|c: char| c.is_ascii_digit())
            && self.lower.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
    }

    /// Whether it is a year of the last thousand years or the next hundred.
    #[must_use]
    pub fn is_year(&self) -> bool {
        self.lower.len() == 4 && self.lower.parse().is_ok_and(|year: u32| (1000..2200).contains(&year))
    }
}

/// The words of a text. A point, hyphen, underscore or apostrophe between two letters or digits belongs to the word, a
/// comma between two digits as well.
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut start = None;
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        if c.is_alphanumeric() || (start.is_some() && joins(before, c, next)) {
            start = start.or(Some(at));
        } else if let Some(start) = start.take() {
            found.push(token(text, start..at));
        }
        before = c;
    }
    found.extend(start.map(|start| token(text, start..text.len())));
    found
}

fn joins(before: char, c: char, next: char) -> bool {
    match c {
        '.' | '-' | '_' | '\'' | '’' => before.is_alphanumeric() && next.is_alphanumeric(),
        ',' => before.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    }
}

fn token(text: &str, at: Range<usize>) -> Token {
    let raw = &text[at.clone()];
    let lower = raw.to_lowercase();
    let key = stem(&lower);
    let content = !words::is_function(&lower);
    Token { at, capital: raw.chars().any(char::is_uppercase), content, lower, key }
}

/// A word without common endings, so that `supports` and `supported` match `support`.
fn stem(lower: &str) -> String {
    let word = lower.trim_end_matches("'s").trim_end_matches("’s");
    let cut = |ending: &str, longer_than: usize| word.strip_suffix(ending).filter(|stem| stem.len() > longer_than);
    let stem = cut("ing", 3).or_else(|| cut("ed", 3)).or_else(|| cut("s", 2).filter(|stem| !stem.ends_with('s')));
    stem.unwrap_or(word).trim_end_matches('e').to_owned()
}

/// The sentences of a text, as ranges of its tokens.
#[must_use]
pub fn sentences(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, pair) in tokens.windows(2).enumerate() {
        if ends_between(text, &pair[0], &pair[1]) {
            found.push(start..index + 1);
            start = index + 1;
        }
    }
    if start < tokens.len() {
        found.push(start..tokens.len());
    }
    found
}

/// A sentence ends where a mark and a gap follow, unless a single capital (an initial) stands before the mark.
fn ends_between(text: &str, one: &Token, next: &Token) -> bool {
    let gap = &text[one.at.end..next.at.start];
    let initial = one.capital && one.lower.chars().count() == 1;
    let marked = gap.find(['.', '!', '?']).is_some_and(|mark| gap[mark..].contains(char::is_whitespace));
    marked && !initial
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.lower).collect()
    }

    #[test]
    fn words_keep_what_belongs_to_them() {
        assert_eq!(
            words("Array.prototype.at, v1.2. It's 1,200–x"),
            ["array.prototype.at", "v1.2", "it's", "1,200", "x"]
        );
        assert_eq!(words(" Ünïcode 日本 "), ["ünïcode", "日本"]);
        assert!(words("... --").is_empty());
    }

    #[test]
    fn endings_do_not_keep_words_apart() {
        let keys: Vec<_> =
            tokens("support supports supported supporting release released").into_iter().map(|t| t.key).collect();
        assert_eq!(keys, ["support", "support", "support", "support", "releas", "releas"]);
    }

    #[test]
    fn sentences_end_at_marks_and_not_at_points_within() {
        let text = "Version 12.1 came. J. R. Smith wrote it! Did he?";
        let tokens = tokens(text);
        let found: Vec<_> = sentences(text, &tokens)
            .into_iter()
            .map(|s| &text[tokens[s.start].at.start..tokens[s.end - 1].at.end])
            .collect();
        assert_eq!(found, ["Version 12.1 came", "J. R. Smith wrote it", "Did he"]);
    }
}
