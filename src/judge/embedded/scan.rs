//! Text -> pieces: letters, digits and the few signs that carry meaning. Accents, typographic signs and the difference
//! between kinds of dashes and quotes end here.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// A run of one kind of character.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Letters (and digits after the first letter), accents removed, case kept.
    Word(String),
    /// A number in digits.
    Number(Digits),
    /// Digits with more than one point, or glued to letters in a way that names something: compared as they are.
    Code(String),
    /// A sign that stands for something: `%`, a currency, `&`, `,`, `;`, `/`, `-` between digits.
    Sign(char),
}

/// A number as it was written in digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digits {
    /// Its value; negative only where a sign stands right before it and no digit or letter before that.
    pub value: f64,
    /// Digits after the decimal point.
    pub places: u32,
    /// How many digits there are before the point.
    pub length: usize,
    /// Whether thousands are separated.
    pub grouped: bool,
}

/// A piece, and whether white space (or the start of the text) stands before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// White space before it.
    pub spaced: bool,
}

/// Folds what is written differently without a difference in meaning: compatibility forms, accents, kinds of quotes and
/// dashes, letters that decompose only by custom. Case is kept.
#[must_use]
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.nfkd().filter(|character| !is_combining_mark(*character)) {
        match character {
            '‘' | '’' | '´' | '`' | 'ʼ' | '′' => folded.push('\''),
            '“' | '”' | '«' | '»' | '″' => folded.push('"'),
            '‐'..='―' | '−' => folded.push('-'),
            '⁄' => folded.push('/'),
            'ß' => folded.push_str("ss"),
            'ø' => folded.push('o'),
            'Ø' => folded.push('O'),
            'ł' => folded.push('l'),
            'Ł' => folded.push('L'),
            'đ' | 'ð' => folded.push('d'),
            'Đ' => folded.push('D'),
            'æ' => folded.push_str("ae"),
            'Æ' => folded.push_str("Ae"),
            'œ' => folded.push_str("oe"),
            'Œ' => folded.push_str("Oe"),
            'ı' => folded.push('i'),
            'þ' => folded.push_str("th"),
            other => folded.push(other),
        }
    }
    folded
}

/// The pieces of a folded text.
#[must_use]
pub fn scan(folded: &str) -> Vec<Piece> {
    Scanner { characters: folded.chars().collect(), at: 0, pieces: Vec::new() }.run()
}

struct Scanner {
    characters: Vec<char>,
    at: usize,
    pieces: Vec<Piece>,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn before(&self) -> Option<char> {
        self.at.checked_sub(1).and_then(|at| self.characters.get(at)).copied()
    }

    fn is_digit(&self, ahead: usize) -> bool {
        self.peek(ahead).is_some_and(|character| character.is_ascii_digit())
    }

    fn push(&mut self, kind: Kind, spaced: bool) {
        self.pieces.push(Piece { kind, spaced });
    }

    fn run(mut self) -> Vec<Piece> {
        while let Some(character) = self.peek(0) {
            let spaced = self.before().is_none_or(char::is_whitespace);
            if character.is_ascii_digit() || (character == '.' && self.is_digit(1) && spaced) {
                self.number(spaced);
            } else if character.is_alphanumeric() {
                self.word(spaced);
            } else {
                self.sign(character, spaced);
            }
        }
        self.pieces
    }

    fn sign(&mut self, character: char, spaced: bool) {
        self.at += 1;
        if matches!(character, '%' | '$' | '£' | '€' | '¥' | '&' | ',' | ';' | '/' | '-' | '°') {
            self.push(Kind::Sign(character), spaced);
        }
    }

    /// Letters; a dotted abbreviation (`U.S.A.`) is one word; `'s` is dropped and `n't` becomes `not`.
    fn word(&mut self, spaced: bool) {
        let mut text = String::new();
        let mut dotted = false;
        while let Some(character) = self.peek(0) {
            if character.is_ascii_digit() && text.eq_ignore_ascii_case("v") {
                break;
            }
            if character.is_alphanumeric() || (matches!(character, '+' | '#') && !text.is_empty()) {
                text.push(character);
            } else if character == '.' && self.dot_within(&text, dotted) {
                dotted = true;
            } else {
                break;
            }
            self.at += 1;
        }
        self.apostrophe(text, spaced);
    }

    /// Whether the dot here belongs to an abbreviation of single letters.
    fn dot_within(&self, text: &str, dotted: bool) -> bool {
        let single = self.at < 2 || !self.characters[self.at - 2].is_alphanumeric();
        let letter = |ahead: usize| self.peek(ahead).is_some_and(char::is_alphabetic);
        let next_is_single = letter(1) && !letter(2);
        single && !text.is_empty() && (next_is_single || dotted)
    }

    fn apostrophe(&mut self, mut text: String, spaced: bool) {
        let rest: String = self.characters[self.at..].iter().take(3).collect::<String>().to_lowercase();
        let ends = |length: usize| !self.peek(length).is_some_and(char::is_alphanumeric);
        if rest.starts_with("'s") && ends(2) {
            self.at += 2;
        } else if rest.starts_with("'t") && ends(2) && text.to_lowercase().ends_with('n') {
            self.at += 2;
            text.pop();
            let stem = match text.to_lowercase().as_str() {
                "ca" => "can".to_owned(),
                "wo" => "will".to_owned(),
                _ => std::mem::take(&mut text),
            };
            self.push(Kind::Word(stem), spaced);
            "not".clone_into(&mut text);
        } else if rest.starts_with('\'') && !ends(1) {
            // O'Brien is one word.
            self.at += 1;
            let start = self.pieces.len();
            self.word(spaced);
            if let Some(Piece { kind: Kind::Word(tail), .. }) = self.pieces.get_mut(start) {
                tail.insert_str(0, &text);
                return;
            }
        }
        self.push(Kind::Word(text), spaced);
    }

    fn number(&mut self, spaced: bool) {
        let negative = self.takes_minus();
        let (whole, grouped) = self.whole();
        let mut points = Vec::new();
        while self.peek(0) == Some('.') && self.is_digit(1) {
            self.at += 1;
            points.push(self.run_of_digits());
        }
        if points.len() > 1 {
            let code = std::iter::once(whole).chain(points).collect::<Vec<_>>().join(".");
            return self.push(Kind::Code(code), spaced);
        }
        let fraction = points.pop().unwrap_or_default();
        let value: f64 = format!("{whole}.{fraction}0").parse().unwrap_or(f64::INFINITY);
        let digits = Digits {
            value: if negative { -value } else { value },
            places: u32::try_from(fraction.len()).unwrap_or(u32::MAX),
            length: whole.len(),
            grouped,
        };
        self.push(Kind::Number(digits), spaced);
    }

    /// Whether the piece before is a minus sign of this number; it is taken away then.
    fn takes_minus(&mut self) -> bool {
        let minus = matches!(self.pieces.last(), Some(Piece { kind: Kind::Sign('-'), spaced: true }));
        let glued = self.before() == Some('-');
        if minus && glued {
            self.pieces.pop();
        }
        minus && glued
    }

    fn run_of_digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.peek(0).filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        digits
    }

    /// Digits before the point, with `,ddd` taken as a separator of thousands.
    fn whole(&mut self) -> (String, bool) {
        let mut digits = self.run_of_digits();
        let groups = digits.len() <= 3;
        let mut grouped = false;
        while groups && self.peek(0) == Some(',') {
            // `500, 000` is one number: no list has an entry of three zeros.
            let gap = usize::from(self.peek(1) == Some(' ') && (2..=4).all(|ahead| self.peek(ahead) == Some('0')));
            if !(1..=3).all(|ahead| self.is_digit(gap + ahead)) || self.is_digit(gap + 4) {
                break;
            }
            self.at += 1 + gap;
            digits.push_str(&self.run_of_digits());
            grouped = true;
        }
        (digits, grouped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let show = |piece: Piece| match piece.kind {
            Kind::Word(text) => text,
            Kind::Number(digits) => format!("#{}", digits.value),
            Kind::Code(text) => format!("={text}"),
            Kind::Sign(sign) => sign.to_string(),
        };
        scan(&fold(text)).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn accents_quotes_and_dashes_are_folded() {
        assert_eq!(shown("Beyoncé’s “Déjà Vu”"), "Beyonce Deja Vu");
        assert_eq!(shown("Mötley Crüe – Ærøskøbing"), "Motley Crue - Aeroskobing");
    }

    #[test]
    fn dotted_abbreviations_are_one_word() {
        assert_eq!(shown("U.S.A."), "USA");
        assert_eq!(shown("the U.S. and J.R.R. Tolkien"), "the US and JRR Tolkien");
        assert_eq!(shown("It ended. A war began."), "It ended A war began");
    }

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(
            shown("1,234,567.5 and 12,34 and -40 and 1998-2003"),
            "#1234567.5 and #12 , #34 and #-40 and #1998 - #2003"
        );
        assert_eq!(shown("v12.1.3 or H2O or 12.1"), "v =12.1.3 or H2O or #12.1");
    }

    #[test]
    fn contractions_show_their_negation() {
        assert_eq!(shown("isn't, can’t, won't"), "is not , can not , will not");
        assert_eq!(shown("O'Brien's dog"), "OBrien dog");
    }

    #[test]
    fn languages_with_signs_keep_them() {
        assert_eq!(shown("C++ or C# or C"), "C++ or C# or C");
    }
}
