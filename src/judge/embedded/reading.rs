//! What an answer says, item by item: words, amounts, codes, in order, articles gone.

use super::amounts;
use super::bounds;
use super::date::Date;
use super::fold::fold;
use super::numeral::Quantity;
use super::scan::scan;
use super::signs::{is_operator, is_symbol};
use super::words::{ALIASES, ARTICLES, NEGATIONS, STOP};

/// One item of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A word.
    Word(Word),
    /// A number, perhaps with a unit.
    Quantity(Quantity),
    /// A date, or a number that reads as a year.
    Date(Date),
    /// Figures with several points, compared as they are.
    Code(String),
    /// A sign that is no part of an amount: a comma, a slash, a dash, an operator, a symbol.
    Mark(char),
}

/// A word, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Lower case, without accents and possessive.
    pub text: String,
    /// Whether it was written in capitals throughout: an abbreviation or initials.
    pub upper: bool,
    /// Whether it began with a capital.
    pub capital: bool,
    /// Whether it is part of a longer name (`user@a.com`), in which every letter counts.
    pub joined: bool,
}

impl Word {
    /// Whether it is a single letter of an alphabet, which names something by itself (`Plan A`).
    #[must_use]
    pub fn is_letter(&self) -> bool {
        self.text.len() == 1 && self.text.starts_with(char::is_alphabetic)
    }
}

/// A text as the judge reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The text folded, with single spaces.
    pub written: String,
    /// The same in lower case.
    pub plain: String,
    /// Its items without articles and marks.
    pub items: Vec<Item>,
    /// The same with marks between them.
    pub marked: Vec<Item>,
}

impl Reading {
    /// Reads a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let folded = fold(text);
        let written = folded.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = written.to_lowercase();
        let marked = bounds::marked(&without_articles(&aliased(&amounts::items(&scan(&folded)))));
        let items = marked.iter().filter(|item| !matches!(item, Item::Mark(_))).cloned().collect();
        Self { written, plain, items, marked }
    }

    /// The words in order.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.items.iter().filter_map(|item| match item {
            Item::Word(word) => Some(word),
            _ => None,
        })
    }

    /// Everything that is an amount: quantities, dates, codes.
    #[must_use]
    pub fn amounts(&self) -> Vec<&Item> {
        self.items.iter().filter(|item| item.is_amount()).collect()
    }

    /// How many words turn the statement around; `No. 5` is a number.
    #[must_use]
    pub fn negations(&self) -> usize {
        let numero =
            |place: usize, word: &Word| word.text == "no" && self.items.get(place + 1).is_some_and(Item::is_amount);
        let negates = |(place, item): (usize, &Item)| match item {
            Item::Word(word) => NEGATIONS.contains(&word.text.as_str()) && !numero(place, word),
            _ => false,
        };
        self.items.iter().enumerate().filter(|entry| negates(*entry)).count()
    }

    /// The operators, in order.
    #[must_use]
    pub fn operators(&self) -> Vec<char> {
        self.signs(is_operator)
    }

    /// The symbols, in order.
    #[must_use]
    pub fn symbols(&self) -> Vec<char> {
        self.signs(is_symbol)
    }

    fn signs(&self, is: fn(char) -> bool) -> Vec<char> {
        let sign = |item: &Item| match item {
            Item::Mark(sign) => Some(*sign).filter(|sign| is(*sign)),
            _ => None,
        };
        self.marked.iter().filter_map(sign).collect()
    }

    /// The words and nothing else, joined by spaces.
    #[must_use]
    pub fn phrase(&self) -> String {
        self.words().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl Item {
    /// Whether it is a quantity, a date or a code.
    #[must_use]
    pub const fn is_amount(&self) -> bool {
        matches!(self, Self::Quantity(_) | Self::Date(_) | Self::Code(_))
    }

    /// Whether two items say the same.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(two)) => one.text == two.text,
            (Self::Quantity(one), Self::Quantity(two)) => one.same(two),
            (Self::Date(one), Self::Date(two)) => one.same(two),
            (Self::Code(one), Self::Code(two)) => short(one) == short(two),
            (Self::Code(code), Self::Quantity(quantity)) | (Self::Quantity(quantity), Self::Code(code)) => {
                version_is(code, quantity)
            }
            (Self::Mark(one), Self::Mark(two)) => one == two,
            (Self::Date(date), Self::Quantity(quantity)) | (Self::Quantity(quantity), Self::Date(date)) => {
                year_is(date, quantity)
            }
            _ => false,
        }
    }
}

/// Whether a date that says no more than a year is this bare number (`1500` people, `1,500` people).
fn year_is(date: &Date, quantity: &Quantity) -> bool {
    let bare = date.month.is_none() && date.day.is_none() && !quantity.decade;
    bare && date.year.is_some_and(|year| (f64::from(year) - quantity.value).abs() < 1e-9)
}

/// A version without the zeros at its end (`3.0.0` is `3`); four parts are more often an address.
fn short(code: &str) -> &str {
    let mut rest = code;
    while code.matches('.').count() != 3
        && let Some(shorter) = rest.strip_suffix(".0")
    {
        rest = shorter;
    }
    rest
}

/// Whether a version of several parts is this bare number (`3.1.0`, `3.1`).
fn version_is(code: &str, quantity: &Quantity) -> bool {
    let short = short(code);
    let places = short.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let grain = 0.1_f64.powi(i32::try_from(places).unwrap_or(i32::MAX));
    let bare = quantity.unit.is_none() && !quantity.ordinal && !quantity.decade;
    bare && short.parse().is_ok_and(|value| Quantity::bare(value, grain).same(quantity))
}

fn without_articles(items: &[Item]) -> Vec<Item> {
    let words = items.iter().filter(|item| matches!(item, Item::Word(_))).count();
    let article = |index: usize, item: &Item| match item {
        Item::Word(word) => words > 1 && ARTICLES.contains(&word.text.as_str()) && !names(items, index, word),
        _ => false,
    };
    items.iter().enumerate().filter(|(index, item)| !article(*index, item)).map(|(_, item)| item.clone()).collect()
}

/// Whether what could be an article is a name: at the end (`Vitamin A`, `option a`), after a word with content
/// (`Class A address`), or within a longer name (`user@a.com`).
fn names(items: &[Item], index: usize, word: &Word) -> bool {
    let ends = index + 1 == items.len() && (word.capital || word.text == "a");
    let before = index.checked_sub(1).and_then(|place| items.get(place));
    let content = matches!(before, Some(Item::Word(before)) if !STOP.contains(&before.text.as_str()));
    word.joined || ends || (word.capital && word.is_letter() && content)
}

/// Replaces names that stand for the same thing by one of them.
fn aliased(items: &[Item]) -> Vec<Item> {
    let mut result: Vec<Item> = Vec::with_capacity(items.len());
    let mut rest = items;
    while let Some(first) = rest.first() {
        if let Some((long, short)) = ALIASES.iter().find(|(long, _)| begins_with(rest, long)) {
            result.push(Item::Word(Word { text: (*short).to_owned(), upper: true, capital: true, joined: false }));
            rest = &rest[long.len()..];
        } else {
            result.push(first.clone());
            rest = &rest[1..];
        }
    }
    result
}

fn begins_with(items: &[Item], words: &[&str]) -> bool {
    let is = |(item, text): (&Item, &&str)| match item {
        // `us` in lower case within a sentence is a pronoun.
        Item::Word(word) => word.text == **text && (*text != "us" || word.upper || items.len() == 1),
        _ => false,
    };
    items.len() >= words.len() && items.iter().zip(words).all(is)
}
