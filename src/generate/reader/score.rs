//! How well documents and sentences meet a question.

use super::text::{Token, sentences, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words that stand for what was named before, as they are matched.
const PRONOUNS: [&str; 6] = ["it", "its", "h", "sh", "they", "their"];

/// A document, read.
#[derive(Debug)]
pub struct Page<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its words.
    pub tokens: Vec<Token>,
    /// Its sentences, as ranges of words.
    pub sentences: Vec<Range<usize>>,
    keys: BTreeSet<String>,
}

/// The words of a question that say what it is about, with their weight: 1, and 1/2 for the parts of a compound.
#[derive(Debug)]
pub struct Terms(BTreeMap<String, f64>);

impl<'a> Page<'a> {
    /// Reads a document's text.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let tokens = tokens(text);
        let sentences = sentences(text, &tokens);
        let keys = keys(&tokens);
        Self { text, tokens, sentences, keys }
    }
}

impl Terms {
    /// The terms of a question.
    #[must_use]
    pub fn of(question: &[Token]) -> Self {
        let mut terms = BTreeMap::new();
        for token in question.iter().filter(|token| token.content) {
            for part in parts(token) {
                terms.entry(part).or_insert(0.5);
            }
            terms.insert(token.key.clone(), 1.0);
        }
        Self(terms)
    }

    /// Whether the question has this word.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Which share of the question each page holds, in [0, 1], rare terms counting more.
    #[must_use]
    pub fn page_coverage(&self, pages: &[Page<'_>]) -> Vec<f64> {
        let rarity = self.rarity(&pages.iter().map(|page| &page.keys).collect::<Vec<_>>());
        pages.iter().map(|page| coverage(&rarity, |key| f64::from(u8::from(page.keys.contains(key))))).collect()
    }

    /// Which share of the question each sentence of each page holds, in [0, 1]. A term that stands elsewhere on the
    /// page counts half, and more where the sentence has a pronoun: its `it` means what the page is about.
    #[must_use]
    pub fn sentence_coverage(&self, pages: &[Page<'_>]) -> Vec<Vec<f64>> {
        let held: Vec<Vec<_>> = pages.iter().map(sentence_keys).collect();
        let rarity = self.rarity(&held.iter().flatten().collect::<Vec<_>>());
        let one = |page: &Page<'_>, keys: &BTreeSet<String>| {
            let elsewhere = if PRONOUNS.iter().any(|word| keys.contains(*word)) { 0.75 } else { 0.5 };
            coverage(&rarity, |key| match (keys.contains(key), page.keys.contains(key)) {
                (true, _) => 1.0,
                (false, true) => elsewhere,
                (false, false) => 0.0,
            })
        };
        pages.iter().zip(&held).map(|(page, held)| held.iter().map(|keys| one(page, keys)).collect()).collect()
    }

    /// `ln(1 + n / df)` of each term over `n` units; a term that stands nowhere counts as one in half a unit.
    fn rarity(&self, units: &[&BTreeSet<String>]) -> BTreeMap<&str, f64> {
        let total = count(units.len());
        let rarity = |key: &str| {
            let holding = count(units.iter().filter(|keys| keys.contains(key)).count());
            (1.0 + total / holding.max(0.5)).ln()
        };
        self.0.iter().map(|(key, weight)| (key.as_str(), weight * rarity(key))).collect()
    }
}

/// The share of all weight that is held.
fn coverage(rarity: &BTreeMap<&str, f64>, held: impl Fn(&str) -> f64) -> f64 {
    let all: f64 = rarity.values().sum();
    let covered: f64 = rarity.iter().map(|(key, weight)| weight * held(key)).sum();
    if all > 0.0 { covered / all } else { 0.0 }
}

fn sentence_keys(page: &Page<'_>) -> Vec<BTreeSet<String>> {
    page.sentences.iter().map(|range| keys(&page.tokens[range.clone()])).collect()
}

fn keys(tokens: &[Token]) -> BTreeSet<String> {
    tokens.iter().flat_map(|token| parts(token).into_iter().chain([token.key.clone()])).collect()
}

/// The parts of a compound such as `Array.prototype.at`; none of a plain word.
fn parts(token: &Token) -> Vec<String> {
    if token.is_number() || !token.lower.contains(['.', '-', '_']) {
        return Vec::new();
    }
    token.lower.split(['.', '-', '_']).filter(|part| part.len() > 1).map(str::to_owned).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of sentences are far below 2^52")]
fn count(number: usize) -> f64 {
    number as f64
}
