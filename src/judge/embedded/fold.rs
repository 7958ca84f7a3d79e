//! One spelling for what is written differently without a difference in meaning: compatibility forms, accents, kinds of
//! quotes and dashes, letters that decompose only by custom. Case is kept.

use super::signs::FRACTION;
use super::similar::is_foreign;
use unicode_normalization::{
    UnicodeNormalization as _,
    char::{decompose_compatible, is_combining_mark},
};

/// Folds a text. Accents go from Latin, Greek and Cyrillic letters, points from Hebrew and Arabic ones; in other scripts
/// such marks are vowels or make another letter, and stay.
#[must_use]
pub fn fold(text: &str) -> String {
    let mut folding = Folding { folded: String::with_capacity(text.len()), base: None };
    let mut raised = false;
    for character in text.chars() {
        let superscript = is_superscript(character);
        if superscript && !raised && folding.ends_with(|last| last.is_alphanumeric() || last == ')') {
            folding.folded.push('^');
        }
        raised = superscript;
        folding.character(character);
    }
    folding.folded.nfc().collect()
}

struct Folding {
    folded: String,
    /// The last character that is no mark.
    base: Option<char>,
}

impl Folding {
    fn ends_with(&self, holds: impl Fn(char) -> bool) -> bool {
        self.folded.chars().last().is_some_and(holds)
    }

    fn character(&mut self, character: char) {
        if matches!(character, '´' | '`') {
            return self.part('\'');
        }
        let mut parts = Vec::new();
        decompose_compatible(character, |part| parts.push(part));
        // `1½` is one and a half, not eleven halves.
        if parts.len() > 1 && parts.contains(&FRACTION) && self.ends_with(|last| last.is_ascii_digit()) {
            self.folded.push(' ');
        }
        for part in parts {
            self.part(part);
        }
    }

    fn part(&mut self, character: char) {
        if is_combining_mark(character) {
            if self.keeps(character) {
                self.folded.push(character);
            }
            return;
        }
        self.base = Some(character);
        match spelt(character) {
            Some(spelt) => self.folded.push_str(spelt),
            None => self.folded.push(character),
        }
    }

    /// Whether a mark stays on its base. The stroke through an operator (`≠`) does.
    fn keeps(&self, mark: char) -> bool {
        let points = matches!(mark, '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{652}' | '\u{670}');
        let selector = matches!(mark, '\u{fe00}'..='\u{fe0f}');
        let accented = |base: char| base.is_whitespace() || (base.is_alphanumeric() && !is_foreign(base));
        !points && !selector && self.base.is_some_and(|base| !accented(base))
    }
}

fn is_superscript(character: char) -> bool {
    matches!(character, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁺' | '⁻')
}

fn spelt(character: char) -> Option<&'static str> {
    Some(match character {
        '‘' | '’' | 'ʼ' | '′' => "'",
        '“' | '”' | '«' | '»' | '″' => "\"",
        '‐'..='―' | '−' => "-",
        'ß' => "ss",
        'ø' => "o",
        'Ø' => "O",
        'ł' => "l",
        'Ł' => "L",
        'đ' | 'ð' => "d",
        'Đ' => "D",
        'æ' => "ae",
        'Æ' => "Ae",
        'œ' => "oe",
        'Œ' => "Oe",
        'ı' => "i",
        'þ' => "th",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_go_where_they_are_accents() {
        assert_eq!(fold("Beyoncé, Ελλάδα, Ёлка, e\u{301}"), "Beyonce, Ελλαδα, Елка, e");
        assert_eq!(fold("שָׁלוֹם شكراً"), "שלום شكرا");
    }

    #[test]
    fn marks_stay_where_they_are_vowels_or_make_another_letter() {
        for text in ["राम", "रोम", "バス", "パス", "がき", "มี", "มื", "கால்", "দিন", "서울"]
        {
            assert_eq!(fold(text), text.nfc().collect::<String>());
        }
        assert_eq!(fold("ﾊﾟｽ"), "パス");
    }

    #[test]
    fn raised_figures_and_fractions_stay_apart_from_figures() {
        assert_eq!(fold("10² m² 2¹⁰ 10⁻³ CO₂"), "10^2 m^2 2^10 10^-3 CO2");
        assert_eq!(fold("1½ ¾"), "1 1⁄2 3⁄4");
        assert_eq!(fold("a ≠ b"), "a ≠ b");
    }
}
