//! What can be decided without a model, in order: the first rule that decides, decides.
//!
//! A rule gives no answer where it is not sure. Each is symmetric because a pair is ordered before it is looked at.

use super::chains;
use super::names;
use super::pair::{Amounts, Pair};
use super::reading::{Item, Reading, Word};
use super::similar::{alike, is_foreign, stem};
use super::unknowing;
use super::words::{CONTRASTING, FILLERS, MODELS, NEGATIONS, OPPOSITES, STOP};
use crate::model::Label;

type Rule = fn(&Pair) -> Option<Label>;

/// Every rule by its name, in the order of use.
pub const RULES: &[(&str, Rule)] = &[
    ("identical", identical),
    ("unknown", unknown),
    ("signs", signs),
    ("amounts-order", amounts_order),
    ("equal", equal),
    ("polarity", polarity),
    ("amounts-conflict", amounts_conflict),
    ("amounts-partial", amounts_partial),
    ("units", units),
    ("amounts-one-sided", amounts_one_sided),
    ("opposites", opposites),
    ("negation", negation),
    ("amounts-alone", amounts_alone),
    ("names", names::judge),
    ("acronym", acronym),
    ("designations", designations),
    ("letters", letters),
    ("same-words", same_words),
    ("contrasting", contrasting),
    ("scripts", scripts),
];

/// The first rule that decides, and what it decides.
#[must_use]
pub fn decide(pair: &Pair) -> Option<(&'static str, Label)> {
    RULES.iter().find_map(|(name, rule)| rule(pair).map(|label| (*name, label)))
}

fn label(same: bool) -> Label {
    if same { Label::Same } else { Label::Different }
}

/// The same text after folding, but for case where that makes another unit (`16 Gb`, `16 GB`).
fn identical(pair: &Pair) -> Option<Label> {
    let plain = pair.one.plain == pair.other.plain && pair.amounts != Amounts::Conflict;
    (plain || pair.one.written == pair.other.written).then_some(Label::Same)
}

/// An answer that says that it does not know is like another such answer and like nothing else.
fn unknown(pair: &Pair) -> Option<Label> {
    let says_so = pair.both().map(unknowing::says_so);
    says_so.contains(&true).then(|| label(says_so == [true, true]))
}

/// Other operators, or other symbols. Where a version is asked for, `12` and `12 or later` are one answer.
fn signs(pair: &Pair) -> Option<Label> {
    let [one, other] = pair.both().map(Reading::operators);
    let [left, right] = pair.both().map(Reading::symbols);
    let since = pair.asks_version()
        && (one.is_empty() || other.is_empty())
        && one.iter().chain(&other).all(|sign| *sign == '≥');
    let operators = one != other && !since;
    let symbols = left != right && !left.is_empty() && !right.is_empty();
    (operators || symbols).then_some(Label::Different)
}

/// The same amounts in another order, where order counts.
fn amounts_order(pair: &Pair) -> Option<Label> {
    (pair.amounts == Amounts::Equal && chains::disordered(pair.one, pair.other)).then_some(Label::Different)
}

/// The same items in the same order, amounts by value.
fn equal(pair: &Pair) -> Option<Label> {
    let (one, other) = (&pair.one.items, &pair.other.items);
    let items =
        !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(left, right)| left.same(right));
    items.then_some(Label::Same)
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

/// One has an amount more, beside one of the other's: a range, a list, a share.
fn amounts_partial(pair: &Pair) -> Option<Label> {
    (pair.amounts == Amounts::Subset && !pair.explains_amounts()).then_some(Label::Different)
}

/// A number that the question does not name stands in only one of two otherwise like answers: at its end (`Windows`,
/// `Windows 11`), or where the other has a letter (`V Corps`, `VI Corps`).
fn amounts_one_sided(pair: &Pair) -> Option<Label> {
    let asked = pair.question.amounts();
    let names =
        |item: &Item| matches!(item, Item::Quantity(_) | Item::Code(_)) && !asked.iter().any(|held| held.same(item));
    let [ends, letters] = [
        pair.both().map(|reading| reading.items.last().is_some_and(names)),
        pair.both().map(|reading| reading.amounts().is_empty() && reading.words().any(Word::is_letter)),
    ];
    let alike = !pair.shared.is_empty() && pair.extra.iter().any(Vec::is_empty);
    let decides = alike && (ends.contains(&true) || letters.contains(&true));
    (pair.amounts == Amounts::OneSided && decides).then_some(Label::Different)
}

/// Other units, as far as they are known or something stands in their place (`5 mph`, `5 knots`).
fn units(pair: &Pair) -> Option<Label> {
    (pair.amounts == Amounts::Equal && pair.other_unit()).then_some(Label::Different)
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
    let of_amounts = few == 0 && pair.amounts == Amounts::Equal;
    let bare = pair.both().into_iter().any(|reading| reading.amounts().is_empty() && bare(reading));
    // A single word is denied by one that says little more (`deprecated`, `not deprecated`).
    let single = pair.both().iter().any(|reading| reading.items.len() == 1);
    let little = !single || pair.extra.iter().map(Vec::len).sum::<usize>() <= 2;
    (odd && (shares_half || of_amounts) && !bare && little).then_some(Label::Different)
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

/// What differs is a letter (`Plan A`, `Plan B`), a name with figures (`0x1F`, `0x1E`), or a part of an address, a path, a
/// call. One may leave out what the other has: an initial within a name, the beginning of an address (`www.example.org`,
/// `example.org`), but not a capital at the end.
fn designations(pair: &Pair) -> Option<Label> {
    let parts = |keep: fn(&Word) -> bool| {
        pair.both().map(|reading| -> Vec<&str> {
            reading.words().filter(|word| keep(word)).map(|word| word.text.as_str()).collect()
        })
    };
    let exchanged = |[one, other]: [Vec<&str>; 2]| {
        one.iter().any(|held| !other.contains(held)) && other.iter().any(|held| !one.contains(held))
    };
    let figures = |word: &Word| word.text.contains(|letter: char| letter.is_ascii_digit());
    let [one, other] = parts(|word| word.joined);
    let joined = !one.ends_with(&other) && !other.ends_with(&one);
    let decides = joined || exchanged(parts(Word::is_letter)) || exchanged(parts(figures)) || ends_otherwise(pair);
    decides.then_some(Label::Different)
}

/// Whether a capital letter at the end stands in one of two answers alone (`hepatitis A`, `hepatitis`).
fn ends_otherwise(pair: &Pair) -> bool {
    let differs = |word: &&Word| !pair.shared.contains(&stem(&word.text));
    let ends = |reading: &Reading| {
        let last = reading.words().last().filter(differs);
        last.is_some_and(|word| word.upper && word.is_letter())
    };
    !pair.shared.is_empty() && pair.both().into_iter().any(ends)
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

/// Each has a word that the other lacks, in a script that the model has not learnt.
fn scripts(pair: &Pair) -> Option<Label> {
    let both = pair.extra.iter().all(|extra| !extra.is_empty());
    let foreign = pair.extra.iter().flatten().any(|word| word.contains(is_foreign));
    (both && foreign).then_some(Label::Different)
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
