//! The part of a document that a reader of a flip wants to see: where the answer stands in it.

use unicode_normalization::char::is_combining_mark;

/// Characters shown before the answer.
const BEFORE: usize = 40;

/// At most `chars` characters of `text`: around the first place where `answer` stands as whole words, else from the
/// beginning. What is cut at either end is marked with an ellipsis.
#[must_use]
pub fn excerpt(text: &str, answer: &str, chars: usize) -> String {
    let start = place(text, answer).map_or(0, |at| word_before(text, at));
    let shown: String = text[start..].chars().take(chars).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if start + shown.len() < text.len() { "…" } else { "" };
    format!("{before}{shown}{after}")
}

/// Whether `answer` stands in `text` as whole words.
pub(in crate::report) fn carries(text: &str, answer: &str) -> bool {
    place(text, answer).is_some()
}

/// Where `answer` first stands as whole words, whatever the case of ASCII letters.
fn place(text: &str, answer: &str) -> Option<usize> {
    // Lower-casing ASCII alone keeps every index where it is.
    let (lower, wanted) = (text.to_ascii_lowercase(), answer.trim().to_ascii_lowercase());
    if wanted.is_empty() {
        return None;
    }
    lower.match_indices(&wanted).map(|(at, _)| at).find(|at| is_whole(&lower, *at, at + wanted.len()))
}

/// Whether neither end lies within a word or a number: `4` does not stand in `14` nor in `3.4`.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let free = |near: Option<char>, far: Option<char>| match near {
        Some('.' | ',') => !far.is_some_and(|character| character.is_ascii_digit()),
        Some(near) => !near.is_alphanumeric(),
        None => true,
    };
    free(before.next(), before.next()) && free(after.next(), after.next())
}

/// Where two texts are still the same, a word at most [`BEFORE`] characters before they differ; the same place in both, and never
/// within a letter and its marks.
pub(in crate::report) fn before_difference(one: &str, other: &str) -> usize {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    let at = same.last().map_or(0, |((at, character), _)| at + character.len_utf8());
    let start = word_before(one, at);
    // A word that is longer than that is cut at a letter.
    let joins = |character: char| is_combining_mark(character) || matches!(character, '\u{200d}' | '\u{fe0f}');
    let letter = |(place, character): (usize, char)| {
        let after_joiner = one[..start + place].ends_with('\u{200d}');
        (!joins(character) && !after_joiner).then_some(start + place)
    };
    one[start..at].char_indices().find_map(letter).unwrap_or(0)
}

/// The start of a word at most [`BEFORE`] characters before `at`; the start of the text where it is that near.
fn word_before(text: &str, at: usize) -> usize {
    let Some((earliest, _)) = text[..at].char_indices().rev().nth(BEFORE) else { return 0 };
    text[earliest..at].find(' ').map_or(earliest, |space| earliest + space + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_answer_stands_in_its_excerpt_with_words_before_it() {
        let text =
            format!("{}Chrome supports it since version 65, Firefox since 14. {}", "word ".repeat(40), "x ".repeat(99));
        let shown = excerpt(&text, "Version 65", 80);
        assert_eq!(shown, "…word word word Chrome supports it since version 65, Firefox since 14. x x x x x …");
    }

    #[test]
    fn parts_of_words_and_numbers_are_no_place() {
        for text in ["version 14", "version 3.4", "4.2", "4,000", "v4", "forty"] {
            assert!(!carries(text, "4"), "{text}");
        }
        for text in ["4", "version 4.", "(4)", "4, then 5", "is 4 now"] {
            assert!(carries(text, "4"), "{text}");
        }
        assert!(!carries("anything", " "));
    }

    #[test]
    fn without_the_answer_it_is_the_beginning() {
        assert_eq!(excerpt("a short text", "UNKNOWN", 7), "a short…");
        assert_eq!(excerpt("a short text", "UNKNOWN", 70), "a short text");
        assert_eq!(excerpt("", "x", 5), "");
    }

    #[test]
    fn two_texts_begin_a_few_words_before_they_differ() {
        let common = "the same words again and again, ".repeat(12);
        let (one, other) = (format!("{common}then hold it"), format!("{common}then let go"));
        assert_eq!(&one[before_difference(&one, &other)..], "the same words again and again, then hold it");
        assert_eq!(before_difference("short", "shirt"), 0);
        assert_eq!(before_difference("", "x"), 0);
        // Without a space it is cut between letters, not between a letter and its mark.
        let letters = "e\u{301}".repeat(60);
        let start = before_difference(&(letters.clone() + "a"), &(letters.clone() + "b"));
        assert!(letters[start..].starts_with('e') && start > 0, "{start}");
        let family = "👩\u{200d}👧".repeat(60);
        let start = before_difference(&(family.clone() + "a"), &(family.clone() + "b"));
        assert!(family[start..].starts_with('👩') && start > 0, "{start}");
    }

    proptest! {
        #[test]
        fn a_difference_is_found_in_any_two_texts(common in ".{0,90}", one in ".{0,9}", other in ".{0,9}") {
            let (one, other) = (format!("{common}{one}"), format!("{common}{other}"));
            let start = before_difference(&one, &other);
            prop_assert_eq!(&one[..start], &other[..start]);
            prop_assert!(one == other || one[start..] != other[start..]);
        }

        #[test]
        fn no_text_makes_it_panic_or_grow(text in ".*", answer in ".{0,3}", chars in 0_usize..50) {
            prop_assert!(excerpt(&text, &answer, chars).chars().count() <= chars + 2);
        }
    }
}
