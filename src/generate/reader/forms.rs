//! The wordings in which one span is said.

use super::text::Token;
use super::words;
use std::ops::Range;

/// A wording and what it costs to choose it, on the scale of scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The text.
    pub text: String,
    /// Zero for the plainest one.
    pub cost: f64,
}

/// What the wording with the noun before costs: at the default temperature it is taken about once in ten times.
const WITH_NOUN: f64 = 0.22;
/// What the wording with the preposition as well costs.
const WITH_LEAD: f64 = 0.3;

/// The wordings of a span: alone, with the noun before a number, and with the preposition before that.
#[must_use]
pub fn forms(text: &str, tokens: &[Token], sentence: &Range<usize>, span: &Range<usize>) -> Vec<Form> {
    let words = |range: Range<usize>| text[tokens[range.start].at.start..tokens[range.end - 1].at.end].to_owned();
    let adjoins = |at: usize| text[tokens[at].at.end..tokens[at + 1].at.start].chars().all(char::is_whitespace);
    let before = |at: usize| (at > sentence.start && adjoins(at - 1)).then(|| at - 1);
    let mut found = vec![Form { text: words(span.clone()), cost: 0.0 }];
    let mut start = span.start;
    let is_noun = |at: &usize| tokens[span.start].is_number() && tokens[*at].content && !tokens[*at].is_number();
    if let Some(noun) = before(start).filter(is_noun) {
        start = noun;
        found.push(Form { text: words(start..span.end), cost: WITH_NOUN });
    }
    if let Some(lead) = before(start).filter(|at| words::leads_in(&tokens[*at].lower)) {
        found.push(Form { text: words(lead..span.end), cost: WITH_LEAD });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::reader::text::tokens;

    fn wordings(text: &str, span: Range<usize>) -> Vec<String> {
        let tokens = tokens(text);
        forms(text, &tokens, &(0..tokens.len()), &span).into_iter().map(|form| form.text).collect()
    }

    #[test]
    fn a_number_is_said_with_its_noun_and_its_preposition() {
        assert_eq!(wordings("Chrome supports it since version 92.", 5..6), ["92", "version 92", "since version 92"]);
        assert_eq!(wordings("It was built in 1900", 4..5), ["1900", "in 1900"]);
    }

    #[test]
    fn a_name_is_said_alone_or_with_its_preposition() {
        assert_eq!(wordings("Written by Ada Lovelace", 2..4), ["Ada Lovelace", "by Ada Lovelace"]);
        assert_eq!(wordings("Oslo", 0..1), ["Oslo"]);
        assert_eq!(wordings("Yes, in, Oslo", 2..3), ["Oslo"]);
    }
}
