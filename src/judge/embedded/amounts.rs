//! Pieces -> items: numbers in words and digits, ordinals, scales, decades, seasons, dates.

use super::date::{Date, month, weekday};
use super::measures::Prefix;
use super::numeral::{Quantity, roman, scale, small};
use super::reading::{Item, Word};
use super::scan::{Digits, Kind, Piece};

/// The items of scanned pieces.
#[must_use]
pub fn items(pieces: &[Piece]) -> Vec<Item> {
    let mut reader = Reader { pieces, at: 0, items: Vec::new() };
    while reader.at < pieces.len() {
        reader.step();
    }
    reader.items
}

/// Reads pieces from the left.
pub(super) struct Reader<'a> {
    pieces: &'a [Piece],
    at: usize,
    pub(super) items: Vec<Item>,
}

impl Reader<'_> {
    pub(super) fn piece(&self, ahead: usize) -> Option<&Piece> {
        self.pieces.get(self.at + ahead)
    }

    /// The word at this place, in lower case.
    pub(super) fn word(&self, ahead: usize) -> Option<String> {
        self.text(ahead).map(str::to_lowercase)
    }

    /// The word at this place as it is written.
    pub(super) fn text(&self, ahead: usize) -> Option<&str> {
        match self.piece(ahead) {
            Some(Piece { kind: Kind::Word(text), .. }) => Some(text),
            _ => None,
        }
    }

    pub(super) fn digits(&self, ahead: usize) -> Option<Digits> {
        match self.piece(ahead) {
            Some(Piece { kind: Kind::Number(digits), .. }) => Some(*digits),
            _ => None,
        }
    }

    pub(super) fn sign(&self, ahead: usize) -> Option<char> {
        match self.piece(ahead) {
            Some(Piece { kind: Kind::Sign(sign), .. }) => Some(*sign),
            _ => None,
        }
    }

    pub(super) fn glued(&self, ahead: usize) -> bool {
        self.piece(ahead).is_some_and(|piece| !piece.spaced)
    }

    fn take(&mut self, pieces: usize, item: Item) {
        self.at += pieces;
        self.items.push(item);
    }

    fn step(&mut self) {
        if self.date() || self.amount() {
            return;
        }
        let Some(piece) = self.piece(0).cloned() else { return };
        match piece.kind {
            Kind::Word(text) => self.plain_word(&text, piece.joined),
            Kind::Code(text) => self.take(1, Item::Code(text)),
            Kind::Sign('&') => self.take(1, word_item("and")),
            Kind::Sign('%' | '°' | '\'' | '"') | Kind::Number(_) => self.at += 1,
            Kind::Sign(sign) => self.take(1, Item::Mark(sign)),
        }
    }

    fn plain_word(&mut self, text: &str, joined: bool) {
        if let Some(value) = self.numeral(text) {
            return self.take(1, Item::Quantity(Quantity::bare(value, 1.0)));
        }
        let lower = text.to_lowercase();
        let version = lower == "v" && self.digits(1).is_some() && self.glued(1);
        if version || weekday(&lower) && self.near_date() {
            self.at += 1;
            return;
        }
        let letters = text.chars().filter(|character| character.is_alphabetic()).count();
        let upper = letters > 0 && !text.chars().any(char::is_lowercase);
        let capital = text.chars().next().is_some_and(char::is_uppercase);
        self.take(1, Item::Word(Word { text: lower, upper, capital, joined }));
    }

    /// A Roman numeral counts in capitals, or at the end after a word; a single letter only after a name.
    fn numeral(&self, text: &str) -> Option<f64> {
        let upper = !text.chars().any(char::is_lowercase);
        let ends = self.at + 1 == self.pieces.len();
        let lower_at_end = !text.chars().any(char::is_uppercase) && self.at > 0 && ends;
        if text.len() == 1 {
            // `World War I`, `Henry V of England`: the pronoun does not stand there.
            let named = matches!(text, "I" | "V" | "X") && (ends || self.word(1).as_deref() == Some("of"));
            return roman(text).filter(|_| named && self.after_capital());
        }
        roman(text).filter(|_| upper || lower_at_end)
    }

    fn after_capital(&self) -> bool {
        matches!(self.items.last(), Some(Item::Word(word)) if word.capital)
    }

    /// Whether a date begins right after a weekday and perhaps a comma.
    fn near_date(&self) -> bool {
        let skip = if self.sign(1) == Some(',') { 2 } else { 1 };
        self.word(skip).as_deref().and_then(month).is_some() || self.digits(skip).is_some()
    }

    /// Dates in words and in figures.
    fn date(&mut self) -> bool {
        let found = self.figures().or_else(|| self.month_first()).or_else(|| self.day_first());
        match found {
            Some((date, pieces)) => {
                self.take(pieces, Item::Date(date));
                true
            }
            None => false,
        }
    }

    fn figures(&self) -> Option<(Date, usize)> {
        let separator = self.sign(1).filter(|sign| matches!(sign, '/' | '-'))?;
        if self.sign(3) != Some(separator) || !(1..5).all(|ahead| self.glued(ahead)) {
            return None;
        }
        let (first, second, third) = (self.digits(0)?, self.digits(2)?, self.digits(4)?);
        let date = if first.length == 4 {
            let (month, day) = (small_whole(second)?, small_whole(third)?);
            ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| Date {
                year: year(first),
                month: Some(month),
                day: Some(day),
                either: false,
            })
        } else {
            Date::figures(small_whole(first)?, small_whole(second)?, year(third)?)
        };
        date.map(|date| (date, 5))
    }

    /// `July 11, 1921`, `July 1921`, `July 11`, `July`.
    fn month_first(&self) -> Option<(Date, usize)> {
        let name = self.word(0)?;
        let month = Some(month(&name)?);
        if let Some((day, used)) = self.day(1) {
            let (year, more) = self.year_after(1 + used);
            return Some((Date { year, month, day: Some(day), either: false }, 1 + used + more));
        }
        let (year, more) = self.year_after(1);
        let alone = name.len() > 3 && self.pieces.len() == 1;
        (year.is_some() || alone).then_some((Date { year, month, day: None, either: false }, 1 + more))
    }

    /// `11 July 1921`, `the 11th of July`.
    fn day_first(&self) -> Option<(Date, usize)> {
        let (day, used) = self.day(0)?;
        let gap = usize::from(self.word(used).as_deref() == Some("of"));
        let month = Some(month(&self.word(used + gap)?)?);
        let (year, more) = self.year_after(used + gap + 1);
        Some((Date { year, month, day: Some(day), either: false }, used + gap + 1 + more))
    }

    /// A day of the month at this place, with its ordinal ending, and how many pieces it takes.
    fn day(&self, ahead: usize) -> Option<(u32, usize)> {
        if let Some((value, true)) = self.word(ahead).as_deref().and_then(small) {
            return whole(value).filter(|day| (1..=31).contains(day)).map(|day| (day, 1));
        }
        let digits = self.digits(ahead).filter(|digits| digits.length <= 2 && digits.places == 0)?;
        let day = small_whole(digits).filter(|day| (1..=31).contains(day))?;
        Some((day, 1 + usize::from(self.ordinal_ending(ahead + 1))))
    }

    fn ordinal_ending(&self, ahead: usize) -> bool {
        self.glued(ahead) && matches!(self.word(ahead).as_deref(), Some("st" | "nd" | "rd" | "th"))
    }

    /// A year at this place, perhaps after a comma or `of`, and how many pieces it takes.
    fn year_after(&self, ahead: usize) -> (Option<i32>, usize) {
        let gap = usize::from(self.sign(ahead) == Some(',') || self.word(ahead).as_deref() == Some("of"));
        match self.digits(ahead + gap).filter(|digits| digits.length == 4) {
            Some(digits) if year(digits).is_some() => (year(digits), gap + 1),
            _ => (None, 0),
        }
    }

    /// A number with its scale and unit.
    fn amount(&mut self) -> bool {
        let Prefix { negative, currency, pieces: start } = self.prefix();
        let Some((mut quantity, used)) = self.in_digits(start).or_else(|| self.in_words(start)) else { return false };
        let mut used = start + used;
        if currency.is_some() && self.glued(used) && self.word(used).as_deref() == Some("m") {
            scaled(&mut quantity, 1e6);
            used += 1;
        }
        while let Some(factor) = self.word(used).as_deref().and_then(scale) {
            scaled(&mut quantity, factor);
            used += 1;
        }
        quantity.unit = currency;
        if quantity.unit.is_none() && !quantity.ordinal && !quantity.decade {
            used += self.unit(used, &mut quantity);
        }
        if negative {
            quantity.value = -quantity.value;
        }
        let written = self.digits(start).filter(|_| used == 1);
        let era = self.era(used, &mut quantity);
        let item = match written.filter(|_| !quantity.ordinal && !quantity.decade && era >= 0).and_then(year_alone) {
            Some(year) => Item::Date(Date { year: Some(year), ..Date::default() }),
            None => Item::Quantity(quantity),
        };
        self.take(used + era.unsigned_abs(), item);
        self.season(written);
        true
    }

    /// `2016-17` and `2016/17` are the years 2016 and 2017.
    fn season(&mut self, first: Option<Digits>) {
        let Some(start) = first.and_then(year_alone) else { return };
        let mark = self.sign(0).is_some_and(|sign| matches!(sign, '-' | '/')) && self.glued(0) && self.glued(1);
        let Some(end) = self.digits(1).filter(|digits| mark && digits.length == 2 && digits.places == 0) else {
            return;
        };
        let Some(end) = small_whole(end).and_then(|end| i32::try_from(end).ok()) else { return };
        if end == (start + 1) % 100 || end > start % 100 {
            let year = start - start % 100 + end + if end < start % 100 { 100 } else { 0 };
            self.at += 1;
            self.take(1, Item::Date(Date { year: Some(year), ..Date::default() }));
        }
    }

    fn in_digits(&self, ahead: usize) -> Option<(Quantity, usize)> {
        let digits = self.digits(ahead)?;
        let places = i32::try_from(digits.places).unwrap_or(i32::MAX);
        if let Some(share) = self.share(ahead) {
            return Some(share);
        }
        let mut quantity = Quantity { below: digits.below, ..Quantity::bare(digits.value, 0.1_f64.powi(places)) };
        let ending = self.word(ahead + 1).filter(|_| self.glued(ahead + 1));
        let used = match ending.as_deref() {
            Some("st" | "nd" | "rd" | "th") => {
                quantity.ordinal = true;
                2
            }
            Some("s") if digits.value.rem_euclid(10.0) == 0.0 && self.names_decade(digits) => {
                quantity.decade = true;
                quantity.value += if digits.length == 2 { 1900.0 } else { 0.0 };
                2
            }
            Some("k") => {
                scaled(&mut quantity, 1e3);
                2
            }
            _ => 1,
        };
        Some((quantity, used))
    }

    /// `3 of 4`, `3 out of 4`: the fraction 3/4.
    fn share(&self, ahead: usize) -> Option<(Quantity, usize)> {
        let used = match (self.word(ahead + 1)?.as_str(), self.word(ahead + 2).as_deref()) {
            ("of", _) => 2,
            ("out", Some("of")) => 3,
            _ => return None,
        };
        let part =
            |at: usize| self.digits(at).filter(|digits| digits.below.is_none()).and_then(small_whole).map(f64::from);
        let (above, below) = (part(ahead)?, part(ahead + used)?);
        (above < below).then(|| (Quantity { below: Some(below), ..Quantity::bare(above / below, 1.0) }, used + 1))
    }

    /// `1980s` and `the 80s` are decades, `30s` are seconds.
    fn names_decade(&self, digits: Digits) -> bool {
        digits.length == 4 || (digits.length == 2 && self.last_word() == "the")
    }

    fn last_word(&self) -> &str {
        match self.items.last() {
            Some(Item::Word(word)) => word.text.as_str(),
            _ => "",
        }
    }

    /// `twenty-one`, `one hundred and five`, `nineteen eighty-four`, `two million three hundred thousand`.
    fn in_words(&self, start: usize) -> Option<(Quantity, usize)> {
        let (first, mut ordinal) = self.word(start).as_deref().and_then(small_or_hundred)?;
        if self.pronoun(start) {
            return None;
        }
        let (mut total, mut open, mut used) = (0.0_f64, first, 1_usize);
        while !ordinal {
            let skip = match (self.sign(start + used), self.word(start + used).as_deref()) {
                (Some('-'), _) => 1,
                (_, Some("and")) if open >= 100.0 => 1,
                _ => 0,
            };
            let Some(word) = self.word(start + used + skip) else { break };
            if let Some((value, is_ordinal)) = small(&word) {
                let Some(joined) = join(open, value) else { break };
                (open, ordinal) = (joined, is_ordinal);
            } else if let Some(factor) = scale(word.strip_suffix("th").unwrap_or(&word)) {
                ordinal = word.ends_with("th");
                if factor > 100.0 {
                    total += open * factor;
                    open = 0.0;
                } else {
                    open *= factor;
                }
            } else {
                break;
            }
            used += skip + 1;
        }
        Some((Quantity { ordinal, ..Quantity::bare(total + open, 1.0) }, used))
    }

    /// `no one`, `the one who`: no number.
    fn pronoun(&self, ahead: usize) -> bool {
        self.word(ahead).as_deref() == Some("one")
            && ["no", "any", "every", "some", "each", "the", "this", "that"].contains(&self.last_word())
    }

    /// Pieces that name an era: negative for years before the common era.
    fn era(&self, ahead: usize, quantity: &mut Quantity) -> isize {
        match self.word(ahead).as_deref() {
            Some("bc" | "bce") => {
                quantity.value = -quantity.value;
                -1
            }
            Some("ad" | "ce") => 1,
            _ => 0,
        }
    }
}

fn word_item(text: &str) -> Item {
    Item::Word(Word { text: text.to_owned(), upper: false, capital: false, joined: false })
}

fn scaled(quantity: &mut Quantity, factor: f64) {
    quantity.value *= factor;
    quantity.grain *= factor;
}

fn small_or_hundred(word: &str) -> Option<(f64, bool)> {
    small(word).or_else(|| scale(word).filter(|_| word != "mn" && word != "bn").map(|factor| (factor, false)))
}

/// Joins two spoken numbers: `twenty` `one`, `hundred` `five`, `nineteen` `eighty`, `nineteen eighty` `four`.
fn join(open: f64, next: f64) -> Option<f64> {
    let whole_tens = open >= 20.0 && open % 10.0 == 0.0 && next < 10.0 && next > 0.0;
    let whole_hundreds = open >= 100.0 && open % 100.0 == 0.0 && next < 100.0;
    let century = (13.0..=20.0).contains(&open) && (10.0..100.0).contains(&next);
    if whole_tens || whole_hundreds || open == 0.0 && next > 0.0 {
        Some(open + next)
    } else if century {
        Some(open * 100.0 + next)
    } else {
        None
    }
}

fn whole(value: f64) -> Option<u32> {
    let text = format!("{value:.0}");
    text.parse().ok()
}

pub(super) fn small_whole(digits: Digits) -> Option<u32> {
    (digits.places == 0 && digits.length <= 2).then(|| whole(digits.value)).flatten()
}

fn year(digits: Digits) -> Option<i32> {
    let plain = digits.places == 0 && !digits.grouped && digits.length == 4;
    plain.then(|| whole(digits.value)).flatten().and_then(|year| i32::try_from(year).ok())
}

/// A number of four digits that reads as a year by itself.
fn year_alone(digits: Digits) -> Option<i32> {
    year(digits).filter(|year| (1000..=2100).contains(year))
}
