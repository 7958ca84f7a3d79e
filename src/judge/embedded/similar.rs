//! Likeness of single words and strings: plural stems, one-letter slips, n-grams.

use std::collections::BTreeMap;

/// The singular of a regular English plural, and one spelling for a few that vary.
#[must_use]
pub fn stem(word: &str) -> String {
    let word = word.replace("ph", "f");
    let length = word.chars().count();
    if length > 4 && word.ends_with("ies") {
        return format!("{}y", &word[..word.len() - 3]);
    }
    if length > 4 && ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| word.ends_with(ending)) {
        return word[..word.len() - 2].to_owned();
    }
    let kept = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if length > 3 && word.ends_with('s') && !kept {
        return word[..word.len() - 1].to_owned();
    }
    word
}

/// Whether two stems are one word: equal, or a slip of one letter (changed, left out, doubled, two swapped) in a word of
/// six letters or more. A changed last letter is no slip (`Mario`, `Maria`), nor is anything beside a digit or in a script
/// that the judge does not read.
#[must_use]
pub fn alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    let exact = one.iter().chain(&other).any(|letter| letter.is_ascii_digit() || is_foreign(*letter));
    if exact || short.len() < 6 || long.len() - short.len() > 1 || short[0] != long[0] {
        return false;
    }
    let start = short.iter().zip(long).take_while(|(left, right)| left == right).count();
    let (short, long) = (&short[start..], &long[start..]);
    if short.len() < long.len() {
        // A letter more at the very end makes another word (`Georgi`, `Georgia`); within, it is a slip.
        return !short.is_empty() && short == &long[1..];
    }
    let swapped = short.len() >= 2 && short[0] == long[1] && short[1] == long[0] && short[2..] == long[2..];
    let changed = short.len() > 1 && short[1..] == long[1..];
    swapped || changed
}

/// Whether a letter is neither Latin, Greek nor Cyrillic: of how words are inflected there, the judge knows nothing.
#[must_use]
pub const fn is_foreign(letter: char) -> bool {
    letter >= '\u{530}' && !matches!(letter, '\u{1e00}'..='\u{1fff}')
}

/// The share of common letter trigrams (Dice) of two texts padded with spaces; 1 for equal texts.
#[must_use]
pub fn trigrams(one: &str, other: &str) -> f64 {
    let (one, other) = (grams(one), grams(other));
    let total: u32 = one.values().sum::<u32>() + other.values().sum::<u32>();
    let common: u32 = one.iter().map(|(gram, count)| *count.min(other.get(gram).unwrap_or(&0))).sum();
    if total == 0 { 1.0 } else { f64::from(2 * common) / f64::from(total) }
}

fn grams(text: &str) -> BTreeMap<[char; 3], u32> {
    let letters: Vec<char> = [' ', ' '].into_iter().chain(text.chars()).chain([' ']).collect();
    let mut counts = BTreeMap::new();
    for window in letters.windows(3) {
        *counts.entry([window[0], window[1], window[2]]).or_insert(0) += 1;
    }
    counts
}

/// The length of the common beginning of two words as a share of the longer one.
#[must_use]
pub fn common_start(one: &str, other: &str) -> f64 {
    let common = one.chars().zip(other.chars()).take_while(|(left, right)| left == right).count();
    let longest = one.chars().count().max(other.chars().count()).max(1);
    share(common, longest)
}

/// `part / whole` as a float; both are small.
#[must_use]
pub fn share(part: usize, whole: usize) -> f64 {
    let float = |count: usize| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_lose_their_ending_and_other_words_keep_it() {
        let stems = ["cities", "boxes", "bosses", "wolves", "gas", "glass", "virus", "axis", "philip", "bus"].map(stem);
        assert_eq!(stems, ["city", "box", "boss", "wolve", "gas", "glass", "virus", "axis", "filip", "bus"]);
    }

    #[test]
    fn one_slip_is_forgiven_in_long_words_only() {
        assert!(alike("hitchcock", "hitchcok") && alike("mississippi", "missisippi") && alike("mcdonald", "macdonald"));
        for (one, other) in [
            ("iran", "iraq"),
            ("austria", "australia"),
            ("maria", "mario"),
            ("angela", "angelo"),
            ("slovakia", "slovenia"),
            ("niger", "nigeria"),
            ("chrome12", "chrome13"),
        ] {
            assert!(!alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn trigrams_of_equal_texts_are_all_common() {
        assert!((trigrams("abc", "abc") - 1.0).abs() < 1e-12);
        assert!(trigrams("abc", "xyz").abs() < 0.4);
    }
}
