//! Names of people: given names, initials, nicknames, middle names, suffixes.

use super::pair::Pair;
use super::reading::{Item, Reading, Word};
use super::similar::alike;
use super::words::{NICKNAMES, STOP};
use crate::model::Label;

const TITLES: &[&str] = &[
    "mr",
    "mrs",
    "ms",
    "dr",
    "sir",
    "lord",
    "lady",
    "saint",
    "st",
    "king",
    "queen",
    "prince",
    "princess",
    "president",
    "professor",
    "prof",
    "captain",
    "general",
    "pope",
    "emperor",
    "senator",
    "governor",
    "judge",
    "justice",
    "actor",
    "actress",
    "singer",
    "dame",
    "colonel",
    "major",
    "rev",
    "reverend",
    "minister",
    "chancellor",
];
const SUFFIXES: &[&str] = &["jr", "junior", "sr", "senior"];

/// A name in its parts.
struct Name<'a> {
    given: &'a Word,
    middle: Vec<String>,
    family: &'a str,
    suffix: Option<char>,
}

/// Decides two names with the same family name: given and middle names must be compatible.
#[must_use]
pub fn judge(pair: &Pair) -> Option<Label> {
    let (one, other) = (name(pair.one, pair)?, name(pair.other, pair)?);
    if !alike(one.family, other.family) {
        return other_family(pair).then_some(Label::Different);
    }
    let suffixes = one.suffix.is_none() || other.suffix.is_none() || one.suffix == other.suffix;
    if !suffixes {
        return Some(Label::Different);
    }
    if !given_names_agree(one.given, other.given) {
        return pair.asks_who().then_some(Label::Different);
    }
    Some(if middle_names_agree(&one.middle, &other.middle) { Label::Same } else { Label::Different })
}

/// Whether two names of persons share neither family name, not even in another place (`García Márquez`, `García`).
fn other_family(pair: &Pair) -> bool {
    pair.asks_who() && pair.extra.iter().all(|extra| !extra.is_empty())
}

/// Two to four words, all capitalised (or all in lower case where the question asks for a person), and nothing else.
fn name<'a>(reading: &'a Reading, pair: &Pair) -> Option<Name<'a>> {
    if reading.items.iter().any(|item| !matches!(item, Item::Word(_))) {
        return None;
    }
    let mut words: Vec<&Word> = reading.words().collect();
    let cased = words.iter().all(|word| word.capital) || (pair.asks_who() && words.iter().all(|word| !word.capital));
    let plain = words.iter().any(|word| STOP.contains(&word.text.as_str()) && word.text.len() > 1);
    while words.len() > 2 && TITLES.contains(&words.first()?.text.as_str()) {
        words.remove(0);
    }
    let suffix =
        words.last().filter(|word| SUFFIXES.contains(&word.text.as_str())).and_then(|word| word.text.chars().next());
    if suffix.is_some() {
        words.pop();
    }
    if !cased || plain || !(2..=4).contains(&words.len()) {
        return None;
    }
    let (given, family) = (words.first().copied()?, words.last().copied()?);
    let middle = words[1..words.len() - 1].iter().flat_map(|word| initials(word)).collect();
    Some(Name { given, middle, family: &family.text, suffix })
}

/// `HW` is two middle names of one letter each.
fn initials(word: &Word) -> Vec<String> {
    if word.upper && word.text.chars().count() <= 3 {
        word.text.chars().map(String::from).collect()
    } else {
        vec![word.text.clone()]
    }
}

fn given_names_agree(one: &Word, other: &Word) -> bool {
    let first = |word: &Word| word.text.chars().next();
    let is_initials = |word: &Word| word.text.chars().count() == 1 || (word.upper && word.text.chars().count() <= 3);
    if is_initials(one) || is_initials(other) {
        return first(one) == first(other);
    }
    let (one, other) = (one.text.as_str(), other.text.as_str());
    alike(one, other)
        || spelt(one) == spelt(other)
        || long(one) == long(other)
        || shortened(one, other)
        || shortened(other, one)
}

/// A spelling in which usual transliterations agree (`Pyotr`, `Piotr`).
fn spelt(name: &str) -> String {
    name.replace('y', "i").replace("kh", "h").replace("ch", "c").replace("th", "t").replace('k', "c").replace("ei", "e")
}

/// The long form of a nickname.
fn long(name: &str) -> &str {
    NICKNAMES.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long)
}

/// `Leo` for `Leonardo`; not `Paul` for `Paula`.
fn shortened(short: &str, name: &str) -> bool {
    short.len() >= 3 && name.len() >= short.len() + 3 && name.starts_with(short)
}

/// Where both have middle names, there must be as many, each equal to the other or its initial.
fn middle_names_agree(one: &[String], other: &[String]) -> bool {
    let agree = |(left, right): (&String, &String)| {
        let initial = left.chars().count() == 1 || right.chars().count() == 1;
        alike(left, right) || (initial && left.chars().next() == right.chars().next())
    };
    one.is_empty() || other.is_empty() || (one.len() == other.len() && one.iter().zip(other).all(agree))
}
