//! What can be decided without a model, in order: the first rule that decides, decides.
//!
//! A rule gives no answer where it is not sure. Each is symmetric because a pair is ordered before it is looked at.

use super::names;
use super::pair::{Amounts, Pair};
use super::reading::{Item, Reading, Word};
use super::similar::{alike, stem};
use super::words::{CONTRASTING, FILLERS, MODELS, NEGATIONS, OPPOSITES, STOP, UNKNOWN_PHRASES};
use crate::model::Label;

type Rule = fn(&Pair) -> Option<Label>;

/// Every rule by its name, in the order of use.
pub const RULES: &[(&str, Rule)] = &[
    ("unknown", unknown),
    ("equal", equal),
    ("polarity", polarity),
    ("amounts-conflict", amounts_conflict),
    ("opposites", opposites),
    ("negation", negation),
    ("amounts-alone", amounts_alone),
    ("names", names::judge),
    ("acronym", acronym),
    ("letters", letters),
    ("same-words", same_words),
    ("contrasting", contrasting),
];

/// The first rule that decides, and what it decides.
#[must_use]
pub fn decide(pair: &Pair) -> Option<(&'static str, Label)> {
    RULES.iter().find_map(|(name, rule)| rule(pair).map(|label| (*name, label)))
}

fn label(same: bool) -> Label {
    if same { Label::Same } else { Label::Different }
}

/// An answer that says that it does not know is like another such answer and like nothing else.
fn unknown(pair: &Pair) -> Option<Label> {
    let says_so = pair.both().map(|reading| {
        let phrase = reading.phrase();
        let amounts = reading.amounts().is_empty();
        amounts
            && UNKNOWN_PHRASES
                .iter()
                .any(|known| phrase == *known || (known.contains(' ') && phrase.starts_with(known)))
    });
    says_so.contains(&true).then(|| label(says_so == [true, true]))
}

/// The same items in the same order, amounts by value.
fn equal(pair: &Pair) -> Option<Label> {
    let (one, other) = (&pair.one.items, &pair.other.items);
    let items =
        !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(left, right)| left.same(right));
    (items || pair.one.plain == pair.other.plain).then_some(Label::Same)
}

/// `yes` or `no` at the head of both.
fn polarity(pair: &Pair) -> Option<Label> {
    let [one, other] = pair.both().map(head_polarity);
    let (one, other) = (one?, other?);
    let bare = pair.both().iter().any(|reading| reading.items.len() == 1);
    if one != other {
        return Some(Label::Different);
    }
    bare.then_some(Label::Same)
}

fn head_polarity(reading: &Reading) -> Option<bool> {
    match reading.items.first() {
        Some(Item::Word(word)) => match word.text.as_str() {
            "yes" | "true" | "yeah" | "correct" => Some(true),
            "false" => Some(false),
            "no" if reading.items.len() == 1 || matches!(reading.marked.get(1), Some(Item::Mark(_))) => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Each has an amount that the other lacks.
fn amounts_conflict(pair: &Pair) -> Option<Label> {
    (pair.amounts == Amounts::Conflict).then_some(Label::Different)
}

/// What differs contains two words that exclude one another.
fn opposites(pair: &Pair) -> Option<Label> {
    let lacking = |one: &Reading, other: &Reading| -> Vec<String> {
        let has = |word: &Word| other.words().any(|held| held.text == word.text);
        one.words().filter(|word| !has(word)).map(|word| word.text.clone()).collect()
    };
    let (left, right) = (lacking(pair.one, pair.other), lacking(pair.other, pair.one));
    let has = |list: &[String], word: &str| list.iter().any(|held| held == word);
    let opposed = |(one, other): &(&str, &str)| {
        (has(&left, one) && has(&right, other)) || (has(&left, other) && has(&right, one))
    };
    OPPOSITES.iter().any(opposed).then_some(Label::Different)
}

/// One is denied and the other is not, of much the same words.
fn negation(pair: &Pair) -> Option<Label> {
    if let Some(label) = prefixed(pair) {
        return Some(label);
    }
    let odd = pair.one.negations() % 2 != pair.other.negations() % 2;
    let bare = |reading: &Reading| reading.words().all(|word| NEGATIONS.contains(&word.text.as_str()));
    let few = pair.content.iter().map(Vec::len).min().unwrap_or(0);
    let shares_half = few > 0 && 2 * pair.shared.len() >= few;
    let counts = |reading: &Reading| reading.items.len() > 1 && !bare(reading);
    (odd && shares_half && pair.both().into_iter().all(counts)).then_some(Label::Different)
}

/// `unsupported` is `not supported`, and neither is `supported`.
fn prefixed(pair: &Pair) -> Option<Label> {
    let denies = |one: &Reading, other: &Reading| {
        let bare = |word: &Word| {
            ["un", "non", "in", "dis"].iter().find_map(|prefix| word.text.strip_prefix(prefix)).map(str::to_owned)
        };
        let stands = |text: &String| text.len() >= 4 && other.words().any(|word| word.text == *text);
        one.words().filter_map(bare).find(stands)
    };
    let (one, other) = (denies(pair.one, pair.other), denies(pair.other, pair.one));
    let few = pair.both().iter().all(|reading| reading.words().count() <= 4);
    let (prefixed, said) = match (one, other) {
        (Some(_), None) => (pair.one, pair.other),
        (None, Some(_)) => (pair.other, pair.one),
        _ => return None,
    };
    few.then(|| label(prefixed.negations() % 2 != said.negations() % 2))
}

/// One is an amount and nothing else.
fn amounts_alone(pair: &Pair) -> Option<Label> {
    let alone = |index: usize| pair.content[index].is_empty() && !pair.both()[index].amounts().is_empty();
    if !alone(0) && !alone(1) {
        return None;
    }
    match pair.amounts {
        Amounts::Equal => Some(Label::Same),
        Amounts::OneSided => Some(Label::Different),
        _ => None,
    }
}

/// One is the initials of the other (`NFL`, `National Football League`), stop words counted or not.
fn acronym(pair: &Pair) -> Option<Label> {
    let stands_for = |short: &Reading, long: &Reading| {
        let [Item::Word(short)] = short.items.as_slice() else { return false };
        let letters = short.text.chars().count();
        let long: Vec<&str> = long.words().map(|word| word.text.as_str()).collect();
        let initials = |keep: &dyn Fn(&str) -> bool| -> String {
            long.iter().filter(|word| keep(word)).filter_map(|word| word.chars().next()).collect()
        };
        let all = initials(&|_| true);
        let content = initials(&|word| !STOP.contains(&word));
        (2..=8).contains(&letters) && long.len() >= 2 && (short.text == all || short.text == content)
    };
    let no_amounts = pair.amounts == Amounts::None;
    (no_amounts && (stands_for(pair.one, pair.other) || stands_for(pair.other, pair.one))).then_some(Label::Same)
}

/// The same letters with other gaps (`ice cream`, `icecream`).
fn letters(pair: &Pair) -> Option<Label> {
    let squeezed = pair.both().map(|reading| reading.words().map(|word| word.text.as_str()).collect::<String>());
    let words = pair.amounts == Amounts::None && squeezed[0].len() > 3 && !squeezed[0].contains(['+', '#']);
    (words && squeezed[0] == squeezed[1]).then_some(Label::Same)
}

/// The same content words, in the same order, or in another one that a comma, `of` or `and` explains.
fn same_words(pair: &Pair) -> Option<Label> {
    let amounts = matches!(pair.amounts, Amounts::None | Amounts::Equal);
    let words = !pair.content[0].is_empty()
        && pair.extra.iter().all(Vec::is_empty)
        && pair.content[0].len() == pair.content[1].len();
    if !amounts || !words {
        return None;
    }
    let in_order = pair.content[0].iter().zip(&pair.content[1]).all(|(one, other)| alike(one, other));
    let explained = pair.both().iter().any(|reading| {
        reading.marked.contains(&Item::Mark(','))
            || reading.words().any(|word| matches!(word.text.as_str(), "of" | "and" | "or"))
    });
    (in_order || explained).then_some(Label::Same)
}

/// One is the other with a word before it that names another thing (`North Korea`, `vice president`), or with the name of
/// a model after it (`iPhone 12 Pro`).
fn contrasting(pair: &Pair) -> Option<Label> {
    let extra = match (&pair.extra[0][..], &pair.extra[1][..]) {
        ([], extra) | (extra, []) if !pair.shared.is_empty() => extra,
        _ => return None,
    };
    let names_another = |word: &String| CONTRASTING.iter().any(|held| stem(held) == *word);
    let first = pair.both().into_iter().any(|reading| {
        let head = reading.words().map(|word| stem(&word.text)).find(|word| !FILLERS.contains(&word.as_str()));
        head.is_some_and(|head| extra.contains(&head) && names_another(&head))
    });
    let last = pair.both().into_iter().any(|reading| {
        let tail = reading.words().last();
        tail.is_some_and(|tail| MODELS.contains(&tail.text.as_str()) && extra.contains(&stem(&tail.text)))
    });
    (first || last).then_some(Label::Different)
}
