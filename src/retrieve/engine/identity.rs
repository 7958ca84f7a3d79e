//! What a snapshot physically is, as its engine says.

use crate::freeze::ResolvedSnapshot;
use crate::model::{Digest, SnapshotName};
use std::collections::BTreeMap;

/// A snapshot as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::retrieve) struct Identity {
    /// The variables, physical names in the place of aliases.
    pub variables: BTreeMap<String, String>,
    /// How many documents there are, where the engine tells.
    pub documents: Option<u64>,
    /// Further values that belong to it.
    pub state: Vec<String>,
    /// Whether the engine was asked at all.
    pub asked: bool,
}

impl Identity {
    /// A snapshot of which nothing is known but its name.
    pub(in crate::retrieve) fn of(variables: &BTreeMap<String, String>) -> Self {
        Self { variables: variables.clone(), documents: None, state: Vec::new(), asked: false }
    }

    /// The digest of all of it; `None` where the engine was not asked.
    pub(in crate::retrieve) fn fingerprint(&self) -> Option<Digest> {
        let count = self.documents.map_or_else(String::new, |count| count.to_string());
        let names = self.variables.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let parts = names.chain([count.as_str()]).chain(self.state.iter().map(String::as_str));
        self.asked.then(|| Digest::of_parts(parts.map(str::as_bytes)))
    }

    /// The snapshot as it is frozen. `named` are the spec's own variables.
    pub(in crate::retrieve) fn resolved(
        &self,
        name: &SnapshotName,
        named: &BTreeMap<String, String>,
    ) -> ResolvedSnapshot {
        ResolvedSnapshot {
            name: name.clone(),
            physical: self.in_words(named),
            fingerprint: self.fingerprint(),
            documents: self.documents,
            passed_over: None,
        }
    }

    /// `index=docs (docs_v42)`: the physical name behind the spec's own where it is another one.
    fn in_words(&self, named: &BTreeMap<String, String>) -> String {
        let word = |(name, value): (&String, &String)| match self.variables.get(name) {
            Some(physical) if physical != value => format!("{name}={value} ({physical})"),
            _ => format!("{name}={value}"),
        };
        named.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}
