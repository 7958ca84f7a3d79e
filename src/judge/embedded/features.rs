//! What the fitted model looks at where no rule decides. Every feature lies between 0 and 1 and is symmetric.

use super::pair::{Amounts, Pair};
use super::reading::{Item, Reading};
use super::similar::{common_start, share, trigrams};
use super::words::CONTRASTING;

/// How many features there are.
pub const COUNT: usize = NAMES.len();

/// The names of the features, in order.
pub const NAMES: [&str; 19] = [
    "one",
    "word_f1",
    "word_coverage",
    "letter_coverage",
    "trigram_dice",
    "last_word_equal",
    "first_word_equal",
    "amounts_equal",
    "amounts_subset",
    "amounts_one_sided",
    "length_gap",
    "best_common_start",
    "nothing_shared",
    "list_on_one_side",
    "contrasting_word",
    "negation_differs",
    "person_contained",
    "words_replaced",
    "one_word_replaced",
];

/// The features of a pair.
#[must_use]
pub fn features(pair: &Pair) -> [f64; COUNT] {
    let lengths = pair.content.each_ref().map(Vec::len);
    let (few, many) = (lengths[0].min(lengths[1]), lengths[0].max(lengths[1]));
    let shared = pair.shared.len();
    let contained = few > 0 && pair.extra.iter().any(Vec::is_empty);
    [
        1.0,
        share(2 * shared, few + many).min(1.0),
        share(shared.min(few), few),
        letter_coverage(pair),
        trigrams(&pair.one.plain, &pair.other.plain),
        flag(ends_alike(pair, <[String]>::last)),
        flag(ends_alike(pair, <[String]>::first)),
        flag(pair.amounts == Amounts::Equal),
        flag(pair.amounts == Amounts::Subset),
        flag(pair.amounts == Amounts::OneSided),
        1.0 - share(few, many.max(1)),
        best_common_start(pair),
        flag(shared == 0),
        flag(is_list(pair.one) != is_list(pair.other)),
        flag(pair.extra.iter().flatten().any(|word| CONTRASTING.contains(&word.as_str()))),
        flag(pair.one.negations() != pair.other.negations()),
        flag(pair.asks_who() && contained),
        flag(shared > 0 && pair.extra.iter().all(|extra| !extra.is_empty())),
        flag(shared > 0 && pair.extra.iter().all(|extra| extra.len() == 1)),
    ]
}

fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// The share of letters of the longer answer that stand in shared words: long words weigh more.
fn letter_coverage(pair: &Pair) -> f64 {
    let letters = |words: &[String]| words.iter().map(|word| word.chars().count()).sum::<usize>();
    let longest = pair.content.iter().map(|words| letters(words)).max().unwrap_or(0);
    share(letters(&pair.shared), longest).min(1.0)
}

fn ends_alike(pair: &Pair, end: fn(&[String]) -> Option<&String>) -> bool {
    let ends = pair.content.each_ref().map(|words| end(words.as_slice()));
    ends[0].is_some() && ends[0] == ends[1]
}

/// The best common beginning of two words that are not shared (`homologous`, `homology`).
fn best_common_start(pair: &Pair) -> f64 {
    let starts = pair.extra[0].iter().flat_map(|one| pair.extra[1].iter().map(move |other| common_start(one, other)));
    starts.fold(0.0, f64::max)
}

fn is_list(reading: &Reading) -> bool {
    let joins = |item: &Item| match item {
        Item::Word(word) => matches!(word.text.as_str(), "and" | "or"),
        Item::Mark(mark) => matches!(mark, ';' | '/'),
        _ => false,
    };
    reading.marked.iter().any(joins)
}
