//! SHA-256 digests: the names of everything that is frozen.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};
use sha2::{Digest as _, Sha256};
use std::{fmt, str::FromStr};

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Text that is not 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 lower-case hexadecimal digits")]
pub struct DigestError;

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a sequence of parts. Each part is preceded by its length as eight little-endian bytes, so
    /// that no two different sequences feed the same bytes to the hash.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hashing = Hashing::default();
        for part in parts {
            hashing.part(part);
        }
        hashing.finish()
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A digest from its 32 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first twelve hexadecimal digits, for people to read.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

/// A digest in the making, of what comes a piece at a time.
#[derive(Clone, Debug, Default)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Takes the next part, as [`Digest::of_parts`] does.
    pub fn part(&mut self, part: &[u8]) {
        self.update(&(part.len() as u64).to_le_bytes());
        self.update(part);
    }

    /// The digest of everything.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.pad(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(DigestError);
        }
        // No branch within: half of all digits would be guessed wrong, and reading a ledger is mostly this.
        let (mut bytes, mut seen) = ([0_u8; 32], 0);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
            seen |= high | low;
            *byte = high << 4 | low;
        }
        if seen > 15 { Err(DigestError) } else { Ok(Self(bytes)) }
    }
}

/// What each byte stands for as a hexadecimal digit in lower case; 255 where it is none.
const VALUES: [u8; 256] = {
    let (mut values, mut value) = ([255; 256], 0);
    while value < 16 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DigestVisitor)
    }
}

/// Reads a digest from text without copying it: ledgers hold little else.
struct DigestVisitor;

impl Visitor<'_> for DigestVisitor {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{DigestError}")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_the_published_value_for_abc() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), expected);
        assert_eq!(expected.parse(), Ok(Digest::of(b"abc")));
    }

    #[test]
    fn upper_case_and_short_digests_are_refused() {
        assert_eq!("AB".repeat(32).parse::<Digest>(), Err(DigestError));
        assert_eq!("ab".parse::<Digest>(), Err(DigestError));
    }

    #[test]
    fn every_byte_is_written_and_read_and_no_other_sign_is_a_digit() {
        for start in (0..=u8::MAX).step_by(32) {
            let digest = Digest(std::array::from_fn(|place| start + u8::try_from(place).unwrap()));
            assert_eq!(digest.to_string().parse(), Ok(digest));
        }
        let text = "0".repeat(64);
        for sign in (0..=u8::MAX).map(char::from).filter(|sign| sign.is_ascii() && !"0123456789abcdef".contains(*sign))
        {
            for place in [0, 31, 63] {
                let mut text = text.clone();
                text.replace_range(place..=place, &sign.to_string());
                assert_eq!(text.parse::<Digest>(), Err(DigestError), "{sign:?} at {place}");
            }
        }
    }

    #[test]
    fn parts_do_not_run_into_one_another() {
        let one = Digest::of_parts([b"ab".as_slice(), b"c".as_slice()]);
        let other = Digest::of_parts([b"a".as_slice(), b"bc".as_slice()]);
        assert_ne!(one, other);
    }
}
