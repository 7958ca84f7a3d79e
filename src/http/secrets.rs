//! Keys by the names of the environment variables that hold them. They never reach a log, a ledger, a report or an error.

use super::readings::places_of;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;

/// Shorter values are no keys: to replace them would tear holes into answers.
const SHORTEST: usize = 8;
/// What stands in place of a key.
const REDACTED: &[u8] = b"[key]";

/// Keys, by the name of the variable that held them. Its `Debug` shows names only.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, SecretString>);

impl Secrets {
    /// Takes a key.
    pub fn insert(&mut self, name: impl Into<String>, value: SecretString) {
        self.0.insert(name.into(), value);
    }

    /// The key that this variable held.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }

    /// The same bytes with every key in them replaced by `[key]`, in whatever spelling of JSON it stands, and whatever control
    /// characters break it. A server may send back what it was sent.
    #[must_use]
    pub fn redact(&self, bytes: Vec<u8>) -> Vec<u8> {
        let places = places_of(&self.keys(), &bytes);
        if places.is_empty() {
            return bytes;
        }
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for place in places {
            out.extend_from_slice(&bytes[at..place.start]);
            out.extend_from_slice(REDACTED);
            at = place.end;
        }
        out.extend_from_slice(&bytes[at..]);
        out
    }

    /// Whether any key stands in these bytes.
    #[must_use]
    pub fn appear_in(&self, bytes: &[u8]) -> bool {
        !places_of(&self.keys(), bytes).is_empty()
    }

    /// Whether there is any key that [`Secrets::redact`] would take out.
    #[must_use]
    pub fn hide_any(&self) -> bool {
        !self.keys().is_empty()
    }

    /// Whether the key of this variable is so short that [`Secrets::redact`] leaves it where it stands.
    #[must_use]
    pub fn is_too_short_to_hide(&self, name: &str) -> bool {
        self.get(name).is_some_and(|key| bare(key).len() < SHORTEST)
    }

    fn keys(&self) -> Vec<&[u8]> {
        self.0.values().map(|key| bare(key).as_bytes()).filter(|key| key.len() >= SHORTEST).collect()
    }
}

/// A key without the white space at its ends: programs and HTTP take it away, and what comes back has none.
fn bare(key: &SecretString) -> &str {
    key.expose_secret().trim()
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_wherever_they_stand() {
        let mut secrets = Secrets::default();
        secrets.insert("A", "sesame!!".to_owned().into());
        secrets.insert("SHORT", "1".to_owned().into());
        let redacted = secrets.redact(b"sesame!!, sesame!!sesame!!; ses, 1".to_vec());
        assert_eq!(redacted, b"[key], [key][key]; ses, 1");
        assert!(!secrets.appear_in(&redacted) && secrets.appear_in(b"xsesame!!x"));
        assert_eq!(format!("{secrets:?}"), r#"{"A", "SHORT"}"#);
    }

    #[test]
    fn a_key_is_found_without_the_white_space_at_its_ends() {
        let mut secrets = Secrets::default();
        secrets.insert("A", "\t sesame!! \r\n".to_owned().into());
        secrets.insert("SHORT", "  1234567  ".to_owned().into());
        assert_eq!(secrets.redact(b"<sesame!!> 1234567  ".to_vec()), b"<[key]> 1234567  ");
        assert!(secrets.is_too_short_to_hide("SHORT") && !secrets.is_too_short_to_hide("A"));
        secrets.insert("BLANK", " ".repeat(20).into());
        assert_eq!(secrets.redact(b"          ".to_vec()), b"          ");
    }

    #[test]
    fn keys_are_replaced_as_json_may_write_them_too() {
        let mut secrets = Secrets::default();
        secrets.insert("A", "ab/cd+12".to_owned().into());
        for written in ["ab/cd+12", r"ab\/cd+12", r"ab\u002fcd\u002b12", r"ab\u002Fcd\u002B12"] {
            let body = format!(r#"{{"error":"bad key {written}"}}"#).into_bytes();
            assert_eq!(secrets.redact(body), br#"{"error":"bad key [key]"}"#, "{written}");
        }
    }
}
