//! Presets with the fixtures of their engines' and systems' replies, for the tests of the rooms that read them.

use serde_json::Value;
use std::collections::BTreeMap;

/// One preset with its fixture.
pub(crate) struct Case {
    pub name: String,
    /// What the fixture says of this preset alone.
    pub own: Value,
    /// What it says of all presets of its file.
    pub fixture: Value,
}

/// Every preset of the files in this folder of `tests/fixtures`.
#[expect(clippy::disallowed_methods, reason = "tests read their fixtures; no spec does")]
pub(crate) fn cases(folder: &str) -> Vec<Case> {
    let folder = format!("{}/tests/fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let fixture: Value = serde_json::from_slice(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap();
        for (name, own) in fixture["of"].as_object().unwrap() {
            cases.push(Case { name: name.clone(), own: own.clone(), fixture: fixture.clone() });
        }
    }
    cases
}

impl Case {
    pub(crate) fn get(&self, key: &str) -> &Value {
        self.own.get(key).unwrap_or(&self.fixture[key])
    }

    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.get(key).as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        serde_json::from_value(self.get("variables").clone()).unwrap()
    }
}
