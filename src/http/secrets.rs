//! Keys by the names of the environment variables that hold them. They never reach a log, a ledger, a report or an error.

use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;

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

    /// Whether any key stands in these bytes. For tests and for the last check before something is stored.
    #[must_use]
    pub fn appear_in(&self, bytes: &[u8]) -> bool {
        self.0
            .values()
            .map(ExposeSecret::expose_secret)
            .filter(|key| !key.is_empty())
            .any(|key| bytes.windows(key.len()).any(|window| window == key.as_bytes()))
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
