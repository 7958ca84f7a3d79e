//! Which servers and programs a spec names, and which environment variables: for keys, and to be passed on to programs.

use super::black_box::BlackBoxBackend;
use super::types::{CommandSpec, EmbedBackend, GenerateBackend, JudgeBackend, RetrieveBackend, Spec, SqlEngine};
use crate::model::Price;
use std::collections::BTreeSet;

/// What messages call whatever embeds the questions.
pub(in crate::spec) const EMBEDDER: &str = "embedder";

/// The environment variables that something names, each once, in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// Those that hold keys of servers.
    pub keys: BTreeSet<&'a str>,
    /// Those that are passed on to programs. Their values may be keys, and are kept as such.
    pub passed: BTreeSet<&'a str>,
}

impl<'a> Named<'a> {
    fn pass_on(&mut self, programs: Vec<(&'static str, &'a CommandSpec)>) {
        self.passed.extend(programs.into_iter().flat_map(|(_, program)| &program.env).map(String::as_str));
    }
}

/// The environment variables that hold the keys of a generator's server.
fn keys_of(backend: &GenerateBackend) -> BTreeSet<&str> {
    match backend {
        GenerateBackend::Model(server) => server.key_env.as_deref().into_iter().collect(),
        GenerateBackend::BlackBox(system) => match &system.backend {
            BlackBoxBackend::Http(http) => http.secret_headers.values().map(|header| header.env.as_str()).collect(),
            BlackBoxBackend::Command(_) => BTreeSet::new(),
        },
        GenerateBackend::Command(_) | GenerateBackend::Reader(_) => BTreeSet::new(),
    }
}

impl Spec {
    /// The environment variables that the spec names.
    #[must_use]
    pub fn named(&self) -> Named<'_> {
        let mut named = self.named_in_retrieval();
        for (_, backend) in self.generators() {
            named.keys.extend(keys_of(backend));
        }
        for (_, backend) in self.judges() {
            if let JudgeBackend::Model(server) = backend {
                named.keys.extend(server.key_env.as_deref());
            }
        }
        named.pass_on(self.programs());
        named
    }

    /// The environment variables that the generator alone needs.
    #[must_use]
    pub fn named_in_generation(&self) -> Named<'_> {
        let backend = &self.generate.backend;
        let mut named = Named { keys: keys_of(backend), ..Named::default() };
        if let GenerateBackend::Command(program) = backend {
            named.pass_on(vec![("generate", program)]);
        }
        named
    }

    /// The environment variables that retrieval alone needs.
    #[must_use]
    pub fn named_in_retrieval(&self) -> Named<'_> {
        let mut named = Named::default();
        match &self.retrieve.backend {
            RetrieveBackend::Http(http) => {
                named.keys.extend(http.secret_headers.values().map(|header| header.env.as_str()));
            }
            RetrieveBackend::Sql(sql) => {
                if let SqlEngine::Postgres { url_env } = &sql.engine {
                    named.keys.insert(url_env);
                }
            }
            RetrieveBackend::Command(_)
            | RetrieveBackend::Bm25(_)
            | RetrieveBackend::File
            | RetrieveBackend::Within => {}
        }
        if let Some(EmbedBackend::OpenAi(server)) = self.retrieve.embed.as_ref().map(|embed| &embed.backend) {
            named.keys.extend(server.key_env.as_deref());
        }
        named.pass_on(self.programs_in_retrieval());
        named
    }

    /// The programs that the spec starts, each with the section that names it.
    #[must_use]
    pub fn programs(&self) -> Vec<(&'static str, &CommandSpec)> {
        let mut programs = self.programs_in_retrieval();
        for (section, (_, backend)) in ["generate", "replicate"].into_iter().zip(self.generators()) {
            match backend {
                GenerateBackend::Command(program) => programs.push((section, program)),
                GenerateBackend::BlackBox(system) => {
                    if let BlackBoxBackend::Command(program) = &system.backend {
                        programs.push(("answer", program));
                    }
                }
                GenerateBackend::Reader(_) | GenerateBackend::Model(_) => {}
            }
        }
        for (section, (_, backend)) in ["judge", "judge.second"].into_iter().zip(self.judges()) {
            if let JudgeBackend::Command(program) = backend {
                programs.push((section, program));
            }
        }
        programs
    }

    /// The same of retrieval alone.
    #[must_use]
    pub fn programs_in_retrieval(&self) -> Vec<(&'static str, &CommandSpec)> {
        let mut programs = Vec::new();
        if let Some(EmbedBackend::Command(program)) = self.retrieve.embed.as_ref().map(|embed| &embed.backend) {
            programs.push(("retrieve.embed", program));
        }
        if let RetrieveBackend::Command(program) = &self.retrieve.backend {
            programs.push(("retrieve", program));
        }
        programs
    }

    /// The generators, each with what messages call it.
    pub fn generators(&self) -> impl Iterator<Item = (&'static str, &GenerateBackend)> {
        let second = self.replicate.as_ref().map(|replica| ("second generator", &replica.backend));
        [("generator", &self.generate.backend)].into_iter().chain(second)
    }

    /// The judges, each with what messages call it.
    pub fn judges(&self) -> impl Iterator<Item = (&'static str, &JudgeBackend)> {
        let second = self.judge.second.as_ref().map(|second| ("second judge", &second.backend));
        [("judge", &self.judge.backend)].into_iter().chain(second)
    }

    /// The prices of everything that counts tokens, each with whose it is, as messages call it.
    #[must_use]
    pub fn prices(&self) -> Vec<(&'static str, Option<Price>)> {
        let mut prices = Vec::new();
        if let Some(EmbedBackend::OpenAi(server)) = self.retrieve.embed.as_ref().map(|embed| &embed.backend) {
            prices.push((EMBEDDER, server.price));
        }
        for (whose, backend) in self.generators() {
            match backend {
                GenerateBackend::Model(server) => prices.push((whose, server.price)),
                GenerateBackend::BlackBox(system) => prices.push(("audited system", system.price)),
                GenerateBackend::Reader(_) | GenerateBackend::Command(_) => {}
            }
        }
        for (whose, backend) in self.judges() {
            if let JudgeBackend::Model(server) = backend {
                prices.push((whose, server.price));
            }
        }
        prices
    }

    /// The environment variables that hold keys of servers, each once, in alphabetical order.
    #[must_use]
    pub fn secret_names(&self) -> Vec<&str> {
        self.named().keys.into_iter().collect()
    }

    /// The environment variables that are passed on to programs, each once, in alphabetical order.
    #[must_use]
    pub fn passed_names(&self) -> Vec<&str> {
        self.named().passed.into_iter().collect()
    }
}
