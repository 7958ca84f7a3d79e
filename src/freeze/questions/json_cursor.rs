//! A walk through one JSON text, value by value, so that a large file is never in memory as a tree, and every row knows
//! where it stands.

use super::place::Places;
use super::rows::RowError;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use std::collections::BTreeSet;

/// Why a walk ends before the text does.
pub(super) enum Stop {
    /// Whoever reads has had enough.
    Enough,
    /// The text is not as it should be.
    Bad(RowError),
}

/// A place within a JSON text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    places: Places<'a>,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, places: Places::of(text) }
    }

    /// The next byte that is no white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Where the next value stands.
    pub(super) fn place(&mut self) -> String {
        self.peek();
        self.places.place(self.at)
    }

    /// The text of the next value, which is passed.
    pub(super) fn slice(&mut self) -> Result<&'a str, Stop> {
        self.peek();
        let begin = self.at;
        self.value::<IgnoredAny>()?;
        Ok(&self.text[begin..self.at])
    }

    /// The next value, which is passed.
    pub(super) fn value<T: DeserializeOwned>(&mut self) -> Result<T, Stop> {
        let rest = &self.text[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => Err(self.bad(&error)),
            None => Err(self.ended()),
        }
    }

    /// What begins here, to be walked through once more.
    pub(super) fn here(&mut self) -> Self {
        self.peek();
        Self { text: self.text, at: self.at, places: Places::of(self.text) }
    }

    /// The first name that the object which comes next has a second time, and where the second one's value stands.
    pub(super) fn twice(mut self) -> Option<(String, String)> {
        let (mut seen, mut found) = (BTreeSet::new(), None);
        // It was read before, so that it can be walked through.
        let walked = self.members(|cursor, name| {
            if !seen.insert(name.to_owned()) {
                found = Some((name.to_owned(), cursor.place()));
                return Err(Stop::Enough);
            }
            cursor.slice().map(drop)
        });
        walked.err().and(found)
    }

    /// The items of the list that comes next, each of which `item` has to pass.
    pub(super) fn items(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        self.expect(b'[')?;
        if self.eat(b']') {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(b']') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// The members of the object that comes next, each of whose values `member` has to pass.
    pub(super) fn members(&mut self, mut member: impl FnMut(&mut Self, &str) -> Result<(), Stop>) -> Result<(), Stop> {
        self.expect(b'{')?;
        if self.eat(b'}') {
            return Ok(());
        }
        loop {
            self.peek();
            let name: String = self.value()?;
            self.expect(b':')?;
            member(self, &name)?;
            if self.eat(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Whether nothing but white space is left.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Stop::Bad((self.place(), "the JSON goes on after its end".to_owned()))),
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        if self.eat(byte) {
            return Ok(());
        }
        if self.peek().is_none() {
            return Err(self.ended());
        }
        Err(Stop::Bad((self.place(), format!("not valid JSON: a `{}` is missing here", char::from(byte)))))
    }

    fn ended(&mut self) -> Stop {
        Stop::Bad((self.place(), "the JSON ends too early".to_owned()))
    }

    /// What a JSON error says, in words of ours: the library's text would quote the file.
    fn bad(&mut self, error: &serde_json::Error) -> Stop {
        let (line, column) = self.places.numbers(self.at);
        let place = match error.line() {
            0 | 1 => format!("line {line}, column {}", (column + error.column()).saturating_sub(1).max(1)),
            further => format!("line {}, column {}", line + further - 1, error.column().max(1)),
        };
        let message = match error.classify() {
            Category::Eof => "the JSON ends too early",
            Category::Syntax | Category::Io => "not valid JSON",
            Category::Data => "not valid JSON: a name must be a text in quotes",
        };
        Stop::Bad((place, message.to_owned()))
    }
}
