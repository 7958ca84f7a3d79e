//! Which environment variables a spec names: for keys of servers, and to be passed on to programs.

use super::types::{GenerateBackend, JudgeBackend, RetrieveBackend, Spec};
use std::collections::BTreeSet;

impl Spec {
    /// The environment variables that hold keys of servers, each once, in alphabetical order.
    #[must_use]
    pub fn secret_names(&self) -> Vec<&str> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        if let RetrieveBackend::Http(http) = &self.retrieve.backend {
            names.extend(http.secret_headers.values().map(|header| header.env.as_str()));
        }
        if let GenerateBackend::Model(server) = &self.generate.backend {
            names.extend(server.key_env.as_deref());
        }
        if let JudgeBackend::Model(server) = &self.judge.backend {
            names.extend(server.key_env.as_deref());
        }
        names.into_iter().collect()
    }

    /// The environment variables that are passed on to programs, each once, in alphabetical order. Their values may be
    /// keys, and are kept as such.
    #[must_use]
    pub fn passed_names(&self) -> Vec<&str> {
        let programs = [
            if let RetrieveBackend::Command(program) = &self.retrieve.backend { Some(program) } else { None },
            if let GenerateBackend::Command(program) = &self.generate.backend { Some(program) } else { None },
            if let JudgeBackend::Command(program) = &self.judge.backend { Some(program) } else { None },
        ];
        let names: BTreeSet<&str> =
            programs.into_iter().flatten().flat_map(|program| &program.env).map(String::as_str).collect();
        names.into_iter().collect()
    }
}
