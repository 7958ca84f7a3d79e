//! Spans of a sentence that could be an answer.

use super::text::Token;
use super::words;
use std::ops::Range;

/// What a span is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// A number in digits.
    Number,
    /// A small number in letters.
    NumberWord,
    /// A day, a month and a year, or two of them.
    Date,
    /// A year.
    Year,
    /// Words with capitals.
    Name,
    /// Words within quotation marks.
    Quoted,
    /// What follows `is`, `are`, `was` or `were`.
    Predicate,
}

/// A span of words that could be an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its words, as a range of the page's.
    pub words: Range<usize>,
    /// What it is made of.
    pub make: Make,
}

/// The longest predicate, in words.
const LONGEST_PREDICATE: usize = 8;

/// All spans of one sentence.
#[must_use]
pub fn spans(text: &str, tokens: &[Token], sentence: &Range<usize>) -> Vec<Span> {
    let mut found = Vec::new();
    for at in sentence.clone() {
        found.extend(number(&tokens[at]).map(|make| Span { words: at..at + 1, make }));
    }
    found.extend(
        runs(tokens, sentence, in_date).filter(|run| run.len() > 1).map(|words| Span { words, make: Make::Date }),
    );
    found.extend(names(text, tokens, sentence).map(|words| Span { words, make: Make::Name }));
    found.extend(quoted(text, tokens, sentence).map(|words| Span { words, make: Make::Quoted }));
    found.extend(predicate(text, tokens, sentence).map(|words| Span { words, make: Make::Predicate }));
    found
}

fn number(token: &Token) -> Option<Make> {
    match token {
        token if token.is_year() => Some(Make::Year),
        token if token.is_number() => Some(Make::Number),
        token if words::is_number_word(&token.lower) => Some(Make::NumberWord),
        _ => None,
    }
}

fn in_date(token: &Token) -> bool {
    let day = token.lower.parse().is_ok_and(|day: u32| (1..=31).contains(&day));
    token.is_year() || day || (token.capital && words::is_month(&token.lower))
}

/// The longest runs of words that `belongs` holds for.
fn runs<'a>(
    tokens: &'a [Token],
    sentence: &Range<usize>,
    belongs: impl Fn(&Token) -> bool + 'a,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut at = sentence.start;
    let end = sentence.end;
    std::iter::from_fn(move || {
        let start = (at..end).find(|index| belongs(&tokens[*index]))?;
        at = (start..end).find(|index| !belongs(&tokens[*index])).unwrap_or(end);
        Some(start..at)
    })
}

/// Runs of names, joined over small words such as `of`, and broken at punctuation.
fn names<'a>(text: &'a str, tokens: &'a [Token], sentence: &Range<usize>) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = sentence.end;
    let mut at = sentence.start;
    std::iter::from_fn(move || {
        let start = (at..end).find(|index| tokens[*index].is_name() && !tokens[*index].is_number())?;
        let mut last = start;
        let mut next = start + 1;
        while next < end && !text[tokens[next - 1].at.end..tokens[next].at.start].contains([',', ';', ':', '(', ')']) {
            match &tokens[next] {
                token if token.is_name() => last = next,
                token if words::joins_names(&token.lower) => {}
                _ => break,
            }
            next += 1;
        }
        at = last + 1;
        Some(start..at)
    })
}

/// Words between quotation marks.
fn quoted<'a>(text: &'a str, tokens: &'a [Token], sentence: &Range<usize>) -> impl Iterator<Item = Range<usize>> + 'a {
    let sentence = sentence.clone();
    let gap_before =
        |index: usize| &text[index.checked_sub(1).map_or(0, |before| tokens[before].at.end)..tokens[index].at.start];
    let gap_after =
        |index: usize| &text[tokens[index].at.end..tokens.get(index + 1).map_or(text.len(), |next| next.at.start)];
    sentence.clone().filter(move |start| gap_before(*start).ends_with(['"', '“'])).filter_map(move |start| {
        let last = (start..sentence.end).find(|last| gap_after(*last).starts_with(['"', '”', '.']))?;
        gap_after(last).contains(['"', '”']).then_some(start..last + 1)
    })
}

/// What follows the first `is`, `are`, `was` or `were`, up to the next comma.
fn predicate(text: &str, tokens: &[Token], sentence: &Range<usize>) -> Option<Range<usize>> {
    let verb = sentence.clone().find(|at| matches!(tokens[*at].lower.as_str(), "is" | "are" | "was" | "were"))?;
    let mut start = verb + 1;
    while start < sentence.end && !tokens[start].content {
        start += 1;
    }
    let furthest = sentence.end.min(start + LONGEST_PREDICATE);
    let breaks = |at: &usize| text[tokens[*at].at.end..tokens[*at + 1].at.start].contains([',', ';', ':', '(']);
    let end = (start..furthest.saturating_sub(1)).find(breaks).map_or(furthest, |last| last + 1);
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::reader::text::tokens;

    fn found(text: &str, make: Make) -> Vec<&str> {
        let tokens = tokens(text);
        let all = spans(text, &tokens, &(0..tokens.len()));
        let text_of = |span: &Span| &text[tokens[span.words.start].at.start..tokens[span.words.end - 1].at.end];
        all.iter().filter(|span| span.make == make).map(text_of).collect()
    }

    #[test]
    fn numbers_years_and_dates_are_found() {
        let text = "On 20 July 1969 two men landed; version 12.1 had 1,200 lines.";
        assert_eq!(found(text, Make::Date), ["20 July 1969"]);
        assert_eq!(found(text, Make::Year), ["1969"]);
        assert_eq!(found(text, Make::Number), ["20", "12.1", "1,200"]);
        assert_eq!(found(text, Make::NumberWord), ["two"]);
    }

    #[test]
    fn names_are_joined_and_broken_where_they_should_be() {
        let text = "The Bank of England hired Ada Lovelace, Charles Babbage and others";
        assert_eq!(found(text, Make::Name), ["Bank of England", "Ada Lovelace", "Charles Babbage"]);
    }

    #[test]
    fn quotations_and_predicates_are_found() {
        assert_eq!(found("She sang “Blue Moon” twice", Make::Quoted), ["Blue Moon"]);
        assert_eq!(found("Its currency is the euro, since long", Make::Predicate), ["euro"]);
        assert!(found("It is", Make::Predicate).is_empty());
    }
}
