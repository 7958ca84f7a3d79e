//! What two answers share and where they differ: computed once, read by rules and features.

use super::chains::unit_word;
use super::reading::{Item, Reading, Word};
use super::similar::{alike, stem};
use super::unit::Unit;
use super::words::{FILLERS, LISTING, STOP};

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

    /// Whether the question asks for a version, a release or a section.
    #[must_use]
    pub fn asks_version(&self) -> bool {
        let asks = |word: &Word| matches!(stem(&word.text).as_str(), "version" | "release" | "since" | "edition");
        self.question.words().any(asks)
    }

    /// Whether every amount that only the longer answer has stands apart from the others, with words of its own between
    /// (`12 goals`, `12 goals in 10 games`), or only repeats the question.
    #[must_use]
    pub fn explains_amounts(&self) -> bool {
        let (few, many) = match self.amounts {
            Amounts::Subset if self.one.amounts().len() < self.other.amounts().len() => (self.one, self.other),
            _ => (self.other, self.one),
        };
        let asked = self.question.amounts();
        let mut left = few.amounts();
        let mut between: Option<Vec<&Item>> = None;
        for item in &many.marked {
            if item.is_amount() {
                match left.iter().position(|held| held.same(item)) {
                    Some(place) => drop(left.remove(place)),
                    None if !asked.iter().any(|held| held.same(item)) && !apart(between.as_deref()) => return false,
                    None => {}
                }
                between = Some(Vec::new());
            } else if let Some(between) = &mut between {
                between.push(item);
            }
        }
        true
    }

    /// Whether the same amount has a known unit here and a word where its unit would stand there, or two such words of
    /// which one answer says no more than that.
    #[must_use]
    pub fn other_unit(&self) -> bool {
        let [one, other] = self.both().map(units);
        let asked = |word: &str| self.question.words().any(|asked| stem(&asked.text) == word);
        let word =
            |held: &Held| held.unit_word.clone().filter(|word| held.unit.is_none() && word != "degree" && !asked(word));
        let alone = self.content.iter().any(Vec::is_empty);
        one.iter().any(|left| {
            other.iter().filter(|right| right.item.same(left.item)).any(|right| match (word(left), word(right)) {
                (Some(left), Some(right)) => alone && !alike(&left, &right),
                (Some(_), None) => right.unit.is_some(),
                (None, Some(_)) => left.unit.is_some(),
                (None, None) => false,
            })
        })
    }

    /// Both answers.
    #[must_use]
    pub const fn both(&self) -> [&'a Reading; 2] {
        [self.one, self.other]
    }
}

/// An amount, its unit, and the word right after it.
struct Held<'a> {
    item: &'a Item,
    unit: Option<Unit>,
    unit_word: Option<String>,
}

fn units<'a>(reading: &'a Reading) -> Vec<Held<'a>> {
    let held = |(place, item): (usize, &'a Item)| {
        let unit = match item {
            Item::Quantity(quantity) => quantity.unit,
            _ => None,
        };
        item.is_amount().then(|| Held { item, unit, unit_word: unit_word(&reading.marked[place + 1..]) })
    };
    reading.marked.iter().enumerate().filter_map(held).collect()
}

/// Whether words with content, and nothing that makes a list, a range or a share, stand between two amounts.
fn apart(between: Option<&[&Item]>) -> bool {
    let joins = |item: &&Item| match item {
        Item::Word(word) => LISTING.contains(&word.text.as_str()),
        _ => true,
    };
    let bears = |item: &&Item| matches!(item, Item::Word(word) if !STOP.contains(&word.text.as_str()));
    between.is_some_and(|between| !between.iter().any(joins) && between.iter().any(bears))
}

/// Content words: no stop words, no fillers, nothing that only repeats the question; where that leaves nothing and there
/// is no amount either, all words.
fn content(reading: &Reading, asked: &[String]) -> Vec<String> {
    let stems = |keep: &dyn Fn(&Word) -> bool| -> Vec<String> {
        reading.words().filter(|word| keep(word)).map(|word| stem(&word.text)).collect()
    };
    let last = reading.words().last();
    let bears = |word: &Word| {
        let text = word.text.as_str();
        let letter =
            word.is_letter() && text != "i" && last.is_some_and(|last| last == word) && reading.words().count() > 1;
        letter || word.joined || !STOP.contains(&text) && !FILLERS.contains(&text)
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
