//! What an answer says, item by item: words, amounts, codes, in order, articles gone.

use super::amounts;
use super::date::Date;
use super::numeral::Quantity;
use super::scan::{fold, scan};
use super::words::{ALIASES, ARTICLES, NEGATIONS};

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
    /// A comma, semicolon, slash or dash between items.
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
}

/// A text as the judge reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The text in lower case, folded, with single spaces.
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
        let plain = folded.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let marked = without_articles(&aliased(&amounts::items(&scan(&folded))));
        let items = marked.iter().filter(|item| !matches!(item, Item::Mark(_))).cloned().collect();
        Self { plain, items, marked }
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
        self.items.iter().filter(|item| matches!(item, Item::Quantity(_) | Item::Date(_) | Item::Code(_))).collect()
    }

    /// How many words turn the statement around.
    #[must_use]
    pub fn negations(&self) -> usize {
        self.words().filter(|word| NEGATIONS.contains(&word.text.as_str())).count()
    }

    /// The words and nothing else, joined by spaces.
    #[must_use]
    pub fn phrase(&self) -> String {
        self.words().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl Item {
    /// Whether two items say the same.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(two)) => one.text == two.text,
            (Self::Quantity(one), Self::Quantity(two)) => one.same(two),
            (Self::Date(one), Self::Date(two)) => one.same(two),
            (Self::Code(one), Self::Code(two)) => one == two,
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

fn without_articles(items: &[Item]) -> Vec<Item> {
    let words = items.iter().filter(|item| matches!(item, Item::Word(_))).count();
    let last = items.len().saturating_sub(1);
    let article = |index: usize, item: &Item| match item {
        // `Hepatitis A`, `Vitamin A`: a capital at the end is a name.
        Item::Word(word) => words > 1 && ARTICLES.contains(&word.text.as_str()) && !(word.capital && index == last),
        _ => false,
    };
    items.iter().enumerate().filter(|(index, item)| !article(*index, item)).map(|(_, item)| item.clone()).collect()
}

/// Replaces names that stand for the same thing by one of them.
fn aliased(items: &[Item]) -> Vec<Item> {
    let mut result: Vec<Item> = Vec::with_capacity(items.len());
    let mut rest = items;
    while let Some(first) = rest.first() {
        if let Some((long, short)) = ALIASES.iter().find(|(long, _)| begins_with(rest, long)) {
            result.push(Item::Word(Word { text: (*short).to_owned(), upper: true, capital: true }));
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
