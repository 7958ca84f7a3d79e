//! Text -> pieces: letters, digits and the signs that carry meaning.

use super::signs;
use unicode_normalization::char::is_combining_mark;

/// A run of one kind of character.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Letters (and digits after the first letter), accents removed, case kept.
    Word(String),
    /// A number in digits.
    Number(Digits),
    /// Digits with more than one point, or glued to letters in a way that names something: compared as they are.
    Code(String),
    /// A sign that stands for something: `%`, a currency, an operator, a symbol, `&`, `,`, `;`, `/`, `-`.
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
    /// What a fraction (`½`, `1 1/2`) is divided by.
    pub below: Option<f64>,
}

/// A piece, and whether white space (or the start of the text) stands before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// White space before it; before a dash, whatever lets it be a minus.
    pub spaced: bool,
    /// Whether it is part of a longer name (`user@a.com`, `/usr/a`).
    pub joined: bool,
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
        self.pieces.push(Piece { kind, spaced, joined: false });
    }

    fn run(mut self) -> Vec<Piece> {
        while let Some(character) = self.peek(0) {
            let spaced = self.before().is_none_or(char::is_whitespace);
            if character.is_ascii_digit() || (character == '.' && self.is_digit(1) && spaced) {
                self.number(spaced);
            } else if self.is_times(character) {
                self.at += 1;
                self.push(Kind::Sign('×'), false);
            } else if character.is_alphanumeric() {
                let (first, joined) = (self.pieces.len(), self.is_joined());
                self.word(spaced);
                // `A-league` is no league, but `well-known` is two words.
                let letter =
                    matches!(self.pieces.get(first), Some(Piece { kind: Kind::Word(text), .. }) if text.len() == 1);
                let dash = letter && self.peek(0) == Some('-') && self.peek(1).is_some_and(char::is_alphanumeric);
                let joined = joined || dash || signs::joins(self.peek(0), self.peek(1));
                if let Some(piece) = self.pieces.get_mut(first) {
                    piece.joined = joined;
                }
            } else {
                self.sign(character, spaced);
            }
        }
        self.pieces
    }

    fn sign(&mut self, character: char, spaced: bool) {
        let before = self.before();
        let found = signs::meaning(character, &self.characters[..self.at], &self.characters[self.at + 1..]);
        self.at += 1;
        let Some((sign, more)) = found else { return };
        self.at += more;
        let spaced = if sign == '-' { before.is_none_or(signs::lets_minus) } else { spaced };
        self.push(Kind::Sign(sign), spaced);
    }

    /// `1920x1080`, `3 * 4`: a sign between two numbers; the `x` of `0x1F` is none.
    fn is_times(&self, character: char) -> bool {
        let zero = self.before() == Some('0') && (self.at < 2 || !self.characters[self.at - 2].is_ascii_digit());
        let glued = self.before().is_some_and(|before| before.is_ascii_digit()) && self.is_digit(1);
        matches!(character, 'x' | 'X' | '*') && glued && !zero
    }

    /// Whether a sign without white space ties what begins here to what stands before it.
    fn is_joined(&self) -> bool {
        signs::joins(self.before(), self.peek(0))
    }

    /// Letters; a dotted abbreviation (`U.S.A.`) is one word; `'s` is dropped and `n't` becomes `not`.
    fn word(&mut self, spaced: bool) {
        let mut text = String::new();
        let mut dotted = false;
        while let Some(character) = self.peek(0) {
            if character.is_ascii_digit() && text.eq_ignore_ascii_case("v") {
                break;
            }
            let mark = is_combining_mark(character) || matches!(character, '+' | '#') || self.ends_as_minus(&text);
            if character.is_alphanumeric() || (mark && !text.is_empty()) {
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

    /// `O-`, `Na-`: a minus after a symbol, like the plus of `O+`.
    fn ends_as_minus(&self, text: &str) -> bool {
        let symbol = text.len() <= 2 && text.starts_with(char::is_uppercase);
        self.peek(0) == Some('-') && symbol && !self.peek(1).is_some_and(|next| next.is_alphanumeric() || next == '-')
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
        if let Some(digits) = points.is_empty().then(|| self.fraction(&whole, negative)).flatten() {
            return self.push(Kind::Number(digits), spaced);
        }
        let fraction = points.pop().unwrap_or_default();
        let value: f64 = format!("{whole}.{fraction}0").parse().unwrap_or(f64::INFINITY);
        let digits = Digits {
            value: if negative { -value } else { value },
            places: u32::try_from(fraction.len()).unwrap_or(u32::MAX),
            length: whole.len(),
            grouped,
            below: None,
        };
        self.push(Kind::Number(digits), spaced);
    }

    /// `½`, `1/2`, and with the whole number before it `1½`. A slash makes a fraction only of what is less than one, and
    /// not where a date goes on.
    fn fraction(&mut self, above: &str, negative: bool) -> Option<Digits> {
        let slash = self.peek(0).filter(|slash| matches!(*slash, '/' | signs::FRACTION) && self.is_digit(1))?;
        let below: String = self.characters[self.at + 1..].iter().take_while(|digit| digit.is_ascii_digit()).collect();
        let after = (self.peek(below.len() + 1), self.peek(below.len() + 2));
        let (numerator, denominator): (f64, f64) = (above.parse().ok()?, below.parse().ok()?);
        let begins =
            self.at < above.len() + 1 || !matches!(self.characters[self.at - above.len() - 1], '/' | '.' | '-');
        let plain = begins && above.len() <= 2 && below.len() <= 2 && !signs::goes_on(after) && numerator < denominator;
        if denominator <= 0.0 || (slash == '/' && !plain) {
            return None;
        }
        self.at += below.len() + 1;
        let whole = self.takes_whole();
        let value = whole.unwrap_or(0.0).abs() + numerator / denominator;
        let negative = negative || whole.is_some_and(f64::is_sign_negative);
        let value = if negative { -value } else { value };
        Some(Digits { value, places: 1, length: above.len(), grouped: false, below: Some(denominator) })
    }

    /// The whole number right before a fraction, taken away.
    fn takes_whole(&mut self) -> Option<f64> {
        match self.pieces.last() {
            Some(Piece { kind: Kind::Number(digits), .. }) if digits.places == 0 => {
                let value = digits.value;
                self.pieces.pop();
                Some(value)
            }
            _ => None,
        }
    }

    /// Whether the piece before is a minus sign of this number; it is taken away then.
    fn takes_minus(&mut self) -> bool {
        let minus = matches!(self.pieces.last(), Some(Piece { kind: Kind::Sign('-'), spaced: true, .. }));
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
        scan(&super::super::fold::fold(text)).into_iter().map(show).collect::<Vec<_>>().join(" ")
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
