//! Bounds in words -> the comparison signs they stand for: `at least 5`, `5 or more`, `5+` and `≥ 5` read alike.

use super::reading::Item;
use super::words::FILLERS;

/// Phrases before an amount.
const BEFORE: &[(&str, char)] = &[
    ("greater than or equal to", '≥'),
    ("more than or equal to", '≥'),
    ("less than or equal to", '≤'),
    ("fewer than or equal to", '≤'),
    ("no less than", '≥'),
    ("no fewer than", '≥'),
    ("not less than", '≥'),
    ("not fewer than", '≥'),
    ("no more than", '≤'),
    ("not more than", '≤'),
    ("minimum of", '≥'),
    ("maximum of", '≤'),
    ("at least", '≥'),
    ("at most", '≤'),
    ("not exceeding", '≤'),
    ("up to", '≤'),
    ("more than", '>'),
    ("greater than", '>'),
    ("larger than", '>'),
    ("higher than", '>'),
    ("longer than", '>'),
    ("older than", '>'),
    ("less than", '<'),
    ("fewer than", '<'),
    ("smaller than", '<'),
    ("lower than", '<'),
    ("shorter than", '<'),
    ("younger than", '<'),
    ("minimum", '≥'),
    ("maximum", '≤'),
    ("over", '>'),
    ("above", '>'),
    ("exceeding", '>'),
    ("under", '<'),
    ("below", '<'),
];

/// Words after an amount and `or` or `and`.
const AFTER: &[(&str, char)] = &[
    ("more", '≥'),
    ("higher", '≥'),
    ("greater", '≥'),
    ("larger", '≥'),
    ("later", '≥'),
    ("newer", '≥'),
    ("above", '≥'),
    ("over", '≥'),
    ("up", '≥'),
    ("older", '≥'),
    ("less", '≤'),
    ("fewer", '≤'),
    ("lower", '≤'),
    ("smaller", '≤'),
    ("earlier", '≤'),
    ("below", '≤'),
    ("under", '≤'),
    ("younger", '≤'),
];

/// Items with every bound written as a sign before its amount.
#[must_use]
pub fn marked(items: &[Item]) -> Vec<Item> {
    let mut result: Vec<Item> = Vec::with_capacity(items.len());
    let mut rest = items;
    while let Some(first) = rest.first() {
        if let Some((sign, used)) = before(rest) {
            result.push(Item::Mark(sign));
            rest = &rest[used..];
        } else if let Some((sign, used)) = after(rest)
            && let Some(place) = bounded(&result)
        {
            result.insert(place, Item::Mark(sign));
            rest = &rest[used..];
        } else {
            result.push(first.clone());
            rest = &rest[1..];
        }
    }
    result
}

fn is_word(item: Option<&Item>, text: &str) -> bool {
    matches!(item, Some(Item::Word(word)) if word.text == text)
}

/// A bound before an amount, or before `version` and an amount.
fn before(items: &[Item]) -> Option<(char, usize)> {
    BEFORE.iter().find_map(|(phrase, sign)| {
        let length = phrase.split(' ').count();
        let said = phrase.split(' ').enumerate().all(|(place, word)| is_word(items.get(place), word));
        let filler = matches!(items.get(length), Some(Item::Word(word)) if FILLERS.contains(&word.text.as_str()));
        let amount = items.get(length + usize::from(filler)).is_some_and(Item::is_amount);
        (said && amount).then_some((*sign, length))
    })
}

/// A bound after an amount: `or more`, `and later`, `+`.
fn after(items: &[Item]) -> Option<(char, usize)> {
    match items.first()? {
        Item::Mark('+') if !items.get(1).is_some_and(Item::is_amount) => Some(('≥', 1)),
        Item::Word(word) if matches!(word.text.as_str(), "or" | "and") => {
            let (_, sign) = AFTER.iter().find(|(after, _)| is_word(items.get(1), after))?;
            Some((*sign, 2))
        }
        _ => None,
    }
}

/// The place of the amount that a bound after these items belongs to; one word may stand between (`5 people or more`).
fn bounded(items: &[Item]) -> Option<usize> {
    let last = items.len().checked_sub(1)?;
    if items[last].is_amount() {
        return Some(last);
    }
    let word = matches!(items[last], Item::Word(_));
    last.checked_sub(1).filter(|place| word && items[*place].is_amount())
}
