//! What belongs to a number: the minus and the currency before it, the unit after it.

use super::amounts::{Reader, small_whole};
use super::numeral::Quantity;
use super::reading::Item;
use super::unit::{self, Dimension, Unit};

/// What stands before a number and belongs to it.
pub(super) struct Prefix {
    pub(super) negative: bool,
    pub(super) currency: Option<Unit>,
    pub(super) pieces: usize,
}

impl Reader<'_> {
    /// A minus, in words or as a sign, and a currency before a number.
    pub(super) fn prefix(&self) -> Prefix {
        let follows_amount = self.items.last().is_some_and(Item::is_amount);
        let said = matches!(self.word(0).as_deref(), Some("minus" | "negative")) && !follows_amount;
        let sign = self.sign(0).filter(|_| self.piece(0).is_some_and(|piece| piece.spaced) && self.glued(1));
        let negative = said || sign == Some('-');
        let skipped = usize::from(negative || sign == Some('+') && !follows_amount);
        let (currency, pieces) = self.currency(skipped);
        Prefix { negative, currency, pieces: skipped + pieces }
    }

    /// A currency before a number: its sign, its sign after letters (`US$`), or its code.
    fn currency(&self, ahead: usize) -> (Option<Unit>, usize) {
        if let Some(unit) = self.sign(ahead).and_then(unit::of_sign) {
            return (Some(unit), 1);
        }
        let dollars = self.sign(ahead + 1) == Some('$');
        if let Some(unit) = self.text(ahead).filter(|_| dollars).and_then(unit::of_dollars) {
            return (Some(unit), 2);
        }
        let code = self.text(ahead).filter(|text| !text.chars().any(char::is_lowercase) || *text == "Rs");
        match code.filter(|_| self.digits(ahead + 1).is_some()).and_then(unit::money) {
            Some(unit) => (Some(unit), 1),
            None => (None, 0),
        }
    }

    /// Gives the quantity the unit at this place and tells how many pieces it takes.
    pub(super) fn unit(&self, ahead: usize, quantity: &mut Quantity) -> usize {
        let mut at = ahead;
        if self.word(at).as_deref() == Some("per") && self.word(at + 1).as_deref() == Some("cent") {
            quantity.unit = unit::named("percent");
            return 2;
        }
        if self.sign(at) == Some('-') && self.glued(at) {
            at += 1;
        }
        let found = self.degrees(at).or_else(|| self.speed(at)).or_else(|| self.power(at)).or_else(|| {
            let us = usize::from(self.word(at).as_deref() == Some("us"));
            let named = self.text(at + us).and_then(if us == 1 { unit::money } else { unit::named });
            let sign = || self.sign(at).and_then(|sign| unit::named(&sign.to_string()).or_else(|| unit::of_sign(sign)));
            named.map(|unit| (unit, 1 + us)).or_else(|| sign().map(|unit| (unit, 1)))
        });
        match found {
            Some((unit, used)) => {
                quantity.unit = Some(unit);
                at + used - ahead
            }
            None => 0,
        }
    }

    fn degrees(&self, at: usize) -> Option<(Unit, usize)> {
        let degrees = self.sign(at) == Some('°') || matches!(self.word(at).as_deref(), Some("degrees" | "degree"));
        let scale = match self.word(at + 1).as_deref().filter(|_| degrees)? {
            "c" | "celsius" => "celsius",
            "f" | "fahrenheit" => "fahrenheit",
            _ => return None,
        };
        Some((unit::named(scale)?, 2))
    }

    /// `km/h`, `miles per hour`, `m/s`: the unit and how many pieces it takes.
    fn speed(&self, at: usize) -> Option<(Unit, usize)> {
        let per = self.sign(at + 1) == Some('/') || self.word(at + 1).as_deref() == Some("per");
        let (way, time) = (unit::named(self.text(at)?)?, unit::named(self.text(at + 2)?)?);
        let dimension = match way.dimension {
            Dimension::Length => Dimension::Speed,
            Dimension::Data => Dimension::Rate,
            _ => return None,
        };
        let speed = per && time.dimension == Dimension::Time;
        speed.then_some((Unit { dimension, factor: way.factor / time.factor }, 3))
    }

    /// `km²`, `square kilometres`, `cubic metres`.
    fn power(&self, at: usize) -> Option<(Unit, usize)> {
        let said = match self.word(at)?.as_str() {
            "square" | "sq" => Some(2),
            "cubic" => Some(3),
            _ => None,
        };
        if let Some(exponent) = said {
            return Some((unit::named(self.text(at + 1)?)?.power(exponent)?, 2));
        }
        let raised = self.digits(at + 2).filter(|_| self.sign(at + 1) == Some('^') && self.glued(at + 2))?;
        Some((unit::named(self.text(at)?)?.power(small_whole(raised)?)?, 3))
    }
}
