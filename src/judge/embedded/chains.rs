//! Amounts that belong together in an order: ranges, scores, ratios, times (`3 to 5`, `2-1`, `10:30`), and the word that
//! each stands with (`40 N`).

use super::reading::{Item, Reading};
use super::similar::{alike, stem};
use super::words::{FILLERS, STOP};

/// Amounts joined by dashes, colons and the like, with the word after them.
#[derive(Clone, Debug)]
pub struct Chain<'a> {
    amounts: Vec<&'a Item>,
    joints: Vec<char>,
    /// The word with content right after the last amount.
    pub attached: Option<String>,
}

impl Chain<'_> {
    /// The same amounts, joined alike, in the same order.
    fn same(&self, other: &Self) -> bool {
        let amounts = self.amounts.iter().zip(&other.amounts).all(|(one, two)| one.same(two));
        self.amounts.len() == other.amounts.len() && self.joints == other.joints && amounts
    }

    /// Whether the words after both may be the same.
    fn agrees(&self, other: &Self) -> bool {
        match (&self.attached, &other.attached) {
            (Some(one), Some(two)) => alike(one, two),
            _ => true,
        }
    }
}

/// The chains of an answer, in order.
#[must_use]
pub fn chains(reading: &Reading) -> Vec<Chain<'_>> {
    let mut found: Vec<Chain<'_>> = Vec::new();
    let mut last: Option<usize> = None;
    for (place, item) in reading.marked.iter().enumerate().filter(|(_, item)| item.is_amount()) {
        let attached = attached(&reading.marked[place + 1..]);
        let joint = last.and_then(|last| joint(&reading.marked[..place], last));
        match (found.last_mut(), joint) {
            (Some(chain), Some(joint)) => {
                chain.amounts.push(item);
                chain.joints.push(joint);
                chain.attached = attached;
            }
            _ => found.push(Chain { amounts: vec![item], joints: Vec::new(), attached }),
        }
        last = Some(place);
    }
    found
}

/// What joins the amount at `last` to one right after these items.
fn joint(items: &[Item], last: usize) -> Option<char> {
    let between = last.checked_sub(1).is_some_and(|place| word_is(&items[place], "between"));
    joint_of(&items[last + 1..], between)
}

fn joint_of(items: &[Item], between: bool) -> Option<char> {
    match items {
        [] | [Item::Mark('-' | ':')] => Some('-'),
        [Item::Mark(sign @ ('/' | '×' | '^' | '+'))] => Some(*sign),
        [item] if between && word_is(item, "and") => Some('-'),
        [item] if ["to", "through", "thru", "until", "till"].iter().any(|text| word_is(item, text)) => Some('-'),
        [item] if word_is(item, "by") || word_is(item, "x") => Some('×'),
        _ => None,
    }
}

fn word_is(item: &Item, text: &str) -> bool {
    matches!(item, Item::Word(word) if word.text == text)
}

/// The word with content that these items begin with.
fn attached(items: &[Item]) -> Option<String> {
    match items.first() {
        Some(Item::Word(word)) if bears(&word.text) => Some(stem(&word.text)),
        _ => None,
    }
}

/// The word that stands where a unit would, at the head of these items.
#[must_use]
pub fn unit_word(items: &[Item]) -> Option<String> {
    match items.first() {
        Some(Item::Word(word)) if word.is_letter() || matches!(word.text.as_str(), "people" | "times") => {
            Some(word.text.clone())
        }
        _ => attached(items),
    }
}

fn bears(text: &str) -> bool {
    !STOP.contains(&text) && !FILLERS.contains(&text)
}

/// Whether equal amounts stand in another order than one that lists allow, or with one another's words.
#[must_use]
pub fn disordered(one: &Reading, other: &Reading) -> bool {
    let (one, other) = (chains(one), chains(other));
    if one.len() == other.len() && one.iter().zip(&other).all(|(left, right)| left.same(right)) {
        return exchanged(&one, &other);
    }
    let mut left: Vec<&Chain> = other.iter().collect();
    for chain in &one {
        match left.iter().position(|held| held.same(chain) && held.agrees(chain)) {
            Some(place) => {
                left.remove(place);
            }
            None => return true,
        }
    }
    !left.is_empty()
}

/// Whether the same words stand with other amounts (`40 N, 74 W`, `40 W, 74 N`).
fn exchanged(one: &[Chain], other: &[Chain]) -> bool {
    let words = |chains: &[Chain]| {
        let mut words: Vec<Option<String>> = chains.iter().map(|chain| chain.attached.clone()).collect();
        words.sort();
        words
    };
    words(one) == words(other) && !one.iter().zip(other).all(|(left, right)| left.agrees(right))
}
