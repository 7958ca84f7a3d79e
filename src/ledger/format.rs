//! The lines of a ledger, byte for byte.
//!
//! Reading is as strict as writing is regular: a header, a record and a seal have exactly one layout, so that no byte
//! outside a record's own fields can differ unnoticed. docs/ledger-format.md describes it for other programs.

use super::{Damage, LedgerError};
use crate::model::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, io::Write as _, str::FromStr};

/// The longest line that is written or read, without its newline.
pub const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// The version of the layout: readers accept their own major version, whatever the minor one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatVersion {
    /// Changes when older programs cannot read the ledger any more.
    pub major: u32,
    /// Changes when fields are added that older programs may ignore.
    pub minor: u32,
}

impl FormatVersion {
    /// What this program writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for FormatVersion {
    type Err = Damage;

    fn from_str(text: &str) -> Result<Self, Damage> {
        let number = |digits: &str| parse_u64(digits.as_bytes()).and_then(|number| u32::try_from(number).ok());
        let (major, minor) = text.split_once('.').ok_or(Damage::Header)?;
        Ok(Self { major: number(major).ok_or(Damage::Header)?, minor: number(minor).ok_or(Damage::Header)? })
    }
}

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The layout's version.
    pub format: FormatVersion,
    /// The stage's name.
    pub stage: String,
    /// The version of the program that began the ledger.
    pub tool: String,
    /// The head of the ledger before it.
    pub before: Digest,
    /// Whether the replies of servers were read from a recording.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

impl Header {
    /// The header of a ledger that begins now.
    pub(super) fn new(stage: &str, before: Digest, replayed: bool) -> Self {
        let tool = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FormatVersion::CURRENT, stage: stage.to_owned(), tool, before, replayed }
    }

    /// Its line, without the newline.
    ///
    /// # Errors
    /// Never in practice: its fields always serialise.
    pub(super) fn line(&self) -> Result<Vec<u8>, LedgerError> {
        serde_json::to_vec(self).map_err(|_| LedgerError::NotAnObject)
    }

    /// Reads a line, without its newline.
    ///
    /// # Errors
    /// It is not a header.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Damage> {
        serde_json::from_slice(line).map_err(|_| Damage::Header)
    }
}

/// A line after the header, with its chain fields read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record.
    Record {
        /// Its number.
        seq: u64,
        /// The digest it says the line before it has.
        prev: Digest,
        /// Where its own fields begin: the index of the comma after the chain fields.
        fields: usize,
    },
    /// The seal.
    Seal {
        /// How many records it says there are.
        records: u64,
        /// The digest it says the line before it has.
        prev: Digest,
    },
}

impl Line {
    /// Reads a line, without its newline.
    ///
    /// # Errors
    /// It has neither layout.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Damage> {
        Self::parse_record(line).or_else(|| Self::parse_seal(line)).ok_or(Damage::Layout)
    }

    fn parse_record(line: &[u8]) -> Option<Self> {
        let (seq, prev, rest) = parse_chain(line.strip_prefix(b"{\"seq\":")?)?;
        let inner = rest.strip_prefix(b",")?.strip_suffix(b"}")?;
        let fields = line.len() - rest.len();
        inner.starts_with(b"\"").then_some(Self::Record { seq, prev, fields })
    }

    fn parse_seal(line: &[u8]) -> Option<Self> {
        let (records, prev, rest) = parse_chain(line.strip_prefix(b"{\"seal\":")?)?;
        (rest == b"}").then_some(Self::Seal { records, prev })
    }
}

/// Reads `N,"prev":"<digest>"` and returns what follows.
fn parse_chain(text: &[u8]) -> Option<(u64, Digest, &[u8])> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let number = parse_u64(&text[..digits])?;
    let rest = text[digits..].strip_prefix(b",\"prev\":\"")?;
    let (hex, rest) = rest.split_at_checked(64)?;
    let prev = std::str::from_utf8(hex).ok()?.parse().ok()?;
    Some((number, prev, rest.strip_prefix(b"\"")?))
}

/// Reads a decimal number as it is written: no sign, no leading zero.
fn parse_u64(digits: &[u8]) -> Option<u64> {
    let plain = digits == b"0" || digits.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    if !plain || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Adds a record's line, without a newline, to `out`. `fields` is the record as a JSON object with at least one member.
///
/// # Errors
/// `fields` is no such object, or the line would be too long.
pub(super) fn write_record(out: &mut Vec<u8>, seq: u64, prev: &Digest, fields: &[u8]) -> Result<(), LedgerError> {
    let inner = fields.strip_prefix(b"{").filter(|inner| inner.starts_with(b"\"")).ok_or(LedgerError::NotAnObject)?;
    write_chain(out, "seq", seq, prev)?;
    out.push(b',');
    out.extend_from_slice(inner);
    Ok(())
}

/// Adds the seal's line, without a newline, to `out`.
///
/// # Errors
/// Never in practice: memory takes it.
pub(super) fn write_seal(out: &mut Vec<u8>, records: u64, prev: &Digest) -> Result<(), LedgerError> {
    write_chain(out, "seal", records, prev)?;
    out.push(b'}');
    Ok(())
}

fn write_chain(out: &mut Vec<u8>, key: &str, number: u64, prev: &Digest) -> Result<(), LedgerError> {
    write!(out, "{{\"{key}\":{number},\"prev\":\"{prev}\"").map_err(|_| LedgerError::NotAnObject)
}

/// How many bytes the chain fields take at most: 20 digits of a number, 64 of a digest, and what stands between.
pub(super) const CHAIN_BYTES: usize = 110;

#[cfg(test)]
mod tests {
    use super::*;

    fn prev() -> Digest {
        Digest::of(b"the line before")
    }

    #[test]
    fn a_record_line_is_read_as_it_was_written() {
        let mut line = Vec::new();
        write_record(&mut line, 12, &prev(), br#"{"type":"note","x":1}"#).unwrap();
        assert_eq!(line, format!(r#"{{"seq":12,"prev":"{}","type":"note","x":1}}"#, prev()).into_bytes());
        let Ok(Line::Record { seq: 12, prev: found, fields }) = Line::parse(&line) else { panic!("not a record") };
        assert_eq!(found, prev());
        assert_eq!(&line[fields..], br#","type":"note","x":1}"#);
    }

    #[test]
    fn a_seal_line_is_read_as_it_was_written() {
        let mut line = Vec::new();
        write_seal(&mut line, 0, &prev()).unwrap();
        assert_eq!(Line::parse(&line), Ok(Line::Seal { records: 0, prev: prev() }));
    }

    #[test]
    fn other_spellings_of_the_same_json_are_refused() {
        let p = prev();
        for line in [
            format!(r#"{{ "seal":0,"prev":"{p}"}}"#),
            format!(r#"{{"seal":00,"prev":"{p}"}}"#),
            format!(r#"{{"seal":-1,"prev":"{p}"}}"#),
            format!(r#"{{"seal":99999999999999999999,"prev":"{p}"}}"#),
            format!(r#"{{"seal":0,"prev":"{p}"}} "#),
            format!(r#"{{"seal":0,"prev":"{p}","more":1}}"#),
            format!(r#"{{"seq":0,"prev":"{p}"}}"#),
            format!(r#"{{"seq":0,"prev":"{p}",}}"#),
            format!(r#"{{"prev":"{p}","seq":0,"type":"note"}}"#),
            String::new(),
        ] {
            assert_eq!(Line::parse(line.as_bytes()), Err(Damage::Layout), "{line}");
        }
    }

    #[test]
    fn what_is_no_object_is_not_written() {
        for fields in ["", "{}", "[1]", "null", "1"] {
            assert!(write_record(&mut Vec::new(), 0, &prev(), fields.as_bytes()).is_err(), "{fields}");
        }
    }

    #[test]
    fn a_header_round_trips_and_versions_read_exactly() {
        for replayed in [false, true] {
            let header = Header::new("answers", prev(), replayed);
            let line = header.line().unwrap();
            assert!(line.starts_with(br#"{"format":"1.0","stage":"answers","tool":""#));
            assert_eq!(line.ends_with(br#","replayed":true}"#), replayed);
            assert_eq!(Header::parse(&line), Ok(header));
        }
        for text in ["1", "1.", ".0", "01.0", "1.0.0", "1.x", "-1.0", "4294967296.0"] {
            assert_eq!(text.parse::<FormatVersion>(), Err(Damage::Header), "{text}");
        }
    }
}
