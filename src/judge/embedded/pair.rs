//! What two answers share and where they differ: computed once, read by rules and features.

use super::reading::{Item, Reading, Word};
use super::similar::{alike, stem};
use super::words::{FILLERS, STOP};

/// How the amounts of two answers relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amounts {
    /// Neither has any.
    None,
    /// Only one has any.
    OneSided,
    /// Each amount has its equal.
    Equal,
    /// All of one stand in the other, which has more.
    Subset,
    /// Each has one that the other lacks.
    Conflict,
}

/// Two answers to one question, the bytewise smaller first, so that nothing can depend on which came first.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The question.
    pub question: &'a Reading,
    /// The smaller answer.
    pub one: &'a Reading,
    /// The larger answer.
    pub other: &'a Reading,
    /// Content words of `one` and `other` that the other one does not have.
    pub extra: [Vec<String>; 2],
    /// Content words of `one` and `other`.
    pub content: [Vec<String>; 2],
    /// Content words that both have.
    pub shared: Vec<String>,
    /// How their amounts relate.
    pub amounts: Amounts,
}

impl<'a> Pair<'a> {
    /// Compares two answers.
    #[must_use]
    pub fn of(question: &'a Reading, one: &'a Reading, other: &'a Reading) -> Self {
        let (one, other) = if (&one.plain, one.items.len()) <= (&other.plain, other.items.len()) {
            (one, other)
        } else {
            (other, one)
        };
        let asked: Vec<String> = question.words().map(|word| stem(&word.text)).collect();
        let content = [content(one, &asked), content(other, &asked)];
        let lacks = |list: &[String], word: &String| !list.iter().any(|held| alike(held, word));
        let left = content[0].iter().filter(|word| lacks(&content[1], word)).cloned().collect();
        let right = content[1].iter().filter(|word| lacks(&content[0], word)).cloned().collect();
        let shared = content[0].iter().filter(|word| !lacks(&content[1], word)).cloned().collect();
        let amounts = relate(&one.amounts(), &other.amounts());
        Self { question, one, other, extra: [left, right], content, shared, amounts }
    }

    /// Whether the question asks for a person.
    #[must_use]
    pub fn asks_who(&self) -> bool {
        self.question.words().any(|word| matches!(word.text.as_str(), "who" | "whom" | "whose"))
    }

    /// Both answers.
    #[must_use]
    pub const fn both(&self) -> [&'a Reading; 2] {
        [self.one, self.other]
    }
}

/// Content words: no stop words, no fillers, nothing that only repeats the question; where that leaves nothing and there
/// is no amount either, all words.
fn content(reading: &Reading, asked: &[String]) -> Vec<String> {
    let stems = |keep: &dyn Fn(&Word) -> bool| -> Vec<String> {
        reading.words().filter(|word| keep(word)).map(|word| stem(&word.text)).collect()
    };
    let bears = |word: &Word| {
        let text = word.text.as_str();
        !STOP.contains(&text) && !FILLERS.contains(&text)
    };
    let fresh = stems(&|word| bears(word) && !asked.contains(&stem(&word.text)));
    if !fresh.is_empty() || !reading.amounts().is_empty() {
        return fresh;
    }
    let bearing = stems(&|word| bears(word));
    if bearing.is_empty() { stems(&|_| true) } else { bearing }
}

/// Finds each amount of the shorter list its equal in the longer one.
fn relate(one: &[&Item], other: &[&Item]) -> Amounts {
    let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if many.is_empty() {
        return Amounts::None;
    }
    if few.is_empty() {
        return Amounts::OneSided;
    }
    let mut left: Vec<&Item> = many.to_vec();
    for amount in few {
        match left.iter().position(|held| held.same(amount)) {
            Some(place) => {
                left.remove(place);
            }
            None => return Amounts::Conflict,
        }
    }
    if left.is_empty() { Amounts::Equal } else { Amounts::Subset }
}
