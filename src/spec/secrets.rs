//! Which environment variables a spec names for keys.

use super::types::{GenerateBackend, JudgeBackend, RetrieveBackend, Spec};
use std::collections::BTreeSet;

impl Spec {
    /// The environment variables that hold keys, each once, in alphabetical order.
    #[must_use]
    pub fn secret_names(&self) -> Vec<&str> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        if let RetrieveBackend::Http(http) = &self.retrieve.backend {
            names.extend(http.secret_headers.values().map(|header| header.env.as_str()));
        }
        if let GenerateBackend::OpenAi(server) = &self.generate.backend {
            names.extend(server.key_env.as_deref());
        }
        if let JudgeBackend::OpenAi(server) = &self.judge.backend {
            names.extend(server.key_env.as_deref());
        }
        names.into_iter().collect()
    }
}
