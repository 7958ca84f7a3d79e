//! Keys by the names of the environment variables that hold them. They never reach a log, a ledger, a report or an error.

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

    /// The same bytes with every key in them replaced by `[key]`. A server may send back what it was sent.
    #[must_use]
    pub fn redact(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for key in self.keys() {
            bytes = replaced(&bytes, key);
            for escaped in in_json(key).into_iter().filter(|escaped| escaped != key) {
                bytes = replaced(&bytes, &escaped);
            }
        }
        bytes
    }

    /// Whether any key stands in these bytes. For tests and for the last check before something is stored.
    #[must_use]
    pub fn appear_in(&self, bytes: &[u8]) -> bool {
        self.keys().any(|key| bytes.windows(key.len()).any(|window| window == key))
    }

    /// Whether the key of this variable is so short that [`Secrets::redact`] leaves it where it stands.
    #[must_use]
    pub fn is_too_short_to_hide(&self, name: &str) -> bool {
        self.get(name).is_some_and(|key| key.expose_secret().len() < SHORTEST)
    }

    fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.0.values().map(|key| key.expose_secret().as_bytes()).filter(|key| key.len() >= SHORTEST)
    }
}

/// How JSON may write a key otherwise than as it is: with its slashes escaped, or all that is no letter and no digit.
fn in_json(key: &[u8]) -> [Vec<u8>; 3] {
    let escaped = |escape: &dyn Fn(u8) -> Option<String>| {
        key.iter().flat_map(|byte| escape(*byte).map_or_else(|| vec![*byte], String::into_bytes)).collect()
    };
    let sign = |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    [
        escaped(&|byte| (byte == b'/').then(|| "\\/".to_owned())),
        escaped(&|byte| sign(byte).then(|| format!("\\u{byte:04x}"))),
        escaped(&|byte| sign(byte).then(|| format!("\\u{byte:04X}"))),
    ]
}

/// One pass from left to right, so that a key that is part of what replaces it does no harm.
fn replaced(bytes: &[u8], key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(key.len()).position(|window| window == key) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(REDACTED);
        rest = &rest[at + key.len()..];
    }
    out.extend_from_slice(rest);
    out
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
    fn keys_are_replaced_as_json_may_write_them_too() {
        let mut secrets = Secrets::default();
        secrets.insert("A", "ab/cd+12".to_owned().into());
        for written in ["ab/cd+12", r"ab\/cd+12", r"ab\u002fcd\u002b12", r"ab\u002Fcd\u002B12"] {
            let body = format!(r#"{{"error":"bad key {written}"}}"#).into_bytes();
            assert_eq!(secrets.redact(body), br#"{"error":"bad key [key]"}"#, "{written}");
        }
    }
}
