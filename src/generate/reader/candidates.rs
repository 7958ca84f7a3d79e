//! Spans with their scores.

use super::cue::Kind;
use super::forms::{Form, forms};
use super::score::{Page, Terms};
use super::spans::{Make, Span, spans};
use super::text::Token;
use std::ops::Range;

/// One thing that could be answered.
#[derive(Debug)]
pub struct Candidate {
    /// How good it is: higher is better, differences count.
    pub score: f64,
    /// Its wordings, the plainest first.
    pub forms: Vec<Form>,
}

/// What a page that holds the whole question is worth.
const PAGE: f64 = 2.9;
/// What a sentence that holds the whole question is worth.
const SENTENCE: f64 = 1.8;
/// What it costs to speak of something by name that the question does not speak of.
const OTHER_NAME: f64 = 0.5;
/// What each word between the span and the nearest word of the question costs.
const DISTANCE: f64 = 0.05;
/// The most that distance costs.
const FURTHEST: f64 = 0.4;

/// All candidates of the evidence, in its order.
#[must_use]
pub fn candidates(kind: Kind, terms: &Terms, pages: &[Page<'_>]) -> Vec<Candidate> {
    let of_pages = terms.page_coverage(pages);
    let of_sentences = terms.sentence_coverage(pages);
    let mut found = Vec::new();
    for ((page, of_page), of_sentences) in pages.iter().zip(of_pages).zip(of_sentences) {
        for (sentence, of_sentence) in page.sentences.iter().zip(of_sentences) {
            let base = PAGE * of_page + SENTENCE * of_sentence;
            match kind {
                Kind::YesNo => found.push(yes_or_no(page, sentence, base)),
                _ => found.extend(of_one_sentence(kind, terms, page, sentence, base)),
            }
        }
    }
    found
}

fn yes_or_no(page: &Page<'_>, sentence: &Range<usize>, score: f64) -> Candidate {
    let denies = |token: &Token| matches!(token.lower.as_str(), "not" | "no" | "never") || token.lower.ends_with("n't");
    let answer = if page.tokens[sentence.clone()].iter().any(denies) { "No" } else { "Yes" };
    Candidate { score, forms: vec![Form { text: answer.to_owned(), cost: 0.0 }] }
}

fn of_one_sentence<'a>(
    kind: Kind,
    terms: &'a Terms,
    page: &'a Page<'_>,
    sentence: &'a Range<usize>,
    base: f64,
) -> impl Iterator<Item = Candidate> + 'a {
    let told =
        move |span: &Span| page.tokens[span.words.clone()].iter().any(|token| token.content && !terms.has(&token.key));
    spans(page.text, &page.tokens, sentence).into_iter().filter(told).filter_map(move |span| {
        let fit = fit(kind, &span, &page.tokens)?;
        let strange = if speaks_of_others(terms, page, sentence, &span) { OTHER_NAME } else { 0.0 };
        let score = base + fit - strange - distance(terms, &page.tokens, sentence, &span);
        Some(Candidate { score, forms: forms(page.text, &page.tokens, sentence, &span.words) })
    })
}

/// How well a span's make fits what is asked for: 0 is best, `None` does not fit at all.
fn fit(kind: Kind, span: &Span, tokens: &[Token]) -> Option<f64> {
    let beside =
        |word: &str| span.words.start.checked_sub(1).is_some_and(|before| tokens[before].key.starts_with(word));
    match (kind, span.make) {
        (Kind::Version, Make::Number | Make::Year) => {
            Some(if beside("version") || beside("releas") { 0.0 } else { -0.4 })
        }
        (Kind::Count, Make::Number | Make::NumberWord)
        | (Kind::Date, Make::Date)
        | (Kind::Person | Kind::Place, Make::Name) => Some(0.0),
        (Kind::Other, Make::Name | Make::Quoted) => Some(-0.05),
        (Kind::Other, Make::Predicate) | (Kind::Date, Make::Year) => Some(-0.1),
        (Kind::Other, _) | (Kind::Count, Make::Year) => Some(-0.3),
        _ => None,
    }
}

fn speaks_of_others(terms: &Terms, page: &Page<'_>, sentence: &Range<usize>, span: &Span) -> bool {
    let other = |at: usize| {
        let token = &page.tokens[at];
        token.is_name() && !token.is_number() && !terms.has(&token.key) && !span.words.contains(&at)
    };
    sentence.clone().any(other)
}

fn distance(terms: &Terms, tokens: &[Token], sentence: &Range<usize>, span: &Span) -> f64 {
    let asked = sentence.clone().filter(|at| terms.has(&tokens[*at].key) && !span.words.contains(at));
    let between = asked.map(|at| if at < span.words.start { span.words.start - at - 1 } else { at - span.words.end });
    let nearest = between.min().and_then(|words| u32::try_from(words).ok());
    nearest.map_or(FURTHEST, |words| (DISTANCE * f64::from(words)).min(FURTHEST))
}
